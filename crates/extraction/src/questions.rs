//! The content of a question itself: a presupposition ("and the insomnia?"), an exception ("anything besides the
//! cough?"), and whether it asks at all.

use std::ops::Range;

use super::dialogue::Polarity;
use super::tokenized::{TextSentence, TokenizedText};
use crate::lexicon::word_lists::{self, WordList};

/// Words between a determiner or an exception and its noun.
const NEAR: usize = 3;
/// Words of a question that takes something for given.
const SHORT: usize = 9;

/// Whether a question excludes a mention from what it asks: "any other symptoms besides the cough?".
pub(crate) fn is_excepted(reading: &TokenizedText<'_>, question: &TextSentence, words: &Range<usize>) -> bool {
    let from = question.words.start.max(words.start.saturating_sub(NEAR + 2));
    (from..words.start).any(|word| {
        let (first, second) = (reading.word(word), reading.word(word + 1));
        matches!(first, "besides" | "quitando" | "exceptuando")
            || matches!(
                (first, second),
                ("apart" | "aside", "from") | ("other", "than") | ("aparte" | "ademas" | "fuera", "de" | "del")
            )
    })
}

/// Whether a question takes a mention for given: "and the insomnia?", "¿qué tal la ansiedad?", "asthma behaving?".
pub(crate) fn presupposes(reading: &TokenizedText<'_>, question: &TextSentence, words: &Range<usize>) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::GENERAL, "questions.presupposes");
    let plain = |word: &usize| !reading.words[*word].punctuation;
    let mut said = question.words.clone().filter(plain).map(|word| reading.word(word));
    let first = said.next().unwrap_or("");
    let second = said.next().unwrap_or("");
    // A longer question asks about more than the mention.
    if question.words.len() > SHORT + 2 {
        return false;
    }
    let behaving = (words.end..question.words.end).any(|word| {
        matches!(
            reading.word(word),
            "behaving" | "controlled" | "controlada" | "controlado" | "better" | "worse" | "mejor" | "peor"
        )
    });
    let definite = words
        .start
        .checked_sub(1)
        .is_some_and(|before| before >= question.words.start && WORDS.contains(reading.word(before)));
    let opens = matches!(first, "and" | "y" | "how" | "como" | "hows")
        || matches!((first, second), ("que", "tal") | ("what", "about") | ("still", _) | ("sigue" | "sigues", "con"));
    behaving || definite && opens
}

/// The course of a presupposed complaint: it is present unless the answer says that it is gone.
pub(crate) fn course(reading: &TokenizedText<'_>, answer: &TextSentence, polarity: Polarity) -> Option<Polarity> {
    let holds = |list: &[&str]| answer.words.clone().any(|word| list.contains(&reading.word(word)));
    let gone = holds(&[
        "gone",
        "stopped",
        "disappeared",
        "vanished",
        "ninguno",
        "ninguna",
        "nada",
        "none",
        "desaparecio",
        "paso",
        "quito",
        "quitaron",
        "never",
        "nunca",
    ]);
    let still = holds(&["still", "sigo", "sigue", "siguen", "igual", "same", "worse", "peor", "mal", "bad", "fatal"]);
    // "No, it stopped" and "no, still the same" both begin with "no": the verb decides.
    match (polarity, gone && !still) {
        (_, true) => Some(Polarity::No),
        (Polarity::No, false) if !still => None,
        _ => Some(Polarity::Yes),
    }
}

/// Whether a sentence of a note asks, and is no doubtful diagnosis ("sepsis?").
pub(crate) fn interrogates(reading: &TokenizedText<'_>, sentence: &TextSentence) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::GENERAL, "questions.interrogates");
    let first =
        sentence.words.clone().find(|word| !reading.words[*word].punctuation).map_or("", |word| reading.word(word));
    sentence.question && WORDS.contains(first)
}
