//! Builds the findings of the log from a document's extraction: the speaker decides trust and status (model.md,
//! "Provenance"); nothing is stored whose evidence is not literally there.

use chrono::{DateTime, NaiveTime, Utc};

use super::embed::EmbeddedMessage;
use super::kinship;
use super::lifelong_conditions::is_lifelong;
use super::manual_memory::ManualMemory;
use super::origin::StatementOrigin;
use super::page_index::PageIndex;
use anamnesis_core::fact::FactParts;
use anamnesis_core::fact_date::FactDate;
use anamnesis_core::finding::{EntityType, Epistemic, Experiencer, Polarity, Temporality};
use anamnesis_core::measured::Measured;
use anamnesis_core::memory::{Class, Kind};
use anamnesis_core::projection::{Assertion, Details, KeyHash};
use anamnesis_core::provenance::Teller;
use anamnesis_core::wording::{denies_for_all_time, person, plain_words};
use anamnesis_crypto::PatientKeys;
use anamnesis_extraction::{Entity, Hypothesis, StatementKind, resolve_mentions};
use anamnesis_messages::contract::DocumentSubmitted;
use anamnesis_redaction::Redacted;
use anamnesis_store::records::{Evidence, FindingWords, NewFinding, finding_id};
use anamnesis_text::Span;

/// The words of a blanket statement ("no known allergies").
pub(crate) const EVERY: &str = "*";

/// The common input of all findings of a document.
pub(crate) struct FindingBuilder<'a> {
    pub(crate) document: &'a DocumentSubmitted,
    pub(crate) work: &'a EmbeddedMessage,
    pub(crate) keys: &'a PatientKeys,
    pub(crate) now: DateTime<Utc>,
    pub(crate) version: &'a str,
    origin: StatementOrigin<'a>,
    source_entity: Option<String>,
    /// Keyed hash of the whole text, as it is compared with other documents.
    text: Option<KeyHash>,
    pages: Option<PageIndex>,
}

impl<'a> FindingBuilder<'a> {
    pub(crate) fn new(
        document: &'a DocumentSubmitted,
        work: &'a EmbeddedMessage,
        keys: &'a PatientKeys,
        now: DateTime<Utc>,
        version: &'a str,
    ) -> Self {
        let origin = work.analyzed.admitted.origin(document);
        let proxy = origin.proxy_agent().map(|who| proxy(who, keys));
        let source_entity = origin.entity.as_deref().map(|who| entity(who, keys)).or(proxy);
        let redacted = work.analyzed.text.as_deref().map(|(redacted, _)| redacted);
        let text = redacted.and_then(|redacted| text_hash(redacted, keys));
        let pages = redacted.and_then(|redacted| PageIndex::from_document(document, redacted));
        Self { document, work, keys, now, version, origin, source_entity, text, pages }
    }

    /// All findings of the document.
    pub(crate) fn findings(&self) -> Vec<NewFinding> {
        let Some((_, extraction)) = self.work.analyzed.text.as_deref() else { return Vec::new() };
        let in_the_end = resolve_mentions(&extraction.entities);
        let entities = in_the_end.iter().filter(|e| worth_remembering(e)).filter_map(|e| self.entity(e));
        let statements = extraction.statements.iter().filter_map(|s| self.statement(s.kind, s.span));
        let hypotheses = extraction.hypotheses.iter().filter_map(|h| self.hypothesis(h));
        entities.chain(statements).chain(hypotheses).collect()
    }

    /// The whole text as one memory, created with a command.
    pub(crate) fn manual_memory(&self, made: &ManualMemory) -> Option<NewFinding> {
        let text = self.text().trim();
        let start = self.text().find(text)?;
        let span = Span::new(start, start + text.len());
        let (kind, class) = match made.kind {
            Kind::Goal => (EntityType::Goal, Class::Preference),
            Kind::Relationship => (EntityType::Relationship, Class::Preference),
            Kind::Episode | Kind::Note | Kind::Raw => (EntityType::Preference, Class::Event),
            Kind::Belief | Kind::Value | Kind::Drive => (EntityType::Preference, Class::Preference),
        };
        let named = &self.work.analyzed.admitted.references.named;
        let derived_from = named.iter().map(|one| format!("{}:{}", one.kind.code(), one.id)).collect();
        let words = FindingWords {
            concept: text.to_owned(),
            // Another wording replaces the value of the old one.
            value: Some(text.to_owned()),
            mention: text.to_owned(),
            never: false,
            source_entity: self.source_entity.clone(),
            derived_from,
            ..FindingWords::default()
        };
        let model = made.repeats.filter(|class| *class == Class::Inference);
        let mut finding = self.finding(FindingParts {
            kind,
            class: model.unwrap_or(class),
            memory: made.kind,
            polarity: Polarity::Affirmed,
            experiencer: Experiencer::Patient,
            teller: self.teller(None),
            interpreted: false,
            extraction_confidence: 1.0,
            words,
            evidence: span,
            key: span,
        })?;
        let own = || self.keys.hash("made", format!("{} {}", made.kind, anamnesis_text::fold(text)).as_bytes());
        let (attribute, group) = made.place.unwrap_or_else(|| (own(), own()));
        finding.assertion.attribute = attribute;
        finding.group = group;
        Some(finding)
    }

