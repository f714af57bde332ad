#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! The one text layer under redaction, extraction and search: a document with its turns, spans, language, and (in the
//! files of this folder) normalisation, sentences, tokens, number words, stems, passages and lists of words.
//!
//! Offsets inside the program are **bytes** of the text they belong to, always on character boundaries; the command
//! line and the contract speak of Unicode code points and convert at the door ([`CodePoints`]).

mod asking;
pub mod codepoints;
pub mod coverage;
pub mod fold;
mod language;
pub mod numbers;
pub mod passages;
pub mod sentences;
pub mod stems;
mod terms;
pub mod tokens;
mod word_list;

pub use asking::{only_asks, subject, without_marks};
pub use codepoints::CodePoints;
pub use fold::{fold, fold_into};
pub use language::{LanguageVotes, detect, detect_both};
pub use numbers::{NumberKind, NumberWord, begins_number, number_words, value_of};
pub use passages::{DEFAULT_MAX_WORDS, Passage, passages};
pub use sentences::{sentences, sentences_of};
pub use stems::stems;
pub use terms::TermFilter;
pub use tokens::{Token, TokenKind, tokens};
pub use word_list::WordList;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A half-open byte range `start..end` of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn new(start: usize, end: usize) -> Self {
        debug_assert!(start <= end);
        Self { start, end }
    }

    pub fn len(&self) -> usize {
        self.end - self.start
    }

    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// The same stretch where counting begins `by` bytes later.
    pub fn back_by(self, by: usize) -> Self {
        Self { start: self.start - by, end: self.end - by }
    }

    pub fn overlaps(&self, other: &Span) -> bool {
        self.start < other.end && other.start < self.end
    }

    pub fn contains(&self, other: &Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The text under the span; empty when the span does not fit the text.
    pub fn slice<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.start..self.end).unwrap_or("")
    }
}

/// The language of a document. `Unknown` is worked with the rules of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    #[serde(rename = "es")]
    Spanish,
    #[serde(rename = "en")]
    English,
    #[default]
    #[serde(rename = "und")]
    Unknown,
}

/// Who speaks (contract.md, `turns[].speaker`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema, Default)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    Patient,
    Clinician,
    Family,
    Agent,
    #[default]
    Unknown,
}

/// One turn of a dialogue: who speaks, and where in [`Document::text`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    pub speaker: Speaker,
    pub span: Span,
    /// Milliseconds since the start of the session, where the producer said so.
    pub at_ms: Option<u64>,
}

/// A text that can be read: turns are joined with a line feed, and each knows its place. A text without turns has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub text: String,
    pub language: Language,
    pub turns: Vec<Turn>,
}

impl Document {
    pub fn plain(text: impl Into<String>, language: Language) -> Self {
        Self { text: text.into(), language, turns: Vec::new() }
    }

    /// Joins turns with a line feed.
    pub fn dialogue<'a>(turns: impl IntoIterator<Item = (Speaker, &'a str, Option<u64>)>, language: Language) -> Self {
        let mut text = String::new();
        let mut places = Vec::new();
        for (speaker, words, at_ms) in turns {
            if !places.is_empty() {
                text.push('\n');
            }
            let start = text.len();
            text.push_str(words);
            places.push(Turn { speaker, span: Span::new(start, text.len()), at_ms });
        }
        Self { text, language, turns: places }
    }
}
