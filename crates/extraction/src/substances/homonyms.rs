//! Words that name a substance elsewhere and are a verb or a person's name here.

use super::is_verb;
use crate::reading::{Reading, Sentence};

/// "Me costó": the verb, which its accent tells from the noun.
pub(super) fn is_verb_by_accent(reading: &Reading<'_>, word: usize) -> bool {
    let source = reading.source(&(word..word + 1)).of(reading.text).to_lowercase();
    reading.word(word) == "costo" && source.ends_with('ó')
}

/// "Mi hermana María": a word that is a name too, in capitals within a sentence that has small letters.
pub(super) fn is_given_name(reading: &Reading<'_>, word: usize, sentence: &Sentence) -> bool {
    let source = |word: usize| reading.source(&(word..word + 1)).of(reading.text);
    let names = matches!(reading.word(word), "maria" | "molly" | "charlie" | "mary" | "blanca" | "nieves");
    let mut letters = source(word).chars();
    let capital = letters.next().is_some_and(char::is_uppercase) && letters.any(char::is_lowercase);
    let within = word > sentence.words.start && !reading.words[word - 1].punctuation;
    let using = within && is_verb(reading.word(word - 1));
    names && capital && within && !using
}
