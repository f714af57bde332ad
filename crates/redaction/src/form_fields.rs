//! The form field that is open at a position of a text.

use super::normalized::NormalizedText;
use super::token::{TextToken, TextTokenKind};
use anamnesis_linear_model::hash::{hash_bytes, mix};

/// The state of form fields at a position of a line: the words that may name one, and the open one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct OpenFormField {
    words: u64,
    count: usize,
    field: u64,
}

impl OpenFormField {
    /// Passes tokens whose features are not needed.
    pub(crate) fn pass(&mut self, view: &NormalizedText, tokens: &[TextToken]) {
        let line = tokens.iter().rposition(|token| token.kind == TextTokenKind::Break).unwrap_or(0);
        for token in &tokens[line..] {
            let word = if token.kind == TextTokenKind::Word {
                hash_bytes(token.span.slice(&view.lower).as_bytes())
            } else {
                0
            };
            self.step(view, token, word);
        }
    }

    /// The field of a token; `None` if it can have none.
    pub(crate) fn step(&mut self, view: &NormalizedText, token: &TextToken, word: u64) -> Option<u64> {
        match token.kind {
            TextTokenKind::Break => {
                *self = Self::default();
                return None;
            }
            // A colon after a few words opens the field that they name.
            TextTokenKind::Sign
                if token.span.slice(&view.plain) == ":" && self.count > 0 && self.count <= FIELD_WORDS =>
            {
                *self = Self { words: 0, count: 0, field: self.words };
                return None;
            }
            TextTokenKind::Word => {
                self.words = mix(2, self.words, word);
                self.count += 1;
            }
            TextTokenKind::Sign if matches!(token.span.slice(&view.plain), "." | ";") => {
                (self.words, self.count) = (0, 0);
            }
            _ => {}
        }
        Some(self.field)
    }
}

/// Words a field's name may have.
const FIELD_WORDS: usize = 4;
