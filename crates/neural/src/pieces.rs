//! SentencePiece Unigram: of all ways to cut a normalised text into known pieces, the most probable one.

use std::collections::VecDeque;

use memchr::memchr;

/// The pieces of a vocabulary and how probable each is.
pub struct Pieces {
    trie: Trie,
    /// Log probability by id.
    scores: Vec<f32>,
    unknown: u32,
    unknown_score: f64,
}

/// One piece of a text: its id and where it ends, in bytes. It begins where the one before it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    pub id: u32,
    pub end: usize,
}

/// The best way to reach a position of the text.
#[derive(Clone, Copy)]
pub struct Step {
    score: f64,
    from: usize,
    id: u32,
}

impl Pieces {
    /// `pieces` and `scores` by id; the ids of `control` (the unknown piece among them) stand for no text. None when
    /// they do not fit each other, or when an unknown character would be as probable as a piece.
    pub fn new(pieces: &[&str], scores: Vec<f32>, control: &[u32], unknown: (u32, f64)) -> Option<Self> {
        let (unknown, unknown_score) = unknown;
        let inside = |id: &u32| (*id as usize) < pieces.len();
        if pieces.len() != scores.len() || !control.contains(&unknown) || !control.iter().all(inside) {
            return None;
        }
        let ids: Vec<u32> = (0..u32::try_from(pieces.len()).ok()?).filter(|id| !control.contains(id)).collect();
        let sound = |id: &u32| !pieces[*id as usize].is_empty() && f64::from(scores[*id as usize]) > unknown_score;
        if ids.is_empty() || !ids.iter().all(sound) {
            return None;
        }
        let mut entries: Vec<(&[u8], u32)> = ids.iter().map(|id| (pieces[*id as usize].as_bytes(), *id)).collect();
        // Of equal pieces the most probable one comes first, then the one with the smallest id.
        entries.sort_unstable_by(|(one, a), (other, b)| {
            one.cmp(other).then_with(|| scores[*b as usize].total_cmp(&scores[*a as usize])).then(a.cmp(b))
        });
        Some(Self { trie: Trie::from_sorted(&entries), scores, unknown, unknown_score })
    }

    /// How many ids there are.
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// Never: a vocabulary without a piece is none.
    pub fn is_empty(&self) -> bool {
        self.scores.is_empty()
    }

    /// Writes the pieces of `text` into `out`, whose contents go; a character that no piece holds is an unknown piece.
    /// `steps` is room for the search, so that many short texts need no memory of their own.
    pub fn cut(&self, text: &str, steps: &mut Vec<Step>, out: &mut Vec<Cut>) {
        out.clear();
        self.best_steps(text, steps);
        let mut at = text.len();
        while at > 0 {
            out.push(Cut { id: steps[at].id, end: at });
            at = steps[at].from;
        }
        out.reverse();
    }

    /// Viterbi by end position. On a tie the earlier start stays, as in SentencePiece.
    fn best_steps(&self, text: &str, steps: &mut Vec<Step>) {
        steps.clear();
        steps.resize(text.len() + 1, Step { score: f64::NEG_INFINITY, from: 0, id: self.unknown });
        steps[0].score = 0.0;
        for (start, char) in text.char_indices() {
            self.trie.prefixes(&text.as_bytes()[start..], |length, id| {
                improve(steps, start, start + length, id, f64::from(self.scores[id as usize]));
            });
            improve(steps, start, start + char.len_utf8(), self.unknown, self.unknown_score);
        }
    }
}

/// All pieces by their bytes. Nodes are numbered breadth first, so that the children of a node have consecutive numbers
/// and an edge needs no target. A program builds it at each start: an Aho-Corasick automaton of the same 30,000 pieces took
/// a third of the processor time of a short command.
struct Trie {
    /// The first child of each node; the children of a node end where those of the next one begin.
    first_child: Vec<u32>,
    /// The byte by which each node is reached.
    label: Vec<u8>,
    /// The piece that ends at each node, or [`Trie::NO_PIECE`].
    piece: Vec<u32>,
}

impl Trie {
    const NO_PIECE: u32 = u32::MAX;

    /// `entries` in the order of their bytes; of equal ones the first counts.
    fn from_sorted(entries: &[(&[u8], u32)]) -> Self {
        let mut trie = Self { first_child: Vec::new(), label: vec![0], piece: Vec::new() };
        let mut waiting = VecDeque::from([(entries, 0)]);
        while let Some((mut entries, depth)) = waiting.pop_front() {
            let ends = entries.partition_point(|(bytes, _)| bytes.len() == depth);
            trie.piece.push(if ends > 0 { entries[0].1 } else { Self::NO_PIECE });
            trie.first_child.push(node(trie.label.len()));
            entries = &entries[ends..];
            while let Some((bytes, _)) = entries.first() {
                let byte = bytes[depth];
                let (same, rest) = entries.split_at(entries.partition_point(|(bytes, _)| bytes[depth] == byte));
                trie.label.push(byte);
                waiting.push_back((same, depth + 1));
                entries = rest;
            }
        }
        trie.first_child.push(node(trie.label.len()));
        trie
    }

    /// Calls `found` with length and id of each piece that `text` begins with, the shortest first.
    fn prefixes(&self, text: &[u8], mut found: impl FnMut(usize, u32)) {
        let mut at = 0;
        for (index, byte) in text.iter().enumerate() {
            let (from, to) = (self.first_child[at] as usize, self.first_child[at + 1] as usize);
            let Some(child) = memchr(*byte, &self.label[from..to]) else { return };
            at = from + child;
            if self.piece[at] != Self::NO_PIECE {
                found(index + 1, self.piece[at]);
            }
        }
    }
}

/// A vocabulary has fewer bytes than a number of 32 bits counts.
fn node(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(Trie::NO_PIECE)
}

fn improve(steps: &mut [Step], from: usize, end: usize, id: u32, score: f64) {
    let score = steps[from].score + score;
    if score > steps[end].score {
        steps[end] = Step { score, from, id };
    }
}
