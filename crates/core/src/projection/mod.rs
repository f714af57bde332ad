//! From the log to the memory: the result of a patient's findings and people's acts.
//!
//! Memories are not edited; they are folded. The log of one group (all that is stated of one attribute of one subject,
//! or of all allergies) is sorted by (time of the event, source, id) and walked once. Any permutation or repetition of
//! the same messages therefore ends in the same state (model.md, "Change of mind"), and a late
//! message is no special case: the group is folded again.

mod allergies;
mod checkpoint;
mod ends;
mod nevers;
mod plans;
mod replay;
mod validity;

use std::fmt;

use aws_lc_rs::digest::{SHA256, digest};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::coded_enum::codes;
use super::confidence::ConfidenceBasis;
use super::finding::{EntityType, Epistemic, Experiencer, Polarity};
use super::ids::{FindingId, MemoryEventId, MemoryId, derive};
use super::memory::{Class, DocumentType, Kind, SetBy, State};
use super::profile::CognitiveHistory;
use super::provenance::{SourceType, Trust};
use super::scope::Scope;

pub use checkpoint::{Checkpoint, ResumableProjection, replay, resume};

/// A keyed hash of a canonical form (`fact::FactParts`).
pub type KeyHash = [u8; 32];

/// The details of a finding beyond its concept. Two findings of one attribute state the same fact when no detail that
/// both give differs.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Details {
    /// Canonical (`quantity::canonical_dose`).
    pub dose: Option<String>,
    pub frequency: Option<String>,
    pub route: Option<String>,
    pub severity: Option<String>,
    /// ISO 8601 to the known precision.
    pub date: Option<String>,
    /// A preference's value, a measurement.
    pub value: Option<String>,
}

impl Details {
    fn pairs<'a>(&'a self, other: &'a Self) -> [(&'a Option<String>, &'a Option<String>); 6] {
        [
            (&self.dose, &other.dose),
            (&self.frequency, &other.frequency),
            (&self.route, &other.route),
            (&self.severity, &other.severity),
            (&self.date, &other.date),
            (&self.value, &other.value),
        ]
    }

    /// No detail that both give differs. "100" and "100 mg", "1/day" and "1/day in the morning" are one said shorter.
    pub fn agrees(&self, other: &Self) -> bool {
        self.pairs(other).iter().all(|pair| match pair {
            (Some(a), Some(b)) => a == b || is_start_of(a, b) || is_start_of(b, a),
            _ => true,
        })
    }

    /// How many details are given.
    pub(crate) fn count(&self) -> usize {
        self.pairs(self).iter().filter(|(a, _)| a.is_some()).count()
    }

    /// Takes over the details of the other that this one lacks.
    pub(crate) fn absorb(&mut self, other: &Self) {
        let mine =
            [&mut self.dose, &mut self.frequency, &mut self.route, &mut self.severity, &mut self.date, &mut self.value];
        let theirs = [&other.dose, &other.frequency, &other.route, &other.severity, &other.date, &other.value];
        for (mine, theirs) in mine.into_iter().zip(theirs) {
            let fuller = match (&mine, theirs) {
                (None, Some(_)) => true,
                (Some(short), Some(long)) => is_start_of(short, long),
                _ => false,
            };
            if fuller {
                mine.clone_from(theirs);
            }
        }
    }
}

/// Whether `short` is the beginning of `long`, up to the end of a word.
fn is_start_of(short: &str, long: &str) -> bool {
    long.strip_prefix(short).is_some_and(|rest| rest.starts_with(' '))
}

