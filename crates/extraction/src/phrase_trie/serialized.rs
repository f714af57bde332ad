//! The trie as a file of the program: written by `make docs`, compared with the lexicons by a test, and read at a start
//! only if the lists are those from which it was made.

use std::collections::{HashMap, VecDeque};

use super::{ListId, PhraseTrie, WordBuildHasher};

/// `make docs` writes it. An empty file is no trie: then the phrases are written out at each start.
const FILE: &[u8] = include_bytes!("../lexicon/phrases.bin");
/// The first word of the file; another layout gets another number.
const LAYOUT: u32 = 0x414e_0001;

/// A trie with a hash of its lists.
pub(crate) struct SerializedTrie {
    /// Of all that was put in, as it was written.
    pub(crate) fingerprint: u64,
    pub(crate) lists: u16,
    pub(crate) trie: PhraseTrie,
    /// Of lists that need more than phrases, in the order in which they came.
    pub(crate) tables: VecDeque<Vec<u32>>,
}

/// The trie of this program.
pub(crate) fn shipped() -> Option<SerializedTrie> {
    SerializedTrie::from_bytes(FILE)
}

impl SerializedTrie {
    #[cfg(test)]
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut words: Vec<(&str, u32)> = self.trie.words.iter().map(|(word, id)| (word.as_str(), *id)).collect();
        words.sort_by_key(|word| word.1);
        let words: Vec<&str> = words.into_iter().map(|word| word.0).collect();
        let mut out = ByteWriter::default();
        out.number(LAYOUT);
        out.number((self.fingerprint >> 32) as u32);
        out.number(self.fingerprint as u32);
        out.number(self.lists.into());
        out.text(&words.join("\n"));
        out.numbers(&self.trie.roots);
        out.numbers(&self.trie.branches);
        out.numbers(&self.trie.edges.iter().flat_map(|(word, next)| [*word, *next]).collect::<Vec<_>>());
        out.numbers(&self.trie.ends_from);
        out.numbers(&self.trie.ends.iter().flat_map(|(list, meaning)| [list.0.into(), *meaning]).collect::<Vec<_>>());
        out.number(self.tables.len() as u32);
        self.tables.iter().for_each(|table| out.numbers(table));
        out.0
    }

    /// `None` for bytes that [`Self::to_bytes`] did not write.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut rest = ByteReader(bytes);
        if rest.number()? != LAYOUT {
            return None;
        }
        let fingerprint = u64::from(rest.number()?) << 32 | u64::from(rest.number()?);
        let lists = u16::try_from(rest.number()?).ok()?;
        let text = rest.text()?;
        let mut words = HashMap::with_capacity_and_hasher(text.lines().count(), WordBuildHasher::default());
        words.extend((0..).zip(text.lines()).map(|(id, word)| (word.to_owned(), id)));
        let roots = rest.numbers()?;
        let branches = rest.numbers()?;
        let edges = rest.numbers()?.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
        let ends_from = rest.numbers()?;
        let end = |pair: &[u32]| Some((ListId(u16::try_from(pair[0]).ok()?), pair[1]));
        let ends = rest.numbers()?.chunks_exact(2).map(end).collect::<Option<_>>()?;
        let tables = (0..rest.number()?).map(|_| rest.numbers()).collect::<Option<_>>()?;
        let trie = PhraseTrie { words, roots, branches, edges, ends_from, ends, custom: None };
        Some(Self { fingerprint, lists, trie, tables })
    }
}

#[cfg(test)]
impl PhraseTrie {
    /// The same phrases with every way to go on once: nodes from which the same can follow are one.
    pub(crate) fn minimized(self) -> Self {
        use super::within;
        type Node = (Vec<(ListId, u32)>, Vec<(u32, u32)>);
        let nodes = self.ends_from.len() - 1;
        let mut known: HashMap<Node, u32> = HashMap::new();
        let mut made: Vec<Node> = vec![(Vec::new(), Vec::new())];
        let mut now = vec![0u32; nodes];
        // The children of a node have greater numbers than the node.
        for node in (1..nodes).rev() {
            let at = node as u32;
            let edges = within(&self.edges, &self.branches, at).iter();
            let edges = edges.map(|(word, next)| (*word, now[*next as usize])).collect();
            let key: Node = (within(&self.ends, &self.ends_from, at).to_vec(), edges);
            now[node] = *known.entry(key.clone()).or_insert_with(|| {
                made.push(key);
                made.len() as u32 - 1
            });
        }
        let starts = |size: fn(&Node) -> usize| {
            let sums = made.iter().scan(0, |sum, node| {
                *sum += size(node) as u32;
                Some(*sum)
            });
            std::iter::once(0).chain(sums).collect::<Vec<u32>>()
        };
        Self {
            words: self.words,
            roots: self.roots.iter().map(|node| now[*node as usize]).collect(),
            branches: starts(|node| node.1.len()),
            ends_from: starts(|node| node.0.len()),
            edges: made.iter().flat_map(|node| node.1.clone()).collect(),
            ends: made.iter().flat_map(|node| node.0.clone()).collect(),
            custom: self.custom,
        }
    }
}

#[cfg(test)]
#[derive(Default)]
struct ByteWriter(Vec<u8>);

#[cfg(test)]
impl ByteWriter {
    fn number(&mut self, number: u32) {
        self.0.extend(number.to_le_bytes());
    }

    fn numbers(&mut self, numbers: &[u32]) {
        self.number(numbers.len() as u32);
        numbers.iter().for_each(|number| self.number(*number));
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u32);
        self.0.extend(text.as_bytes());
    }
}

struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    fn numbers(&mut self) -> Option<Vec<u32>> {
        let length = (self.number()? as usize).checked_mul(4)?;
        let bytes = self.take(length)?.chunks_exact(4);
        Some(bytes.map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect())
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = self.number()? as usize;
        std::str::from_utf8(self.take(length)?).ok()
    }
}
