//! The time of abstinence, and tests that show a single use.

use std::ops::Range;

use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;

/// "Sober", "abstinent": of someone who used before.
pub(super) fn is_abstinence(reading: &TokenizedText<'_>, found: &Range<usize>) -> bool {
    found.clone().any(|word| {
        let said = reading.word(word);
        said.starts_with("sobri") || said.starts_with("abstinen") || said == "sober"
    })
}

/// Whether a sentence says since when, or for how long.
pub(super) fn spans(reading: &TokenizedText<'_>, words: &Range<usize>) -> bool {
    words.clone().any(|word| {
        let said = reading.word(word);
        matches!(said, "since" | "desde" | "hace" | "lleva" | "llevo") || is_time(said)
    })
}

/// A stretch of time next to "sober" dates the last use.
fn is_time(word: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::GENERAL, "abstinence.is_time");
    WORDS.contains(word)
}

/// "Eighty days without ice", "tres meses sin fumar mota".
pub(super) fn counts_days_without(reading: &TokenizedText<'_>, found: &Range<usize>, within: &Range<usize>) -> bool {
    let from = within.start.max(found.start.saturating_sub(3));
    let without = (from..found.start).find(|word| matches!(reading.word(*word), "sin" | "without"));
    without.is_some_and(|at| at > within.start && is_time(reading.word(at - 1)))
}

/// Whether a sentence speaks of a test for drugs.
pub(super) fn tests(reading: &TokenizedText<'_>, mut words: Range<usize>) -> bool {
    words.any(|word| {
        let drug_screen =
            || matches!((reading.word(word), reading.word(word + 1)), ("drug" | "tox" | "toxicology", "screen"));
        matches!(
            reading.word(word),
            "antidoping" | "uds" | "utox" | "udt" | "toxicologico" | "toxicologicos" | "tamizaje"
        ) || drug_screen()
    })
}

/// "Sigue sin dejar de fumar", "has not stopped smoking": the denial concerns the giving up.
pub(super) fn has_not_quit(reading: &TokenizedText<'_>, substance: usize, within: &Range<usize>) -> bool {
    let from = within.start.max(substance.saturating_sub(super::QUIT_BEFORE));
    let mut quits = (from + 1..substance).filter(|word| {
        matches!(reading.word(*word), "dejar" | "dejado" | "stopped" | "quit" | "quitting" | "stopping")
    });
    // A denial farther away belongs to another statement.
    quits.any(|word| matches!(reading.word(word - 1), "sin" | "not" | "n't" | "never" | "without"))
}
