//! SentencePiece Unigram: of all ways to cut a normalised text into known pieces, the most probable one.

use aho_corasick::{AhoCorasick, AhoCorasickKind, Match, MatchKind};

/// The pieces of a vocabulary and how probable each is.
pub struct Pieces {
    automaton: AhoCorasick,
    /// Id of each pattern of the automaton.
    ids: Vec<u32>,
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
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(ids.iter().map(|id| pieces[*id as usize]))
            .ok()?;
        Some(Self { automaton, ids, scores, unknown, unknown_score })
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
        // Sorted by end; of one end the longest, hence the earliest start, first.
        let mut matches = self.automaton.find_overlapping_iter(text).peekable();
        for (start, char) in text.char_indices() {
            let end = start + char.len_utf8();
            while let Some(found) = matches.next_if(|found: &Match| found.end() <= end) {
                let id = self.ids[found.pattern().as_usize()];
                improve(steps, found.start(), end, id, f64::from(self.scores[id as usize]));
            }
            improve(steps, start, end, self.unknown, self.unknown_score);
        }
    }
}

fn improve(steps: &mut [Step], from: usize, end: usize, id: u32, score: f64) {
    let score = steps[from].score + score;
    if score > steps[end].score {
        steps[end] = Step { score, from, id };
    }
}
