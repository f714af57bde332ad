//! Collects phrases, list by list, and builds a trie of them.

use std::collections::HashMap;
use std::hash::Hasher as _;

use super::serialized::{self, SerializedTrie};
use super::{ListId, PhraseTrie, TrieWordHasher, WordBuildHasher};
use crate::lexicon::{LexiconExtension, LexiconList};

/// Words of the longest phrase; a longer one is not taken up.
pub(crate) const LONGEST_PHRASE: usize = 24;

/// Collects phrases, list by list, in order, so that a start needs no more memory than the result. A builder over a
/// serialized trie only checks that the same phrases are put in.
#[derive(Default)]
pub(crate) struct TrieBuilder {
    words: HashMap<String, u32, WordBuildHasher>,
    built_in: CollectedPhrases,
    lists: u16,
    /// Of all that was put in, as it was written.
    fingerprint: TrieWordHasher,
    /// Next to the phrases, in the order in which they came.
    tables: Vec<Vec<u32>>,
    serialized: Option<SerializedTrie>,
    /// The words that a deployment adds, and their phrases: a separate trie next to the serialized one.
    extension: LexiconExtension,
    custom: CollectedPhrases,
}

/// Phrases as they were collected.
#[derive(Default)]
struct CollectedPhrases {
    /// The words of all phrases, one phrase after the other.
    laid: Vec<u32>,
    phrases: Vec<CollectedPhrase>,
}

/// A phrase of a list: its words in the builder, and its meaning there.
#[derive(Clone, Copy)]
struct CollectedPhrase {
    from: u32,
    to: u32,
    list: ListId,
    meaning: u32,
}

impl TrieBuilder {
    /// Over the trie that is serialized in the program; `None` where none is.
    pub(crate) fn serialized() -> Option<Self> {
        let mut serialized = serialized::shipped()?;
        let words = std::mem::take(&mut serialized.trie.words);
        Some(Self { words, serialized: Some(serialized), ..Self::default() })
    }

    /// With a deployment's own rows, which each rule asks for when it puts in its list.
    #[must_use]
    pub(crate) fn extended(self, extension: LexiconExtension) -> Self {
        Self { extension, ..self }
    }

    /// The rows of a deployment's own that extend a list.
    pub(crate) fn custom_rows(&self, list: LexiconList) -> Vec<&'static str> {
        self.extension.rows(list).collect()
    }

    /// Whether phrases need not be written out: they are in the serialized trie.
    pub(crate) fn is_serialized(&self) -> bool {
        self.serialized.is_some()
    }

    /// Notes a phrase as its list has it, before it is expanded.
    pub(crate) fn note(&mut self, written: &str, meaning: u32) {
        self.fingerprint.write(written.as_bytes());
        self.fingerprint.write_u32(meaning);
    }

    /// Stores a table next to the phrases.
    pub(crate) fn store_table(&mut self, table: Vec<u32>) {
        self.tables.push(table);
    }

    /// The next table of the serialized trie.
    pub(crate) fn next_table(&mut self) -> Vec<u32> {
        let next = self.serialized.as_mut().and_then(|serialized| serialized.tables.pop_front());
        next.unwrap_or_default()
    }

    pub(crate) fn list(&mut self) -> ListId {
        self.lists += 1;
        ListId(self.lists - 1)
    }

    /// Adds a phrase as laid out for matching: words one space apart. The first meaning of a phrase in a list counts.
    pub(crate) fn add(&mut self, list: ListId, laid_out: &str, meaning: u32) {
        let words = self.numbered(laid_out);
        self.built_in.push(&words, list, meaning);
    }

    /// The same for a phrase of the deployment's own.
    pub(crate) fn add_custom(&mut self, list: ListId, laid_out: &str, meaning: u32) {
        let words = self.numbered(laid_out);
        self.custom.push(&words, list, meaning);
    }

    fn numbered(&mut self, laid_out: &str) -> Vec<u32> {
        laid_out.split(' ').filter(|word| !word.is_empty()).map(|word| self.word(word)).collect()
    }

    /// The number of a word, which it gets now if it has none.
    pub(crate) fn word(&mut self, word: &str) -> u32 {
        if let Some(id) = self.words.get(word) {
            return *id;
        }
        let id = number(self.words.len());
        self.words.insert(word.to_owned(), id);
        id
    }

    /// The serialized trie, if the same was put in as when it was written.
    pub(crate) fn verified(self) -> Option<PhraseTrie> {
        let (seen, lists) = (self.fingerprint.finish(), self.lists);
        let serialized =
            self.serialized.filter(|serialized| serialized.fingerprint == seen && serialized.lists == lists)?;
        let custom = self.custom.boxed_trie(self.words.len());
        Some(PhraseTrie { words: self.words, custom, ..serialized.trie })
    }

    /// The input of [`Self::serialized`].
    #[cfg(test)]
    pub(crate) fn serialize(mut self) -> Vec<u8> {
        let (fingerprint, lists) = (self.fingerprint.finish(), self.lists);
        let tables = std::mem::take(&mut self.tables).into();
        SerializedTrie { fingerprint, lists, trie: self.build().minimized(), tables }.to_bytes()
    }

    pub(crate) fn build(self) -> PhraseTrie {
        let Self { mut words, built_in, custom, .. } = self;
        words.shrink_to_fit();
        let custom = custom.boxed_trie(words.len());
        let trie = built_in.trie(words.len());
        PhraseTrie { words, custom, ..trie }
    }
}

