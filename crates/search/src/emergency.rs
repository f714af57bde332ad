//! The data that emergency and safety logic may read (seed 002, section 11): decision-grade rows of the clinical store,
//! the contacts on record and a text for all patients. No other part of the program reads for an emergency, and nothing
//! here reads memories outside the clinical store; a test of the architecture checks both.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::context::{allergens_of, is_taken_despite};
use super::memory_item::MemoryItem;
use anamnesis_core::document::DocumentType;
use anamnesis_core::emergency::{DISCLAIMER, texts};
use anamnesis_core::failpoints;
use anamnesis_core::finding::{EntityType, Experiencer};
use anamnesis_core::memory::{PermittedUse, State};
use anamnesis_core::provenance::Trust;
use anamnesis_core::retention::country;
use anamnesis_core::scope::Scope;
use anamnesis_store::read::{ClinicalRow, Memory, ReadInstant, RiskFlag};
use anamnesis_store::{Store, StoreError};

/// Least probability of a danger that only the classifier detected, as for any fact of a model.
const LEAST_PROBABILITY: f64 = 0.8;

/// The data for an emergency. A list may be empty because nothing is recorded, which never means that there is nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Emergency {
    /// False: nothing is known of this patient.
    pub known: bool,
    /// The text to show, by language.
    pub text: EmergencyText,
    /// References of people to call, as the profile names them.
    pub contacts: Vec<String>,
    /// The meaning and the limits of the lists: always shown, accepted or not.
    pub disclaimer: EmergencyText,
    /// When the patient accepted the disclaimer; `None`: not on record.
    pub disclaimer_accepted_at: Option<DateTime<Utc>>,
    /// Active allergies and intolerances.
    pub allergies: Vec<MemoryItem>,
    pub medications: Vec<MemoryItem>,
    pub conditions: Vec<MemoryItem>,
    pub risks: Vec<RiskFlag>,
    /// Allergies that another person reported, or that were read doubtfully: how many, since nothing may act on them before a
    /// person confirms them.
    pub unconfirmed_allergies: usize,
    /// The number of dangers that only the classifier detected, with too low a probability. To report that none is
    /// recorded would hide them.
    pub unconfirmed_risks: usize,
}

/// The same text in both languages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct EmergencyText {
    pub en: String,
    pub es: String,
}

/// The text of an organisation: its own, or that of its country. The patient's country comes before the organisation's.
///
/// # Errors
/// When the store cannot be read.
pub async fn emergency_text(store: &Store, scope: Scope, region: Option<&str>) -> Result<EmergencyText, StoreError> {
    let rows = store.organization().organization_rows().await?;
    let row = rows.into_iter().find(|row| row.org == scope.org());
    let (own, of_organisation) =
        row.map(|row| ([row.emergency_text_en, row.emergency_text_es], row.country)).unwrap_or_default();
    let place = region.and_then(country).or(of_organisation);
    let [own_en, own_es] = own;
    let [en, es] = texts(place.as_deref());
    Ok(EmergencyText { en: own_en.unwrap_or(en), es: own_es.unwrap_or(es) })
}

/// All that emergency logic may use of a patient. The only function that reads for it.
///
/// # Errors
/// When the store cannot be read or a cell does not open; [`StoreError::NoConsent`] and [`StoreError::Erased`], for which
/// [`emergency_text`] is there all the same.
pub async fn emergency(store: &Store, scope: Scope, when: ReadInstant) -> Result<Emergency, StoreError> {
    store.organization().recall_is_not_denied(scope).await?;
    let clinical = store.read().clinical(scope, when).await?;
    let profile = store.read().profile(scope).await?;
    let region = profile.as_ref().and_then(|profile| profile.region.as_deref());
    let mut all = Emergency {
        known: profile.is_some(),
        text: emergency_text(store, scope, region).await?,
        disclaimer: EmergencyText { en: DISCLAIMER[0].to_owned(), es: DISCLAIMER[1].to_owned() },
        ..Emergency::default()
    };
    let spoken_of = store.read().risks(scope, when).await?.into_iter().filter(is_spoken_of);
    let (sure, unsure): (Vec<RiskFlag>, Vec<RiskFlag>) = spoken_of.partition(is_sure);
    (all.risks, all.unconfirmed_risks) = (sure, unsure.len());
    if let Some(profile) = profile {
        all.contacts = profile.emergency_contacts;
        all.disclaimer_accepted_at = profile.disclaimer_accepted_at;
    }
    let allergens = allergens_of(&clinical);
    for row in &clinical {
        let is_allergy = matches!(row.entity, EntityType::Allergy | EntityType::Intolerance);
        if !may_use(&row.memory) {
            all.unconfirmed_allergies += usize::from(is_allergy && is_open(&row.memory));
            continue;
        }
        let list = match row.entity {
            EntityType::Allergy | EntityType::Intolerance => &mut all.allergies,
            EntityType::Medication => &mut all.medications,
            EntityType::Condition => &mut all.conditions,
            _ => continue,
        };
        list.push(item(row, &allergens));
    }
    Ok(all)
}

fn item(row: &ClinicalRow, allergens: &std::collections::HashSet<&str>) -> MemoryItem {
    let mut item = MemoryItem::clinical(row);
    if is_taken_despite(row, allergens) {
        (item.contested, item.allergy_on_record) = (true, true);
    }
    item
}

/// Whether a row of the clinical store is decision-grade: active, about the patient, stated by the patient, a clinician
/// or a registered device, with a sure reading and enough confidence. A contested one is, and is marked.
fn may_use(memory: &Memory) -> bool {
    if failpoints::is("emergency_reads_hypotheses") {
        return memory.status.state == State::Active;
    }
    let standing = &memory.status;
    standing.state == State::Active
        && standing.use_ == PermittedUse::Decision
        && matches!(memory.trust, Trust::T1 | Trust::T2)
        && memory.experiencer == Experiencer::Patient
        && !memory.negated
        && !memory.ungrounded
        && !standing.low_confidence
        && !standing.read_doubtfully
}

/// Stated about the patient and not resolved.
fn is_open(memory: &Memory) -> bool {
    memory.status.state == State::Active && memory.experiencer == Experiencer::Patient && !memory.negated
}

/// Detected by a rule or a clinician, or by the classifier with enough certainty.
fn is_sure(risk: &RiskFlag) -> bool {
    risk.by.as_deref() != Some("learned") || risk.confidence.is_some_and(|sure| sure >= LEAST_PROBABILITY)
}

/// A danger to the patient or by the patient that was spoken of: not denied, not supposed, and of no analysis unless a
/// clinician signed it.
fn is_spoken_of(risk: &RiskFlag) -> bool {
    !risk.denied
        && risk.experiencer == Experiencer::Patient
        && risk.temporality.as_deref() != Some("hypothetical")
        && (risk.document_type != Some(DocumentType::Analysis) || risk.signed)
}
