//! A memory as it is shown: one line for a clinician, the same fields for a program, with source and confidence.

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use serde::Serialize;
use uuid::Uuid;

use anamnesis_core::document::DocumentType;
use anamnesis_core::fact_date::{DatePrecision, FactDate};
use anamnesis_core::finding::{EntityType, Experiencer};
use anamnesis_core::ids::{DocumentId, MemoryId};
use anamnesis_core::measured::Measured;
use anamnesis_core::memory::{Class, Kind, PermittedUse, SetBy, State};
use anamnesis_core::preference::STATED;
use anamnesis_core::provenance::Trust;
use anamnesis_store::read::{ClinicalRow, Memory};
use anamnesis_store::records::{FilePlace, FindingWords};
use anamnesis_text::Speaker;

use crate::as_said::{as_said, names_a_concept};

/// The concept of a statement about everything of its type.
const EVERY: &str = "*";
/// The status of an intolerance, which is no allergy.
const INTOLERANCE: &str = "intolerance";

/// Where a statement comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ItemSource {
    /// `clinical` before `conversational` (seed 002, section 6).
    pub(crate) section: &'static str,
    pub(crate) document_id: Option<DocumentId>,
    pub(crate) revision: Option<u32>,
    pub(crate) document_type: Option<DocumentType>,
    /// Where in an uploaded file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FilePlace>,
    pub(crate) date: NaiveDate,
    /// The role that set it.
    pub(crate) who: SetBy,
    /// Another entity that said so (a surrogate).
    pub(crate) through: Option<String>,
    /// The clinician who signed a model's output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed_by: Option<Uuid>,
    /// `patient, session_transcript, 2026-03-02`.
    pub label: String,
}

/// One memory as it is handed out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemoryItem {
    pub memory_id: MemoryId,
    pub statement: String,
    pub entity: Option<EntityType>,
    pub(crate) class: Class,
    pub kind: Kind,
    pub(crate) experiencer: Experiencer,
    pub(crate) negated: bool,
    /// Concerns every possible allergy or medicine.
    pub absence: bool,
    /// Of rows of the clinical store.
    pub status: Option<&'static str>,
    pub state: State,
    #[serde(rename = "use")]
    pub use_: PermittedUse,
    /// Effective, after decay.
    pub confidence: f64,
    pub(crate) low_confidence: bool,
    /// How surely it was read from its document, 0.0–1.0; `confidence` says how reliable the source is.
    pub(crate) extraction_confidence: f64,
    /// Read too doubtfully for decisions and not verified by a person.
    pub(crate) unconfirmed: bool,
    /// `family` or `chat`: said by a relative, or by the patient outside a consultation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reported_by: Option<&'static str>,
    pub trust: Trust,
    pub contested: bool,
    /// An active medicine with an active allergy or intolerance to it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) allergy_on_record: bool,
    pub(crate) ungrounded: bool,
    pub reconfirm_due: bool,
    pub(crate) valid_from: DateTime<Utc>,
    pub(crate) valid_to: Option<DateTime<Utc>>,
    pub(crate) last_confirmed_at: Option<DateTime<Utc>>,
    /// When it ends without an act.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<DateTime<Utc>>,
    /// When it happened, began or is due: the first instant of what `precision` says is known.
    pub(crate) at: Option<DateTime<Utc>>,
    /// day, week, month or year.
    pub(crate) precision: Option<DatePrecision>,
    /// For allergies and intolerances: the reaction to the substance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reaction: Option<String>,
    /// Of measurements: the value as a number or a word, its unit, the ends of the range that its source gives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) value: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) low: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) high: Option<f64>,
    /// Of appointments: with whom or for what. Of losses: who was lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<String>,
    pub source: ItemSource,
    /// The sentence that it rests on.
    pub fragment: Option<String>,
}

impl MemoryItem {
    /// A row of the clinical tables: the chart's, except for a symptom that only a conversation mentions.
    pub fn clinical(row: &ClinicalRow) -> Self {
        let passing = matches!(row.entity, EntityType::Symptom | EntityType::HealthSignal);
        let spoken = row.memory.document_type.is_some_and(DocumentType::is_conversational);
        let mut item = Self::new(&row.memory, if passing && spoken { "conversational" } else { "clinical" });
        item.status = Some(row.status);
        item.at = item.at.or(row.at);
        item
    }

