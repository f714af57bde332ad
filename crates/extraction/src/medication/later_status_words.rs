//! The words by which a later clause says what became of a medicine, folded.

use crate::lexicon::word_lists::{self, WordList};

// Another subject speaks of another thing: "the rash stopped".
/// Words before the verb of a clause whose subject is a person, or which has none.
pub(super) static OPENERS: WordList = WordList::listed(word_lists::MEDICATION, "later_status_words.openers");
// Without an object the verb means the medicine before: "cefalexin + metronidazole. Stopped 12/4".
/// Past forms of stopping.
pub(super) const DROPPED_EN: &[&str] =
    &["stopped", "stoped", "quit", "ditched", "binned", "ceased", "discontinued", "dropped", "dumped", "chucked"];
// Any other word is an object: "stopped smoking" ends no medicine.
/// Words that may follow a verb of stopping without an object.
pub(super) static TIMES: WordList = WordList::listed(word_lists::MEDICATION, "later_status_words.times");
// "La dejó él": the pronoun is the medicine; "dejó" alone may have another object.
/// The same in Spanish, after a pronoun.
pub(super) static DROPPED_ES: WordList = WordList::listed(word_lists::MEDICATION, "later_status_words.dropped_es");
// "Lo dejamos igual, en 27" changes nothing and must not end the medicine.
/// Words after "dejar" where something is left unchanged.
pub(super) static LEAVES: WordList = WordList::listed(word_lists::MEDICATION, "later_status_words.leaves");
// "Never restarted" ends a medicine that was taken before.
/// Acts that were not done any more.
pub(super) const UNTOUCHED: &[&str] = &["refill", "refilled", "renew", "renewed", "restarted", "restart"];
// "She never collected it": prescribed, and not taken.
/// Acts that were never done, after a denial.
pub(super) static NEVER_EN: WordList = WordList::listed(word_lists::MEDICATION, "later_status_words.never_en");
// "Not always with food" is about the way of taking it.
/// Words that say how or when something is not taken, and not that it is not.
pub(super) const HOW: &[&str] = &[
    "with", "con", "always", "siempre", "every", "todos", "todas", "bien", "cuando", "when", "if", "si", "unless",
    "until", "hasta",
];
pub(super) const NEVER_ES: &[&str] =
    &["compr", "recog", "empez", "empec", "inici", "tomad", "tome", "tomo", "arranc", "surti", "prob"];
/// Refusals, with the words of one place separated by "/"; "$" is the end of the clause.
pub(super) static REFUSED: WordList = WordList::listed(word_lists::MEDICATION, "later_status_words.refused");
// One dose left out ends nothing.
/// Words of one time: an omission then is no omission at others.
pub(super) static ONCE: WordList = WordList::listed(word_lists::MEDICATION, "later_status_words.once");
/// Words that show that a course goes on.
pub(super) const COURSES: &[&str] =
    &["now", "far", "still", "ya", "todavia", "sigue", "aun", "if", "si", "every", "cada", "again", "pain", "dolor"];
pub(super) const RESUMED_ES: &[&str] = &["retomo", "retome", "reinicio", "reinicie", "retomado", "reiniciado"];

pub(super) fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

pub(super) fn is_month(word: &str) -> bool {
    static MONTHS: WordList = WordList::listed(word_lists::MEDICATION, "later_status_words.months");
    MONTHS.contains(word)
}
