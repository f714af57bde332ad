//! Every phrase of every list in one trie of words. A document's words are looked up once and walked once; each rule
//! then reads the places of its own list. Linear: a phrase is never longer than [`builder::LONGEST_PHRASE`] words.

//!
//! Writing the phrases out takes a quarter of a second and tens of megabytes, so that the finished trie is serialized
//! beforehand ([`serialized`]) and read at a start.

mod builder;
mod serialized;

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

pub(crate) use builder::{LONGEST_PHRASE, TrieBuilder};

/// 64 lists per word in the mask of a sentence; lists beyond share their bits, which costs only time.
const MASKS: usize = 12;
/// The number of all words that no phrase holds.
pub(crate) const UNKNOWN: u32 = u32::MAX;

/// A list of phrases inside the trie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ListId(u16);

/// The finished trie: its nodes are numbered in the order of their phrases.
#[derive(Default)]
pub(crate) struct PhraseTrie {
    words: HashMap<String, u32, WordBuildHasher>,
    /// Node after one word, by word; 0 where no phrase begins with it.
    roots: Vec<u32>,
    /// Per node: where its branches begin; those of the next node end them.
    branches: Vec<u32>,
    edges: Vec<(u32, u32)>,
    ends_from: Vec<u32>,
    /// The lists in which a phrase ends at a node, with its meaning.
    ends: Vec<(ListId, u32)>,
    /// The separate phrases of a deployment, for the same lists and by the same numbers of words.
    custom: Option<Box<PhraseTrie>>,
}

/// A phrase that starts at a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PhraseHit {
    list: ListId,
    len: u16,
    meaning: u32,
}

/// The phrases of a document: for each word the longest of each list that starts there.
#[derive(Debug, Default)]
pub(crate) struct PhraseHits {
    starts: Vec<u32>,
    entries: Vec<PhraseHit>,
    /// Per sentence: the lists with a phrase in it.
    masks: Vec<[u64; MASKS]>,
}

impl PhraseTrie {
    /// The number of a word that some phrase holds, or [`UNKNOWN`].
    pub(crate) fn word(&self, folded: &str) -> u32 {
        self.words.get(folded).copied().unwrap_or(UNKNOWN)
    }

    /// Walks the words of a document ([`UNKNOWN`]: in no phrase), sentence by sentence; no phrase crosses sentences.
    pub(crate) fn places(&self, words: &[u32], sentences: impl Iterator<Item = Range<usize>>) -> PhraseHits {
        let mut places =
            PhraseHits { starts: Vec::with_capacity(words.len() + 1), entries: Vec::new(), masks: Vec::new() };
        for sentence in sentences {
            let mut mask = [0u64; MASKS];
            for start in sentence.clone() {
                let first = places.entries.len();
                places.starts.push(u32::try_from(first).unwrap_or(u32::MAX));
                self.walk(&words[start..sentence.end], first, &mut places.entries);
                if let Some(custom) = &self.custom {
                    custom.walk(&words[start..sentence.end], first, &mut places.entries);
                }
                for entry in &places.entries[first..] {
                    mask[usize::from(entry.list.0 >> 6) % MASKS] |= 1 << (entry.list.0 & 63);
                }
            }
            places.masks.push(mask);
        }
        places.starts.push(u32::try_from(places.entries.len()).unwrap_or(u32::MAX));
        places
    }

    /// All phrases that start at the first word, the longest of each list; of equally long ones the last that is found.
    fn walk(&self, words: &[u32], first: usize, out: &mut Vec<PhraseHit>) {
        let mut node = 0u32;
        for (at, word) in words.iter().enumerate() {
            let next =
                if at == 0 { self.roots.get(*word as usize).copied().unwrap_or(0) } else { self.next(node, *word) };
            if next == 0 {
                return;
            }
            node = next;
            let len = u16::try_from(at + 1).unwrap_or(u16::MAX);
            for (list, meaning) in within(&self.ends, &self.ends_from, node) {
                let entry = PhraseHit { list: *list, len, meaning: *meaning };
                match out[first..].iter_mut().find(|known| known.list == *list) {
                    Some(known) if len >= known.len => *known = entry,
                    Some(_) => {}
                    None => out.push(entry),
                }
            }
        }
    }

    fn next(&self, node: u32, word: u32) -> u32 {
        let branches = within(&self.edges, &self.branches, node);
        branches.binary_search_by_key(&word, |branch| branch.0).map_or(0, |at| branches[at].1)
    }
}

fn within<'a, T>(entries: &'a [T], starts: &[u32], node: u32) -> &'a [T] {
    &entries[starts[node as usize] as usize..starts[node as usize + 1] as usize]
}

impl PhraseHits {
    /// The longest phrase of a list that starts at a word: its length in words and its meaning.
    pub(crate) fn at(&self, list: ListId, word: usize) -> Option<(usize, u32)> {
        let (start, end) = (*self.starts.get(word)?, *self.starts.get(word + 1)?);
        let here = self.entries.get(start as usize..end as usize)?;
        here.iter().find(|entry| entry.list == list).map(|entry| (usize::from(entry.len), entry.meaning))
    }

    /// Whether a phrase of a list may start in a sentence: false is certain.
    pub(crate) fn may_hold(&self, list: ListId, sentence: usize) -> bool {
        self.masks.get(sentence).is_none_or(|mask| mask[usize::from(list.0 >> 6) % MASKS] & (1 << (list.0 & 63)) != 0)
    }
}

type WordBuildHasher = BuildHasherDefault<TrieWordHasher>;

/// Multiply and rotate, as for small keys that no attacker chooses: the table holds only words of the lists.
#[derive(Default)]
struct TrieWordHasher(u64);

impl TrieWordHasher {
    fn mix(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for TrieWordHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.mix(chunk.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)));
        }
        let rest = chunks.remainder();
        if !rest.is_empty() {
            self.mix(rest.iter().fold(rest.len() as u64, |value, byte| value << 8 | u64::from(*byte)));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.mix(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.mix(u64::from(value));
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
}
