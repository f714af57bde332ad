//! Operations and investigations that no list holds, by how their names end: "-ectomy", "-plastia", "-scopy".

use std::ops::Range;

use super::super::lexicon::{Concept, ConceptMention};
use super::super::tokenized::TokenizedText;
use crate::lexicon::word_lists::{self, WordList};

/// Letters of such a word.
const SHORTEST: usize = 9;
/// Letters before the ending.
const STEM: usize = 3;
/// Endings with the part of the list whose kind they are.
const ENDINGS: &[(&str, &str)] = &[
    ("ectomy", "surgery"),
    ("ectomia", "surgery"),
    ("otomy", "surgery"),
    ("otomia", "surgery"),
    ("ostomy", "surgery"),
    ("ostomia", "surgery"),
    ("plasty", "surgery"),
    ("plastia", "surgery"),
    ("pexy", "surgery"),
    ("pexia", "surgery"),
    ("rrhaphy", "surgery"),
    ("rrafia", "surgery"),
    ("desis", "surgery"),
    ("centesis", "test"),
    ("scopy", "test"),
    ("scopia", "test"),
    ("gram", "imaging"),
    ("grama", "imaging"),
    ("metry", "test"),
    ("metria", "test"),
];
static STEMS: WordList = WordList::listed(word_lists::EVENTS, "morphology.stems");
static PLAIN: WordList = WordList::listed(word_lists::EVENTS, "morphology.plain");

/// Such words among those that no list holds.
pub(crate) fn find(reading: &TokenizedText<'_>, within: Range<usize>, known: &[ConceptMention]) -> Vec<ConceptMention> {
    let free = |word: &usize| !known.iter().any(|mention| mention.words.contains(word));
    within
        .filter(free)
        .filter_map(|word| {
            let (name, group) = named(reading.word(word))?;
            let concept = Concept { group, name, code: None };
            Some(ConceptMention { words: word..word + 1, concept })
        })
        .collect()
}

/// The part of the list that an unlisted word belongs to.
fn named(word: &str) -> Option<(&'static str, &'static str)> {
    let single = word.strip_suffix('s').filter(|_| word.ends_with("as")).unwrap_or(word);
    if single.len() < SHORTEST || PLAIN.contains(single) {
        return None;
    }
    let (ending, group) = ENDINGS.iter().find(|(ending, _)| single.ends_with(ending))?;
    let stem = &single[..single.len() - ending.len()];
    let common = matches!(*ending, "gram" | "grama" | "metry" | "metria");
    (stem.len() >= STEM && (!common || STEMS.contains(stem))).then_some(("operation", *group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_of_a_name_says_that_it_is_an_operation() {
        for word in ["urethroplasty", "orquidopexia", "mastoidectomia", "pancreatectomy", "pericardiocentesis"] {
            assert!(named(word).is_some(), "{word}");
        }
        for word in ["programa", "dicotomia", "anatomia", "symmetry", "telegram", "scopy", "economia"] {
            assert!(named(word).is_none(), "{word}");
        }
    }
}
