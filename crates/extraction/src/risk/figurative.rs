//! Figures of speech: "voy a matar a mi hermano si vuelve a tocar mis cosas, jaja", "I was so embarrassed I wanted to
//! die". A laugh makes a threat without a weapon a joke, but never the wish to end one's own life.

use std::ops::Range;

use super::RiskPhrase;
use crate::RiskClass;
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;
use anamnesis_core::document::DocumentType;

/// Whether words of risk are a joke or a figure of speech in their place.
pub(super) fn is_figurative(
    reading: &TokenizedText<'_>,
    index: usize,
    kind: Option<DocumentType>,
    found: &RiskPhrase,
) -> bool {
    let sentence = &reading.sentences[index];
    let around = match kind {
        Some(DocumentType::ChatMessage) => index.saturating_sub(1)..(index + 2).min(reading.sentences.len()),
        _ => index..index + 1,
    };
    let words = || around.clone().flat_map(|at| reading.sentences[at].words.clone());
    let word = |at: usize| reading.word(at);
    match found.class {
        RiskClass::HarmToOthers => {
            let jests = words().any(|at| laughs(word(at)) || is_not_meant(reading, at));
            let serious = words().any(|at| is_serious(reading, at));
            (jests || is_scolding(reading, &sentence.words, found)) && !serious
        }
        RiskClass::ActiveIdeation | RiskClass::PassiveIdeation => {
            let dies = found.words.clone().any(|at| DYING.contains(&word(at)));
            let kills = found
                .words
                .clone()
                .any(|at| ["kill", "suicid", "matar", "ahorc", "hang"].iter().any(|stem| word(at).starts_with(stem)));
            let rather = || {
                sentence
                    .words
                    .clone()
                    .any(|at| matches!((word(at), word(at + 1)), ("antes", "que")) || word(at) == "rather")
                    && words().any(|at| laughs(word(at)))
            };
            let moved = found.words.clone().any(|at| is_moved(reading, at));
            moved || dies && !kills && (is_embarrassed(reading, &sentence.words) || rather())
        }
        _ => false,
    }
}

/// "Me mató con eso", "me mató la noticia": what another said or did, as the accent and the words after it say.
fn is_moved(reading: &TokenizedText<'_>, at: usize) -> bool {
    let source = reading.source(&(at..at + 1)).slice(reading.text).to_lowercase();
    let event =
        matches!((reading.word(at + 1), reading.word(at + 2)), ("con", "eso") | ("la", "noticia") | ("lo", "que"));
    source == "mató" && at > 0 && reading.word(at - 1) == "me" && event
}

/// "My mum would kill me for not telling her": a parent or a boss who would be angry. "Will kill me if I tell" is a threat.
fn is_scolding(reading: &TokenizedText<'_>, sentence: &Range<usize>, found: &RiskPhrase) -> bool {
    let word = |at: usize| reading.word(at);
    let angry =
        |at: usize| matches!(word(at), "mum" | "mom" | "mam" | "mother" | "dad" | "parents" | "boss" | "teacher");
    let Some(kill) = found.words.clone().find(|at| word(*at) == "kill" && word(at + 1) == "me") else { return false };
    let would = kill > 1 && matches!(word(kill - 1), "would" | "'d") && angry(kill - 2);
    would && word(kill + 2) == "for" && sentence.contains(&(kill + 2))
}

fn laughs(word: &str) -> bool {
    let laugh =
        |syllables: [&str; 2]| word.len() >= 4 && syllables.iter().any(|two| word.starts_with(two) && word.len() < 24);
    laugh(["jaja", "haha"])
        || laugh(["jeje", "jiji"])
        || matches!(word, "lol" | "lmao" | "xd" | "xdd" | "rofl" | "lolol" | "hehe")
}

/// "Not literally", "jk", "es broma".
fn is_not_meant(reading: &TokenizedText<'_>, at: usize) -> bool {
    let denied = at > 0 && matches!(reading.word(at - 1), "no" | "not" | "n't")
        || at > 1 && matches!(reading.word(at - 2), "no" | "not");
    match reading.word(at) {
        "literally" | "literalmente" => denied,
        "jk" => true,
        "broma" | "joking" | "kidding" => !denied,
        _ => false,
    }
}

/// A weapon, a plan, or the word that it is meant.
fn is_serious(reading: &TokenizedText<'_>, at: usize) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::RISK, "figurative.is_serious");
    let word = reading.word(at);
    let negated = at > 0 && matches!(reading.word(at - 1), "no" | "not" | "n't" | "es");
    WORDS.contains(word)
        || negated && matches!(word, "joking" | "kidding" | "joke" | "broma") && reading.word(at - 1) != "es"
        || word == "broma" && at > 1 && reading.word(at - 2) == "no"
}

/// "So embarrassed I wanted to die", "qué vergüenza, me quería morir".
fn is_embarrassed(reading: &TokenizedText<'_>, sentence: &Range<usize>) -> bool {
    sentence.clone().any(|at| {
        let word = reading.word(at);
        matches!(word, "embarrassed" | "embarrassing" | "mortified" | "mortifying" | "cringe")
            || word == "verguenza" && at > 0 && matches!(reading.word(at - 1), "que" | "de" | "la")
    })
}

const DYING: &[&str] = &["die", "morir", "morirme", "morirse", "muero", "dead"];
