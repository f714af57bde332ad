//! Plain records that the pipeline hands to the store, and that the store returns. Neighbouring modules seal and open
//! them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use crate::batch::{BatchMark, EventTrace, OrgBatch};
use anamnesis_core::audit::Actor;
use anamnesis_core::document::DocumentType;
use anamnesis_core::fact_date::FactDate;
use anamnesis_core::finding::{Experiencer, RiskLevel, Temporality};
use anamnesis_core::ids::{DocumentId, FindingId, OrgId, PassageId};
use anamnesis_core::measured::Measured;
use anamnesis_core::memory::{Kind, State};
use anamnesis_core::profile::{ProfileStatement, StatementStamp};
use anamnesis_core::projection::{Assertion, KeyHash, PersonAct};
use anamnesis_core::provenance::Trust;
use anamnesis_core::scope::Scope;
use anamnesis_core::summary::Summary;
use anamnesis_text::{Language, Span, Speaker};

/// The redacted text of a document with all that may hold words, as one sealed cell.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DocumentContent {
    pub text: String,
    /// Speaker, start and end byte of each turn.
    pub turns: Vec<(Speaker, usize, usize)>,
    /// Those of our extractor and those of the producer.
    pub themes: Vec<String>,
    pub producer_themes: Vec<String>,
    pub producer_sentiment: Option<String>,
    pub producer_risk_level: Option<String>,
    pub session_key: Option<String>,
    pub source_entity: Option<String>,
    pub proxy_agent: Option<String>,
    pub file: Option<StoredFile>,
    /// The level of risk that was read here. The document's own column has the higher one of this and the producer's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_risk_level: Option<String>,
    /// The text as it came where redaction does not know its language; `text` is empty then. Only an export shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
    /// The redacted values, in order; empty for documents of versions that did not record them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redactions: Vec<StoredReplacement>,
}

impl DocumentContent {
    /// A text of which nothing else is known.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// One stretch that redaction took out, without its value. Places are bytes; those of the source are of the text as it
/// came, which no one keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "PackedReplacement", into = "PackedReplacement")]
pub struct StoredReplacement {
    /// PERSON, ES_DNI …
    pub label: String,
    pub recognizer: String,
    /// 0.0–1.0.
    pub score: f64,
    pub source: Span,
    pub redacted: Span,
    /// Keyed hash of the value: equal where the values of a patient are equal.
    pub fingerprint: u64,
}

/// A list instead of named fields: a note has dozens.
type PackedReplacement = (String, String, f64, [usize; 4], u64);

impl From<PackedReplacement> for StoredReplacement {
    fn from((label, recognizer, score, [a, b, c, d], fingerprint): PackedReplacement) -> Self {
        let span = |start: usize, end: usize| Span::new(start, end.max(start));
        Self { label, recognizer, score, source: span(a, b), redacted: span(c, d), fingerprint }
    }
}

impl From<StoredReplacement> for PackedReplacement {
    fn from(taken: StoredReplacement) -> Self {
        let StoredReplacement { label, recognizer, score, source, redacted, fingerprint } = taken;
        (label, recognizer, score, [source.start, source.end, redacted.start, redacted.end], fingerprint)
    }
}

/// Where an uploaded document came from; names have passed redaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredFile {
    pub name: String,
    pub media_type: String,
    pub sha256: String,
    pub uri: Option<String>,
    /// Code point of the text as it came at which each page begins.
    pub pages: Vec<u64>,
    /// The same in bytes of the redacted text; empty for documents of versions that did not record it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<usize>,
}

impl StoredFile {
    /// The position in the file of a byte of the redacted text.
    pub fn place(&self, byte: usize) -> FilePlace {
        FilePlace::at(&self.sha256, &self.starts, byte)
    }
}

/// A position in an uploaded file, which a reader opens to check a finding (contract.md, "Messages in").
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePlace {
    pub sha256: String,
    /// Counted from 1; `None` where the producer gave no pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
}

impl FilePlace {
    /// `starts`: where pages begin, ascending.
    pub fn at(sha256: &str, starts: &[usize], byte: usize) -> Self {
        let page = u32::try_from(starts.partition_point(|start| *start <= byte)).ok().filter(|page| *page > 0);
        Self { sha256: sha256.to_owned(), page }
    }
}

impl std::fmt::Display for FilePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.page {
            Some(page) => write!(f, "page {page} of sha256 {}", self.sha256),
            None => write!(f, "sha256 {}", self.sha256),
        }
    }
}

/// One revision of one document, ready to store.
#[derive(Debug, Clone, PartialEq)]
pub struct NewDocument {
    pub scope: Scope,
    pub id: DocumentId,
    pub revision: u32,
    pub document_type: DocumentType,
    pub occurred_at: DateTime<Utc>,
    pub language: Language,
    pub therapist_id: Option<Uuid>,
    /// The clinician who vouches for a model's words.
    pub signed_by: Option<Uuid>,
    pub ends_at: Option<DateTime<Utc>>,
    /// Of its capture.
    pub trust: Trust,
    pub sentiment: Option<&'static str>,
    pub risk_level: Option<&'static str>,
    /// Keyed hash of the message body.
    pub body_hash: KeyHash,
    pub content: DocumentContent,
    pub redaction_policy: String,
    pub extractor_version: String,
    pub passages: Vec<NewPassage>,
    pub risks: Vec<NewRisk>,
}

