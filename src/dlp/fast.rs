//! A hash for tables of words that ship with the program: quick, and no defence against chosen keys, which these have not.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

use super::tagger::hash;

/// A set of the program's own words.
pub type WordSet = HashSet<&'static str, BuildHasherDefault<Fast>>;
/// A table by the program's own words.
pub type WordMap<T> = HashMap<&'static str, T, BuildHasherDefault<Fast>>;
/// A table by hashes.
pub type HashedMap<T> = HashMap<u64, T, BuildHasherDefault<Fast>>;

#[derive(Default)]
pub struct Fast(u64);

impl Hasher for Fast {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = self.0.rotate_left(5) ^ hash::of(bytes);
    }

    /// The byte that ends a string tells nothing.
    fn write_u8(&mut self, _: u8) {}

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