/// One finding of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Assertion {
    pub id: FindingId,
    /// The document or profile event that carries it; evidence counts once per source.
    pub source: Uuid,
    /// The whole text that carries it: the same words under another source are no other evidence. `None` where no text
    /// carries it, or where it was stored before this field existed.
    pub text: Option<KeyHash>,
    /// False when its revision was replaced: it supports nothing any more.
    pub live: bool,
    pub attribute: KeyHash,
    pub entity: EntityType,
    pub kind: Kind,
    pub class: Class,
    pub polarity: Polarity,
    pub experiencer: Experiencer,
    pub details: Details,
    /// It says that something ended ("ya no tomo …").
    pub ending: bool,
    /// It speaks of an illness of the past: history from the beginning, never an active state.
    pub past: bool,
    /// "No known allergies": speaks of every substance.
    pub blanket: bool,
    /// A denial for all time up to then: "I have never smoked".
    pub never: bool,
    pub set_by: SetBy,
    pub document_type: Option<DocumentType>,
    pub source_type: SourceType,
    pub epistemic: Epistemic,
    pub trust: Trust,
    pub is_proxy: bool,
    pub extraction_confidence: f64,
    pub initial_confidence: f64,
    pub basis: ConfidenceBasis,
    pub asserted_at: DateTime<Utc>,
    pub valid_from: DateTime<Utc>,
    /// Its own end of life, where it names one.
    pub expires_at: Option<DateTime<Utc>>,
    /// When all that its document says ends, by the producer's word.
    pub ends_at: Option<DateTime<Utc>>,
    pub recorded_at: DateTime<Utc>,
    /// Its words are gone: it still holds the place of this memory in the order of things.
    pub tombstone: Option<MemoryId>,
}

impl Assertion {
    /// A statement of the patient in a document without a separate confidence is as sure as the patient was then: the
    /// cognitive state at that time (seed 004). Statements of other people do not depend on it.
    pub fn weigh(&mut self, course: &CognitiveHistory) {
        if self.basis != ConfidenceBasis::Default || !self.is_by_the_patient() {
            return;
        }
        if let Some(state) = course.at(self.asserted_at) {
            self.initial_confidence = (state / 100.0).clamp(0.0, 1.0);
            self.basis = ConfidenceBasis::CognitiveState;
        }
    }
}

impl Assertion {
    /// The patient's own first-hand words. An answer is set by the task that asked: the document shows who gave it.
    fn is_by_the_patient(&self) -> bool {
        speaks_for_themselves(self.source_type, self.set_by, self.document_type)
    }
}

/// Whether words are the patient's own, first-hand: the cognitive state of the patient weighs these and no others.
pub fn speaks_for_themselves(source_type: SourceType, set_by: SetBy, document: Option<DocumentType>) -> bool {
    let by_patient = match set_by {
        SetBy::Patient => document.is_some(),
        SetBy::Task => matches!(document, Some(DocumentType::IntakeForm | DocumentType::ChatMessage)),
        _ => false,
    };
    by_patient && source_type == SourceType::DirectExperience
}

codes!(
    /// An act of a person on a memory.
    MemoryAction {
        Verified = "verified",
        Confirmed = "confirmed",
        Ended = "ended",
        /// Asked whether it holds, a person said no.
        Denied = "denied",
        Protected = "protected",
        Unprotected = "unprotected",
        Forgotten = "forgotten",
        Recovered = "recovered",
        /// A person said what holds instead.
        Corrected = "corrected",
        /// The same, asked whether it holds.
        Answered = "answered",
        /// Something else speaks for it, once per evidence (seed 001, section 5).
        Reinforced = "reinforced",
        /// An episode speaks against it, once per evidence (seed 001, section 10).
        Weakened = "weakened",
    }
);

/// One act of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonAct {
    pub id: MemoryEventId,
    pub memory: MemoryId,
    pub at: DateTime<Utc>,
    pub deed: MemoryAction,
    pub by: SetBy,
    /// The evidence for it, or against it.
    pub evidence: Option<Uuid>,
}

/// One line of a memory's history (seed 001, section 5, `confidence_history`).
#[derive(Clone, PartialEq)]
pub struct HistoryChange {
    pub at: DateTime<Utc>,
    /// created, confirmed, reinforced, verified, superseded, resolved, resolved_unconfirmed, contradicted …
    pub action: &'static str,
    pub old: Option<f64>,
    pub new: Option<f64>,
    /// The finding, act or memory that caused it.
    pub cause: Option<Uuid>,
}