/// A stretch that is embedded and searched.
#[derive(Debug, Clone, PartialEq)]
pub struct NewPassage {
    pub id: PassageId,
    pub span: Span,
    /// Keyed hash of its text: an equal text of the same patient has the same vector.
    pub text_hash: [u8; 16],
    /// Keyed search terms, sorted, with repetitions.
    pub terms: Vec<i64>,
    /// Unit vector; `None` leaves it to the embedding batch.
    pub vector: Option<Vec<f32>>,
}

/// `learned` where the classifier gave a probability; `rules` where a rule found the risk.
pub(crate) const fn detected_by(learned: Option<f64>) -> &'static str {
    match learned {
        Some(_) => "learned",
        None => "rules",
    }
}

/// A risk that the text mentions.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRisk {
    pub class: &'static str,
    pub denied: bool,
    pub experiencer: Experiencer,
    /// Probability (0.01–0.99) where the classifier found it; `None` where a rule found it.
    pub learned: Option<f64>,
    /// How soon a person must look.
    pub level: RiskLevel,
    pub temporality: Temporality,
    /// When it happened, and which relative is meant, where it was said.
    pub detail: RiskDetail,
    pub quote: String,
    pub span: Span,
    /// Only for findings of an uploaded document.
    pub file: Option<FilePlace>,
}

/// When a risk happened and which relative is meant, as one sealed cell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RiskDetail {
    pub at: Option<FactDate>,
    pub relation: Option<String>,
}

impl RiskDetail {
    /// `None` where nothing of it was said.
    pub(crate) fn non_empty(&self) -> Option<&Self> {
        (self.at.is_some() || self.relation.is_some()).then_some(self)
    }
}

/// A literal quote of the redacted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    pub quote: String,
    pub span: Span,
}

/// The words of a finding, as one sealed cell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingWords {
    /// The concept's preferred name.
    pub concept: String,
    pub code: Option<String>,
    /// The relative or other person.
    pub person: Option<String>,
    pub status: Option<String>,
    pub dose: Option<String>,
    pub frequency: Option<String>,
    pub route: Option<String>,
    pub severity: Option<String>,
    pub date: Option<String>,
    pub value: Option<String>,
    pub reaction: Option<String>,
    /// When it happened, began or is due: a typed value, sealed with the words and never part of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<FactDate>,
    /// Of measurements: the value with its unit and range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
    /// The mention as written in the text.
    pub mention: String,
    /// Of a denial: for all time up to then ("I have never smoked").
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub never: bool,
    /// The speaker, if it was another entity.
    pub source_entity: Option<String>,
    /// Only for findings of an uploaded document: the position in its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<FilePlace>,
    /// For derived findings: the memories that they were derived from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub formed_from: Vec<Uuid>,
    /// Only for manual memories: the memories that it was made from, each as `kind:id` (seed 001, section 4).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derived_from: Vec<String>,
    /// Only for summaries: the parts of the period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<Summary>,
}

/// One finding of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct NewFinding {
    pub scope: Scope,
    /// The unit of folding: the attribute, or all allergies of one subject.
    pub group: KeyHash,
    pub assertion: Assertion,
    pub revision: u32,
    pub uncertain: bool,
    pub temporality: Temporality,
    pub words: FindingWords,
    pub evidence: Option<Evidence>,
    pub extractor_version: String,
}

/// The effects of a profile event in addition to its findings.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileChange {
    pub scope: Scope,
    pub statement: ProfileStatement,
    pub preferences: Vec<(String, String)>,
    pub actor: Uuid,
}

/// From this instant nothing of the patient is stored (`on`), or storing resumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EphemeralChange {
    pub scope: Scope,
    pub stamp: StatementStamp,
    pub on: bool,
}

/// A danger in a text that is not stored: announced immediately, without content.
#[derive(Debug, Clone, PartialEq)]
pub struct RiskAlarm {
    pub scope: Scope,
    /// Keyed hash of the message.
    pub message: KeyHash,
    pub class: &'static str,
    pub experiencer: Experiencer,
    /// As of [`NewRisk`].
    pub learned: Option<f64>,
    pub level: RiskLevel,
}

/// An act of a person on a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMemoryAct {
    pub scope: Scope,
    pub act: PersonAct,
    /// Role code of who did it.
    pub by: &'static str,
    /// The actor.
    pub actor: Actor,
}

/// One message in the inbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxEntry {
    pub message: KeyHash,
    pub body: KeyHash,
    pub scope: Scope,
    pub message_type: &'static str,
    pub done: MessageAct,
}

/// The act of a message, for the audit trail.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MessageAct {
    /// The acting person, or the producer that forwards the statements of others.
    pub actor: Actor,
    pub action: &'static str,
    pub subject: Option<Uuid>,
}

/// Where a batch is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WriteTarget {
    pub(crate) org: OrgId,
    pub(crate) now: DateTime<Utc>,
}

/// The effects of a commit, for metrics.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitCounts {
    pub documents: usize,
    pub findings: usize,
    pub vectors: usize,
    pub memories: Vec<MemoryChange>,
    /// Types of the contradictions that are new.
    pub contradictions: Vec<&'static str>,
    pub events: usize,
}

/// The effect of a commit on a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryChange {
    pub kind: Kind,
    /// `None` when it is new.
    pub from: Option<State>,
    pub to: State,
    pub contested: bool,
}

/// The id of a finding, from its position.
pub fn finding_id(scope: Scope, source: Uuid, revision: u32, key: &[u8]) -> FindingId {
    let (org, patient) = (scope.org().0, scope.patient().0);
    FindingId(anamnesis_core::ids::derive(
        "finding",
        &[org.as_bytes(), patient.as_bytes(), source.as_bytes(), &revision.to_be_bytes(), key],
    ))
}
