//! Which field of a form is open at a place of a text.

use super::token::{Kind, Token};
use super::view::View;
use anamnesis_linear_model::hash::{mix, of};

/// What is known of fields at a place of a line: the words that may name one, and the one that is open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Opening {
    words: u64,
    count: usize,
    field: u64,
}

impl Opening {
    /// Goes over tokens whose atoms nobody asks for.
    pub(crate) fn pass(&mut self, view: &View, tokens: &[Token]) {
        let line = tokens.iter().rposition(|token| token.kind == Kind::Break).unwrap_or(0);
        for token in &tokens[line..] {
            let word = if token.kind == Kind::Word { of(token.span.of(&view.lower).as_bytes()) } else { 0 };
            self.step(view, token, word);
        }
    }

    /// The field of a token; `None` where it can have none.
    pub(crate) fn step(&mut self, view: &View, token: &Token, word: u64) -> Option<u64> {
        match token.kind {
            Kind::Break => {
                *self = Self::default();
                return None;
            }
            Kind::Sign if token.span.of(&view.plain) == ":" && self.count > 0 && self.count <= FIELD_WORDS => {
                *self = Self { words: 0, count: 0, field: self.words };
                return None;
            }
            Kind::Word => {
                self.words = mix(2, self.words, word);
                self.count += 1;
            }
            Kind::Sign if matches!(token.span.of(&view.plain), "." | ";") => (self.words, self.count) = (0, 0),
            _ => {}
        }
        Some(self.field)
    }
}

/// Words a field's name may have.
const FIELD_WORDS: usize = 4;
