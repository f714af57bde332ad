//! The experiencer of an event: which relative was lost, and events of a relative that are not the patient's.

use std::ops::Range;

use super::super::analysis::AnalyzedDocument;
use super::super::lexicon::ConceptMention;
use crate::lexicon::word_lists::{self, WordList};
use anamnesis_core::finding::Experiencer;
use anamnesis_core::wording::person;

/// Words between a death and who died.
const RELATIVE_REACH: usize = 6;

/// The experiencer of a death: a relative, a friend, or an animal, whose loss is the patient's alone.
pub(super) fn bereaved(who: &str) -> Experiencer {
    match who {
        "pet" | "baby" => Experiencer::Patient,
        "friend" | "colleague" => Experiencer::Other,
        _ => Experiencer::Family,
    }
}

/// The relative or companion of whom a clause speaks.
pub(super) fn relative(
    doc: &AnalyzedDocument<'_>,
    mention: &ConceptMention,
    within: &Range<usize>,
) -> Option<&'static str> {
    static WORDS: WordList = WordList::listed(word_lists::EVENTS, "experiencer.relative");
    let reading = doc.reading;
    let who = |word: usize| {
        let word = reading.word(word);
        match word {
            "dog" | "cat" | "perro" | "perra" | "gato" | "gata" | "pet" | "mascota" => Some("pet"),
            "baby" | "bebe" => Some("baby"),
            "mujer" | "senora" => Some("wife"),
            "stepfather" | "stepdad" | "padrastro" => Some("stepfather"),
            "stepmother" | "stepmum" | "madrastra" => Some("stepmother"),
            "abuelita" | "nan" | "gran" | "nana" | "granny" => Some("grandmother"),
            "suegra" | "suegro" => Some("parent-in-law"),
            "papi" | "viejo" | "taita" => Some("father"),
            "vieja" | "mam" | "mummy" | "jefa" => Some("mother"),
            "tio" | "tios" => Some("uncle"),
            "tia" => Some("aunt"),
            "primo" | "prima" | "cousin" => Some("cousin"),
            "grandad" | "granda" | "grandpa" | "gramps" | "abuelito" | "yayo" | "nono" => Some("grandfather"),
            "yaya" | "nona" | "grandma" | "granma" | "nanna" => Some("grandmother"),
            "hermanito" => Some("brother"),
            "fiance" | "fiancee" | "conviviente" => Some("partner"),
            "colleague" | "companero" | "companera" => Some("colleague"),
            "friend" | "friends" | "mate" | "compadre" | "amigo" | "amiga" | "parcero" | "comrade" => Some("friend"),
            "family" | "familia" | "familiar" | "familiares" | "relative" | "relatives" => None,
            word => person(word),
        }
    };
    let stops = |word: usize| matches!(reading.word(word), "." | ";" | "?" | "!" | "pero" | "but" | "|");
    let last = (mention.words.end..within.end.min(mention.words.end + RELATIVE_REACH)).take_while(|word| !stops(*word));
    let after = last.clone().find_map(|word| who(word).map(|name| (word - mention.words.end, name)));
    // "lost", "death of": the lost person comes right after.
    if WORDS.contains(reading.word(mention.words.start)) || reading.word(mention.words.end.saturating_sub(1)) == "a" {
        return after.filter(|(gap, _)| *gap <= 2).map(|(_, name)| name);
    }
    let from = mention.words.start.saturating_sub(RELATIVE_REACH).max(within.start);
    let before = (from..mention.words.start).rev().take_while(|word| !stops(*word));
    let before = before.into_iter().find_map(|word| who(word).map(|name| (mention.words.start - word - 1, name)));
    // The nearer one: "mum rang, dad died" is the father's death.
    [before, after].into_iter().flatten().min_by_key(|(gap, _)| *gap).map(|(_, name)| name)
}

/// A death is a loss of the patient's, unless it is an entry of the family history: "father died of MI aged 49".
pub(super) fn is_loss(doc: &AnalyzedDocument<'_>, mention: &ConceptMention, sentence: usize) -> bool {
    let reading = doc.reading;
    let within = &reading.sentences[sentence].words;
    let rest = mention.words.end..within.end.min(mention.words.end + 8);
    let rest: Vec<&str> = rest.map(|word| reading.word(word)).collect();
    if mention.concept.name == "death by suicide"
        || rest.iter().any(|word| matches!(*word, "suicide" | "suicidio" | "suicido"))
    {
        return true;
    }
    let aged = rest.iter().any(|word| matches!(*word, "aged" | "age"))
        || rest
            .windows(3)
            .any(|words| words[0] == "a" && words[1] == "los" && words[2].bytes().all(|b| b.is_ascii_digit()));
    !aged
}

/// Whether a relative is named before what happened, in the same clause: "my son was suspended".
pub(super) fn is_of_relative(doc: &AnalyzedDocument<'_>, words: &Range<usize>, within: &Range<usize>) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::EVENTS, "experiencer.is_of_relative");
    let reading = doc.reading;
    let from = words.start.saturating_sub(8).max(within.start);
    for word in (from..words.start).rev() {
        if matches!(
            reading.word(word),
            "." | ";" | "?" | "!" | "i" | "he" | "she" | "yo" | "patient" | "paciente" | "pt" | "|"
        ) {
            return false;
        }
        if person(reading.word(word)).is_some() {
            let before = word.checked_sub(2).map_or("", |at| reading.word(at));
            return !WORDS.contains(before);
        }
    }
    false
}

/// Whether a relative speaks of themselves: "I moved in with him".
pub(super) fn is_own(doc: &AnalyzedDocument<'_>, words: &Range<usize>, within: &Range<usize>) -> bool {
    let from = words.start.saturating_sub(2).max(within.start);
    // "Se me cayó": it fell to the speaker's charge, and the fall is the patient's.
    let dative = |word: usize| doc.reading.word(word) == "me" && word > 0 && doc.reading.word(word - 1) == "se";
    (from..words.end.min(within.end)).any(|word| {
        !dative(word)
            && matches!(doc.reading.word(word), "i" | "me" | "my" | "we" | "yo" | "nos" | "mi" | "perdi" | "nuestra")
    })
}
