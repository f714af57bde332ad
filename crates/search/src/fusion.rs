//! Reciprocal rank fusion of the legs (model.md, "Reading": k = 60, weights 0.7 and 0.3), and of a third one: what the
//! query and a text speak of by name of a concept. A short question and the sentence that answers it can be far apart
//! for the encoder and share no word ("I lost my job", "they sacked me from the factory"), while the lexicon knows that
//! both speak of one thing. It weighs more than words, which any text may share, and less than meaning.

use std::collections::BTreeMap;

const K: f64 = 60.0;
const VECTOR_WEIGHT: f64 = 0.7;
const TEXT_WEIGHT: f64 = 0.3;
const CONCEPT_WEIGHT: f64 = 0.5;

/// Rankings of (place, score), best first.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Legs {
    /// By cosine.
    pub(crate) vector: Vec<(usize, f64)>,
    /// By words, BM25.
    pub(crate) text: Vec<(usize, f64)>,
    /// By concepts, BM25; `None` when the query names none.
    pub(crate) concept: Option<Vec<(usize, f64)>>,
}

/// One candidate in any of the legs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fused {
    pub(crate) place: usize,
    /// 0.0–1.0; 1.0 stands first in every leg.
    pub(crate) score: f64,
    /// Cosine, where the vector leg found it.
    pub(crate) similarity: Option<f64>,
    /// BM25, where the full-text leg found it.
    pub(crate) keyword: Option<f64>,
    /// BM25 over concepts, where that leg found it.
    pub(crate) concept: Option<f64>,
}

impl Fused {
    /// Found by words or concepts alone: no vector vouches for it.
    pub(crate) fn keyword_only(&self) -> bool {
        self.similarity.is_none()
    }
}

/// Fuses the legs.
pub(crate) fn fuse(legs: &Legs) -> Vec<Fused> {
    let mut all: BTreeMap<usize, Fused> = BTreeMap::new();
    let whole = VECTOR_WEIGHT + TEXT_WEIGHT + legs.concept.as_ref().map_or(0.0, |_| CONCEPT_WEIGHT);
    let mut add = |leg: &[(usize, f64)], weight: f64, note: fn(&mut Fused, f64)| {
        for (rank, (place, found)) in leg.iter().enumerate() {
            let empty = Fused { place: *place, score: 0.0, similarity: None, keyword: None, concept: None };
            let fused = all.entry(*place).or_insert(empty);
            fused.score += weight / whole * (K + 1.0) / (K + 1.0 + rank as f64);
            note(fused, *found);
        }
    };
    add(&legs.vector, VECTOR_WEIGHT, |fused, cosine| fused.similarity = Some(cosine));
    add(&legs.text, TEXT_WEIGHT, |fused, bm25| fused.keyword = Some(bm25));
    add(legs.concept.as_deref().unwrap_or_default(), CONCEPT_WEIGHT, |fused, bm25| fused.concept = Some(bm25));
    let mut all: Vec<Fused> = all.into_values().collect();
    all.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.place.cmp(&b.place)));
    all
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn two(vector: &[(usize, f64)], text: &[(usize, f64)]) -> Vec<Fused> {
        fuse(&Legs { vector: vector.to_vec(), text: text.to_vec(), concept: None })
    }

    #[test]
    fn first_in_both_legs_is_one_and_the_weights_are_those_of_the_model() {
        let all = two(&[(3, 0.9)], &[(3, 4.0), (5, 2.0)]);
        assert!((all[0].score - 1.0).abs() < 1e-12);
        assert!((all[1].score - 0.3 * 61.0 / 62.0).abs() < 1e-12);
        assert!(!all[0].keyword_only() && all[1].keyword_only());
    }

    #[test]
    fn agreement_of_both_legs_beats_a_better_rank_in_one() {
        let all = two(&[(0, 0.9), (1, 0.8)], &[(1, 3.0)]);
        assert_eq!(all.iter().map(|f| f.place).collect::<Vec<_>>(), [1, 0]);
    }

    #[test]
    fn a_word_alone_never_passes_a_hit_of_meaning_near_the_top() {
        let vector: Vec<(usize, f64)> = (0..20).map(|n| (n, 0.9)).collect();
        assert_eq!(two(&vector, &[(99, 12.0)]).last().map(|f| f.place), Some(99));
    }

    #[test]
    fn a_shared_concept_lifts_a_far_paraphrase_above_texts_that_share_only_the_word() {
        let vector: Vec<(usize, f64)> = (0..8).map(|n| (n, 0.5)).collect();
        let text = vec![(6, 3.0), (2, 1.0)];
        let all = fuse(&Legs { vector, text, concept: Some(vec![(7, 2.0)]) });
        let place = |of: usize| all.iter().position(|f| f.place == of).unwrap();
        assert!(place(7) < place(6) && place(7) < place(2));
        assert!(all.iter().all(|f| (0.0..=1.0).contains(&f.score)));
    }

    proptest! {
        #[test]
        fn every_candidate_is_fused_once_and_no_better_rank_makes_it_worse(
            vector in proptest::sample::subsequence((0..12usize).collect::<Vec<_>>(), 0..12),
            text in proptest::sample::subsequence((0..12usize).collect::<Vec<_>>(), 0..12),
        ) {
            let leg = |places: &[usize]| places.iter().map(|place| (*place, 0.5)).collect::<Vec<_>>();
            let all = two(&leg(&vector), &leg(&text));
            let named: BTreeSet<usize> = vector.iter().chain(&text).copied().collect();
            prop_assert_eq!(all.iter().map(|f| f.place).collect::<BTreeSet<_>>(), named.clone());
            prop_assert_eq!(all.len(), named.len());
            prop_assert!(all.iter().all(|f| f.score > 0.0 && f.score <= 1.0 + 1e-12));
            prop_assert!(all.iter().all(|f| f.keyword_only() != vector.contains(&f.place)));
            prop_assert!(all.windows(2).all(|pair| pair[0].score >= pair[1].score));
        }
    }
}