    fn text(&self) -> &str {
        self.work.analyzed.text.as_deref().map_or("", |(redacted, _)| &redacted.document().text)
    }

    fn teller(&self, turn: Option<usize>) -> Teller {
        let turns = self.work.analyzed.text.as_deref().map(|(redacted, _)| &redacted.document().turns);
        self.origin.teller(turn.and_then(|t| turns?.get(t)).map(|t| t.speaker))
    }

    /// Whether a denial covers all time until then, by the words around it.
    fn is_for_all_time(&self, e: &Entity) -> bool {
        let text = self.text();
        let before = Span::new(e.evidence.start.min(e.span.start), e.span.start).slice(text);
        let after = Span::new(e.span.end, e.evidence.end.max(e.span.end)).slice(text);
        denies_for_all_time(before, e.span.slice(text), after)
    }

    fn entity(&self, e: &Entity) -> Option<NewFinding> {
        let teller = self.teller(e.turn);
        // A measurement without a date has that of the document.
        let today = || (e.kind == EntityType::Measurement).then(|| self.document.day().to_string());
        let date = e.at.map(|at| at.iso()).or_else(today);
        let words = FindingWords {
            concept: e.value.clone(),
            code: e.code.map(str::to_owned),
            person: e
                .subject
                .clone()
                .or_else(|| kinship::detect(self.text(), e).or_else(|| self.informant(e, teller)).map(str::to_owned)),
            status: e.status.clone(),
            dose: e.dose.clone(),
            frequency: e.frequency.clone(),
            route: e.route.clone(),
            severity: e.severity.clone(),
            date: date.filter(|_| e.kind.happens()),
            value: e.measured.as_ref().map(Measured::amount),
            reaction: e.reaction.as_ref().map(|reaction| reaction.name.clone()),
            at: e.at,
            measured: e.measured.clone(),
            mention: e.span.slice(self.text()).to_owned(),
            never: e.context.negated && self.is_for_all_time(e),
            source_entity: self.source_entity.clone(),
            file: None,
            formed_from: Vec::new(),
            account: None,
            derived_from: Vec::new(),
        };
        let ending = matches!(e.status.as_deref(), Some("stopped" | "declined" | "resolved" | "ended"));
        let polarity = Polarity::from_negated(e.context.negated || matches!(e.status.as_deref(), Some("not_taken")));
        let interpreted =
            e.context.uncertain || e.epistemic == Epistemic::Inferred || is_proposed(e.kind, e.status.as_deref());
        let historical = e.context.temporality == Temporality::Historical;
        let class = match Class::from_finding(e.kind) {
            // A symptom of the past is history, not a state to be asked about in two days.
            Class::TimeBoundState if historical => Class::Event,
            class => class,
        };
        let mut finding = self.finding(FindingParts {
            kind: e.kind,
            class: self.origin.class(class),
            memory: kind_of(e.kind),
            polarity,
            experiencer: e.context.experiencer,
            teller,
            interpreted: interpreted || self.origin.infers(),
            extraction_confidence: e.confidence,
            words,
            evidence: e.evidence,
            key: e.span,
        })?;
        let last = match e.kind {
            EntityType::Appointment => e.at.and_then(over),
            EntityType::Medication => e.ends.and_then(over),
            _ => None,
        };
        let asked = finding.assertion.expires_at.filter(|_| finding.assertion.class != Class::LongLivedFact);
        finding.assertion.expires_at = last.into_iter().chain(asked).min();
        finding.assertion.ending = ending && !e.context.negated;
        finding.uncertain = e.context.uncertain;
        finding.temporality = e.context.temporality;
        if historical && !ending && e.code.is_some_and(is_lifelong) {
            // "Antecedentes: diabetes" means an illness that is still present.
            finding.temporality = Temporality::Recent;
        }
        finding.assertion.past =
            e.kind == EntityType::Condition && finding.temporality == Temporality::Historical && !e.context.negated;
        Some(finding)
    }

