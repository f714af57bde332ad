//! How good the classifier is on lines that it was not trained on: together with the rules, as in the program.

use super::TrainingLine;
use anamnesis_extraction::internals::classifier::RiskClassifier;
use anamnesis_extraction::{ExtractionInput, Extractor, Risk};
use anamnesis_text::Document;

/// How much surer than the program demands (log odds) the classifier is asked to be, in the figures.
pub(crate) const SHIFTS: [f32; 7] = [-0.8, -0.6, -0.4, -0.2, 0.0, 0.2, 0.4];

/// Figures of a file of lines at one of [`SHIFTS`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct HeldOutScore {
    pub(crate) shift: f32,
    /// Lines with risk in which it was found, and all lines with risk.
    pub(crate) right: usize,
    pub(crate) risks: usize,
    /// Lines without risk in which one was found.
    pub(crate) wrong: usize,
}

/// Figures of rules and classifier together, at each of [`SHIFTS`]. `None` where the bytes are no model.
pub(crate) fn held_out(model: Vec<u8>, lines: &[TrainingLine]) -> Option<Vec<HeldOutScore>> {
    let model: &'static [u8] = model.leak();
    let at = |shift| {
        let extractor = Extractor::builtin().with_risk_classifier(RiskClassifier::read(model, shift)?);
        let mut at = HeldOutScore { shift, right: 0, risks: 0, wrong: 0 };
        for line in lines {
            let document = Document::plain(line.text.clone(), line.language);
            let found = extractor.extract(&ExtractionInput::new(&document)).risk.iter().any(Risk::is_own);
            at.risks += usize::from(line.class.is_some());
            at.right += usize::from(found && line.class.is_some());
            at.wrong += usize::from(found && line.class.is_none());
        }
        Some(at)
    };
    SHIFTS.into_iter().map(at).collect()
}
