//! Profile events and health signals: explicit facts and device readings, as findings of the same log.

use chrono::{DateTime, NaiveTime, Utc};
use uuid::Uuid;

use super::analyze::FieldRedactor;
use super::findings::attribute_hashes;
use super::{AdmittedMessage, Disposition};
use anamnesis_core::confidence::ConfidenceBasis;
use anamnesis_core::finding::{EntityType, Experiencer, Polarity, Temporality};
use anamnesis_core::memory::{Class, Kind, SetBy};
use anamnesis_core::profile::ProfileStatement;
use anamnesis_core::projection::{Assertion, Details};
use anamnesis_core::provenance::{SourceType, Teller, Trust, TrustBasis, trust_of};
use anamnesis_crypto::PatientKeys;
use anamnesis_messages::contract::{
    AllergyFact, ConditionFact, ConditionStatus, HealthSignalRecorded, MedicationFact, MedicationStatus, ProfileUpdated,
};
use anamnesis_store::records::{FindingWords, NewFinding, ProfileChange, finding_id};

/// Routes of administration as profiles spell them, folded.
const ROUTES: [&str; 44] = [
    "oral",
    "orally",
    "by mouth",
    "po",
    "p.o.",
    "via oral",
    "vo",
    "v.o.",
    "sublingual",
    "buccal",
    "bucal",
    "intramuscular",
    "im",
    "i.m.",
    "intravenous",
    "intravenosa",
    "iv",
    "i.v.",
    "subcutaneous",
    "subcutanea",
    "sc",
    "s.c.",
    "topical",
    "topica",
    "transdermal",
    "transdermica",
    "inhaled",
    "inhalation",
    "inhalada",
    "inhalatoria",
    "nasal",
    "intranasal",
    "rectal",
    "vaginal",
    "ophthalmic",
    "oftalmica",
    "otic",
    "otica",
    "intradermal",
    "intradermica",
    "intrathecal",
    "intratecal",
    "epidural",
    "depot",
];

/// Turns a non-document message into findings.
pub(crate) struct ProfileFindings<'a> {
    pub(crate) admitted: &'a AdmittedMessage,
    pub(crate) redactor: &'a FieldRedactor,
    pub(crate) keys: &'a PatientKeys,
    pub(crate) now: DateTime<Utc>,
    /// The lexicon's preferred name for a word, so that a profile and a conversation name the same concept.
    pub(crate) concept: &'a dyn Fn(&str) -> Option<String>,
}

struct StatedFact {
    pub(crate) kind: EntityType,
    class: Class,
    words: FindingWords,
    polarity: Polarity,
    ending: bool,
    set_by: SetBy,
    trust: Trust,
    pub(crate) at: DateTime<Utc>,
    valid_from: DateTime<Utc>,
}