// Stores hold digests of the debug text of these types ([`ResumedHistory`], [`ProjectedMemory::fingerprint`]): the
// names in that text stay those of version 0.1.0, whatever the types are called since.
impl fmt::Debug for HistoryChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, action, old, new, cause } = self;
        let mut text = f.debug_struct("Change");
        text.field("at", at).field("action", action).field("old", old).field("new", new).field("cause", cause).finish()
    }
}

/// The history and sources of a memory before the log was resumed: their lines are in the store, and a projection needs
/// only these figures of them.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumedHistory {
    /// Lines of the history that came before [`ProjectedMemory::history`].
    pub lines: u32,
    /// Sources that came before [`ProjectedMemory::sources`].
    pub sources: u32,
    /// The times of the first and the last of those lines.
    pub(crate) first_at: Option<DateTime<Utc>>,
    pub(crate) last_at: Option<DateTime<Utc>>,
    pub(crate) lines_digest: KeyHash,
    pub(crate) sources_digest: KeyHash,
}

impl fmt::Debug for ResumedHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lines, sources, first_at, last_at, lines_digest, sources_digest } = self;
        let mut text = f.debug_struct("Earlier");
        text.field("lines", lines).field("sources", sources).field("first_at", first_at).field("last_at", last_at);
        text.field("lines_digest", lines_digest).field("sources_digest", sources_digest).finish()
    }
}

impl ResumedHistory {
    fn add_line(&mut self, line: &HistoryChange) {
        self.lines += 1;
        self.first_at = self.first_at.or(Some(line.at));
        self.last_at = Some(line.at);
        self.lines_digest = chained(&self.lines_digest, format!("{line:?}").as_bytes());
    }

    fn add_source(&mut self, source: FindingId) {
        self.sources += 1;
        self.sources_digest = chained(&self.sources_digest, source.0.as_bytes());
    }
}

fn chained(before: &KeyHash, next: &[u8]) -> KeyHash {
    let mut out = [0; 32];
    out.copy_from_slice(digest(&SHA256, &[before, next].concat()).as_ref());
    out
}

/// A memory as the fold finds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProjectedMemory {
    pub id: MemoryId,
    /// The finding that opened it: provenance, trust and evidence are that finding's, fixed for good.
    pub opened_by: FindingId,
    /// The finding that says most: its words are the memory's content.
    pub told_by: FindingId,
    /// All findings that support it, opening one first; of a resumed log those that came since.
    #[serde(skip)]
    pub sources: Vec<FindingId>,
    pub details: Details,
    pub state: State,
    /// Since when the state holds.
    pub state_at: DateTime<Utc>,
    /// Against something of higher standing: a hypothesis until a person answers.
    pub contested: bool,
    /// Nothing that supported it is left.
    pub ungrounded: bool,
    /// The highest standing among those who said so.
    pub set_by: SetBy,
    #[serde(with = "exact")]
    pub confidence: f64,
    pub times_reinforced: u32,
    pub verification_count: u32,
    pub last_verified: Option<DateTime<Utc>>,
    pub is_protected: bool,
    /// Number of confirmations: one reconfirmation task each.
    pub cycle: u32,
    pub valid_from: DateTime<Utc>,
    pub valid_to: Option<DateTime<Utc>>,
    pub last_confirmed_at: Option<DateTime<Utc>>,
    pub expires_at: Option<DateTime<Utc>>,
    /// When all that its documents say ends; `None` as soon as one of them names no end.
    pub ends_at: Option<DateTime<Utc>>,
    pub supersedes: Option<MemoryId>,
    pub superseded_by: Option<MemoryId>,
    /// All that happened to it, in order; of a resumed log what happened since.
    #[serde(skip)]
    pub history: Vec<HistoryChange>,
    /// The part outside `sources` and `history` of a resumed log.
    pub earlier: ResumedHistory,
    /// A person vouches for what its opening finding only inferred: it rests on that person's statement.
    pub vouched: bool,
}

