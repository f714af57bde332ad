//! An act that is only thought of or threatened is no attempt: "I think about taking all my pills", "I'd take all my
//! insulin".

use std::ops::Range;

use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;

/// Words between a verb of thinking and its object.
const BETWEEN: usize = 3;

/// Whether words of an attempt follow a verb of thinking, wishing or a condition at once, or begin with one.
pub(super) fn is_only_thought(reading: &TokenizedText<'_>, sentence: &Range<usize>, found: &Range<usize>) -> bool {
    let first = reading.word(found.start);
    // "I'd", "would take": the words themselves say that it was not done.
    let conditional = |word: usize| {
        matches!(
            reading.word(word),
            "'d" | "would" | "could" | "might" | "'ll" | "gonna" | "podria" | "iba" | "tomaria"
        ) && !matches!(reading.word(word + 1), "have" | "haber" | "been" | "taken" | "tried" | "already")
    };
    if (found.start..found.end.min(found.start + 2)).any(conditional) {
        return true;
    }
    let from = sentence.start.max(found.start.saturating_sub(BETWEEN));
    let before = (from..found.start).rev().map(|word| reading.word(word));
    let mut before = before.skip_while(|word| {
        matches!(
            *word,
            "about" | "of" | "just" | "maybe" | "en" | "i" | "a" | "simply" | "like" | "to" | "de" | "me" | "lo"
        )
    });
    let thinks = before.next().is_some_and(is_thinking);
    // "I want to cut my wrists": a wish comes after "to", whatever its form looks like.
    let wished = found.start.checked_sub(1).is_some_and(|to| {
        to >= sentence.start
            && reading.word(to) == "to"
            && to.checked_sub(1).is_some_and(|verb| verb >= sentence.start && is_thinking(reading.word(verb)))
    });
    // "I wanted to and took …" did; "thought about taking" did not: only a verb that is not finite is a thought.
    wished || thinks && is_not_finite(first) || (from..found.start).next_back().is_some_and(conditional)
}

fn is_thinking(word: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::RISK, "hypothetical.is_thinking");
    WORDS.contains(word)
}

fn is_not_finite(word: &str) -> bool {
    word.ends_with("ing")
        || ["ar", "er", "ir", "arme", "erme", "irme", "arse", "erse", "irse"].iter().any(|end| word.ends_with(end))
}
