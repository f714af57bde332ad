//! How good the ear is on lines that it was not trained on: together with the rules, as the program hears.

use super::Line;
use anamnesis_extraction::internals::learned::Ear;
use anamnesis_extraction::{ExtractionInput, Extractor, Risk};
use anamnesis_text::Document;

/// How much surer than the program demands (log odds) the ear is asked to be, in the figures.
pub const SHIFTS: [f32; 7] = [-0.8, -0.6, -0.4, -0.2, 0.0, 0.2, 0.4];

/// Figures of a file of lines at one of [`SHIFTS`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct At {
    pub shift: f32,
    /// Risk heard of lines with risk, and all lines with risk.
    pub right: usize,
    pub risks: usize,
    /// Risk heard of lines without.
    pub wrong: usize,
}

/// Figures of rules and ear together, at each of [`SHIFTS`]. `None` where the bytes are no model.
pub fn held_out(model: Vec<u8>, lines: &[Line]) -> Option<Vec<At>> {
    let model: &'static [u8] = model.leak();
    let at = |shift| {
        let extractor = Extractor::builtin().hearing(Ear::read(model, shift)?);
        let mut at = At { shift, right: 0, risks: 0, wrong: 0 };
        for line in lines {
            let document = Document::plain(line.text.clone(), line.language);
            let heard = extractor.extract(&ExtractionInput::of(&document)).risk.iter().any(Risk::is_own);
            at.risks += usize::from(line.class.is_some());
            at.right += usize::from(heard && line.class.is_some());
            at.wrong += usize::from(heard && line.class.is_none());
        }
        Some(at)
    };
    SHIFTS.into_iter().map(at).collect()
}
