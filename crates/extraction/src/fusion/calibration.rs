//! The confidence of a finding from the results of the rules and the learned reader: a logistic regression over a few
//! probabilities, fitted by `tools/train/reader/surety.py` on whole documents whose facts are known.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Serialize;

use super::corrections::NOT_TAKEN;
use super::reader_evidence::ReaderEvidence;
use crate::Entity;
use anamnesis_core::finding::{EntityType, Experiencer, Temporality};
use anamnesis_text::Speaker;

/// Group, feature, weight: `all` for every finding, `rule.KIND` and `reader.KIND` for those of one source and kind.
const WEIGHTS: &str = include_str!("calibration.tsv");
/// Added to a share before its logarithm is taken: none is certain.
const LEAST: f32 = 0.01;

/// Part of the version of what reads.
pub(crate) const FILE: &str = WEIGHTS;

/// The probability (0.01–0.99, in hundredths) that a clinician who reads the passage accepts the finding unchanged.
pub(super) fn probability(entity: &Entity, view: &ReaderEvidence) -> f64 {
    static TABLE: LazyLock<HashMap<(&str, &str), f32>> = LazyLock::new(|| rows(WEIGHTS).collect());
    let group = group(entity.kind, view.alone);
    let weight = |group: &str, feature: &str| TABLE.get(&(group, feature)).copied().unwrap_or_default();
    let shares = features(entity, view);
    let odds: f32 = shares.iter().map(|(name, value)| (weight("all", name) + weight(&group, name)) * value).sum();
    let marked: f32 = marks(entity, view).iter().map(|mark| weight(&group, mark)).sum();
    let probability = 1.0 / (1.0 + f64::from(-odds - marked).exp());
    (probability * 100.0).round().clamp(1.0, 99.0) / 100.0
}

/// The inputs of a confidence, for the fit.
#[derive(Debug, Serialize)]
pub struct ConfidenceInputs {
    pub(crate) group: String,
    pub(crate) features: BTreeMap<&'static str, f32>,
    /// Its features, as `name:value`: each counts 1.
    pub(crate) marks: Vec<String>,
}

impl ConfidenceInputs {
    /// `None` where no learned reader read.
    pub fn from_entity(entity: &Entity) -> Option<Self> {
        let view = entity.view.as_ref()?;
        let features = features(entity, view).into_iter().collect();
        Some(Self { group: group(entity.kind, view.alone), features, marks: marks(entity, view) })
    }
}

fn rows(table: &'static str) -> impl Iterator<Item = ((&'static str, &'static str), f32)> {
    table.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut fields = line.split('\t');
        let key = (fields.next()?, fields.next()?);
        Some((key, fields.next()?.parse().ok()?))
    })
}

/// Kinds that are read alike share their weights.
fn group(kind: EntityType, alone: bool) -> String {
    let kind = match kind {
        EntityType::Symptom | EntityType::HealthSignal => "symptom",
        EntityType::Intolerance => "allergy",
        EntityType::Event => "event",
        other => other.code(),
    };
    format!("{}.{kind}", if alone { "reader" } else { "rule" })
}

/// Log odds of what speaks for a finding and of what speaks against the way in which it is meant.
fn features(entity: &Entity, view: &ReaderEvidence) -> [(&'static str, f32); 10] {
    let context = entity.context;
    let against = |says: bool, share: f32| odds(if says { 1.0 - share } else { share });
    let open = context.uncertain || entity.status.as_deref() == Some("planned");
    let ended = context.negated || entity.status.as_deref().is_some_and(|status| NOT_TAKEN.contains(&status));
    let medicine = entity.kind == EntityType::Medication;
    [
        ("bias", 1.0),
        ("found", odds(view.found)),
        ("support", odds(view.support)),
        ("anything", odds(view.anything)),
        ("other_polarity", against(context.negated, view.denied)),
        ("other_person", against(context.experiencer != Experiencer::Patient, view.others)),
        ("other_time", against(context.temporality == Temporality::Historical, view.past)),
        ("other_certainty", against(open, view.open)),
        ("other_status", if medicine { against(ended, view.not_taken) } else { 0.0 }),
        ("minor", odds(view.minor)),
    ]
}

/// Further features that distinguish right findings from wrong ones, by kind: the speaker, the attributes, and other
/// findings of the same value.
fn marks(entity: &Entity, view: &ReaderEvidence) -> Vec<String> {
    let context = entity.context;
    let regimen = match (&entity.dose, &entity.frequency) {
        (Some(_), Some(_)) => "both",
        (Some(_), None) => "dose",
        (None, Some(_)) => "frequency",
        (None, None) => "none",
    };
    let speaker = match view.speaker {
        None => "none",
        Some(Speaker::Patient) => "patient",
        Some(Speaker::Clinician) => "clinician",
        Some(Speaker::Family) => "family",
        Some(Speaker::Agent) => "agent",
        Some(Speaker::Unknown) => "unknown",
    };
    vec![
        format!("speaker:{speaker}"),
        format!("status:{}", entity.status.as_deref().unwrap_or("none")),
        format!("person:{}", context.experiencer.code()),
        format!("time:{}", context.temporality.code()),
        format!("denied:{}", context.negated),
        format!("coded:{}", entity.code.is_some()),
        format!("regimen:{regimen}"),
        format!("dated:{}", entity.at.is_some()),
        format!("again:{}", view.again),
        format!("opposed:{}", view.opposed),
    ]
}

fn odds(share: f32) -> f32 {
    ((share + LEAST) / (1.0 - share + LEAST)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_weights_is_read() {
        let lines = WEIGHTS.lines().filter(|line| !line.starts_with('#')).count();
        let known: HashMap<_, _> = rows(WEIGHTS).collect();
        assert_eq!(known.len(), lines, "a line is no weight, or stands twice");
    }
}
