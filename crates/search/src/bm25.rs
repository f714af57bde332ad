//! The full-text leg: BM25 over keyed terms. Words never leave their ciphertext; equal stems of one patient are equal
//! numbers, which is all that ranking needs (model.md, "Full text without plaintext").

use std::collections::HashMap;

use anamnesis_text::TermFilter;

/// Saturation of repeated terms and weight of length: the values of Robertson and Zaragoza, 2009.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// A text as it is ranked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IndexedText<'a> {
    /// All its terms, or at least those of any query it is ranked by; with repetitions.
    pub(crate) terms: &'a [i64],
    /// How many terms it has in all.
    pub(crate) length: usize,
}

impl<'a> From<&'a [i64]> for IndexedText<'a> {
    fn from(terms: &'a [i64]) -> Self {
        Self { terms, length: terms.len() }
    }
}

/// One way of saying a word of a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TermAlternative {
    /// A text contains the word if it contains all of these.
    pub(crate) terms: Vec<i64>,
    /// 1.0 for the query's own word, less for another word of the same meaning.
    pub(crate) weight: f64,
}

/// A word of a query with all the ways of saying it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct QueryTerm(pub(crate) Vec<TermAlternative>);

impl QueryTerm {
    /// A query word with these stems.
    pub(crate) fn from_stems(terms: impl IntoIterator<Item = i64>) -> Self {
        Self(terms.into_iter().map(|term| TermAlternative { terms: vec![term], weight: 1.0 }).collect())
    }
}

/// All terms of a query.
pub(crate) fn terms(query: &[QueryTerm]) -> impl Iterator<Item = i64> {
    query.iter().flat_map(|word| &word.0).flat_map(|alternative| alternative.terms.iter().copied())
}

/// How much of the query each text says, in the order of the texts: 0.0 for nothing, about 1.0 for every word once in a text
/// of mean length. Of each word the way that counts most counts.
pub(crate) fn shares(query: &[QueryTerm], texts: &[IndexedText<'_>]) -> Vec<f64> {
    let lengths: usize = texts.iter().map(|text| text.length).sum();
    let mean = (lengths as f64 / texts.len().max(1) as f64).max(1.0);
    let wanted = TermFilter::new(terms(query));
    let counts: Vec<HashMap<i64, u32>> = texts.iter().map(|text| counts(&wanted, text.terms)).collect();
    let said = |counts: &HashMap<i64, u32>, way: &TermAlternative| -> u32 {
        way.terms.iter().map(|term| counts.get(term).copied().unwrap_or(0)).min().unwrap_or(0)
    };
    let total = texts.len() as f64;
    let (mut sums, mut whole) = (vec![0.0; texts.len()], 0.0);
    for word in query {
        let mut best = vec![0.0; texts.len()];
        let mut own: f64 = 0.0;
        for way in &word.0 {
            let times: Vec<(usize, u32)> =
                counts.iter().enumerate().map(|(at, held)| (at, said(held, way))).filter(|said| said.1 > 0).collect();
            let df = times.len() as f64;
            let rarity = (1.0 + (total - df + 0.5) / (df + 0.5)).ln();
            own = own.max(way.weight * rarity);
            for (at, count) in times {
                let length = K1 * (1.0 - B + B * texts[at].length as f64 / mean);
                let count = f64::from(count);
                let score: f64 = way.weight * rarity * count * (K1 + 1.0) / (count + length);
                best[at] = score.max(best[at]);
            }
        }
        whole += own;
        sums.iter_mut().zip(best).for_each(|(sum, best)| *sum += best);
    }
    if whole > 0.0 {
        sums.iter_mut().for_each(|sum| *sum /= whole);
    }
    sums
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

    fn query(terms: &[i64]) -> Vec<QueryTerm> {
        terms.iter().map(|term| QueryTerm::from_stems([*term])).collect()
    }

    fn all(query: &[QueryTerm], texts: &[&[i64]]) -> Vec<f64> {
        shares(query, &texts.iter().map(|terms| IndexedText::from(*terms)).collect::<Vec<_>>())
    }

    /// Places of the texts that say something of the query, best first.
    fn places(terms: &[i64], texts: &[&[i64]]) -> Vec<usize> {
        let shares = all(&query(terms), texts);
        let mut places: Vec<usize> = (0..texts.len()).filter(|place| shares[*place] > 0.0).collect();
        places.sort_by(|a, b| shares[*b].total_cmp(&shares[*a]));
        places
    }

    #[test]
    fn a_text_without_the_terms_has_no_share() {
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
        let shares = all(&query(&[1]), &texts);
        assert!(shares[0] < shares[1] && shares[1] < 4.0 * shares[0]);
    }

    #[test]
    fn a_text_of_mean_length_that_says_every_word_once_has_the_whole() {
        let shares = all(&query(&[1, 2]), &[&[1, 2], &[1, 3], &[4, 5]]);
        assert!((shares[0] - 1.0).abs() < 1e-9 && shares[1] > 0.0 && shares[1] < 0.5 && shares[2] == 0.0);
        // A word that occurs in no text is missing in every text.
        assert!(all(&query(&[1, 2, 77]), &[&[1, 2], &[1, 3], &[4, 5]])[0] < 0.7);
    }

    #[test]
    fn a_synonym_counts_less_and_never_in_addition_to_the_word_itself() {
        let way = |terms: &[i64], weight| TermAlternative { terms: terms.to_vec(), weight };
        let word = |ways: &[TermAlternative]| vec![QueryTerm(ways.to_vec())];
        let texts: [&[i64]; 3] = [&[1, 9], &[2, 9], &[1, 2]];
        let shares = all(&word(&[way(&[1], 1.0), way(&[2], 0.5)]), &texts);
        assert!(shares[0] > shares[1] && shares[1] > 0.0);
        assert!((shares[2] - shares[0]).abs() < 1e-9);
        // All words of a phrase, or it is not said.
        assert_eq!(all(&word(&[way(&[1, 2], 1.0)]), &texts).iter().filter(|share| **share > 0.0).count(), 1);
    }

    #[test]
    fn terms_that_no_query_asks_for_count_by_their_number_alone() {
        let whole: [&[i64]; 3] = [&[1, 3, 4, 5], &[1, 2, 4, 5], &[1, 3]];
        let query = query(&[1, 2]);
        let kept: Vec<Vec<i64>> =
            whole.iter().map(|terms| terms.iter().copied().filter(|term| [1, 2].contains(term)).collect()).collect();
        let lean: Vec<IndexedText<'_>> =
            kept.iter().zip(&whole).map(|(terms, all)| IndexedText { terms, length: all.len() }).collect();
        assert_eq!(shares(&query, &lean), all(&query, &whole));
    }
}
