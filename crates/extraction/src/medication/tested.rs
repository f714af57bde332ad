//! What is given or tested to find out about an allergy is no medicine: "provocación oral con amoxicilina 500 mg: tolerada", "skin
//! prick testing to penicillin".

use std::ops::Range;

use crate::reading::Reading;

/// Words between the name of a test and what it is done with.
const REACH: usize = 12;

/// Whether a sentence tests for the substance of a mention.
pub(crate) fn is_tested(reading: &Reading<'_>, sentence: &Range<usize>, mention: &Range<usize>) -> bool {
    let from = mention.start.saturating_sub(REACH).max(sentence.start);
    let before = (from..mention.start).rev().take_while(|word| !ends(reading.word(*word)));
    let tested = before.filter(|word| names_test(reading, *word)).any(|word| word < mention.start);
    // "A graded amoxicillin challenge": the noun stands after the name.
    let after = (mention.end..sentence.end.min(mention.end + 4)).take_while(|word| !ends(reading.word(*word)));
    tested || after.into_iter().any(|word| is_challenge(reading, word, mention.end == word))
}

/// Whether a sentence challenges a patient with something, which tells more than a test of the skin or of blood.
pub(crate) fn challenges(reading: &Reading<'_>, sentence: &Range<usize>) -> Option<usize> {
    sentence.clone().find(|word| is_challenge(reading, *word, false) || is_provocation(reading, *word))
}

fn ends(word: &str) -> bool {
    matches!(
        word,
        "." | ";"
            | "?"
            | "!"
            | "takes"
            | "taking"
            | "toma"
            | "tomo"
            | "tomando"
            | "started"
            | "inicia"
            | "continues"
            | "continua"
    )
}

/// Whether a test begins at a word.
fn names_test(reading: &Reading<'_>, word: usize) -> bool {
    let at = |by: usize| reading.word(word + by);
    let before = word.checked_sub(1).map_or("", |before| reading.word(before));
    match at(0) {
        "prick"
        | "intradermal"
        | "intradermals"
        | "intradermales"
        | "intradermicas"
        | "intradermorreaccion"
        | "epicutaneas"
        | "determinantes"
        | "ige"
        | "rast" => true,
        "skin" | "patch" | "allergy" | "blood" => matches!(at(1), "test" | "tests" | "testing" | "tested"),
        "prueba" | "pruebas" | "test" | "tests" | "testing" => {
            matches!(
                at(1),
                "cutanea" | "cutaneas" | "alergica" | "alergicas" | "de" | "to" | "for" | "con" | "oral" | "orales"
            ) && (at(1) != "de" || matches!(at(2), "alergia" | "tolerancia" | "exposicion" | "provocacion"))
                && before != "drug"
        }
        _ => is_provocation(reading, word) || is_challenge(reading, word, false),
    }
}

/// "Provocación", "exposición oral controlada".
fn is_provocation(reading: &Reading<'_>, word: usize) -> bool {
    let at = |by: usize| reading.word(word + by);
    match at(0) {
        "provocacion" | "provocaciones" => true,
        "exposicion" => matches!(at(1), "oral" | "controlada") || at(2) == "controlada",
        _ => false,
    }
}

/// "A challenge with", "oral challenge": of a substance. "A challenge to get up" is none. `named`: the substance stands right before.
fn is_challenge(reading: &Reading<'_>, word: usize, named: bool) -> bool {
    let kind = |said: &str| {
        matches!(
            said,
            "oral"
                | "graded"
                | "supervised"
                | "provocation"
                | "drug"
                | "food"
                | "direct"
                | "incremental"
                | "controlled"
                | "dose"
        )
    };
    let before = word.checked_sub(1).map_or("", |before| reading.word(before));
    match reading.word(word) {
        "challenge" | "challenges" => named || kind(before) || reading.word(word + 1) == "with",
        "challenged" => reading.word(word + 1) == "with",
        _ => false,
    }
}
