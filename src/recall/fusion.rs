//! Reciprocal rank fusion of the two legs (model.md, "Reading": k = 60, weights 0.7 and 0.3).

use std::collections::BTreeMap;

const K: f64 = 60.0;
const VECTOR_WEIGHT: f64 = 0.7;
const TEXT_WEIGHT: f64 = 0.3;

/// One candidate in either or both legs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fused {
    pub place: usize,
    /// 0.0–1.0; 1.0 stands first in both legs.
    pub score: f64,
    /// Cosine, where the vector leg found it.
    pub similarity: Option<f64>,
    /// BM25, where the full-text leg found it.
    pub keyword: Option<f64>,
}

impl Fused {
    /// Found by its words alone: no vector vouches for it.
    pub fn keyword_only(&self) -> bool {
        self.similarity.is_none()
    }
}

/// Fuses two rankings of (place, score), best first.
pub fn fuse(vector: &[(usize, f64)], text: &[(usize, f64)]) -> Vec<Fused> {
    let mut all: BTreeMap<usize, Fused> = BTreeMap::new();
    let share = |rank: usize, weight: f64| weight * (K + 1.0) / (K + 1.0 + rank as f64);
    let empty = |place| Fused { place, score: 0.0, similarity: None, keyword: None };
    for (rank, (place, similarity)) in vector.iter().enumerate() {
        let fused = all.entry(*place).or_insert_with(|| empty(*place));
        fused.score += share(rank, VECTOR_WEIGHT);
        fused.similarity = Some(*similarity);
    }
    for (rank, (place, keyword)) in text.iter().enumerate() {
        let fused = all.entry(*place).or_insert_with(|| empty(*place));
        fused.score += share(rank, TEXT_WEIGHT);
        fused.keyword = Some(*keyword);
    }
    let mut all: Vec<Fused> = all.into_values().collect();
    all.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.place.cmp(&b.place)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_in_both_legs_is_one_and_the_weights_are_those_of_the_model() {
        let all = fuse(&[(3, 0.9)], &[(3, 4.0), (5, 2.0)]);
        assert!((all[0].score - 1.0).abs() < 1e-12);
        assert!((all[1].score - 0.3 * 61.0 / 62.0).abs() < 1e-12);
        assert!(!all[0].keyword_only() && all[1].keyword_only());
    }

    #[test]
    fn agreement_of_both_legs_beats_a_better_rank_in_one() {
        let all = fuse(&[(0, 0.9), (1, 0.8)], &[(1, 3.0)]);
        assert_eq!(all.iter().map(|f| f.place).collect::<Vec<_>>(), [1, 0]);
    }

    #[test]
    fn a_word_alone_never_passes_a_hit_of_meaning_near_the_top() {
        let vector: Vec<(usize, f64)> = (0..20).map(|n| (n, 0.9)).collect();
        assert_eq!(fuse(&vector, &[(99, 12.0)]).last().map(|f| f.place), Some(99));
    }
}
