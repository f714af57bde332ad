//! Brands that are words of every day, or first names: "practised the sonata", "hoy celebra su santo", "my friend Yasmin". They
//! are medicines only where the sentence treats them as one.

use std::ops::Range;

use crate::analysis::AnalyzedDocument;
use crate::lexicon::ConceptMention;
use crate::lexicon::word_lists::{self, WordList};
use crate::structure::Section;
use crate::tokenized::TokenizedText;

/// How many words after a name its strength or form may come, and before it its form.
const NEAR: usize = 3;
/// Small words between a verb of taking and a name.
const SMALL: usize = 3;

/// Spanish and English words and first names that are brands of the lists too.
static WORDS: WordList = WordList::listed(word_lists::MEDICATION, "ambiguous_brands.words");

/// Whether a mention is an everyday word that nothing around makes a medicine. `others` are the medicines of the sentence.
pub(super) fn is_no_medicine(
    doc: &AnalyzedDocument<'_>,
    sentence: &Range<usize>,
    mention: &ConceptMention,
    others: &[Range<usize>],
) -> bool {
    let reading = doc.reading;
    let words = &mention.words;
    if words.len() != 1 || !WORDS.contains(reading.word(words.start)) {
        return false;
    }
    let listed = matches!(
        doc.section(words.start),
        Some(
            Section::Medications
                | Section::Stopped
                | Section::Tried
                | Section::Held
                | Section::Started
                | Section::Changed
                | Section::Unchanged
        )
    );
    let after = words.end..sentence.end.min(words.end + NEAR);
    let ahead = words.start.saturating_sub(NEAR).max(sentence.start)..words.start;
    let measured = reading.word(words.end).starts_with(|c: char| c.is_ascii_digit())
        || after.chain(ahead).any(|word| is_form(reading.word(word)));
    !(listed || measured || is_taken(reading, sentence, words.start) || is_next_to_other(reading, words, others))
}

/// Strengths, forms and doses.
fn is_form(word: &str) -> bool {
    let stems = ["tablet", "pill", "capsul", "comprimid", "pastilla", "tableta", "grage", "dosis", "dose", "jarabe"];
    matches!(word, "mg" | "mcg" | "ml" | "tab" | "tabs" | "comp" | "caps" | "nocte" | "prn" | "receta" | "prescription")
        || word.strip_suffix("mg").is_some_and(|digits| digits.parse::<f64>().is_ok())
        || stems.iter().any(|stem| word.starts_with(stem))
}

/// A verb of taking, prescribing or ending right before a name: "on Yasmin", "le recetaron el Actos", "allergic to Versed".
fn is_taken(reading: &TokenizedText<'_>, sentence: &Range<usize>, name: usize) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::MEDICATION, "ambiguous_brands.is_taken");
    let small = |word: &str| WORDS.contains(word);
    let from = name.saturating_sub(SMALL + 1).max(sentence.start);
    for at in (from..name).rev() {
        let word = reading.word(at);
        if takes(word) || word == "on" && at + 1 == name {
            return true;
        }
        if !small(word) {
            return false;
        }
    }
    false
}

fn takes(word: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::MEDICATION, "ambiguous_brands.takes");
    static STEMS: WordList = WordList::listed(word_lists::MEDICATION, "ambiguous_brands.stems");
    WORDS.contains(word) || STEMS.iter().any(|stem| word.starts_with(stem))
}

/// Another medicine of the same list: "metformin, Actos and ramipril".
fn is_next_to_other(reading: &TokenizedText<'_>, words: &Range<usize>, others: &[Range<usize>]) -> bool {
    let joins = |mut between: Range<usize>| {
        between.len() <= NEAR + 2
            && between.all(|word| {
                let said = reading.word(word);
                matches!(said, "," | "and" | "y" | "e" | "+" | "/" | "&" | "mg" | ";")
                    || said.starts_with(|c: char| c.is_ascii_digit())
            })
    };
    let near = |other: &Range<usize>| {
        if other.end <= words.start { joins(other.end..words.start) } else { joins(words.end..other.start) }
    };
    others.iter().filter(|other| other.end <= words.start || words.end <= other.start).any(near)
}
