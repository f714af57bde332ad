//! Lists of clinical words and of speech: `data/stop_words.tsv`, and the extractor's own lists of medicines.

use std::sync::LazyLock;

use super::super::super::word_tables::{WordMap, WordSet};
use super::super::{lexicon, place_lists as places};
use super::clinical_words;
use anamnesis_text::Language;

pub(crate) use super::verbs::is_verb;

const TABLE: &str = include_str!("../../data/stop_words.tsv");
/// Lists of medicines: class, name, code, phrases.
const MEDICINES: [&str; 5] = [
    include_str!("../../../../extraction/src/lexicon/drugs_everyday.tsv"),
    include_str!("../../../../extraction/src/lexicon/drugs.tsv"),
    include_str!("../../../../extraction/src/lexicon/drugs_more.tsv"),
    include_str!("../../../../extraction/src/lexicon/drugs_wide.tsv"),
    include_str!("../../../../extraction/src/lexicon/drugs_brands.tsv"),
];
/// Shortest name of a medicine that is recognised without context.
const LEAST: usize = 4;

/// Medicines that are stuffs of every day: organisations and people are called by them.
const STUFFS: [&str; 12] =
    ["iron", "gold", "silver", "zinc", "water", "oxygen", "honey", "charcoal", "salt", "hierro", "plata", "agua"];

/// The table, by kind.
static KINDS: LazyLock<WordMap<WordSet>> = LazyLock::new(|| {
    let mut kinds: WordMap<WordSet> = WordMap::default();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        if let Some((kind, words)) = line.split_once('\t') {
            kinds.entry(kind).or_default().extend(words.split_whitespace());
        }
    }
    kinds
});

static DRUGS: LazyLock<WordSet> = LazyLock::new(|| {
    let names = MEDICINES.iter().flat_map(|list| list.lines()).filter(|line| !line.starts_with('#'));
    let words = names.flat_map(|line| line.split('\t').skip(1)).flat_map(|column| column.split('|'));
    // "fluoxetin{e,a}": the lists live as long as the program, so its written-out words may too.
    let written = |phrase: &'static str| -> Vec<&'static str> {
        if !phrase.contains('{') {
            return vec![phrase];
        }
        let words = clinical_words::expand(phrase).into_iter().filter(|word| !word.contains(' '));
        words.map(|word| &*Box::leak(word.into_boxed_str())).collect()
    };
    words
        .map(str::trim)
        .flat_map(written)
        .filter(|word| word.len() >= LEAST && word.bytes().all(|byte| byte.is_ascii_lowercase()))
        .filter(|word| !lexicon::word(word).is_name() && !places::is_place(word) && !STUFFS.contains(word))
        .filter(|word| !is_of_speech(word))
        .collect()
});

/// Trade names that are words of every day, and T4, are recognised by the words around them.
fn is_of_speech(word: &str) -> bool {
    lexicon::is_ordinary(word) && !word.ends_with("ine") && !word.ends_with("ina") && word.len() < 6
}

fn has(kind: &str, word: &str) -> bool {
    KINDS.get(kind).is_some_and(|words| words.contains(word))
}

/// An abbreviation of the trade that is no first name, or seldom one: "gerd", "htn", "sato2". Read where it is written in capitals.
pub(crate) fn is_abbreviation(lower: &str) -> bool {
    has("sure", lower) || has("likely", lower) || has("abbreviation", lower) && !lexicon::word(lower).given
}

/// An abbreviation that no one and no place is called, however the words around it are written.
pub(crate) fn is_sure_abbreviation(lower: &str) -> bool {
    let named = || lexicon::word(lower).is_name() || places::is_place(lower);
    has("sure", lower) || lower.len() > 2 && has("abbreviation", lower) && !named()
}

/// A medicine by its own name or brand, and no name of people or places.
pub(crate) fn is_medicine(lower: &str) -> bool {
    has("brand", lower) || DRUGS.contains(lower) || lower.strip_suffix('s').is_some_and(|one| DRUGS.contains(one))
}

/// A medicine, an abbreviation, a disease or a measure: no street and no one.
pub(crate) fn is_clinical(lower: &str) -> bool {
    is_medicine(lower) || is_abbreviation(lower) || clinical_words::is_word(lower) || clinical_words::is_measure(lower)
}

/// A device, a service or a game.
pub(crate) fn is_thing(lower: &str) -> bool {
    has("thing", lower)
}

/// A relative in short: "nan", "bro", "hna".
pub(crate) fn is_kin(lower: &str) -> bool {
    has("kin", lower)
}

/// God, and figures of books: no one whom a record knows.
pub(crate) fn is_no_person_word(lower: &str) -> bool {
    has("nobody", lower)
}

/// A profession: "paramedic", "dietitian".
pub(crate) fn is_role(lower: &str) -> bool {
    has("role", lower)
}

/// The form of a medicine: in English it follows the name, in Spanish it precedes it.
pub(crate) fn is_form(lower: &str) -> bool {
    has("form", lower)
}

/// A word that opens speech or a sentence of a note, in one language.
pub(crate) fn opens(language: Language, lower: &str) -> bool {
    language != Language::Spanish && has("opener.en", lower) || language != Language::English && has("opener.es", lower)
}
