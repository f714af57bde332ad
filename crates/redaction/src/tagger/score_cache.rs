//! Scores of earlier passes: a further pass over a text sees most of its tokens with the same neighbours.

use super::decode::Scores;
use super::token_features::TokenFeatures;
use anamnesis_linear_model::hash::mix;

/// Most cached scores, a power of two: 300 KB.
const MOST: usize = 1 << 12;

/// Scores by a hash of a token and its neighbours. Colliding entries are computed again.
#[derive(Default)]
pub(crate) struct ScoreCache {
    keys: Vec<u64>,
    places: Vec<u16>,
    /// In the order of computation, so that unused space is never written.
    scores: Vec<Scores>,
}

impl ScoreCache {
    /// Allocates for a text, once.
    pub(crate) fn grow(&mut self, tokens: usize) {
        if self.keys.is_empty() {
            let room = tokens.next_power_of_two().clamp(64, MOST);
            self.keys = vec![0; room];
            self.places = vec![0; room];
        }
    }

    /// The scores of a token, cached or computed now.
    pub(crate) fn get_or_compute(
        &mut self,
        token_features: &[TokenFeatures],
        at: usize,
        compute: impl FnOnce() -> Scores,
    ) -> Scores {
        let key = key(token_features, at);
        let place = (key >> 32) as usize & (self.keys.len() - 1);
        if self.keys[place] == 0 {
            self.places[place] = self.scores.len() as u16;
            self.scores.push(compute());
        } else if self.keys[place] != key {
            self.scores[usize::from(self.places[place])] = compute();
        }
        self.keys[place] = key;
        self.scores[usize::from(self.places[place])]
    }
}

/// Hashes everything that the features of a token read (`features.rs`). Never 0, which marks an empty slot.
fn key(token_features: &[TokenFeatures], at: usize) -> u64 {
    let first = at.saturating_sub(3);
    let own = mix(3, (at - first) as u64, (token_features.len() - at).min(3) as u64);
    let window = &token_features[first..(at + 3).min(token_features.len())];
    window.iter().fold(own, |key, token| {
        let rest = u64::from(token.shape) << 32 | u64::from(token.word_classes.bits()) << 8 | u64::from(token.rule);
        mix(5, mix(4, key, token.word ^ token.field.rotate_left(31)), rest ^ token.suffix.rotate_left(13))
    }) | 1
}

#[cfg(test)]
mod tests {
    use super::super::tags::COLUMNS;
    use super::*;

    #[test]
    fn the_same_token_among_the_same_neighbours_is_computed_once() {
        let token = |word| TokenFeatures { word, ..TokenFeatures::default() };
        let token_features = [1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9].map(token);
        let mut known = ScoreCache::default();
        known.grow(token_features.len());
        let mut computed = 0;
        for at in [3, 10, 3, 4] {
            known.get_or_compute(&token_features, at, || {
                computed += 1;
                [0; COLUMNS]
            });
        }
        assert_eq!(computed, 2, "three and ten are one, four is another");
    }

    #[test]
    fn whatever_a_feature_reads_is_a_part_of_the_key() {
        use super::super::features::{COUNT, features};
        let list = |changed: Option<(usize, u8)>| {
            let mut token_features: Vec<TokenFeatures> = (0..9u64)
                .map(|at| TokenFeatures { word: 100 + at, suffix: 200 + at, shape: 3, ..TokenFeatures::default() })
                .collect();
            if let Some((at, part)) = changed {
                match part {
                    0 => token_features[at].word = 7,
                    1 => token_features[at].suffix = 7,
                    2 => token_features[at].shape = 7,
                    3 => token_features[at].field = 7,
                    _ => token_features[at].rule = 7,
                }
            }
            token_features
        };
        let read = |token_features: &[TokenFeatures]| {
            let mut out = [0; COUNT];
            features(token_features, 4, &mut out);
            out
        };
        let usual = list(None);
        for (at, part) in (0..9).flat_map(|at| (0..5).map(move |part| (at, part))) {
            let other = list(Some((at, part)));
            if read(&usual) != read(&other) {
                assert_ne!(key(&usual, 4), key(&other, 4), "{at} {part}");
                assert!((1..=6).contains(&at), "features read three tokens back and two on");
            }
        }
        for cut in 5..9 {
            if read(&usual) != read(&usual[..cut]) {
                assert_ne!(key(&usual, 4), key(&usual[..cut], 4), "{cut} tokens");
            }
        }
        assert_ne!(read(&usual), read(&list(Some((4, 0)))));
    }
}
