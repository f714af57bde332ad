//! The classes of single words: first names, surnames, everyday words, eponyms. Lists: `data/`, sources in its NOTICE.

use std::sync::LazyLock;

use super::super::word_tables::{WordMap, WordSet};
use super::cue_lists::FUNCTION;
use super::words;
use anamnesis_text::Language;

/// The classes of a word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LexiconEntry {
    pub(crate) given: bool,
    pub(crate) surname: bool,
    /// An everyday or clinical word, or the name of a disease, test or device.
    pub(crate) common: bool,
}

impl LexiconEntry {
    pub(crate) fn is_name(self) -> bool {
        self.given || self.surname
    }

    /// A name and nothing else.
    pub(crate) fn is_strong(self) -> bool {
        self.is_name() && !self.common
    }
}

static WORDS: LazyLock<WordMap<LexiconEntry>> = LazyLock::new(|| {
    let mut all: WordMap<LexiconEntry> = WordMap::default();
    for name in list(include_str!("../data/given_names.txt")) {
        all.entry(name).or_default().given = true;
    }
    for name in list(include_str!("../data/surnames.txt")) {
        all.entry(name).or_default().surname = true;
    }
    for (name, word) in &mut all {
        word.common = words::is_common(name) || EPONYMS.contains(name);
    }
    all
});

/// Names of diseases, signs, scales, devices and drugs that come from people.
static EPONYMS: LazyLock<WordSet> = LazyLock::new(|| list(include_str!("../data/allow.txt")).collect());

fn list(text: &'static str) -> impl Iterator<Item = &'static str> {
    text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace)
}

/// The classes of a folded, lower-case word.
pub(crate) fn word(lower: &str) -> LexiconEntry {
    match WORDS.get(lower) {
        Some(word) => *word,
        None if lower.contains('\'') && !lower.ends_with('\'') => word(&lower.replace('\'', "")),
        None => LexiconEntry { common: words::is_common(lower) || EPONYMS.contains(lower), ..LexiconEntry::default() },
    }
}

/// Whether [`word`] is a name. Cheap for the many words that are none.
pub(crate) fn is_name(lower: &str) -> bool {
    match WORDS.get(lower) {
        Some(word) => word.is_name(),
        None => lower.contains('\'') && word(lower).is_name(),
    }
}

/// Words that texts write in lower case and that name no person: an ordinary word is no evidence of a person, a place
/// or an organisation.
static VOCABULARY: LazyLock<WordSet> = LazyLock::new(|| {
    list(include_str!("../data/vocabulary.txt")).chain(list(include_str!("../data/words.en.txt"))).collect()
});

/// Further Spanish words. English texts hold names of all origins, and a rare Spanish word is one of them too often.
static SPANISH: LazyLock<WordSet> = LazyLock::new(|| list(include_str!("../data/words.es.txt")).collect());

/// Rarer English words: ordinary if they are in lower case. Capitalised inside a sentence they are names too often.
static RARE: LazyLock<WordSet> = LazyLock::new(|| list(include_str!("../data/words.rare.txt")).collect());

/// Every word of [`VOCABULARY`].
pub(crate) fn vocabulary() -> impl Iterator<Item = &'static str> {
    VOCABULARY.iter().copied()
}

pub(crate) fn is_of_vocabulary(lower: &str) -> bool {
    VOCABULARY.contains(lower)
}

/// Rarer words of both languages.
pub(crate) fn rarities() -> impl Iterator<Item = &'static str> {
    SPANISH.iter().chain(RARE.iter()).copied()
}

pub(crate) fn is_rare(lower: &str) -> bool {
    RARE.contains(lower)
}

/// An ordinary word of either language.
pub fn is_ordinary(lower: &str) -> bool {
    VOCABULARY.contains(lower) || word(lower).common
}

/// An ordinary word of a text in this language.
pub(crate) fn is_ordinary_in(language: Language, lower: &str) -> bool {
    is_ordinary(lower) || language == Language::Spanish && SPANISH.contains(lower)
}

/// An ordinary word that is no verb of what a person says or does: those end as verbs do, or are listed.
pub(crate) fn is_noun(word: &str) -> bool {
    const OTHERS: [&str; 12] =
        ["with", "without", "after", "before", "from", "felt", "had", "said", "went", "made", "in", "on"];
    let adverb =
        word.ends_with("ly") && !matches!(word, "family" | "assembly" | "anomaly" | "belly" | "jelly" | "supply");
    let verb = adverb || word.ends_with("ed") || word.ends_with("ing") || word.ends_with('s') && !word.ends_with("ss");
    !verb && word.len() > 2 && !FUNCTION.contains(word) && !OTHERS.contains(&word) && is_ordinary(word)
}

/// A word that no list has and that ends as surnames of some languages do and few other words: "Kowalski".
pub(crate) fn ends_as_surname(lower: &str) -> bool {
    const ENDINGS: &[&str] = &[
        "ski", "sky", "ska", "wicz", "czyk", "czak", "enko", "chuk", "ovic", "ovich", "evic", "escu", "eanu", "nyan",
        "opoulos", "akis", "idis", "sson", "dottir", "quist", "gaard", "strom", "oglu", "zadeh", "ullah", "nnen",
        "anen", "guez", "ndez", "inho", "wala", "singh", "poulou", "shvili", "mbe", "nkwo",
    ];
    let bare = lower.strip_suffix("'s").unwrap_or(lower);
    bare.len() > 5 && !is_eponym(bare) && !is_ordinary(bare) && ENDINGS.iter().any(|ending| bare.ends_with(ending))
}

/// Every listed word with what it may be.
pub(crate) fn all() -> impl Iterator<Item = (&'static str, LexiconEntry)> {
    WORDS.iter().map(|(name, word)| (*name, *word))
}

pub(crate) fn eponyms() -> impl Iterator<Item = &'static str> {
    EPONYMS.iter().copied()
}

pub(crate) fn is_eponym(lower: &str) -> bool {
    EPONYMS.contains(lower)
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn names_words_and_eponyms_are_distinguished() {
        assert!(word("pedro").is_strong() && word("jimenez").is_strong());
        assert!(word("esperanza").is_name() && !word("esperanza").is_strong());
        assert!(!word("parkinson").is_strong());
        assert!(!word("urocultivo").is_name());
    }
}
