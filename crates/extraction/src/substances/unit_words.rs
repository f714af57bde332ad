//! Words that count what a person takes and name no substance there: the tablets of a dose ("1 tab daily"), the units of
//! insulin ("8 units with dinner"), packs of cigarettes a day ("1 ppd"), the glass that wine comes in, the patch that
//! holds fentanyl. Each is decided by the words right around it, as a prescription or a social history writes it.

use std::ops::Range;

use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;

/// Words around a number of units in which drinking is named.
const CLAUSE: usize = 10;
/// Words after a word for drinking in which the drink is named.
pub(super) const DRUNK: usize = 6;

/// Whether a word that means a substance among habits only counts doses.
pub(super) fn is_dose(reading: &TokenizedText<'_>, words: &Range<usize>, within: &Range<usize>, habits: bool) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::GENERAL, "unit_words.is_dose");
    let before = words.start.checked_sub(1).filter(|at| within.contains(at)).map_or("", |at| reading.word(at));
    let next = if words.end < within.end { reading.word(words.end) } else { "" };
    match reading.word(words.start) {
        "tab" | "tabs" => counts(before) || matches!(before, "mg" | "mcg" | "g" | "ml") || matches!(next, "of" | "po"),
        "units" | "unidades" => !habits && !drinks_near(reading, words, within),
        "glass" => counts(before) || matches!(before, "a" | "the" | "per") || next == "of",
        "fentanyl" | "fentanilo" => {
            let strength = next.starts_with(|c: char| c.is_ascii_digit())
                && matches!(reading.word(words.end + 1), "mcg" | "mcgs" | "ug" | "micrograms" | "microgramos");
            strength || WORDS.contains(next)
        }
        _ => false,
    }
}

/// "1 ppd", "0.5 ppd": packs a day, after their number.
pub(crate) fn is_packs(reading: &TokenizedText<'_>, word: usize) -> bool {
    reading.word(word) == "ppd" && word.checked_sub(1).is_some_and(|before| counts(reading.word(before)))
}

/// "ETOH 2 beers": drinks are counted, and nothing was measured.
pub(crate) fn counts_drinks(word: &str) -> bool {
    ["beer", "drink", "unit", "can", "pint", "shot", "glass", "cerveza", "copa", "bottle", "botella"]
        .iter()
        .any(|stem| word.strip_prefix(stem).is_some_and(|rest| matches!(rest, "" | "s" | "es")))
}

fn counts(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '½' | '¼' | '¾'))
        || matches!(word, "one" | "two" | "three" | "four" | "half" | "un" | "una" | "dos" | "tres" | "media" | "medio")
}

/// Whether the clause of some units speaks of drinking, or counts them by the week.
fn drinks_near(reading: &TokenizedText<'_>, words: &Range<usize>, within: &Range<usize>) -> bool {
    let parts = |at: &usize| {
        matches!(
            reading.word(*at),
            "," | ";" | "." | "takes" | "taking" | "toma" | "injects" | "insulin" | "insulina" | "con" | "with"
        )
    };
    let from = within.start.max(words.start.saturating_sub(CLAUSE));
    let first = (from..words.start).rev().find(parts).map_or(from, |at| at + 1);
    let to = within.end.min(words.end + CLAUSE);
    let last = (words.end..to).find(parts).unwrap_or(to);
    let names = |at: usize| {
        let word = reading.word(at);
        ["drink", "drank", "drunk", "alcohol", "etoh", "beb", "wine", "beer", "vino", "cervez", "week", "wk", "seman"]
            .iter()
            .any(|stem| word.starts_with(stem))
    };
    (first..last).any(names)
}