    /// A relative who speaks in the first person is the one whom the producer named.
    fn informant(&self, e: &Entity, teller: Teller) -> Option<&'static str> {
        let own = e.context.experiencer == Experiencer::Family && teller == Teller::Family;
        own.then(|| self.document.informant()).flatten()
    }

    fn statement(&self, kind: StatementKind, span: Span) -> Option<NewFinding> {
        let entity = match kind {
            StatementKind::NoKnownAllergies => EntityType::Allergy,
            StatementKind::NoMedications => EntityType::Medication,
        };
        let words = FindingWords {
            concept: EVERY.to_owned(),
            mention: span.slice(self.text()).to_owned(),
            never: false,
            ..FindingWords::default()
        };
        let mut finding = self.finding(FindingParts {
            kind: entity,
            class: self.origin.class(Class::LongLivedFact),
            memory: Kind::Note,
            polarity: Polarity::Negated,
            experiencer: Experiencer::Patient,
            teller: self.teller(self.turn_at(span)),
            interpreted: self.origin.infers(),
            extraction_confidence: 0.9,
            words,
            evidence: span,
            key: span,
        })?;
        finding.assertion.blanket = true;
        Some(finding)
    }

    /// Always an inference, for any speaker (seed 000, principle 4).
    fn hypothesis(&self, h: &Hypothesis) -> Option<NewFinding> {
        let words = FindingWords {
            concept: h.text.clone(),
            mention: h.evidence.slice(self.text()).to_owned(),
            never: false,
            ..FindingWords::default()
        };
        let mut finding = self.finding(FindingParts {
            kind: EntityType::Preference,
            class: Class::Inference,
            memory: Kind::Belief,
            polarity: Polarity::Affirmed,
            experiencer: Experiencer::Patient,
            teller: Teller::Agent,
            interpreted: true,
            extraction_confidence: h.confidence,
            words,
            evidence: h.evidence,
            key: h.evidence,
        })?;
        // A model's inference never gets the fallback of full confidence.
        finding.assertion.initial_confidence = finding.assertion.initial_confidence.min(h.confidence);
        finding.assertion.attribute = self.keys.hash("hypothesis", h.text.as_bytes());
        finding.group = finding.assertion.attribute;
        Some(finding)
    }

    fn finding(&self, parts: FindingParts) -> Option<NewFinding> {
        let quote = parts.evidence.slice(self.text());
        if quote.is_empty() || !self.text().contains(quote) {
            return None;
        }
        let source_type = self.origin.source_type(parts.teller, parts.interpreted);
        let trust = self.origin.trust(source_type, parts.teller);
        let first = self.origin.confidence(source_type, parts.teller, trust)?;
        let (attribute, group) = hashes(self.keys, &parts);
        let scope = self.work.analyzed.admitted.scope;
        let source = self.document.document_id.0;
        let id = finding_id(scope, source, self.document.revision, &finding_key(&parts));
        let assertion = Assertion {
            id,
            source,
            text: self.text,
            live: true,
            attribute,
            entity: parts.kind,
            kind: parts.memory,
            class: parts.class,
            polarity: parts.polarity,
            experiencer: parts.experiencer,
            details: Details::default(), // read back from the words when folded
            ending: false,
            past: false,
            blanket: false,
            never: false,
            set_by: self.origin.set_by(parts.teller),
            document_type: Some(self.document.document_type),
            source_type,
            epistemic: source_type.epistemic(),
            trust,
            is_proxy: self.origin.is_proxy(),
            extraction_confidence: parts.extraction_confidence.clamp(0.0, 1.0),
            initial_confidence: first.confidence,
            basis: first.basis,
            asserted_at: self.document.occurred_at.to_utc(),
            valid_from: self.document.occurred_at.to_utc(),
            expires_at: self.work.analyzed.admitted.references.until,
            ends_at: self.document.ends_at(),
            recorded_at: self.now,
            tombstone: None,
        };
        Some(NewFinding {
            scope,
            group,
            assertion,
            revision: self.document.revision,
            uncertain: false,
            temporality: Temporality::Recent,
            words: FindingWords { file: self.pages.as_ref().map(|pages| pages.place(parts.key.start)), ..parts.words },
            evidence: Some(Evidence { quote: quote.to_owned(), span: parts.evidence }),
            extractor_version: self.version.to_owned(),
        })
    }

    fn turn_at(&self, span: Span) -> Option<usize> {
        let (redacted, _) = self.work.analyzed.text.as_deref()?;
        redacted.document().turns.iter().position(|t| t.span.contains(&span))
    }
}

