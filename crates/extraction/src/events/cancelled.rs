//! Operations that were not done, and are not going to be: refused, cancelled, not needed or forbidden. They are no
//! part of the history; a refusal is stored as the preference that it is (`facts::goals`).

use std::ops::Range;

use super::super::analysis::AnalyzedDocument;
use super::super::lexicon::ConceptMention;
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;

/// Words after a procedure within which its outcome is stated.
const AFTER: usize = 11;
/// Words between a refusal and its object.
const BEFORE: usize = 4;
static REFUSED: WordList = WordList::listed(word_lists::EVENTS, "cancelled.refused");
static DONE: WordList = WordList::listed(word_lists::EVENTS, "cancelled.done");
static SMALL: WordList = WordList::listed(word_lists::EVENTS, "cancelled.small");

/// Whether the words around a procedure say that it was refused, called off, not done or must not be done.
pub(super) fn is_undone(doc: &AnalyzedDocument<'_>, mention: &ConceptMention, within: &Range<usize>) -> bool {
    let (reading, words) = (doc.reading, &mention.words);
    let ends =
        |word: &usize| matches!(reading.word(*word), "." | ";" | "," | "|" | "due" | "because" | "por" | "porque");
    let after: Vec<usize> = (words.end..within.end.min(words.end + AFTER)).take_while(|word| !ends(word)).collect();
    let said = after.iter().any(|word| {
        REFUSED.contains(reading.word(*word))
            || reading.word(*word).starts_with("contraindi")
            || is_refusal(reading, *word)
            || is_not_done(reading, *word, within.end)
    });
    let from = within.start.max(words.start.saturating_sub(BEFORE));
    let stops =
        |word: &usize| reading.words[*word].punctuation || matches!(reading.word(*word), "and" | "y" | "but" | "pero");
    let refused = (from..words.start)
        .rev()
        .take_while(|word| !stops(word))
        .any(|word| REFUSED.contains(reading.word(word)) && !matches!(reading.word(word + 1), "to" | "a"));
    said || refused
}

/// "Y no quiso", "y se negó".
fn is_refusal(reading: &TokenizedText<'_>, word: usize) -> bool {
    let next = if word + 1 < reading.words.len() { reading.word(word + 1) } else { "" };
    match reading.word(word) {
        "no" => matches!(next, "quiso" | "quiere" | "acepto" | "acepta" | "aceptan" | "consiente"),
        "se" => matches!(next, "nego" | "niega" | "negaron"),
        _ => false,
    }
}

/// "Was not performed", "no se hizo".
fn is_not_done(reading: &TokenizedText<'_>, word: usize, limit: usize) -> bool {
    if !matches!(reading.word(word), "no" | "not" | "n't" | "never" | "nunca") {
        return false;
    }
    let next = (word + 1..limit).find(|at| !SMALL.contains(reading.word(*at)));
    next.is_some_and(|at| DONE.contains(reading.word(at)))
}

/// Whether an operation is only thought or talked about: "candidate for", "pensando en hacerse", "discussed".
pub(super) fn is_only_thought_of(doc: &AnalyzedDocument<'_>, mention: &ConceptMention, within: &Range<usize>) -> bool {
    let (reading, words) = (doc.reading, &mention.words);
    let from = within.start.max(words.start.saturating_sub(BEFORE + 2));
    let before = (from..words.start).rev().take_while(|word| !reading.words[*word].punctuation);
    let thought = before.into_iter().any(|word| {
        matches!(
            reading.word(word),
            "candidate"
                | "candidato"
                | "candidata"
                | "considering"
                | "thinking"
                | "pensando"
                | "discussed"
                | "planteando"
        )
    });
    // "Discussed colonoscopy results": that was done.
    let found = (words.end..within.end.min(words.end + 2)).any(|word| {
        matches!(reading.word(word), "results" | "result" | "findings" | "report" | "resultado" | "resultados")
    });
    thought && !found
}
