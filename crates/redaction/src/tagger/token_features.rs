//! Features of a token without its neighbours: hashes of its letters, its shape, its word classes, its form field, and
//! the findings of the rules.

use super::super::document::DocumentContext;
use super::super::entities::word_classes::{WordClasses, classes_of_hash, word_classes};
use super::super::finding::PiiFinding;
use super::super::token::{LetterCase, TextToken, TextTokenKind};
use super::tags::KINDS;
use anamnesis_linear_model::hash::{hash_bytes, mix};
use anamnesis_text::Span;

/// One token as features read it. Words are hashes: a model holds no text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenFeatures {
    pub word: u64,
    pub prefix: u64,
    pub suffix: u64,
    pub ending: u64,
    /// Kind, case and length class.
    pub shape: u8,
    pub word_classes: WordClasses,
    /// The name of the token's form field ("nombre" in "Nombre: Ana"); 0 without one.
    pub field: u64,
    /// 1 + twice the kind that a rule found here, one more where the span continues; 0 without a finding.
    pub rule: u8,
}

/// Shapes below are those of words; from the other one on, those of words in texts without capital letters.
const SHAPES_OF_WORDS: u8 = 16;
const CASELESS: u8 = 13;
/// Shapes of words in lower case, and of numbers of up to three digits.
const SMALL: std::ops::RangeInclusive<u8> = 1..=3;
const SHORT_NUMBER: std::ops::RangeInclusive<u8> = 17..=19;

/// Signs between everyday words.
const SIGNS: [u64; 8] = [
    hash_bytes(b","),
    hash_bytes(b"."),
    hash_bytes(b";"),
    hash_bytes(b"("),
    hash_bytes(b")"),
    hash_bytes(b"%"),
    hash_bytes(b"+"),
    hash_bytes(b"="),
];

impl TokenFeatures {
    /// A word, of any letters.
    pub fn is_word(&self) -> bool {
        (1..SHAPES_OF_WORDS).contains(&self.shape)
    }

    /// A word with capital letters in a text that has them.
    pub fn is_capitalized(&self) -> bool {
        self.is_word() && !SMALL.contains(&self.shape) && self.shape < CASELESS
    }

    /// A word in lower case that no list knows but as an everyday word, a short number or a sign between them, outside of
    /// forms, that no rule marked.
    pub(crate) fn is_plain(&self) -> bool {
        let quiet = SMALL.contains(&self.shape) && self.word_classes.is_everyday()
            || SHORT_NUMBER.contains(&self.shape)
            || SIGNS.contains(&self.word);
        quiet && self.rule == 0 && self.field == 0
    }
}

/// The token features of a document.
pub fn token_features(context: &DocumentContext<'_>, found: &[PiiFinding]) -> Vec<TokenFeatures> {
    let mut list: Vec<TokenFeatures> = context.tokens.iter().map(|token| features_of(context, token)).collect();
    fields(context, &mut list);
    rules(context, found, &mut list);
    list
}

fn features_of(context: &DocumentContext<'_>, token: &TextToken) -> TokenFeatures {
    let lower = context.lower(token);
    match token.kind {
        TextTokenKind::Word => {
            let bytes = lower.as_bytes();
            let cut = |n: usize| n.min(bytes.len());
            let word = hash_bytes(bytes);
            TokenFeatures {
                word,
                prefix: hash_bytes(&bytes[..cut(3)]),
                suffix: hash_bytes(&bytes[bytes.len() - cut(3)..]),
                ending: hash_bytes(&bytes[bytes.len() - cut(2)..]),
                shape: word_shape(token, context.no_case()),
                word_classes: if lower.ends_with("'s") { word_classes(lower) } else { classes_of_hash(word) },
                ..TokenFeatures::default()
            }
        }
        TextTokenKind::Number => {
            let shape = 16 + token.span.len().min(11) as u8;
            // Years and small numbers are words themselves; longer ones are described by their length.
            let word = if token.span.len() <= 2 {
                hash_bytes(lower.as_bytes())
            } else {
                mix(1, shape.into(), first_digits(lower))
            };
            TokenFeatures { word, shape, ..TokenFeatures::default() }
        }
        TextTokenKind::Sign => {
            let word = hash_bytes(lower.as_bytes());
            TokenFeatures { word, shape: 32 + (word % 8) as u8, ..TokenFeatures::default() }
        }
        TextTokenKind::Break => TokenFeatures { word: 10, shape: 40, ..TokenFeatures::default() },
    }
}

fn first_digits(lower: &str) -> u64 {
    if lower.len() == 4 && (lower.starts_with("19") || lower.starts_with("20")) { 1 } else { 0 }
}

fn word_shape(token: &TextToken, no_case: bool) -> u8 {
    let length = match token.span.len() {
        1 => 0,
        2 | 3 => 1,
        _ => 2,
    };
    let case = match token.case {
        _ if no_case => 4,
        LetterCase::Lower => 0,
        LetterCase::Title => 1,
        LetterCase::Upper => 2,
        LetterCase::Other => 3,
    };
    1 + case * 3 + length
}

/// Gives the tokens after the first colon of a line the name of their field.
fn fields(context: &DocumentContext<'_>, list: &mut [TokenFeatures]) {
    let mut open = context.open_field;
    for (token, features) in context.tokens.iter().zip(list) {
        if let Some(field) = open.step(&context.view, token, features.word) {
            features.field = field;
        }
    }
}

/// Marks the tokens that rules found; a wider finding wins over a narrower one.
fn rules(context: &DocumentContext<'_>, found: &[PiiFinding], list: &mut [TokenFeatures]) {
    let mut order: Vec<(Span, u8)> =
        found.iter().filter_map(|finding| Some((finding.span, kind_for(finding.label)?))).collect();
    order.sort_by_key(|(span, kind)| (span.len(), span.start, *kind));
    for (span, kind) in order {
        let first = context.tokens.partition_point(|token| token.span.end <= span.start);
        for (at, token) in
            context.tokens[first..].iter().enumerate().take_while(|(_, token)| token.span.start < span.end)
        {
            if token.kind != TextTokenKind::Break {
                list[first + at].rule = 1 + 2 * kind + u8::from(at > 0);
            }
        }
    }
}

/// The kind under which a label of the rules is learned. Identifiers are numbers. `None` for labels without a kind.
pub fn kind_for(name: &str) -> Option<u8> {
    let name = match name {
        super::super::label::GREAT_AGE => super::super::label::AGE,
        super::super::label::HANDLE | super::super::label::URL => super::super::label::EMAIL,
        known if KINDS.contains(&known) => known,
        _ => super::super::label::NUMBER,
    };
    KINDS.iter().position(|kind| *kind == name).map(|at| at as u8)
}
