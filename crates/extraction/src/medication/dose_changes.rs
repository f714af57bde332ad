//! Which of two numbers is the newer dose: "cut to five", "from 20 to 40", "bajamos de 100 a 50", "100 → 75".

use std::ops::Range;

use super::dose::number_at;
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;

/// Words between two doses of which the second replaces the first, or complements it.
const FOLLOWS: usize = 7;
/// Words between a word of change and "from".
const CHANGE: usize = 6;
/// Numbers below are seldom strengths: "sube a 3".
const STRENGTH: f64 = 5.0;

/// "Cut to five", "100 → 75", "5 por 2,5", "40 in the morning and 20 at night": a number joined to the dose before.
pub(crate) fn follows(reading: &TokenizedText<'_>, from: usize, word: usize) -> bool {
    let joins = |at: usize| {
        matches!(reading.word(at), "to" | "a" | "hasta" | "por" | "then" | "luego" | "and" | "y" | "+")
            || is_arrow(reading, at)
    };
    let near = word > from && word - from <= FOLLOWS;
    near && joins(word - 1)
        && (from..word).all(|at| !matches!(reading.word(at), ";" | "." | "(" | "?" | "for" | "para"))
}

/// "Increased from 20 to 40", "bajamos de 100 a 50": the second of two numbers after a word of change.
pub(crate) fn is_second_of_pair(reading: &TokenizedText<'_>, start: usize, word: usize) -> bool {
    let is = |at: Option<usize>, words: &[&str]| at.is_some_and(|at| at >= start && words.contains(&reading.word(at)));
    if !is(word.checked_sub(1), &["to", "a", "hasta"]) {
        return false;
    }
    // The first number may have a unit: "de 100 mg a 50".
    let Some(from) = [3, 4]
        .into_iter()
        .filter_map(|back| word.checked_sub(back))
        .find(|at| is(Some(*at), &["from", "de", "desde"]) && number_at(reading, at + 1, word).is_some())
    else {
        return false;
    };
    (from.saturating_sub(CHANGE).max(start)..from).any(|at| is_change(reading.word(at)))
}

/// "Subimos a 100", "put her up to 40": a number of strength right after the change.
pub(crate) fn is_brought_to(reading: &TokenizedText<'_>, start: usize, word: usize) -> bool {
    let Some(to) = word.checked_sub(1).filter(|to| *to > start) else { return false };
    let strength = reading.word(word).parse::<f64>().is_ok_and(|number| number >= STRENGTH);
    strength && matches!(reading.word(to), "to" | "a" | "hasta") && is_change(reading.word(to - 1))
}

/// A word that says that a dose became another.
pub(crate) fn is_change(word: &str) -> bool {
    const STEMS: &[&str] = &[
        "incre", "reduc", "redujo", "reduj", "bump", "cut", "rais", "lower", "sub", "baj", "aument", "titrat", "chang",
        "cambi", "drop", "disminu", "went", "gone", "doubl", "halv", "dobl", "pas", "ajust", "adjust", "escal",
        "decre",
    ];
    matches!(word, "up" | "down" | "now" | "ahora") || STEMS.iter().any(|stem| word.starts_with(stem))
}

/// "Diazepam baja a 5 mg", "olanzapine up to 15": a name, a change of its dose, and the new dose.
pub(crate) fn is_moved(reading: &TokenizedText<'_>, after: &Range<usize>) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::MEDICATION, "dose_changes.is_moved");
    let moves = WORDS.contains(reading.word(after.start));
    let to = after.start + 1 + usize::from(matches!(reading.word(after.start + 1), "up" | "down"));
    moves && matches!(reading.word(to), "a" | "to") && number_at(reading, to + 1, after.end).is_some()
}

/// "→", "->", "=>", and ">" between two doses: after the name of a value it is a limit ("if TA >160").
pub(crate) fn is_arrow(reading: &TokenizedText<'_>, word: usize) -> bool {
    match reading.word(word) {
        "→" | "->" | "=>" | "⇒" | "➔" | "➡" => true,
        ">" => word.checked_sub(1).is_some_and(|before| {
            let text = reading.word(before);
            text.starts_with(|c: char| c.is_ascii_digit())
                || matches!(text, "-" | "=" | "mg" | "mcg" | "ug" | "µg" | "g" | "ml" | "ui" | "iu" | "units" | "u")
        }),
        _ => false,
    }
}

/// Where a condition begins within words, whose numbers are limits and no doses: "25 mg sl si TA >160", "20 mg if LDL >70".
pub(crate) fn before_condition(reading: &TokenizedText<'_>, words: Range<usize>) -> Range<usize> {
    let condition = |word: &usize| {
        matches!(reading.word(*word), "if" | "si" | "unless" | "when" | "cuando" | "salvo")
            || matches!(reading.word(*word), ">" | "<" | "≥" | "≤" | ">=" | "<=") && !is_arrow(reading, *word)
    };
    let end = words.clone().find(condition).unwrap_or(words.end);
    words.start..end
}
