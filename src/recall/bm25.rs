//! The full-text leg: BM25 over keyed terms. Words never leave their ciphertext; equal stems of one patient are equal
//! numbers, which is all that ranking needs (model.md, "Full text without plaintext").

use std::collections::{BTreeSet, HashMap};

/// Saturation of repeated terms and weight of length: the values of Robertson and Zaragoza, 2009.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Texts that hold any of the query's terms, best first: (place, score). Equal scores keep the order of the input.
pub fn rank(query: &BTreeSet<i64>, texts: &[&[i64]]) -> Vec<(usize, f64)> {
    let lengths: usize = texts.iter().map(|terms| terms.len()).sum();
    let mean = (lengths as f64 / texts.len().max(1) as f64).max(1.0);
    let wanted = Wanted::new(query);
    let counts: Vec<HashMap<i64, u32>> = texts.iter().map(|terms| wanted.counts(terms)).collect();
    let mut holding: HashMap<i64, u32> = HashMap::new();
    for term in counts.iter().flat_map(HashMap::keys) {
        *holding.entry(*term).or_default() += 1;
    }
    let total = texts.len() as f64;
    let score = |place: usize| -> f64 {
        let length = K1 * (1.0 - B + B * texts[place].len() as f64 / mean);
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

/// Bits by which a term that is not wanted is told at once: terms are keyed hashes, every bit of them as good as the next.
const BITS: usize = 4_096;

struct Wanted<'a> {
    query: &'a BTreeSet<i64>,
    bits: [u64; BITS / 64],
}

impl<'a> Wanted<'a> {
    fn new(query: &'a BTreeSet<i64>) -> Self {
        let mut bits = [0; BITS / 64];
        for term in query {
            let (word, bit) = place(*term);
            bits[word] |= bit;
        }
        Self { query, bits }
    }

    fn counts(&self, terms: &[i64]) -> HashMap<i64, u32> {
        let mut counts = HashMap::new();
        let likely = |term: &&i64| {
            let (word, bit) = place(**term);
            self.bits[word] & bit != 0
        };
        for term in terms.iter().filter(likely).filter(|term| self.query.contains(term)) {
            *counts.entry(*term).or_default() += 1;
        }
        counts
    }
}

fn place(term: i64) -> (usize, u64) {
    let at = term as usize % BITS;
    (at / 64, 1 << (at % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(query: &[i64], texts: &[&[i64]]) -> Vec<usize> {
        rank(&query.iter().copied().collect(), texts).into_iter().map(|hit| hit.0).collect()
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
        let hits = rank(&[1].into(), &texts);
        assert_eq!(hits[0].0, 1);
        assert!(hits[0].1 < 4.0 * hits[1].1);
    }
}
