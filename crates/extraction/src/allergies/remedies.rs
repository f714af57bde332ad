//! What is carried against an allergy and is none.

use std::ops::Range;

use crate::scene::Scene;

/// What is carried against an allergy: "epi pen expired" names no allergen.
pub(super) fn is_remedy(word: &str) -> bool {
    let starts = ["epi", "adrenal", "epinefr", "antihist"];
    starts.iter().any(|start| word.starts_with(start))
}

/// Adrenaline in a pen, by its brand or as one: carried for an allergy, whatever the sentence says.
pub(crate) fn is_pen(scene: &Scene<'_>, words: &Range<usize>) -> bool {
    const BRANDS: &[&str] = &[
        "epipen",
        "anapen",
        "jext",
        "altellus",
        "emerade",
        "autoinyect",
        "autoinj",
        "auvi",
        "neffy",
        "symjepi",
        "adrenaclick",
        "penepin",
    ];
    const WORDS: &[&str] = &["pen", "pens", "pluma", "boligrafo", "autoinyector", "autoinjector", "injector"];
    let brand = |word: &str| BRANDS.iter().any(|brand| word.starts_with(brand));
    let adrenaline =
        |word: &str| word == "epi" || ["adrenal", "epinefr", "epineph"].iter().any(|stem| word.starts_with(stem));
    let word = |at: usize| scene.reading.word(at);
    let named = words.clone().any(|at| brand(word(at)));
    let injected = words.clone().any(|at| adrenaline(word(at)))
        && (words.start.saturating_sub(2)..words.end + 2).any(|at| WORDS.contains(&word(at)));
    named || injected
}
