//! What the word lists say of a single word, as bits: one look-up for all lists.

use std::sync::LazyLock;

use super::super::fast::HashedMap;
use super::{cue_lists as cues, lexicon, place_lists as places, words};
use anamnesis_linear_model::hash;

/// A set of traits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traits(u16);

impl Traits {
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

const MONTHS: &str = "enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre \
    january february march april may june july august september october november december lunes martes miercoles jueves \
    viernes sabado domingo monday tuesday wednesday thursday friday saturday sunday jan feb mar apr jun jul aug sep sept \
    oct nov dec ene abr ago dic";
const NUMBERS: &str = "cero uno una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince \
    dieciseis diecisiete dieciocho diecinueve veinte veintiuno veintidos veintitres veinticuatro veinticinco veintiseis \
    veintisiete veintiocho veintinueve treinta cuarenta cincuenta sesenta setenta ochenta noventa cien ciento mil \
    zero oh one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen \
    eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand double triple doble";

/// Words by their hash: the atom of a word has it anyway.
static ALL: LazyLock<HashedMap<Traits>> = LazyLock::new(|| {
    let mut all: HashedMap<Traits> = HashedMap::default();
    let mut add = |word: &str, trait_of: Traits| all.entry(hash::of(word.as_bytes())).or_default().add(trait_of);
    for (word, known) in lexicon::all() {
        for (holds, trait_of) in
            [(known.given, Traits::GIVEN), (known.surname, Traits::SURNAME), (known.common, Traits::COMMON)]
        {
            if holds {
                add(word, trait_of);
            }
        }
    }
    words::common_words().for_each(|word| add(word, Traits::COMMON));
    lexicon::eponyms().for_each(|word| add(word, Traits::EPONYM));
    places::names().for_each(|word| add(word, Traits::PLACE));
    places::countries().for_each(|word| add(word, Traits::COUNTRY));
    lexicon::vocabulary().for_each(|word| add(word, Traits::ORDINARY));
    lexicon::rarities().for_each(|word| add(word, Traits::RARE));
    words::everyday_names().for_each(|word| add(word, Traits::EVERYDAY_NAME));
    for (list, trait_of) in
        [(&cues::TITLES, Traits::TITLE), (&cues::RELATIONS, Traits::RELATION), (&cues::PARTICLES, Traits::PARTICLE)]
    {
        list.iter().for_each(|word| add(word, trait_of));
    }
    MONTHS.split_whitespace().for_each(|word| add(word, Traits::MONTH));
    NUMBERS.split_whitespace().for_each(|word| add(word, Traits::NUMBER));
    all
});

/// The traits of a folded, lower-case word; a possessive has those of its word.
pub fn traits(lower: &str) -> Traits {
    let bare = lower.strip_suffix("'s").unwrap_or(lower);
    of_hash(hash::of(bare.as_bytes()))
}

/// As [`traits`], by the hash of a word that is no possessive.
pub(crate) fn of_hash(word: u64) -> Traits {
    ALL.get(&word).copied().unwrap_or_default()
}
