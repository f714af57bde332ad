//! Remedies that a patient carries against an allergy, or was given against its reaction: they are no allergens.

use std::ops::Range;

use crate::analysis::AnalyzedDocument;
use crate::lexicon::word_lists::{self, WordList};

/// Words between what says that a person was treated and the medicine that was used.
const TREATED: usize = 4;

static TREATS: WordList = WordList::listed(word_lists::ALLERGIES, "remedies.treats");

/// "Anaphylaxis (adrenaline x2)", "managed with hydrocortisone", "premedicated with prednisone/diphenhydramine",
/// "cefazolin was replaced by clindamycin": a remedy against a reaction, or a replacement of its cause, caused none.
/// `first` is the first substance of the sentence.
pub(super) fn is_treatment(doc: &AnalyzedDocument<'_>, words: &Range<usize>, name: &str, first: bool) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::ALLERGIES, "remedies.is_treatment");
    static RESCUE: WordList = WordList::listed(word_lists::ALLERGIES, "remedies.rescue");
    let reading = doc.reading;
    let start = reading.sentences[reading.sentence_of(words.start)].words.start;
    let before = words.start.saturating_sub(TREATED).max(start)..words.start;
    let treats = |word: &str| TREATS.iter().any(|stem| word.starts_with(stem));
    let gives = |word: &str| WORDS.contains(word);
    let parted = |at: usize| matches!(reading.word(at), "." | ";");
    let within = || before.clone().rev().take_while(|at| !parted(*at));
    let linked = |at: usize| (at + 1..words.start).all(|word| !parted(word));
    // Of the first substance of a sentence an illness may be treated ("depression treated with paroxetine, stopped for …").
    if first {
        return false;
    }
    if within().any(|at| treats(reading.word(at)) && linked(at)) {
        return true;
    }
    // Adrenaline is always a remedy; an antihistamine or a steroid only where it was given or joined to one.
    let joined = matches!(reading.word(words.start.wrapping_sub(1)), "/" | "+" | "and" | "y" | "e");
    let after =
        matches!(reading.word(words.end), "x" | "x2" | "x1" | "x3" | "given" | "im" | "iv" | "needed" | "required");
    RESCUE.contains(name) && (name == "epinephrine" || joined || after || within().any(|at| gives(reading.word(at))))
}

/// Remedies carried against an allergy: "epi pen expired" names no allergen.
pub(super) fn is_remedy(word: &str) -> bool {
    let starts = ["epi", "adrenal", "epinefr", "antihist"];
    starts.iter().any(|start| word.starts_with(start))
}

/// Adrenaline in a pen, by its brand or as one: carried for an allergy, whatever the sentence says.
pub(crate) fn is_pen(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
    static BRANDS: WordList = WordList::listed(word_lists::ALLERGIES, "remedies.brands");
    const WORDS: &[&str] = &["pen", "pens", "pluma", "boligrafo", "autoinyector", "autoinjector", "injector"];
    let brand = |word: &str| BRANDS.iter().any(|brand| word.starts_with(brand));
    let adrenaline =
        |word: &str| word == "epi" || ["adrenal", "epinefr", "epineph"].iter().any(|stem| word.starts_with(stem));
    let word = |at: usize| doc.reading.word(at);
    let named = words.clone().any(|at| brand(word(at)));
    let injected = words.clone().any(|at| adrenaline(word(at)))
        && (words.start.saturating_sub(2)..words.end + 2).any(|at| WORDS.contains(&word(at)));
    named || injected
}
