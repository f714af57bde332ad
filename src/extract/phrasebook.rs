//! Every phrase of every list in one trie of words. A document's words are looked up once and walked once; each rule
//! then reads the places of its own list. Linear: a phrase is never longer than [`LONGEST_PHRASE`] words.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

/// Words of the longest phrase; a longer one is not taken up.
const LONGEST_PHRASE: usize = 24;

/// A list of phrases inside the book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListId(u16);

/// Collects phrases, list by list.
#[derive(Default)]
pub struct Builder {
    words: HashMap<String, u32, Hash>,
    edges: HashMap<(u32, u32), u32, Hash>,
    ends: Vec<Vec<(ListId, u32)>>,
    lists: u16,
}

/// The finished book.
#[derive(Default)]
pub struct Phrasebook {
    words: HashMap<String, u32, Hash>,
    /// Node after one word, by word; 0 where no phrase begins with it.
    roots: Vec<u32>,
    edges: HashMap<(u32, u32), u32, Hash>,
    /// Per node: the lists in which a phrase ends there, with its meaning.
    ends: Vec<Box<[(ListId, u32)]>>,
}

impl Builder {
    pub fn list(&mut self) -> ListId {
        self.lists += 1;
        ListId(self.lists - 1)
    }

    /// Adds a phrase as laid out for matching: words one space apart. The first meaning of a phrase in a list counts.
    pub fn add(&mut self, list: ListId, laid_out: &str, meaning: u32) {
        let words: Vec<&str> = laid_out.split(' ').filter(|word| !word.is_empty()).collect();
        if words.is_empty() || words.len() > LONGEST_PHRASE {
            return;
        }
        if self.ends.is_empty() {
            self.ends.push(Vec::new());
        }
        let mut node = 0;
        for word in words {
            let word = self.word(word);
            let fresh = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
            node = *self.edges.entry((node, word)).or_insert(fresh);
            if node == fresh {
                self.ends.push(Vec::new());
            }
        }
        let ends = &mut self.ends[node as usize];
        if ends.iter().all(|(known, _)| *known != list) {
            ends.push((list, meaning));
        }
    }

    fn word(&mut self, word: &str) -> u32 {
        if let Some(id) = self.words.get(word) {
            return *id;
        }
        let id = u32::try_from(self.words.len()).unwrap_or(u32::MAX);
        self.words.insert(word.to_owned(), id);
        id
    }

    pub fn build(self) -> Phrasebook {
        let mut roots = vec![0; self.words.len()];
        for ((node, word), next) in &self.edges {
            if *node == 0 {
                roots[*word as usize] = *next;
            }
        }
        let ends = self.ends.into_iter().map(Vec::into_boxed_slice).collect();
        let edges = self.edges.into_iter().filter(|((node, _), _)| *node != 0).collect();
        Phrasebook { words: self.words, roots, edges, ends }
    }
}

/// A phrase that starts at a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    list: ListId,
    /// Words it is long.
    len: u16,
    meaning: u32,
}

/// Where the phrases of a document stand: for each word the longest of each list that starts there.
#[derive(Debug, Default)]
pub struct Places {
    starts: Vec<u32>,
    entries: Vec<Entry>,
    /// Per sentence: the lists of which something stands in it.
    masks: Vec<[u64; 2]>,
}

impl Phrasebook {
    /// The number of a word that some phrase holds.
    pub fn word(&self, folded: &str) -> Option<u32> {
        self.words.get(folded).copied()
    }

    /// Walks the words of a document (`None`: in no phrase), sentence by sentence; no phrase crosses sentences.
    pub fn places(&self, words: &[Option<u32>], sentences: impl Iterator<Item = Range<usize>>) -> Places {
        let mut places = Places { starts: Vec::with_capacity(words.len() + 1), entries: Vec::new(), masks: Vec::new() };
        for sentence in sentences {
            let mut mask = [0u64; 2];
            for start in sentence.clone() {
                let first = places.entries.len();
                places.starts.push(u32::try_from(first).unwrap_or(u32::MAX));
                self.walk(&words[start..sentence.end], first, &mut places.entries);
                for entry in &places.entries[first..] {
                    mask[usize::from(entry.list.0 >> 6) & 1] |= 1 << (entry.list.0 & 63);
                }
            }
            places.masks.push(mask);
        }
        places.starts.push(u32::try_from(places.entries.len()).unwrap_or(u32::MAX));
        places
    }

    /// All phrases that start at the first word, the longest of each list.
    fn walk(&self, words: &[Option<u32>], first: usize, out: &mut Vec<Entry>) {
        let mut node = 0u32;
        for (at, word) in words.iter().enumerate() {
            let Some(word) = word else { return };
            let next = if at == 0 { self.roots[*word as usize] } else { self.next(node, *word) };
            if next == 0 {
                return;
            }
            node = next;
            let len = u16::try_from(at + 1).unwrap_or(u16::MAX);
            for (list, meaning) in &*self.ends[node as usize] {
                let entry = Entry { list: *list, len, meaning: *meaning };
                match out[first..].iter_mut().find(|known| known.list == *list) {
                    Some(known) => *known = entry,
                    None => out.push(entry),
                }
            }
        }
    }

    fn next(&self, node: u32, word: u32) -> u32 {
        self.edges.get(&(node, word)).copied().unwrap_or(0)
    }
}

impl Places {
    /// The longest phrase of a list that starts at a word: its length in words and its meaning.
    pub fn at(&self, list: ListId, word: usize) -> Option<(usize, u32)> {
        let (start, end) = (*self.starts.get(word)?, *self.starts.get(word + 1)?);
        let here = self.entries.get(start as usize..end as usize)?;
        here.iter().find(|entry| entry.list == list).map(|entry| (usize::from(entry.len), entry.meaning))
    }

    /// Whether a phrase of a list may start in a sentence: false is sure.
    pub fn may_hold(&self, list: ListId, sentence: usize) -> bool {
        self.masks.get(sentence).is_none_or(|mask| mask[usize::from(list.0 >> 6) & 1] & (1 << (list.0 & 63)) != 0)
    }
}

type Hash = BuildHasherDefault<WordHasher>;

/// Multiply and rotate, as for small keys that no stranger chooses: the table holds our own words only.
#[derive(Default)]
struct WordHasher(u64);

impl WordHasher {
    fn mix(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for WordHasher {
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