impl ProjectedMemory {
    /// The same with its lines and sources counted as earlier ones.
    #[must_use]
    pub(crate) fn shortened(&self) -> Self {
        let mut earlier = self.earlier;
        self.history.iter().for_each(|line| earlier.add_line(line));
        self.sources.iter().for_each(|source| earlier.add_source(*source));
        // Written out: a clone would copy the lines first.
        Self { history: Vec::new(), sources: Vec::new(), earlier, details: self.details.clone(), ..*self }
    }

    /// A fingerprint of all that the fold found, the same whether the log was resumed or folded whole.
    #[must_use]
    pub fn fingerprint(&self) -> KeyHash {
        // The first words of the text are the type's name.
        let text = format!("{:?}", self.shortened()).replacen("ProjectedMemory", "Folded", 1);
        chained(&[0; 32], text.as_bytes())
    }

    /// When its first line was written.
    pub(crate) fn began_at(&self) -> DateTime<Utc> {
        self.earlier.first_at.or(self.history.first().map(|line| line.at)).unwrap_or(self.state_at)
    }

    /// When its latest line was written.
    pub(crate) fn changed_at(&self) -> DateTime<Utc> {
        self.history.last().map(|line| line.at).or(self.earlier.last_at).unwrap_or(self.state_at)
    }
}

/// Confidences as their bits: JSON gives back another number in the last place now and then.
mod exact {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(number: &f64, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(number.to_bits())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        u64::deserialize(from).map(f64::from_bits)
    }
}

/// A claim against something of higher standing (seed 002, section 6), or a recorded tension (seed 001, section 9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflict {
    pub kept: MemoryId,
    pub claim: MemoryId,
    pub at: DateTime<Utc>,
    /// Opposed polarity, or another value.
    pub negation: bool,
    /// A person said which of the two holds.
    pub answered: bool,
}

/// The result of a group.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Projection {
    pub memories: Vec<ProjectedMemory>,
    pub conflicts: Vec<Conflict>,
}

/// The log of one group.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GroupLog {
    pub assertions: Vec<Assertion>,
    pub acts: Vec<PersonAct>,
}

/// The id of the `ordinal`-th memory of one fact: the same whichever message came first to the store.
pub(crate) fn memory_id(
    scope: Scope,
    attribute: &KeyHash,
    polarity: Polarity,
    details: &Details,
    ordinal: u32,
) -> MemoryId {
    let mut form = Vec::new();
    for (detail, _) in details.pairs(details) {
        form.push(u8::from(detail.is_some()));
        let text = detail.as_deref().unwrap_or("");
        form.extend_from_slice(&(text.len() as u64).to_be_bytes());
        form.extend_from_slice(text.as_bytes());
    }
    let (org, patient) = (scope.org().0, scope.patient().0);
    let parts: [&[u8]; 6] =
        [org.as_bytes(), patient.as_bytes(), attribute, polarity.code().as_bytes(), &form, &ordinal.to_be_bytes()];
    MemoryId(derive("memory", &parts))
}

enum LogStep {
    Assertion(usize),
    Act(usize),
}

/// The place of an entry in the order of its log: time of the event, then source, then id.
type StepKey = (DateTime<Utc>, Uuid, Uuid);

/// The log in its own order, each entry once.
fn steps(log: &GroupLog) -> Vec<(StepKey, LogStep)> {
    let mut order: Vec<(StepKey, LogStep)> = Vec::with_capacity(log.assertions.len() + log.acts.len());
    for (at, a) in log.assertions.iter().enumerate() {
        order.push(((a.asserted_at, a.source, a.id.0), LogStep::Assertion(at)));
    }
    for (at, act) in log.acts.iter().enumerate() {
        order.push(((act.at, Uuid::max(), act.id.0), LogStep::Act(at)));
    }
    order.sort_by_key(|(key, _)| *key);
    order.dedup_by_key(|(key, _)| *key);
    order
}

#[cfg(test)]
mod tests;
