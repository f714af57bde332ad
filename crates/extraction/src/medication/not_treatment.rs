//! Medicines in the text that are not the patient's treatment: leftovers, medicines of a relative, and what was
//! swallowed in an attempt.

use std::ops::Range;

use super::status::DrugStatus;
use crate::tokenized::TokenizedText;
use anamnesis_core::wording::person;

const OWNER: usize = 9;

/// Whether a sentence says that a medicine is no treatment of the patient's.
pub(super) fn status_if_not_own(
    reading: &TokenizedText<'_>,
    sentence: &Range<usize>,
    mention: &Range<usize>,
) -> Option<DrugStatus> {
    let not_own = is_left_over(reading, sentence, mention)
        || is_owned(reading, sentence, mention)
        || is_of_attempt(reading, sentence, mention);
    not_own.then_some(DrugStatus::NotMeant)
}

/// "Her husband's leftover Oramorph", "morfina sobrante", "late husband's bisoprolol".
fn is_left_over(reading: &TokenizedText<'_>, sentence: &Range<usize>, mention: &Range<usize>) -> bool {
    let before = sentence.start.max(mention.start.saturating_sub(4))..mention.start;
    let left = |at: usize| {
        matches!(reading.word(at), "leftover" | "leftovers" | "sobrante" | "sobrantes")
            || reading.word(at) == "left" && reading.word(at + 1) == "over"
    };
    let after = matches!(reading.word(mention.end), "sobrante" | "sobrantes" | "leftover");
    let late = before.clone().any(|at| {
        reading.word(at) == "late" && person(reading.word(at + 1)).is_some() && reading.word(mention.start - 1) == "'s"
    });
    after || late || before.clone().rev().take(2).any(left)
}

/// "6 zolpidem 10 mg (son de la madre)", "diazepam, eran de su hermano".
fn is_owned(reading: &TokenizedText<'_>, sentence: &Range<usize>, mention: &Range<usize>) -> bool {
    (mention.end..sentence.end.min(mention.end + OWNER)).any(|at| {
        let named = at + 2 + usize::from(matches!(reading.word(at + 2), "la" | "el" | "su" | "mi" | "los"));
        matches!(reading.word(at), "son" | "eran")
            && reading.word(at + 1) == "de"
            && person(reading.word(named)).is_some()
    })
}

/// "Segundo intento: a los 17 años (paracetamol)": in brackets after an attempt, with nothing that is taken regularly.
fn is_of_attempt(reading: &TokenizedText<'_>, sentence: &Range<usize>, mention: &Range<usize>) -> bool {
    let attempt = (sentence.start..mention.start).any(|at| {
        matches!(
            reading.word(at),
            "intento" | "intentos" | "attempt" | "attempts" | "overdose" | "overdoses" | "sobredosis" | "sobreingesta"
        )
    });
    let opens = mention.start > sentence.start && reading.word(mention.start - 1) == "(";
    attempt && opens && matches!(reading.word(mention.end), ")" | "," | ";" | "+" | "and" | "y")
}
