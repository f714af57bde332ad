//! A substance that is given or tested to find out about an allergy is no medicine: "provocación oral con amoxicilina
//! 500 mg: tolerada", "skin prick testing to penicillin". Only where nothing but small words, doses and other
//! substances come between test and name.

use std::ops::Range;

use crate::analysis::AnalyzedDocument;
use crate::lexicon::word_lists::{self, WordList};
use crate::structure::Section;
use crate::tokenized::TokenizedText;

/// Words between a test and its substance.
const REACH: usize = 12;
static SMALL: WordList = WordList::listed(word_lists::MEDICATION, "allergy_testing.small");

/// Whether a word may come between a test and its substance: a small word, or a dose.
pub(crate) fn may_stand_between(reading: &TokenizedText<'_>, word: usize) -> bool {
    let said = reading.word(word);
    let is_number = |text: &str| text.parse::<f64>().is_ok();
    SMALL.contains(said) || is_number(said) || said.strip_suffix("mg").is_some_and(is_number)
}

/// Whether a sentence tests for the substance of a mention. `others` are the medicines of the sentence.
pub(crate) fn is_tested(
    reading: &TokenizedText<'_>,
    sentence: &Range<usize>,
    mention: &Range<usize>,
    others: &[Range<usize>],
) -> bool {
    let from = mention.start.saturating_sub(REACH).max(sentence.start);
    let between = |word: usize| may_stand_between(reading, word) || others.iter().any(|other| other.contains(&word));
    for word in (from..mention.start).rev() {
        if let Some(end) = test_at(reading, word) {
            return (end..mention.start).all(between) && mention.start > end;
        }
        if !between(word) && !is_of_test(reading.word(word)) {
            break;
        }
    }
    // "An amoxicillin challenge", "amoxicillin oral challenge".
    let noun = mention.end + usize::from(reading.word(mention.end) == "oral");
    noun < sentence.end && matches!(reading.word(noun), "challenge" | "challenges")
}

/// A tolerated substance next to an allergy is an answer about the allergy and no medicine: "Alergias: penicilina.
/// Tolera amoxicilina". Elsewhere "tolerates sertraline well" speaks of a medicine that is taken.
pub(crate) fn is_tolerated(
    doc: &AnalyzedDocument<'_>,
    sentence: &Range<usize>,
    mention: &Range<usize>,
    others: &[Range<usize>],
) -> bool {
    let reading = doc.reading;
    let about_allergies = matches!(doc.section(mention.start), Some(Section::Allergies | Section::Intolerances))
        || sentence.clone().any(|word| ["alerg", "allerg"].iter().any(|start| reading.word(word).starts_with(start)));
    let from = mention.start.saturating_sub(REACH).max(sentence.start);
    let between = |word: usize| may_stand_between(reading, word) || others.iter().any(|other| other.contains(&word));
    let borne = |word: &usize| {
        matches!(
            reading.word(*word),
            "tolera"
                | "tolero"
                | "toleran"
                | "tolerado"
                | "tolerada"
                | "tolerates"
                | "tolerate"
                | "tolerated"
                | "tolerating"
        )
    };
    about_allergies
        && (from..mention.start).rev().find(borne).is_some_and(|verb| (verb + 1..mention.start).all(between))
}

/// Where a test ends that begins at a word.
fn test_at(reading: &TokenizedText<'_>, word: usize) -> Option<usize> {
    let at = |by: usize| reading.word(word + by);
    let test = |said: &str| matches!(said, "test" | "tests" | "testing" | "tested");
    match at(0) {
        "skin" | "prick" | "intradermal" | "patch" => (1..=3).find(|by| test(at(*by))).map(|by| word + by + 1),
        "prueba" | "pruebas" => matches!(
            at(1),
            "cutanea" | "cutaneas" | "intradermica" | "intradermicas" | "epicutaneas" | "intraepidermicas"
        )
        .then_some(word + 2),
        _ => challenge_at(reading, word),
    }
}

/// Words of the test itself do not end the search for its beginning.
fn is_of_test(word: &str) -> bool {
    matches!(
        word,
        "test"
            | "tests"
            | "testing"
            | "tested"
            | "prick"
            | "intradermal"
            | "cutaneas"
            | "cutanea"
            | "determinantes"
            | "challenge"
            | "challenges"
    )
}

/// Where a challenge ends that begins at a word: "oral challenge", "provocación oral", "exposición controlada". A
/// challenge of a bronchus, or of a person, is none.
pub(crate) fn challenge_at(reading: &TokenizedText<'_>, word: usize) -> Option<usize> {
    let at = |by: usize| reading.word(word + by);
    match at(0) {
        "oral" | "graded" | "supervised" | "drug" | "food" => {
            (1..=3).find(|by| matches!(at(*by), "challenge" | "challenges")).map(|by| word + by + 1)
        }
        "provocacion" if matches!(at(1), "oral" | "controlada" | "con") => Some(word + 1 + usize::from(at(1) != "con")),
        "exposicion" if at(1) == "controlada" && matches!(at(2), "a" | "con") => Some(word + 2),
        "exposicion" if at(1) == "oral" => Some(word + 2),
        _ => None,
    }
}
