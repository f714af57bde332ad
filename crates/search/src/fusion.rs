//! Combines three rankings: by meaning, by words, and by common concepts of query and text. A short question and the
//! sentence that answers it can be far apart for the encoder and share no word ("I lost my job", "they sacked me from
//! the factory"), while the lexicon assigns both to one concept.
//!
//! Scores are summed, and not ranks, because ranks discard how far the best result is ahead. Similarities count
//! relative to the patient's mean, because a model's cosines depend on the question more than on the answer. Shares of
//! words and concepts count as they are, so that a text with the whole query comes first and a chance word moves
//! nothing. The weights are those that were best on the development set of docs/search.md.

use std::cmp::Ordering;

use super::search::Ranking;

/// For a text that says the whole of the query: a share, and its square, since half of the words are less than half a find.
const WORDS: f64 = 3.0;
const ALL_WORDS: f64 = 5.0;
const CONCEPTS: f64 = 3.0;
/// Shares of score that a passage gets from its neighbours in the same document, because an answer says little without
/// its question.
const BEFORE: f64 = 0.3;
const AFTER: f64 = 0.15;

/// The features of a passage for one query, in the order of time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct ScoreParts {
    /// Cosine, −1.0–1.0; `None` where the passage has no vector, or the query.
    pub(crate) meaning: Option<f64>,
    /// Share of the query's words, 0.0 for none, about 1.0 for all.
    pub(crate) words: f64,
    /// The same of the concepts that the query names.
    pub(crate) concepts: f64,
    /// It continues the document of the previous passage.
    pub(crate) goes_on: bool,
}

impl ScoreParts {
    /// Shares no word and no concept with the query, and is less near in meaning than asked for.
    pub(crate) fn is_apart(&self, least: f64) -> bool {
        self.words <= 0.0 && self.concepts <= 0.0 && self.meaning.is_none_or(|cosine| cosine < least)
    }
}

/// A passage and how well it answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FusedScore {
    pub(crate) place: usize,
    /// Any number; the more the better.
    pub(crate) weight: f64,
    pub(crate) parts: ScoreParts,
}

impl FusedScore {
    /// The weight on a scale of 0.0–1.0.
    pub(crate) fn score(&self) -> f64 {
        1.0 / (1.0 + (-self.weight / 2.0).exp())
    }
}

/// All passages that have anything to do with the query, best first; equal ones in the order of time.
pub(crate) fn fuse(passages: &[ScoreParts], ranking: Ranking) -> Vec<FusedScore> {
    let asked = |of: Ranking| ranking == of || ranking == Ranking::Together;
    let used: Vec<ScoreParts> = passages
        .iter()
        .map(|parts| ScoreParts {
            meaning: parts.meaning.filter(|_| asked(Ranking::Meaning)),
            words: if asked(Ranking::Words) { parts.words } else { 0.0 },
            concepts: if asked(Ranking::Concepts) { parts.concepts } else { 0.0 },
            goes_on: parts.goes_on && ranking == Ranking::Together,
        })
        .collect();
    let own = alone(&used);
    let joined = |at: usize| used.get(at).is_some_and(|parts| parts.goes_on);
    let weight = |at: usize| {
        let before = if joined(at) { BEFORE * own[at - 1] } else { 0.0 };
        let after = if joined(at + 1) { AFTER * own[at + 1] } else { 0.0 };
        own[at] + before + after
    };
    let found = |at: &usize| used[*at].meaning.is_some() || used[*at].words > 0.0 || used[*at].concepts > 0.0;
    let fused = |at: usize| FusedScore { place: at, weight: weight(at), parts: passages[at] };
    let mut all: Vec<FusedScore> = (0..used.len()).filter(found).map(fused).collect();
    all.sort_by(best_first);
    all
}

pub(crate) fn best_first(a: &FusedScore, b: &FusedScore) -> Ordering {
    b.weight.total_cmp(&a.weight).then(a.place.cmp(&b.place))
}

