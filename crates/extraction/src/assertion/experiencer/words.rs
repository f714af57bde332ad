//! Words by which a clause shows whose it is.

use crate::lexicon::word_lists::{self, WordList};

pub(super) fn is_allergic(word: &str) -> bool {
    word.starts_with("alerg") || word.starts_with("allerg") || word.starts_with("intoleran")
}

/// "Madre con depresión, medicada con …": a participle that goes on about the same person.
pub(super) fn is_treated(word: &str) -> bool {
    let stem = word.trim_end_matches(['o', 'a']);
    matches!(
        stem,
        "medicad" | "tratad" | "ingresad" | "operad" | "diagnosticad" | "amputad" | "medicated" | "diagnosed"
    )
}

/// Verbs of statements and complaints of the patient.
pub(super) fn of_patient(word: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::ASSERTION, "words.of_patient");
    WORDS.contains(word)
}
