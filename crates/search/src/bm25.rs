//! The full-text leg: BM25 over keyed terms. Words never leave their ciphertext; equal stems of one patient are equal
//! numbers, which is all that ranking needs (model.md, "Full text without plaintext").

use std::collections::{BTreeSet, HashMap};

use anamnesis_text::TermFilter;

/// Saturation of repeated terms and weight of length: the values of Robertson and Zaragoza, 2009.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// A text as it is ranked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<'a> {
    /// All its terms, or at least those of any query it is ranked by; with repetitions.
    pub(crate) terms: &'a [i64],
    /// How many terms it has in all.
    pub(crate) length: usize,
}

impl<'a> From<&'a [i64]> for Text<'a> {
    fn from(terms: &'a [i64]) -> Self {
        Self { terms, length: terms.len() }
    }
}

/// Texts that hold any of the query's terms, best first: (place, score). Equal scores keep the order of the input.
pub(crate) fn rank(query: &BTreeSet<i64>, texts: &[Text<'_>]) -> Vec<(usize, f64)> {
    let lengths: usize = texts.iter().map(|text| text.length).sum();
    let mean = (lengths as f64 / texts.len().max(1) as f64).max(1.0);
    let wanted = TermFilter::new(query.iter().copied());
    let counts: Vec<HashMap<i64, u32>> = texts.iter().map(|text| counts(&wanted, text.terms)).collect();
    let mut holding: HashMap<i64, u32> = HashMap::new();
    for term in counts.iter().flat_map(HashMap::keys) {
        *holding.entry(*term).or_default() += 1;
    }
    let total = texts.len() as f64;
    let score = |place: usize| -> f64 {
        let length = K1 * (1.0 - B + B * texts[place].length as f64 / mean);
        let of = |(term, count): (&i64, &u32)| {
            let df = f64::from(holding.get(term).copied().unwrap_or(0));
            let rarity = (1.0 + (total - df + 0.5) / (df + 0.5)).ln();
            let count = f64::from(*count);
            rarity * count * (K1 + 1.0) / (count + length)
        };
        // Summed in the order of the terms: the same on every run.
        query.iter().filter_map(|term| counts[place].get_key_value(term)).map(of).sum()
    };
    let mut hits: Vec<(usize, f64)> =
        (0..texts.len()).filter(|place| !counts[*place].is_empty()).map(|place| (place, score(place))).collect();
    hits.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    hits
}

fn counts(wanted: &TermFilter, terms: &[i64]) -> HashMap<i64, u32> {
    let mut counts = HashMap::new();
    for term in terms.iter().filter(|term| wanted.holds(**term)) {
        *counts.entry(*term).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(query: &BTreeSet<i64>, texts: &[&[i64]]) -> Vec<(usize, f64)> {
        rank(query, &texts.iter().map(|terms| Text::from(*terms)).collect::<Vec<_>>())
    }

    fn places(query: &[i64], texts: &[&[i64]]) -> Vec<usize> {
        ranked(&query.iter().copied().collect(), texts).into_iter().map(|hit| hit.0).collect()
    }

    #[test]
    fn a_text_without_the_terms_is_no_hit() {
        assert_eq!(places(&[7], &[&[1, 2], &[7], &[]]), [1]);
        assert!(places(&[], &[&[1]]).is_empty());
        assert!(places(&[1], &[]).is_empty());
    }

    #[test]
    fn a_rare_term_weighs_more_than_a_common_one() {
        let texts: [&[i64]; 4] = [&[1, 9], &[1, 8], &[1, 7], &[2, 6]];
        assert_eq!(places(&[1, 2], &texts)[0], 3);
    }

    #[test]
    fn both_terms_beat_one_and_a_shorter_text_beats_a_longer_one() {
        let texts: [&[i64]; 4] = [&[1, 3, 4, 5], &[1, 2, 4, 5], &[1, 3], &[9, 9]];
        assert_eq!(places(&[1, 2], &texts), [1, 2, 0]);
    }

    #[test]
    fn repetition_counts_with_diminishing_weight() {
        let texts: [&[i64]; 3] = [&[1, 5, 5, 5], &[1, 1, 1, 1], &[9, 9, 9, 9]];
        let hits = ranked(&[1].into(), &texts);
        assert_eq!(hits[0].0, 1);
        assert!(hits[0].1 < 4.0 * hits[1].1);
    }

    #[test]
    fn terms_that_no_query_asks_for_count_by_their_number_alone() {
        let whole: [&[i64]; 3] = [&[1, 3, 4, 5], &[1, 2, 4, 5], &[1, 3]];
        let query: BTreeSet<i64> = [1, 2].into();
        let kept: Vec<Vec<i64>> =
            whole.iter().map(|terms| terms.iter().copied().filter(|term| query.contains(term)).collect()).collect();
        let lean: Vec<Text<'_>> =
            kept.iter().zip(&whole).map(|(terms, all)| Text { terms, length: all.len() }).collect();
        assert_eq!(rank(&query, &lean), ranked(&query, &whole));
    }
}
