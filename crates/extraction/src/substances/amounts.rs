//! How much or how often someone smokes, drinks or uses.

use std::ops::Range;

use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;

/// Words between a substance and its amount.
const AMOUNT_REACH: usize = 5;
/// Words of an amount.
const LONGEST_AMOUNT: usize = 7;

/// How much or how often, after a substance in its clause.
pub(super) fn amount(reading: &TokenizedText<'_>, from: usize, limit: usize) -> Option<Range<usize>> {
    let to = limit.min(from + AMOUNT_REACH);
    // A denial ends the search: "beer no, two cigarettes" counts no beer.
    let stops = |word: usize| matches!(reading.word(word), ";" | "." | "|" | "?" | "no" | "never" | "nunca");
    let start = (from..to).take_while(|word| !stops(*word)).find(|word| amount_at(reading, *word, limit).is_some())?;
    amount_at(reading, start, limit)
}

/// "Two pints of beer": the number right before.
pub(super) fn amount_before(reading: &TokenizedText<'_>, end: usize, limit: usize) -> Option<Range<usize>> {
    let from = limit.max(end.saturating_sub(3));
    let start = (from..end).find(|word| is_number(reading.word(*word)))?;
    (!reading.words[start..end].iter().any(|word| word.punctuation)).then_some(start..end)
}

/// An amount that begins at a word: to the end of its clause.
pub(super) fn amount_at(reading: &TokenizedText<'_>, start: usize, limit: usize) -> Option<Range<usize>> {
    static WORDS: WordList = WordList::listed(word_lists::GENERAL, "amounts.amount_at");
    let word = reading.word(start);
    let often = WORDS.contains(word);
    // "Los sábados" is a frequency; "los" alone is an article.
    let days = word != "los"
        || matches!(
            reading.word(start + 1),
            "sab" | "sabados" | "viernes" | "domingos" | "findes" | "fines" | "lunes" | "dias" | "jueves"
        );
    if start >= limit || !(is_number(word) || often && days) {
        return None;
    }
    let ends = |at: &usize| {
        matches!(reading.word(*at), "," | ";" | "." | ":" | "|" | "(" | "?" | "y" | "and" | "but" | "pero")
    };
    let end = (start + 1..limit.min(start + LONGEST_AMOUNT)).find(ends).unwrap_or(limit.min(start + LONGEST_AMOUNT));
    Some(start..end)
}

fn is_number(word: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::GENERAL, "amounts.is_number");
    word.starts_with(|c: char| c.is_ascii_digit() || c == '½' || c == '¼') || WORDS.contains(word)
}