struct FindingParts {
    kind: EntityType,
    class: Class,
    memory: Kind,
    polarity: Polarity,
    experiencer: Experiencer,
    teller: Teller,
    interpreted: bool,
    extraction_confidence: f64,
    words: FindingWords,
    evidence: Span,
    key: Span,
}

/// Attribute and group of a finding under the patient's key. All allergies of a subject share a group, because "no
/// known allergies" concerns each.
fn hashes(keys: &PatientKeys, parts: &FindingParts) -> (KeyHash, KeyHash) {
    attribute_hashes(keys, parts.kind, &parts.words, parts.experiencer)
}

pub(crate) fn attribute_hashes(
    keys: &PatientKeys,
    kind: EntityType,
    words: &FindingWords,
    experiencer: Experiencer,
) -> (KeyHash, KeyHash) {
    let of = FactParts {
        experiencer,
        person: words.person.as_deref(),
        date: words.date.as_deref(),
        value: words.value.as_deref(),
        ..FactParts::new(kind, &words.concept)
    };
    let attribute = keys.hash("attribute", &of.attribute());
    // A medicine that was only proposed or refused has another attribute: it neither confirms nor contradicts one that
    // is taken.
    if is_proposed(kind, words.status.as_deref())
        || kind == EntityType::Medication && words.status.as_deref() == Some("declined")
    {
        return (keys.hash("proposed", &of.attribute()), attribute);
    }
    let group = match kind {
        EntityType::Allergy | EntityType::Intolerance => {
            keys.hash("group", format!("allergies of {}", experiencer.code()).as_bytes())
        }
        _ => attribute,
    };
    (attribute, group)
}

/// Where and what: two mentions in one document are two findings; the same document read again gives the same ids.
fn finding_key(parts: &FindingParts) -> Vec<u8> {
    let mut key = parts.kind.code().as_bytes().to_vec();
    key.extend_from_slice(&(parts.key.start as u64).to_be_bytes());
    key.extend_from_slice(&(parts.key.end as u64).to_be_bytes());
    key.extend_from_slice(parts.words.concept.as_bytes());
    key
}

/// The end of an appointment's day, or of the last day of a medicine: from then on it is history.
fn over(at: FactDate) -> Option<DateTime<Utc>> {
    let next = at.last_day()?.succ_opt()?;
    Some(next.and_time(NaiveTime::MIN).and_utc())
}

/// A conditional or planned thing is no fact yet; a proposed medicine is worth knowing.
fn worth_remembering(e: &Entity) -> bool {
    e.context.temporality != Temporality::Hypothetical || is_proposed(e.kind, e.status.as_deref())
}

/// A medicine that was proposed and not begun.
fn is_proposed(kind: EntityType, status: Option<&str>) -> bool {
    kind == EntityType::Medication && status == Some("suggested")
}

fn kind_of(entity: EntityType) -> Kind {
    match entity {
        EntityType::Goal => Kind::Goal,
        EntityType::Relationship => Kind::Relationship,
        EntityType::Preference => Kind::Belief,
        EntityType::Appointment | EntityType::Event | EntityType::Procedure => Kind::Episode,
        _ => Kind::Note,
    }
}

/// Only words, in lower case and without accents. Punctuation and spacing do not make another text; another date or
/// name does. `None` without words.
fn text_hash(redacted: &Redacted, keys: &PatientKeys) -> Option<KeyHash> {
    let folded = anamnesis_text::fold(&redacted.document().text);
    let words: Vec<&str> = folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut form = words.join(" ").into_bytes();
    form.extend(redacted.redactions().iter().flat_map(|taken| taken.fingerprint.to_be_bytes()));
    (!words.is_empty()).then(|| keys.hash("text", &form))
}

/// The speaker, as a surrogate: the name itself is never stored.
fn entity(who: &str, keys: &PatientKeys) -> String {
    let hash = keys.hash("entity", anamnesis_text::fold(who).as_bytes());
    format!("[SOURCE_{}]", hex::encode_upper(&hash[..2]))
}

/// The person who spoke for the patient: a relation as written, because it names no one; anything else as a surrogate.
fn proxy(who: &str, keys: &PatientKeys) -> String {
    match plain_words(who).as_slice() {
        [word] if person(&word.folded).is_some() => who.trim().to_lowercase(),
        _ => entity(who, keys),
    }
}

#[cfg(test)]
#[path = "findings_tests.rs"]
mod tests;