    /// Any other memory.
    pub fn conversational(memory: &Memory) -> Self {
        Self::new(memory, "conversational")
    }

    fn new(m: &Memory, section: &'static str) -> Self {
        Self {
            memory_id: m.id,
            statement: statement(m),
            entity: m.entity,
            class: m.class,
            kind: m.kind,
            experiencer: m.experiencer,
            negated: m.negated,
            absence: absence(m).is_some(),
            status: None,
            state: m.status.state,
            use_: m.status.use_,
            confidence: m.status.effective_confidence,
            low_confidence: m.status.low_confidence,
            extraction_confidence: m.extraction_confidence,
            unconfirmed: m.status.read_doubtfully,
            reported_by: reported_by(m),
            trust: m.trust,
            contested: m.contested,
            allergy_on_record: false,
            ungrounded: m.ungrounded,
            reconfirm_due: m.status.reconfirm_due,
            valid_from: m.valid_from,
            valid_to: m.valid_to,
            last_confirmed_at: m.last_confirmed_at,
            expires_at: m.expires_at,
            at: said_at(m).map(|at| at.day.and_time(NaiveTime::MIN).and_utc()),
            precision: said_at(m).map(|at| at.precision),
            reaction: m.words.as_ref().and_then(|words| words.reaction.clone()),
            value: measured(m).map(|measured| measured.value.clone()),
            unit: measured(m).and_then(|measured| measured.unit.clone()),
            low: measured(m).and_then(|measured| measured.low.as_ref()?.parse().ok()),
            high: measured(m).and_then(|measured| measured.high.as_ref()?.parse().ok()),
            subject: subject(m),
            source: source(m, section),
            fragment: m.evidence.as_ref().map(|quote| quote.text.clone()),
        }
    }

    /// `Medication: sertraline 50 mg, daily (patient, 2026-03-02) — decision, confidence 0.80`.
    pub fn line(&self) -> String {
        let mut line =
            format!("{} ({}) — {}, confidence {:.2}", self.statement, self.source.label, self.use_, self.confidence);
        if let Some(when) = self.when().filter(|when| !self.statement.contains(when.as_str())) {
            line.push_str(", dated ");
            line.push_str(&when);
        }
        if let Some(end) = self.ends() {
            line.push_str(&format!(", ends {}", end.format("%Y-%m-%d %H:%M UTC")));
        }
        for flag in self.flags() {
            line.push_str(", ");
            line.push_str(flag);
        }
        line
    }

    /// When it ends, unless a rule ends everything of its class.
    pub fn ends(&self) -> Option<DateTime<Utc>> {
        let told = self.state == State::Active && !matches!(self.class, Class::TimeBoundState | Class::Event);
        self.expires_at.filter(|_| told)
    }

    /// The date to its known precision: `2015`, `2025-05`, `2026-02-27`, `week of 2026-02-09`.
    pub fn when(&self) -> Option<String> {
        let day = self.at?.date_naive();
        Some(match self.precision {
            Some(DatePrecision::Week) => format!("week of {day}"),
            Some(precision) => FactDate::new(day, precision).iso(),
            None => day.to_string(),
        })
    }

    /// Warnings that a reader must know before relying on it.
    pub fn flags(&self) -> Vec<&'static str> {
        let stale = self.state == State::Stale;
        [
            (self.low_confidence, "verify: low confidence"),
            (self.contested, "contested"),
            (self.allergy_on_record, "allergy on record"),
            (self.ungrounded, "sources gone"),
            (self.reconfirm_due, "reconfirm"),
            (stale, "outdated"),
            (self.unconfirmed, "unconfirmed"),
            (self.reported_by == Some("family"), "reported by family"),
            (self.reported_by == Some("chat"), "reported in chat"),
        ]
        .into_iter()
        .filter_map(|(holds, flag)| holds.then_some(flag))
        .collect()
    }
}

