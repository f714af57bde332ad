//! The confidence of a finding of a rule in a whole document without a learned reader: a logistic regression over the
//! surroundings of the finding, fitted on documents whose facts are known (`tools/train/reader/certainty.py`). A
//! finding below `min_extraction_confidence` is a hypothesis, and a person reviews it.

mod features;

use std::collections::HashMap;
use std::sync::LazyLock;

use super::Entity;
use super::analysis::AnalyzedDocument;

/// Group, mark, weight: `all` for every finding, and the code of a kind.
const WEIGHTS: &str = include_str!("weights.tsv");
/// Confidences below it are a rule's own doubt, which stays as it is.
const DOUBT: f64 = 0.6;
/// As likely right as wrong.
const EVEN: f64 = 0.5;
/// A finding of a rule is stored for review, however doubtful it is: `extraction.min_confidence`.
const REMEMBERED: f64 = 0.5;

/// Part of the version of what reads.
pub(super) const FILES: &[&str] = &[WEIGHTS, features::WORDS];

/// Weighs the findings of a document by their surroundings.
pub(super) fn weigh(doc: &AnalyzedDocument<'_>, entities: &mut [Entity]) {
    let marks = features::features_by_finding(doc, entities);
    for (entity, marks) in entities.iter_mut().zip(marks) {
        if entity.confidence >= DOUBT {
            let probability = probability(&marks, entity.kind.code());
            // A finding that is more likely right than wrong needs no review: the reviewer's time goes to the rest.
            let least = if probability >= EVEN { DOUBT } else { REMEMBERED };
            entity.confidence = probability.max(least);
        }
    }
}

/// The features of each finding, as `name:value`: the input of the fit.
pub(super) fn mention_features(doc: &AnalyzedDocument<'_>, entities: &[Entity]) -> Vec<Vec<String>> {
    features::features_by_finding(doc, entities)
}

/// Probability that the finding is what the passage says: 0.01–0.99, in hundredths.
fn probability(marks: &[String], kind: &str) -> f64 {
    static TABLE: LazyLock<HashMap<(&str, &str), f64>> = LazyLock::new(|| rows(WEIGHTS).collect());
    let weight = |mark: &str| [("all", mark), (kind, mark)].iter().filter_map(|key| TABLE.get(key)).sum::<f64>();
    let odds: f64 = weight("bias") + marks.iter().map(|mark| weight(mark)).sum::<f64>();
    ((100.0 / (1.0 + (-odds).exp())).round() / 100.0).clamp(0.01, 0.99)
}

fn rows(table: &'static str) -> impl Iterator<Item = ((&'static str, &'static str), f64)> {
    table.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut fields = line.split('\t');
        let key = (fields.next()?, fields.next()?);
        Some((key, fields.next()?.parse().ok()?))
    })
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
