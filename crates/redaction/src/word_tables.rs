//! A hash for tables of words that ship with the program: quick, and no defence against chosen keys, which these have not.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::OnceLock;

use anamnesis_linear_model::hash;

/// A set of the program's own words.
pub(crate) type WordSet = HashSet<&'static str, BuildHasherDefault<WordHasher>>;
/// A table by the program's own words.
pub(crate) type WordMap<T> = HashMap<&'static str, T, BuildHasherDefault<WordHasher>>;
/// A table by hashes.
pub(crate) type HashedMap<T> = HashMap<u64, T, BuildHasherDefault<WordHasher>>;

/// A short word list for many look-ups: one hash look-up, however long it is.
pub(crate) struct WordList {
    words: &'static [&'static str],
    /// Further words, with spaces between them.
    spaced: &'static str,
    set: OnceLock<WordSet>,
}

impl WordList {
    pub(crate) const fn new(words: &'static [&'static str]) -> Self {
        Self { words, spaced: "", set: OnceLock::new() }
    }

    /// Single words with spaces between them.
    pub(crate) const fn spaced(spaced: &'static str) -> Self {
        Self { words: &[], spaced, set: OnceLock::new() }
    }

    pub(crate) fn contains(&self, word: &str) -> bool {
        self.set.get_or_init(|| self.iter().collect()).contains(word)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static str> {
        self.words.iter().copied().chain(self.spaced.split_whitespace())
    }
}

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
