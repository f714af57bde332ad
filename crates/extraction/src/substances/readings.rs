//! Readings of a word that names a substance and something else.

use super::*;

/// "Dry cough", "TT aplicado": words that mean abstinence only where habits are spoken of.
pub(super) fn is_ambiguous(reading: &TokenizedText<'_>, words: &Range<usize>) -> bool {
    words.len() == 1 && matches!(reading.word(words.start), "dry" | "tt" | "clean" | "limpio" | "limpia")
}

/// A verb that says what is smoked or drunk only where nothing follows.
pub(super) fn is_verb(word: &str) -> bool {
    // "Smoker", "fumador" name a person.
    let noun = ["er", "ers", "dor", "dora", "dores", "doras"].iter().any(|ending| word.ends_with(ending));
    !noun && ["drink", "drank", "smok", "beb", "fum", "tom"].iter().any(|stem| word.starts_with(stem))
}

/// A verb that says that a use goes on: never a gerund, which "gave up" and "quit" take.
pub(super) fn is_use(word: &str) -> bool {
    const USES: &[&str] = &[
        "drinks", "smokes", "uses", "vapes", "takes", "bebe", "bebo", "fuma", "fumo", "toma", "tomo", "consume",
        "consumo", "vapea", "vapeo",
    ];
    USES.contains(&word)
}

/// "No tomar anticonceptivos": a verb that by itself speaks of drinking, with a medicine after it.
pub(super) fn takes_a_medicine(doc: &AnalyzedDocument<'_>, words: &Range<usize>, found: &[Entity]) -> bool {
    let verb = words.clone().next_back().map_or("", |word| doc.reading.word(word));
    let near = words.end..(words.end + 3).min(doc.reading.words.len());
    verb.starts_with("tom")
        && found.iter().filter(|entity| entity.kind == EntityType::Medication).any(|medicine| {
            let start = doc.reading.words_at(medicine.span).start;
            near.contains(&start) && (words.end..start).all(|word| !doc.reading.words[word].punctuation)
        })
}
