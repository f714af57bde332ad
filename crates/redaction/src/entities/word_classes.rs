//! The classes of a single word in the word lists, as bits: one look-up for all lists.

use std::sync::LazyLock;

use super::super::word_tables::HashedMap;
use super::{cue_lists as cues, lexicon, place_lists as places, words};
use anamnesis_linear_model::hash;

/// A set of word classes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WordClasses(u16);

impl WordClasses {
    pub const GIVEN: Self = Self(1);
    pub const SURNAME: Self = Self(2);
    pub const COMMON: Self = Self(4);
    pub(crate) const EPONYM: Self = Self(8);
    pub(crate) const PLACE: Self = Self(16);
    pub(crate) const COUNTRY: Self = Self(32);
    pub const TITLE: Self = Self(64);
    pub const RELATION: Self = Self(128);
    pub(crate) const MONTH: Self = Self(256);
    pub(crate) const NUMBER: Self = Self(512);
    pub const PARTICLE: Self = Self(1024);
    /// A first name that many people have.
    pub const EVERYDAY_NAME: Self = Self(2048);
    /// A word that texts of either language write small.
    pub(crate) const ORDINARY: Self = Self(4096);
    /// A rarer word of one of the languages.
    pub(crate) const RARE: Self = Self(8192);

    pub(crate) fn bits(self) -> u16 {
        self.0
    }

    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// No name, place, title, relation, month or number.
    pub(crate) fn is_everyday(self) -> bool {
        self.0 & !(Self::COMMON.0 | Self::PARTICLE.0 | Self::ORDINARY.0 | Self::RARE.0) == 0
    }

    fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

/// Months and days of the week, with their abbreviations; they share one class.
const MONTHS: &str = "enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre \
    january february march april may june july august september october november december lunes martes miercoles jueves \
    viernes sabado domingo monday tuesday wednesday thursday friday saturday sunday jan feb mar apr jun jul aug sep sept \
    oct nov dec ene abr ago dic";
/// Number words as people dictate them: "oh" is a zero, "double" and "doble" repeat a digit.
const NUMBERS: &str = "cero uno una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince \
    dieciseis diecisiete dieciocho diecinueve veinte veintiuno veintidos veintitres veinticuatro veinticinco veintiseis \
    veintisiete veintiocho veintinueve treinta cuarenta cincuenta sesenta setenta ochenta noventa cien ciento mil \
    zero oh one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen \
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand double triple doble";

/// Words by their hash: the atom of a word has it anyway.
static ALL: LazyLock<HashedMap<WordClasses>> = LazyLock::new(|| {
    let mut all: HashedMap<WordClasses> = HashedMap::default();
    let mut add = |word: &str, class: WordClasses| all.entry(hash::hash_bytes(word.as_bytes())).or_default().add(class);
    for (word, known) in lexicon::all() {
        for (holds, class) in [
            (known.given, WordClasses::GIVEN),
            (known.surname, WordClasses::SURNAME),
            (known.common, WordClasses::COMMON),
        ] {
            if holds {
                add(word, class);
            }
        }
    }
    words::common_words().for_each(|word| add(word, WordClasses::COMMON));
    lexicon::eponyms().for_each(|word| add(word, WordClasses::EPONYM));
    places::names().for_each(|word| add(word, WordClasses::PLACE));
    places::countries().for_each(|word| add(word, WordClasses::COUNTRY));
    lexicon::vocabulary().for_each(|word| add(word, WordClasses::ORDINARY));
    lexicon::rarities().for_each(|word| add(word, WordClasses::RARE));
    words::everyday_names().for_each(|word| add(word, WordClasses::EVERYDAY_NAME));
    for (list, class) in [
        (&cues::TITLES, WordClasses::TITLE),
        (&cues::RELATIONS, WordClasses::RELATION),
        (&cues::PARTICLES, WordClasses::PARTICLE),
    ] {
        list.iter().for_each(|word| add(word, class));
    }
    MONTHS.split_whitespace().for_each(|word| add(word, WordClasses::MONTH));
    NUMBERS.split_whitespace().for_each(|word| add(word, WordClasses::NUMBER));
    all
});

/// The word classes of a folded, lower-case word; a possessive has those of its word.
pub fn word_classes(lower: &str) -> WordClasses {
    let bare = lower.strip_suffix("'s").unwrap_or(lower);
    classes_of_hash(hash::hash_bytes(bare.as_bytes()))
}

/// As [`word_classes`], by the hash of a word that is no possessive.
pub(crate) fn classes_of_hash(word: u64) -> WordClasses {
    ALL.get(&word).copied().unwrap_or_default()
}
