//! The learned reader's probabilities for a finding of a rule.

use std::ops::Range;

use serde::Serialize;

use crate::reader::{AttributeScores, LabelLayer, ReaderPredictions};
use anamnesis_core::finding::EntityType;
use anamnesis_text::Speaker;

/// The reader's probabilities (0.0–1.0) at the place of one finding, and related findings of the document.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ReaderEvidence {
    /// The reader found it, and no rule.
    pub(crate) alone: bool,
    /// Confidence of the finding: that of the rule, or the probability of the reader's tag.
    pub(crate) found: f32,
    /// That something of its kind, or of one often taken for it, is said there.
    pub(crate) support: f32,
    /// Probability that anything of interest is there.
    pub(crate) anything: f32,
    pub(crate) denied: f32,
    /// Of a relative or of another person.
    pub(crate) others: f32,
    pub(crate) past: f32,
    /// Only possible or planned.
    pub(crate) open: f32,
    /// Of medicines: not taken any more, or never, or only suggested or declined.
    pub(crate) not_taken: f32,
    /// True, and no one would miss it.
    pub(crate) minor: f32,
    /// The speaker, where the document has turns.
    pub(crate) speaker: Option<Speaker>,
    /// Other findings of the same value in the document, at most 2.
    pub(crate) again: u8,
    /// One of them is denied where this is not, or this where it is not.
    pub(crate) opposed: bool,
}

impl ReaderEvidence {
    /// The evidence about a finding that a rule made with some confidence.
    pub(super) fn from_predictions(
        predictions: &ReaderPredictions,
        kind: EntityType,
        (line, bytes): (usize, &Range<usize>),
        found: f64,
    ) -> Self {
        let (layer, kinds) = tags(kind);
        let attributes = predictions.attributes(line, bytes, layer);
        let share = |group: &str, values: &[&str]| -> f32 {
            let of = |attributes: &AttributeScores| {
                values.iter().filter_map(|value| attributes.probability(group, value)).sum()
            };
            // Without attributes the reader saw nothing there, and every share is 0.
            attributes.as_ref().map_or(0.0, of)
        };
        let all = |layer: LabelLayer| predictions.something(line, bytes, layer);
        Self {
            alone: false,
            found: found as f32,
            support: predictions.support(line, bytes, layer, kinds),
            // The higher of both layers, since names and clauses are tagged separately.
            anything: all(LabelLayer::Names).max(all(LabelLayer::Clauses)),
            denied: share("polarity", &["denied"]),
            others: share("person", &["family", "other"]),
            past: share("time", &["past"]),
            open: share("certainty", &["possible", "planned"]),
            // The reader has more states than this asks for: all of these are no treatment now.
            not_taken: share("status", &["stopped", "not_taken", "suggested", "declined", "on_hold", "resolved"]),
            minor: share("weight", &["minor"]),
            speaker: None,
            again: 0,
            opposed: false,
        }
    }
}

/// Where the reader tags a kind, and the kinds that it may call it.
pub(super) fn tags(kind: EntityType) -> (LabelLayer, &'static [&'static str]) {
    match kind {
        EntityType::Condition | EntityType::Symptom | EntityType::HealthSignal => {
            (LabelLayer::Names, &["condition", "symptom", "substance_use"])
        }
        EntityType::Allergy | EntityType::Intolerance => (LabelLayer::Names, &["allergy", "intolerance"]),
        EntityType::Medication => (LabelLayer::Names, &["medication", "adherence"]),
        EntityType::Measurement => (LabelLayer::Names, &["measurement"]),
        EntityType::Procedure => (LabelLayer::Names, &["procedure"]),
        EntityType::Appointment => (LabelLayer::Clauses, &["appointment"]),
        EntityType::Event => (LabelLayer::Clauses, &["event"]),
        EntityType::Preference => (LabelLayer::Clauses, &["preference"]),
        EntityType::Goal => (LabelLayer::Clauses, &["goal"]),
        EntityType::Relationship => (LabelLayer::Clauses, &["relationship"]),
    }
}
