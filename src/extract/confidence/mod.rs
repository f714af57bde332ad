//! How surely each finding was read: a calibrated probability that it is right, from a small logistic model over what
//! stands around it. The rules propose; this says how often proposals of this kind, in such surroundings, are right in
//! whole documents. Weights: `models/facts/confidence.tsv`, made by `scripts/train_confidence.py` (docs/extraction.md).

mod features;

use std::collections::HashMap;
use std::fmt::Write as _;

use super::scene::Scene;
use super::{Entity, EntityType};

/// The weights that the program is built with.
const BUILTIN: &str = include_str!("../../../models/facts/confidence.tsv");
/// Name of the constant term.
const BIAS: &str = "bias";
/// No reading of free text is certain, and none that a rule proposes is impossible.
const RANGE: (f64, f64) = (0.02, 0.98);

/// The model: a weight for each feature name, in log odds.
#[derive(Debug, Default)]
pub struct ConfidenceModel {
    weights: HashMap<Box<str>, f64, foldhash::fast::FixedState>,
}

impl ConfidenceModel {
    /// The weights inside the program.
    pub fn builtin() -> Self {
        Self::parse(BUILTIN)
    }

    /// Reads `feature<TAB>weight` lines; a line that begins with `#` is a comment, one that is neither is left out
    /// (a test holds that the shipped file has none).
    fn parse(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        let pairs = lines.filter_map(|line| line.split_once('\t'));
        let weights = pairs.filter_map(|(name, weight)| Some((name.into(), weight.trim().parse().ok()?)));
        Self { weights: weights.collect() }
    }

    /// Puts the calibrated probability in the place of the rules' own estimate.
    pub fn assess(&self, scene: &Scene<'_>, entities: &mut [Entity]) {
        if self.weights.is_empty() {
            return;
        }
        let mut name = String::with_capacity(64);
        let assessed: Vec<f64> =
            entities.iter().map(|entity| self.probability(scene, entities, entity, &mut name)).collect();
        for (entity, probability) in entities.iter_mut().zip(assessed) {
            entity.confidence = probability;
        }
    }

    fn probability(&self, scene: &Scene<'_>, all: &[Entity], entity: &Entity, name: &mut String) -> f64 {
        let mut odds = self.weights.get(BIAS).copied().unwrap_or_default();
        features::each(scene, all, entity, &mut |feature| {
            name.clear();
            // A string takes whatever is written to it.
            let _ = name.write_fmt(feature);
            odds += self.weights.get(name.as_str()).copied().unwrap_or_default();
        });
        (1.0 / (1.0 + (-odds).exp())).clamp(RANGE.0, RANGE.1)
    }
}

/// The features of each finding, for training and for whoever asks why.
pub fn features_of(scene: &Scene<'_>, entities: &[Entity]) -> Vec<Vec<String>> {
    let of = |entity: &Entity| {
        let mut out = Vec::new();
        features::each(scene, entities, entity, &mut |feature| out.push(feature.to_string()));
        out
    };
    entities.iter().map(of).collect()
}

/// Whether a finding is read surely enough to be remembered at all. An allergy always is: to leave one out would harm.
pub fn is_worth_remembering(entity: &Entity, min_confidence: f64) -> bool {
    entity.confidence >= min_confidence || entity.kind == EntityType::Allergy
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