/// Statements of a relative, and of a patient in a chat, are labelled wherever they are shown.
fn reported_by(m: &Memory) -> Option<&'static str> {
    match (m.set_by, m.document_type) {
        (SetBy::Family, _) => Some("family"),
        (SetBy::Patient, Some(DocumentType::ChatMessage)) => Some("chat"),
        _ => None,
    }
}

fn source(m: &Memory, section: &'static str) -> ItemSource {
    let date = m.said_at.date_naive();
    let mut label = m.set_by.code().to_owned();
    for part in [m.source_entity.as_deref(), m.is_proxy.then_some("proxy"), m.document_type.map(|d| d.code())]
        .into_iter()
        .flatten()
    {
        label.push_str(", ");
        label.push_str(part);
    }
    if let Some(clinician) = m.signed_by {
        label.push_str(&format!(", signed by {clinician}"));
    }
    label.push_str(&page_of(m.file.as_ref()));
    label.push_str(&format!(", {date}"));
    ItemSource {
        section,
        document_id: m.document_id,
        revision: m.revision,
        document_type: m.document_type,
        file: m.file.clone(),
        date,
        who: m.set_by,
        through: m.source_entity.clone(),
        signed_by: m.signed_by,
        label,
    }
}

/// `, page 3`; nothing where no page is known.
pub(crate) fn page_of(file: Option<&FilePlace>) -> String {
    file.and_then(|file| file.page).map(|page| format!(", page {page}")).unwrap_or_default()
}

/// `document: session_transcript, 2026-03-02 (patient, clinician)`.
pub(crate) fn document_label(kind: DocumentType, at: DateTime<Utc>, speakers: &[Speaker]) -> String {
    let mut label = format!("document: {kind}, {}", at.date_naive());
    let known: Vec<&str> = speakers.iter().filter_map(|s| speaker(*s)).collect();
    if !known.is_empty() {
        label.push_str(&format!(" ({})", known.join(", ")));
    }
    label
}

fn speaker(speaker: Speaker) -> Option<&'static str> {
    match speaker {
        Speaker::Patient => Some("patient"),
        Speaker::Clinician => Some("clinician"),
        Speaker::Family => Some("family"),
        Speaker::Agent => Some("agent"),
        Speaker::Unknown => None,
    }
}

/// A memory as one line without its source. A denial and another person's fact begin with that label: they must never
/// be read as the patient's own.
pub(crate) fn statement(m: &Memory) -> String {
    let words = m.words.as_ref();
    if let Some(line) = absence(m) {
        return line.to_owned();
    }
    let mut line = String::new();
    if m.negated {
        line.push_str("Denied — ");
    }
    let person = words.and_then(|w| w.person.as_deref());
    match (m.experiencer, person) {
        // The lost person is part of the event.
        (Experiencer::Patient, _) => {}
        (Experiencer::Family, Some(person)) => line.push_str(&format!("Family ({person}) — ")),
        (Experiencer::Family, None) => line.push_str("Family — "),
        (Experiencer::Other, Some(person)) => line.push_str(&format!("Somebody else ({person}) — ")),
        (Experiencer::Other, None) => line.push_str("Somebody else — "),
    }
    line.push_str(heading(m));
    if let Some(words) = words {
        line.push_str(": ");
        let said = m.entity.filter(|kind| names_a_concept(*kind)).and_then(|kind| as_said(words, kind));
        line.push_str(&details(words, said.as_deref()));
        if let (Some(EntityType::Event), Experiencer::Patient, Some(person)) = (m.entity, m.experiencer, person) {
            line.push_str(&format!(", {person}"));
        }
    }
    line
}

/// A statement about every allergy or every medicine there could be.
pub(crate) fn absence(m: &Memory) -> Option<&'static str> {
    let every = m.words.as_ref().is_some_and(|w| w.concept == EVERY);
    match m.entity {
        Some(EntityType::Allergy) if every && m.negated => Some("No known allergies"),
        Some(EntityType::Medication) if every && m.negated => Some("Takes no medication"),
        _ => None,
    }
}

/// A preference that job runs derived from statements about conversation and treatment.
pub(crate) fn is_preference(m: &Memory) -> bool {
    let status = m.words.as_ref().and_then(|words| words.status.as_deref());
    m.class == Class::Pattern && status == Some(STATED)
}

