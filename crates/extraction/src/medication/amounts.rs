//! Amounts that distinguish a stock of medicines, or a time that is over, from a regimen.

use std::ops::Range;

use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;
use anamnesis_text::{Language, value_of};

/// A heap of tablets ("24 x paracetamol", "20 comp de lorazepam"): swallowed or hoarded, not taken as a medicine.
pub(super) fn is_heap(reading: &TokenizedText<'_>, mention: &Range<usize>) -> bool {
    let form = |word: usize| {
        matches!(
            reading.word(word),
            "x" | "of"
                | "de"
                | "comp"
                | "comps"
                | "tabs"
                | "tablets"
                | "pills"
                | "pastillas"
                | "comprimidos"
                | "caps"
                | "capsulas"
                | "the"
        )
    };
    let number = (mention.start.saturating_sub(3)..mention.start).rev().find(|word| !form(*word));
    let count = number.and_then(|word| reading.word(word).parse::<u32>().ok());
    // A bare number may be a strength; a form or "x" after it shows that tablets are counted.
    let counted = number.is_some_and(|number| {
        (number + 1..mention.start).any(|word| !matches!(reading.word(word), "of" | "de" | "the"))
    });
    // Fewer may be the dose of a day.
    count.is_some_and(|count| (8..=400).contains(&count)) && counted
}

/// How many words after a name the number may come that was dispensed.
const HANDED: usize = 7;

/// "Nyxoid – two given", "naloxona: entregados dos": dispensed for later use, so that no treatment is over.
pub(super) fn is_handed_out(reading: &TokenizedText<'_>, after: Range<usize>) -> bool {
    let handed = |word: &str| {
        matches!(word, "given" | "supplied" | "handed" | "dispensed" | "provided" | "issued")
            || ["entregad", "dispensad", "facilitad", "suministrad"].iter().any(|stem| word.starts_with(stem))
    };
    let count = |word: &str| {
        let digits = word.trim_start_matches('x').parse::<u8>().ok().map(f64::from);
        digits.or_else(|| value_of(word, Language::Unknown)).is_some_and(|count| (1.0..=12.0).contains(&count))
    };
    let kind =
        |word: &str| matches!(word, "kit" | "kits" | "pens" | "sprays" | "envases" | "unidades" | "cajas" | "out");
    let word = |at: usize| reading.word(at);
    after.clone().take(HANDED).any(|at| {
        let next = if kind(word(at + 1)) { at + 2 } else { at + 1 };
        next < after.end && (handed(word(at)) && count(word(next)) || count(word(at)) && handed(word(next)))
    })
}

/// Years in brackets after a name: "Lexapro 10 mg (2018-2019)".
pub(super) fn was_of_years(reading: &TokenizedText<'_>, after: Range<usize>) -> bool {
    let year = |word: usize| {
        let text = reading.word(word);
        // "2018-2019" as one word, or "2018 - 2019".
        let mut parts = text.split(['-', '–', '/']);
        let is_year = |part: &str| part.len() == 4 && (part.starts_with("19") || part.starts_with("20"));
        parts.next().is_some_and(is_year)
            && (parts.next().is_some_and(is_year) || matches!(reading.word(word + 1), "-" | "–" | "to" | "a"))
    };
    after.clone().take(8).any(year)
}

/// Articles, prepositions, numbers and forms: they separate nothing.
pub(super) fn is_small(word: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::MEDICATION, "amounts.is_small");
    word.starts_with(|c: char| c.is_ascii_digit()) || WORDS.contains(word)
}
