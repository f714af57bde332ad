//! Tables of words that ship with the program, and a hash for them: quick, and no defence against chosen keys, which these
//! have not.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use anamnesis_linear_model::hash;
pub(crate) use anamnesis_text::WordList;

pub(crate) const ENTITIES: &str = include_str!("data/words/entities.tsv");
pub(crate) const TAGGER: &str = include_str!("data/words/tagger.tsv");
pub(crate) const IDENTIFIERS: &str = include_str!("data/words/identifiers.tsv");

/// A set of the program's own words.
pub(crate) type WordSet = HashSet<&'static str, BuildHasherDefault<WordHasher>>;
/// A table by the program's own words.
pub(crate) type WordMap<T> = HashMap<&'static str, T, BuildHasherDefault<WordHasher>>;
/// A table by hashes.
pub(crate) type HashedMap<T> = HashMap<u64, T, BuildHasherDefault<WordHasher>>;

#[derive(Default)]
pub(crate) struct WordHasher(u64);

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = self.0.rotate_left(5) ^ hash::hash_bytes(bytes);
    }

    /// The byte that ends a string carries no information.
    fn write_u8(&mut self, _: u8) {}

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