impl ProfileFindings<'_> {
    /// The message's own id in lineage.
    fn source(&self) -> Uuid {
        anamnesis_core::ids::derive("message", &[&self.admitted.message])
    }

    /// # Errors
    /// When a text of the profile cannot be redacted.
    pub(crate) fn profile(&self, p: &ProfileUpdated) -> Result<(ProfileChange, Vec<NewFinding>), Disposition> {
        let mut findings = Vec::new();
        for fact in p.conditions.iter().flatten() {
            findings.push(self.condition(p, fact)?);
        }
        for fact in p.allergies.iter().flatten() {
            findings.push(self.allergy(p, fact)?);
        }
        for fact in p.medications.iter().flatten() {
            findings.extend(self.medication(p, fact)?);
        }
        let contacts =
            p.emergency_contacts.as_ref().map(|all| all.iter().map(|c| c.reference.as_str().to_owned()).collect());
        let mut preferences = Vec::new();
        for (key, value) in p.preferences.iter().flatten() {
            preferences.push((self.redactor.clean(key)?, self.redactor.clean(value)?));
        }
        let statement = ProfileStatement {
            stamp: (p.recorded_at, self.source()),
            cognitive_state: p.cognitive_state,
            disclaimer_accepted_at: p.disclaimer_accepted_at,
            region: p.region.as_deref().map(str::to_owned),
            privacy_tier: p.privacy_tier.as_deref().map(str::to_owned),
            emergency_contacts: contacts,
        };
        let change = ProfileChange { scope: self.admitted.scope, statement, preferences, actor: p.actor };
        Ok((change, findings))
    }

    fn condition(&self, p: &ProfileUpdated, fact: &ConditionFact) -> Result<NewFinding, Disposition> {
        let ended = matches!(
            fact.status,
            Some(ConditionStatus::Resolved | ConditionStatus::Inactive | ConditionStatus::Remission)
        );
        let words = FindingWords { code: fact.code.as_deref().map(str::to_owned), ..self.words(&fact.name)? };
        let since = fact.since.map(|since| since.first_day().and_time(NaiveTime::MIN).and_utc());
        let valid_from = since.unwrap_or(p.recorded_at);
        Ok(self.finding(StatedFact {
            ending: ended,
            valid_from,
            ..stated_fact(EntityType::Condition, words, p.recorded_at)
        }))
    }

    fn allergy(&self, p: &ProfileUpdated, fact: &AllergyFact) -> Result<NewFinding, Disposition> {
        let words = FindingWords {
            reaction: self.redactor.clean_option(fact.reaction.as_deref())?,
            ..self.words(&fact.substance)?
        };
        Ok(self.finding(stated_fact(EntityType::Allergy, words, p.recorded_at)))
    }

    /// An entry that is an error or only an intention states nothing.
    fn medication(&self, p: &ProfileUpdated, fact: &MedicationFact) -> Result<Option<NewFinding>, Disposition> {
        let status = fact.status.unwrap_or(MedicationStatus::Active);
        if matches!(status, MedicationStatus::EnteredInError | MedicationStatus::Intended | MedicationStatus::Unknown) {
            return Ok(None);
        }
        let words = FindingWords {
            dose: self.redactor.clean_option(fact.dose.as_deref())?,
            route: self.route(fact.route.as_deref())?,
            frequency: self.redactor.clean_option(fact.frequency.as_deref())?,
            status: Some(status.code().to_owned()),
            ..self.words(&fact.name)?
        };
        let ending =
            matches!(status, MedicationStatus::Stopped | MedicationStatus::Completed | MedicationStatus::OnHold);
        let polarity = Polarity::from_negated(status == MedicationStatus::NotTaken);
        Ok(Some(self.finding(StatedFact {
            ending,
            polarity,
            ..stated_fact(EntityType::Medication, words, p.recorded_at)
        })))
    }

    /// A route alone is a code. Redaction cannot judge a single word without context.
    fn route(&self, route: Option<&str>) -> Result<Option<String>, Disposition> {
        match route {
            Some(route) if ROUTES.contains(&anamnesis_text::fold(route.trim()).as_str()) => {
                Ok(Some(route.trim().to_owned()))
            }
            other => self.redactor.clean_option(other),
        }
    }

    /// # Errors
    /// When a text of the signal cannot be redacted.
    pub(crate) fn signal(&self, s: &HealthSignalRecorded) -> Result<NewFinding, Disposition> {
        let unit = self.redactor.clean_option(s.unit.as_deref())?;
        let number = s.value.map(|v| format!("{v}{}", unit.as_deref().map(|u| format!(" {u}")).unwrap_or_default()));
        let trend = self.redactor.clean_option(s.trend.as_deref())?;
        let value = [number, trend].into_iter().flatten().collect::<Vec<_>>().join(", ");
        let words = FindingWords {
            value: Some(value),
            source_entity: self.redactor.clean_option(s.device.as_deref())?,
            ..self.words(&s.metric)?
        };
        Ok(self.finding(StatedFact {
            class: Class::HealthSignal,
            set_by: SetBy::Device,
            trust: trust_of(&TrustBasis::stated(SourceType::Observation, Teller::Device)),
            ..stated_fact(EntityType::HealthSignal, words, s.synced_at)
        }))
    }

    fn words(&self, name: &str) -> Result<FindingWords, Disposition> {
        let clean = self.redactor.clean(name)?;
        let concept = (self.concept)(&clean).unwrap_or_else(|| clean.to_lowercase());
        Ok(FindingWords { concept, mention: clean, ..FindingWords::default() })
    }

    fn finding(&self, said: StatedFact) -> NewFinding {
        let scope = self.admitted.scope;
        let (attribute, group) = attribute_hashes(self.keys, said.kind, &said.words, Experiencer::Patient);
        let source_type = if said.trust == Trust::T2 { SourceType::Observation } else { SourceType::DirectExperience };
        let mut key = said.kind.code().as_bytes().to_vec();
        key.extend_from_slice(said.words.concept.as_bytes());
        key.extend_from_slice(said.words.dose.as_deref().unwrap_or("").as_bytes());
        let assertion = Assertion {
            id: finding_id(scope, self.source(), 1, &key),
            source: self.source(),
            text: None,
            live: true,
            attribute,
            entity: said.kind,
            kind: Kind::Note,
            class: said.class,
            polarity: said.polarity,
            experiencer: Experiencer::Patient,
            details: Details::default(),
            ending: said.ending,
            past: false,
            blanket: false,
            never: false,
            set_by: said.set_by,
            document_type: None,
            source_type,
            epistemic: source_type.epistemic(),
            trust: said.trust,
            is_proxy: false,
            extraction_confidence: 1.0,
            initial_confidence: 1.0,
            basis: ConfidenceBasis::Default,
            asserted_at: said.at,
            valid_from: said.valid_from,
            expires_at: None,
            ends_at: None,
            recorded_at: self.now,
            tombstone: None,
        };
        NewFinding {
            scope,
            group,
            assertion,
            revision: 1,
            uncertain: false,
            temporality: Temporality::Recent,
            words: said.words,
            evidence: None,
            extractor_version: "profile".to_owned(),
        }
    }
}

fn stated_fact(kind: EntityType, words: FindingWords, at: DateTime<Utc>) -> StatedFact {
    StatedFact {
        kind,
        class: Class::from_finding(kind),
        words,
        polarity: Polarity::Affirmed,
        ending: false,
        set_by: SetBy::Profile,
        // The people who treat the patient maintain a profile.
        trust: trust_of(&TrustBasis::stated(SourceType::DirectExperience, Teller::Clinician)),
        at,
        valid_from: at,
    }
}

#[cfg(test)]
#[path = "profile_tests.rs"]
mod tests;