fn heading(m: &Memory) -> &'static str {
    match m.entity {
        // A model's inference can be about anything, so it is named an inference.
        _ if m.class == Class::Inference && m.kind == Kind::Belief => "Hypothesis",
        _ if m.class == Class::Pattern => match m.kind {
            Kind::Episode => "Episode",
            Kind::Note => "Summary",
            Kind::Value => "Value",
            Kind::Drive => "Drive",
            _ if is_preference(m) => "Preference",
            _ => "Pattern",
        },
        Some(EntityType::Condition) => "Condition",
        Some(EntityType::Symptom) => "Symptom",
        Some(EntityType::Allergy) => allergy_heading(m.words.as_ref()),
        Some(EntityType::Intolerance) => "Intolerance",
        Some(EntityType::Medication) => "Medication",
        Some(EntityType::Appointment) => "Appointment",
        Some(EntityType::Event) => "Event",
        Some(EntityType::Procedure) => "Procedure",
        Some(EntityType::Measurement) => "Measurement",
        Some(EntityType::HealthSignal) => "Health signal",
        Some(EntityType::Preference) => match m.kind {
            Kind::Episode => "Episode",
            Kind::Note => "Note",
            Kind::Value => "Value",
            Kind::Drive => "Drive",
            _ => "Preference",
        },
        Some(EntityType::Goal) => "Goal",
        Some(EntityType::Relationship) => "Relationship",
        None => match m.kind {
            Kind::Raw => "Document as captured",
            Kind::Episode => "Episode",
            Kind::Note => "Note",
            Kind::Belief => "Belief",
            Kind::Value => "Value",
            Kind::Goal => "Goal",
            Kind::Drive => "Drive",
            Kind::Relationship => "Relationship",
        },
    }
}

fn measured(m: &Memory) -> Option<&Measured> {
    m.words.as_ref().and_then(|words| words.measured.as_ref())
}

/// With whom an appointment is, and who was lost.
fn subject(m: &Memory) -> Option<String> {
    let words = m.words.as_ref()?;
    match m.entity {
        Some(EntityType::Appointment) => Some(words.concept.clone()),
        Some(EntityType::Event) if m.experiencer == Experiencer::Patient => words.person.clone(),
        _ => None,
    }
}

fn said_at(m: &Memory) -> Option<FactDate> {
    m.words.as_ref().and_then(|words| words.at)
}

/// Intolerances are stored next to the allergies but are none: the two need different care.
fn allergy_heading(words: Option<&FindingWords>) -> &'static str {
    match words.and_then(|words| words.status.as_deref()) {
        Some(INTOLERANCE) => "Intolerance",
        _ => "Allergy",
    }
}

fn details(w: &FindingWords, said: Option<&str>) -> String {
    let mut text = w.concept.clone();
    if let Some(said) = said {
        text.push_str(&format!(" ({said})"));
    }
    if let Some(measured) = &w.measured {
        let day = w.at.map(|at| format!(", {}", at.iso())).unwrap_or_default();
        return format!("{text} {}{day}", measured.said());
    }
    if let Some(dose) = &w.dose {
        text.push(' ');
        text.push_str(dose);
    }
    // How a memory became active is not shown; denial and intolerance are at the head of the line.
    let ordinary = |status: &&String| {
        !matches!(status.as_str(), "active" | "started" | "changed" | "continued" | "not_taken" | INTOLERANCE)
    };
    // The text of a manual memory is its value.
    let plain = [&w.severity, &w.value, &w.route, &w.frequency, &w.date].into_iter().flatten();
    let plain = plain.filter(|part| **part != w.concept);
    for part in plain.chain(w.status.as_ref().filter(ordinary)) {
        text.push_str(", ");
        text.push_str(part);
    }
    if let Some(reaction) = &w.reaction {
        text.push_str(", reaction: ");
        text.push_str(reaction);
    }
    if let Some(code) = &w.code {
        text.push_str(&format!(" [{code}]"));
    }
    text
}

#[cfg(test)]
#[path = "memory_item_tests.rs"]
mod tests;
