#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! Extraction: from redacted text to clinical findings with their evidence. Deterministic rules and lexicons; same
//! input and versions, same result. The shapes below are those of contract.md (`extract`), with byte spans.

mod allergies;
mod analysis;
mod assertion;
mod clinical;
mod confidence;
mod current_values;
pub mod dates;
mod dialogue;
pub mod evaluation;
mod events;
mod extractor;
mod facts;
mod fusion;
mod hypotheses;
mod inflection;
mod input;
pub mod lexicon;
pub mod llm;
mod matcher;
mod measurements;
mod medication;
mod mention_resolution;
#[cfg(test)]
mod misreading_tests;
mod negative_statements;
mod past_dates;
mod phrase_trie;
mod questions;
pub mod reader;
mod reason_clauses;
mod risk;
mod sentiment;
mod spelling;
mod structure;
mod substances;
mod tokenized;

pub use current_values::CurrentValues;
pub use extractor::Extractor;
pub use fusion::{ConfidenceInputs, DocumentReading, IdentifierSpan, ReaderEvidence};
pub use input::ExtractionInput;
pub use mention_resolution::resolve_mentions;

use anamnesis_core::coded_enum::codes;
pub use anamnesis_core::document::DocumentType;
use anamnesis_core::fact_date::FactDate;
pub use anamnesis_core::finding::{EntityType, Epistemic, Experiencer, RiskLevel, Temporality};
pub use anamnesis_core::measured::Measured;
use anamnesis_text::Span;

/// What the training of the risk classifier reads (`tools/train`). No promise of stability: use [`Extractor`].
#[doc(hidden)]
pub mod internals {
    pub use crate::extractor::TrainingSentence;
    pub use crate::risk::classifier;
}

codes!(
    RiskClass {
        PassiveIdeation = "passive_ideation", ActiveIdeation = "active_ideation", PlanOrMeans = "plan_or_means",
        AttemptHistory = "attempt_history", SelfHarm = "self_harm", HarmToOthers = "harm_to_others", Abuse = "abuse",
    }
);
codes!(Sentiment { Positive = "positive", Neutral = "neutral", Negative = "negative", Mixed = "mixed" });

/// That of a text that no one read.
#[allow(clippy::derivable_impls)] // the codes' own macro makes the type
impl Default for Sentiment {
    fn default() -> Self {
        Self::Neutral
    }
}
codes!(StatementKind { NoKnownAllergies = "no_known_allergies", NoMedications = "no_medications" });

/// What surrounds a mention and changes what it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MentionContext {
    pub negated: bool,
    pub uncertain: bool,
    pub temporality: Temporality,
    pub experiencer: Experiencer,
}

impl Default for MentionContext {
    fn default() -> Self {
        Self { negated: false, uncertain: false, temporality: Temporality::Recent, experiencer: Experiencer::Patient }
    }
}

/// One finding. `span` is the mention; `evidence` the sentence or clause that carries it; both literal in the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Entity {
    pub kind: EntityType,
    pub span: Span,
    pub evidence: Span,
    /// Index into the document's turns, where it has any.
    pub turn: Option<usize>,
    /// The concept's preferred name in lower case ("sertraline", "penicillin", "anxiety"): equal for synonyms and languages.
    pub value: String,
    /// ICD-10-CM or another code where the lexicon has one.
    pub code: Option<&'static str>,
    pub context: MentionContext,
    pub epistemic: Epistemic,
    /// How surely it was read: 0.0–1.0.
    pub confidence: f64,
    /// active, stopped, started, changed, not_taken … for medications; mild/moderate/severe goes into `severity`.
    pub status: Option<String>,
    pub severity: Option<String>,
    /// As said, normalised: "50 mg".
    pub dose: Option<String>,
    pub route: Option<String>,
    pub frequency: Option<String>,
    /// Where dose, route and frequency were said.
    pub places: RegimenPlaces,
    /// When it happened, began or is due, where the same clause says so.
    pub at: Option<FactDate>,
    /// Of a medicine that is taken: the day until which it is to be, where the text says so ("until 9 March").
    pub ends: Option<FactDate>,
    /// Of allergies and intolerances: what the substance does.
    pub reaction: Option<Reaction>,
    /// Of measurements: the value.
    pub measured: Option<Measured>,
    /// Of a loss: who was lost.
    pub subject: Option<String>,
    /// Of events, procedures and appointments: the part of the list that named it.
    pub(crate) group: Option<&'static str>,
    /// What the learned reader thinks of it, where one reads.
    pub view: Option<ReaderEvidence>,
}