/// The score of each passage without its neighbours. One without a vector has the least similarity of all.
fn alone(passages: &[ScoreParts]) -> Vec<f64> {
    let known: Vec<f64> = passages.iter().filter_map(|parts| parts.meaning).collect();
    let count = known.len().max(1) as f64;
    let mean = known.iter().sum::<f64>() / count;
    let spread = (known.iter().map(|cosine| (cosine - mean).powi(2)).sum::<f64>() / count).sqrt();
    let standing = |cosine: f64| if spread > f64::EPSILON { (cosine - mean) / spread } else { 0.0 };
    let least = known.iter().copied().fold(f64::INFINITY, f64::min);
    let of = |parts: &ScoreParts| {
        let cosine = parts.meaning.unwrap_or(least);
        let meaning = if cosine.is_finite() { standing(cosine) } else { 0.0 };
        meaning + WORDS * parts.words + ALL_WORDS * parts.words.powi(2) + CONCEPTS * parts.concepts
    };
    passages.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts(meaning: f64, words: f64, concepts: f64) -> ScoreParts {
        ScoreParts { meaning: Some(meaning), words, concepts, goes_on: false }
    }

    fn order(passages: &[ScoreParts]) -> Vec<usize> {
        fuse(passages, Ranking::Together).iter().map(|fused| fused.place).collect()
    }

    #[test]
    fn a_text_that_says_all_of_the_query_passes_the_one_that_is_nearest_in_meaning() {
        assert_eq!(order(&[parts(0.5, 0.0, 0.0), parts(0.3, 1.0, 0.0), parts(0.1, 0.0, 0.0)]), [1, 0, 2]);
    }

    #[test]
    fn a_chance_word_does_not_outrank_a_close_meaning() {
        let mut passages = vec![parts(0.1, 0.0, 0.0); 20];
        (passages[3], passages[9]) = (parts(0.5, 0.0, 0.0), parts(0.1, 0.3, 0.0));
        assert_eq!(order(&passages)[..2], [3, 9]);
    }

    #[test]
    fn a_shared_concept_lifts_a_far_paraphrase_above_texts_that_share_only_the_word() {
        assert_eq!(order(&[parts(0.2, 0.3, 0.0), parts(0.2, 0.0, 1.0), parts(0.2, 0.0, 0.0)])[..2], [1, 0]);
    }

    #[test]
    fn the_answer_after_the_asked_question_outranks_single_passages() {
        let answer = ScoreParts { goes_on: true, ..parts(0.1, 0.0, 0.0) };
        let passages = [parts(0.9, 0.0, 0.0), answer, parts(0.1, 0.0, 0.0), parts(0.1, 0.0, 0.0)];
        assert_eq!(order(&passages)[..2], [0, 1]);
        // Of another document it is a neighbour of nothing.
        let apart = [parts(0.1, 0.0, 0.0), parts(0.9, 0.0, 0.0), parts(0.1, 0.0, 0.0), parts(0.1, 0.0, 0.0)];
        assert_eq!(order(&apart)[..2], [1, 0]);
    }

    #[test]
    fn without_a_vector_only_what_shares_a_word_or_a_concept_is_found() {
        let without = |words, concepts| ScoreParts { words, concepts, ..ScoreParts::default() };
        assert_eq!(order(&[without(0.0, 0.0), without(0.3, 0.0), without(0.0, 0.9)]), [2, 1]);
    }

    #[test]
    fn one_ranking_alone_uses_nothing_else() {
        let passages = [parts(0.9, 0.0, 0.3), parts(0.1, 0.5, 0.9)];
        let by = |ranking| fuse(&passages, ranking).iter().map(|fused| fused.place).collect::<Vec<_>>();
        assert_eq!(by(Ranking::Meaning), [0, 1]);
        assert_eq!(by(Ranking::Words), [1]);
        assert_eq!(by(Ranking::Concepts), [1, 0]);
    }

    proptest! {
        #[test]
        fn every_passage_with_a_vector_is_ranked_once_and_scores_are_within_bounds(
            all in proptest::collection::vec((prop::option::of(-1.0f64..1.0), 0.0f64..2.0, 0.0f64..2.0, any::<bool>()), 1..30),
        ) {
            let mut passages: Vec<ScoreParts> = all.iter()
                .map(|(meaning, words, concepts, goes_on)| ScoreParts {
                    meaning: *meaning, words: *words, concepts: *concepts, goes_on: *goes_on,
                })
                .collect();
            passages[0].goes_on = false;
            let fused = fuse(&passages, Ranking::Together);
            let mut places: Vec<usize> = fused.iter().map(|one| one.place).collect();
            places.sort_unstable();
            places.dedup();
            prop_assert_eq!(places.len(), fused.len());
            prop_assert!(passages.iter().enumerate().all(|(at, p)| p.meaning.is_none() || places.contains(&at)));
            prop_assert!(fused.iter().all(|one| one.weight.is_finite() && (0.0..=1.0).contains(&one.score())));
            prop_assert!(fused.windows(2).all(|pair| pair[0].weight >= pair[1].weight));
        }
    }
}
