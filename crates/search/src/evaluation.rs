//! Retrieval metrics over many questions, each with the ranks of its answers.

use serde::Serialize;

/// How deep a ranking is evaluated.
pub const DEPTH: usize = 10;

/// One question that was answered: for each hit, best first, which of the right answers it holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JudgedQuery {
    /// One for each hit, at most [`DEPTH`]; `None` for a hit that holds no answer.
    pub hits: Vec<Option<usize>>,
    /// How many right answers there are.
    pub answers: usize,
    /// How long the search took, in microseconds.
    pub micros: u64,
}

impl JudgedQuery {
    /// Rank of the first answer, from 1.
    fn first(&self) -> Option<usize> {
        self.hits.iter().take(DEPTH).position(Option::is_some).map(|place| place + 1)
    }

    /// Discounted cumulative gain over that of the best order. An answer counts where it is found first.
    fn ndcg(&self) -> f64 {
        let gain = |place: usize| 1.0 / ((place + 2) as f64).log2();
        let mut found = Vec::new();
        let mut sum = 0.0;
        for (place, hit) in self.hits.iter().take(DEPTH).enumerate() {
            if let Some(answer) = hit.filter(|answer| !found.contains(answer)) {
                found.push(answer);
                sum += gain(place);
            }
        }
        let best: f64 = (0..self.answers.min(DEPTH)).map(gain).sum();
        if best > 0.0 { sum / best } else { 0.0 }
    }
}

/// Figures of a set of questions, shares of 0.0–1.0.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RetrievalMetrics {
    pub questions: usize,
    pub hit_at_1: f64,
    pub hit_at_3: f64,
    pub hit_at_5: f64,
    pub hit_at_10: f64,
    /// Mean reciprocal rank of the first answer, nought beyond [`DEPTH`].
    pub mrr: f64,
    pub ndcg: f64,
    /// Of one search, milliseconds.
    pub p50_ms: f64,
    pub p95_ms: f64,
}

impl RetrievalMetrics {
    /// All noughts for no questions.
    pub fn compute<'a>(answered: impl IntoIterator<Item = &'a JudgedQuery>) -> Self {
        let all: Vec<&JudgedQuery> = answered.into_iter().collect();
        let mean = |value: &dyn Fn(&JudgedQuery) -> f64| match all.len() {
            0 => 0.0,
            count => all.iter().map(|one| value(one)).sum::<f64>() / count as f64,
        };
        let within = |k: usize| mean(&|one| f64::from(u8::from(one.first().is_some_and(|rank| rank <= k))));
        let mut times: Vec<u64> = all.iter().map(|one| one.micros).collect();
        times.sort_unstable();
        let at = |share: f64| {
            let place = ((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1));
            times.get(place).map_or(0.0, |micros| *micros as f64 / 1e3)
        };
        Self {
            questions: all.len(),
            hit_at_1: within(1),
            hit_at_3: within(3),
            hit_at_5: within(5),
            hit_at_10: within(10),
            mrr: mean(&|one| one.first().map_or(0.0, |rank| 1.0 / rank as f64)),
            ndcg: mean(&JudgedQuery::ndcg),
            p50_ms: at(0.5),
            p95_ms: at(0.95),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(hits: &[Option<usize>], answers: usize) -> JudgedQuery {
        JudgedQuery { hits: hits.to_vec(), answers, micros: 1_000 }
    }

    #[test]
    fn the_rank_of_the_first_answer_decides_hits_and_reciprocal_rank() {
        let all = [answered(&[None, Some(0)], 1), answered(&[None; 4], 1)];
        let figures = RetrievalMetrics::compute(&all);
        assert_eq!((figures.questions, figures.hit_at_1, figures.hit_at_3, figures.mrr), (2, 0.0, 0.5, 0.25));
    }

    #[test]
    fn the_gain_is_whole_only_where_all_answers_come_first() {
        assert!((RetrievalMetrics::compute(&[answered(&[Some(1), Some(0)], 2)]).ndcg - 1.0).abs() < 1e-12);
        assert!(RetrievalMetrics::compute(&[answered(&[Some(1), None, Some(0)], 2)]).ndcg < 0.95);
        // The same answer twice is one.
        let twice = RetrievalMetrics::compute(&[answered(&[Some(0), Some(0)], 2)]).ndcg;
        assert!((0.5..0.7).contains(&twice), "{twice}");
    }

    #[test]
    fn no_questions_are_no_figures_and_nothing_counts_beyond_the_depth() {
        assert_eq!(RetrievalMetrics::compute(&[]), RetrievalMetrics::default());
        let mut late = vec![None; DEPTH];
        late.push(Some(0));
        assert_eq!(RetrievalMetrics::compute(&[answered(&late, 1)]).hit_at_10, 0.0);
    }
}