impl CollectedPhrases {
    /// A phrase that is longer than [`LONGEST_PHRASE`] is not taken up.
    fn push(&mut self, words: &[u32], list: ListId, meaning: u32) {
        if (1..=LONGEST_PHRASE).contains(&words.len()) {
            let from = number(self.laid.len());
            self.laid.extend_from_slice(words);
            self.phrases.push(CollectedPhrase { from, to: number(self.laid.len()), list, meaning });
        }
    }

    /// A trie of these phrases alone, by the word numbers of the whole; `None` where there are none.
    fn boxed_trie(self, words: usize) -> Option<Box<PhraseTrie>> {
        (!self.phrases.is_empty()).then(|| Box::new(self.trie(words)))
    }

    /// The trie of these phrases, without its words.
    fn trie(self, words: usize) -> PhraseTrie {
        let Self { laid, mut phrases } = self;
        let of = |phrase: &CollectedPhrase| &laid[phrase.from as usize..phrase.to as usize];
        // Equal phrases stay in the order in which they came.
        phrases.sort_unstable_by(|one, other| of(one).cmp(of(other)).then(one.from.cmp(&other.from)));
        // Node, word, node after it; node, list, meaning.
        let (mut edges, mut ends): (Vec<(u32, u32, u32)>, Vec<(u32, ListId, u32)>) = (Vec::new(), Vec::new());
        let mut path: Vec<(u32, u32)> = Vec::new();
        for phrase in &phrases {
            let phrase_words = of(phrase);
            let shared = path.iter().zip(phrase_words).take_while(|((known, _), word)| known == *word).count();
            path.truncate(shared);
            for word in &phrase_words[shared..] {
                let (node, fresh) = (path.last().map_or(0, |last| last.1), number(edges.len() + 1));
                edges.push((node, *word, fresh));
                path.push((*word, fresh));
            }
            let node = path.last().map_or(0, |last| last.1);
            let stated = ends.iter().rev().take_while(|end| end.0 == node).any(|end| end.1 == phrase.list);
            if !stated {
                ends.push((node, phrase.list, phrase.meaning));
            }
        }
        let nodes = edges.len() + 1;
        let mut roots = vec![0; words];
        for (_, word, next) in edges.iter().filter(|edge| edge.0 == 0) {
            roots[*word as usize] = *next;
        }
        edges.retain(|edge| edge.0 != 0);
        edges.sort_unstable();
        PhraseTrie {
            roots,
            branches: starts(nodes, edges.iter().map(|edge| edge.0)),
            edges: edges.into_iter().map(|(_, word, next)| (word, next)).collect(),
            ends_from: starts(nodes, ends.iter().map(|end| end.0)),
            ends: ends.into_iter().map(|(_, list, meaning)| (list, meaning)).collect(),
            ..PhraseTrie::default()
        }
    }
}

/// Where the entries of each node begin, given the node of each entry in order; one more closes the last.
pub(super) fn starts(nodes: usize, of: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut starts = vec![0; nodes + 1];
    for node in of {
        starts[node as usize + 1] += 1;
    }
    for node in 0..nodes {
        starts[node + 1] += starts[node];
    }
    starts
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