/// What a substance does to the patient, and where the text says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaction {
    pub name: String,
    pub(crate) place: Span,
}

/// Where the parts of a medicine's regimen stand in the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RegimenPlaces {
    pub dose: Option<Span>,
    pub route: Option<Span>,
    pub frequency: Option<Span>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement {
    pub kind: StatementKind,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Risk {
    pub class: RiskClass,
    pub span: Span,
    /// The speaker denies it ("no he pensado en hacerme daño"): stored as a denial, never as the risk.
    pub denied: bool,
    pub experiencer: Experiencer,
    /// Probability in hundredths (0.01–0.99) where the classifier found it; `None` where a rule found it.
    pub learned: Option<f64>,
    /// The classifier's probability of what a phrase found: it confirms, or the finding is of a low level.
    pub confirmed: Option<f64>,
    /// How soon someone must look (docs/risk.md).
    pub level: RiskLevel,
    /// Historical where it is over: a past attempt, self-harm of school days.
    pub temporality: Temporality,
    /// When it happened, where the passage says so.
    pub at: Option<FactDate>,
    /// Which relative is meant, in English.
    pub relation: Option<&'static str>,
}

/// A cognitive pattern or need that someone reads into the words: always an inference (seed 000, principle 4).
#[derive(Debug, Clone, PartialEq)]
pub struct Hypothesis {
    pub text: String,
    pub confidence: f64,
    pub evidence: Span,
}

/// All that the rules found in one document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extraction {
    pub entities: Vec<Entity>,
    pub statements: Vec<Statement>,
    pub risk: Vec<Risk>,
    pub themes: Vec<&'static str>,
    pub sentiment: Sentiment,
    pub hypotheses: Vec<Hypothesis>,
    /// Context of the targets that the caller asked about, in their order.
    pub targets: Vec<MentionContext>,
}

impl Extraction {
    /// Preferred names of the concepts that a stretch of the text speaks of, each once: the same in both languages.
    pub fn concepts(&self, within: Span) -> Vec<&str> {
        let inside = self.entities.iter().filter(|e| e.span.overlaps(&within));
        let mut names: Vec<&str> = inside.map(|e| e.value.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

impl Risk {
    /// A finding before it is graded.
    fn ungraded(class: RiskClass, span: Span, denied: bool, experiencer: Experiencer) -> Self {
        let (level, temporality) = (RiskLevel::None, Temporality::Recent);
        Self {
            class,
            span,
            denied,
            experiencer,
            learned: None,
            confirmed: None,
            level,
            temporality,
            at: None,
            relation: None,
        }
    }

    /// Said of the patient and not denied.
    pub fn is_own(&self) -> bool {
        !self.denied && self.experiencer == Experiencer::Patient
    }
}

impl Entity {
    /// Whether it is read surely enough to be remembered at all. An allergy that a rule found always is: to leave one out
    /// would harm.
    pub fn is_worth_remembering(&self, min_confidence: f64) -> bool {
        let by_rule = self.view.is_none_or(|view| !view.alone);
        let allergy = matches!(self.kind, EntityType::Allergy | EntityType::Intolerance);
        self.confidence >= min_confidence || (allergy && by_rule)
    }

    /// Whether mention and evidence are literally there, on character boundaries, one inside the other.
    pub fn is_grounded(&self, text: &str) -> bool {
        !self.span.is_empty()
            && self.evidence.contains(&self.span)
            && text.get(self.span.start..self.span.end).is_some()
            && text.get(self.evidence.start..self.evidence.end).is_some()
    }
}
