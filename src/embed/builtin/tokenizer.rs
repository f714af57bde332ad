//! SentencePiece Unigram: of all ways to cut the normalised text into known pieces, the most probable one.

use aho_corasick::{AhoCorasick, AhoCorasickKind, Match, MatchKind};

use super::charsmap::Charsmap;

/// The first ids stand for no text: unknown, begin, end and three that the model never uses.
pub(super) const CONTROL: usize = 6;
const UNKNOWN: u32 = 0;
const BEGIN: u32 = 1;
const END: u32 = 2;

pub(super) struct Tokenizer {
    charsmap: Charsmap,
    pieces: AhoCorasick,
    /// Log probability of each piece, control ids included.
    scores: Vec<f32>,
    unknown_score: f32,
}

/// The best way to reach a position of the text.
#[derive(Clone, Copy)]
struct Step {
    score: f64,
    from: usize,
    id: u32,
}

impl Tokenizer {
    /// `pieces` and `scores` by id. None when they do not fit each other.
    pub(super) fn new(charsmap: Charsmap, pieces: &[&[u8]], scores: Vec<f32>, unknown_score: f32) -> Option<Self> {
        if pieces.len() != scores.len() || pieces.iter().any(|piece| piece.is_empty()) {
            return None;
        }
        let pieces = AhoCorasick::builder()
            .match_kind(MatchKind::Standard)
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(pieces.get(CONTROL..)?)
            .ok()?;
        Some(Self { charsmap, pieces, scores, unknown_score })
    }

    /// How many ids there are.
    pub(super) fn len(&self) -> usize {
        self.scores.len()
    }

    /// Ids of the text between begin and end. A text without any character is one unknown piece.
    pub(super) fn encode(&self, text: &str) -> Vec<u32> {
        let normalised = self.charsmap.normalise(text);
        let steps = self.best_steps(&normalised);
        let mut ids = vec![END];
        let mut at = normalised.len();
        if at == 0 {
            ids.push(UNKNOWN);
        }
        while at > 0 {
            ids.push(steps[at].id);
            at = steps[at].from;
        }
        ids.push(BEGIN);
        ids.reverse();
        ids
    }

    /// Viterbi by end position. On a tie the earlier start stays, as in SentencePiece.
    fn best_steps(&self, text: &str) -> Vec<Step> {
        let mut steps = vec![Step { score: f64::NEG_INFINITY, from: 0, id: UNKNOWN }; text.len() + 1];
        steps[0].score = 0.0;
        // Sorted by end; of one end the longest, hence the earliest start, first.
        let mut matches = self.pieces.find_overlapping_iter(text).peekable();
        for (start, char) in text.char_indices() {
            let end = start + char.len_utf8();
            let mut single = false;
            while let Some(found) = matches.next_if(|found: &Match| found.end() <= end) {
                let id = found.pattern().as_usize() + CONTROL;
                single |= found.start() == start;
                improve(&mut steps, found.start(), end, (id as u32, self.scores[id]));
            }
            if !single {
                improve(&mut steps, start, end, (UNKNOWN, self.unknown_score));
            }
        }
        steps
    }
}

fn improve(steps: &mut [Step], from: usize, end: usize, (id, score): (u32, f32)) {
    let score = steps[from].score + f64::from(score);
    if score > steps[end].score {
        steps[end] = Step { score, from, id };
    }
}
