//! From text to ids: normalised as the model was trained with, cut into pieces, between begin and end.

use super::charsmap::Charsmap;
use anamnesis_neural::pieces::Pieces;

/// The first ids stand for no text: unknown, begin, end and three that the model never uses.
const CONTROL: [u32; 6] = [UNKNOWN, BEGIN, END, 3, 4, 5];
const UNKNOWN: u32 = 0;
const BEGIN: u32 = 1;
const END: u32 = 2;

pub(super) struct Tokenizer {
    charsmap: Charsmap,
    pieces: Pieces,
}

impl Tokenizer {
    /// `pieces` and `scores` by id. None when they do not fit each other.
    pub(super) fn new(charsmap: Charsmap, pieces: &[&str], scores: Vec<f32>, unknown_score: f32) -> Option<Self> {
        let pieces = Pieces::new(pieces, scores, &CONTROL, (UNKNOWN, f64::from(unknown_score)))?;
        Some(Self { charsmap, pieces })
    }

    /// How many ids there are.
    pub(super) fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Ids of the text between begin and end. A text without any character is one unknown piece.
    pub(super) fn encode(&self, text: &str) -> Vec<u32> {
        let normalised = self.charsmap.normalise(text);
        let mut cuts = Vec::new();
        self.pieces.cut(&normalised, &mut Vec::new(), &mut cuts);
        let mut ids = Vec::with_capacity(cuts.len() + 3);
        ids.push(BEGIN);
        ids.extend(cuts.iter().map(|cut| cut.id));
        if cuts.is_empty() {
            ids.push(UNKNOWN);
        }
        ids.push(END);
        ids
    }
}
