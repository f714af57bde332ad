//! Search terms that a question asks for, distinguished quickly from all others.

/// Bits by which an unwanted term is rejected at once: terms are keyed hashes, every bit of them as good as another.
const BITS: usize = 4_096;

/// A few wanted terms among many.
pub struct TermFilter {
    /// In order, each once.
    wanted: Vec<i64>,
    bits: [u64; BITS / 64],
}

impl TermFilter {
    pub fn new(wanted: impl IntoIterator<Item = i64>) -> Self {
        let mut wanted: Vec<i64> = wanted.into_iter().collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut bits = [0; BITS / 64];
        for term in &wanted {
            let (word, bit) = place(*term);
            bits[word] |= bit;
        }
        Self { wanted, bits }
    }

    /// Whether a term is one of those wanted.
    pub fn holds(&self, term: i64) -> bool {
        let (word, bit) = place(term);
        self.bits[word] & bit != 0 && self.wanted.binary_search(&term).is_ok()
    }
}

fn place(term: i64) -> (usize, u64) {
    let at = term as usize % BITS;
    (at / 64, 1 << (at % 64))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn exactly_the_wanted_terms_are_held(
            wanted in prop::collection::btree_set(-9000i64..9000, 0..40),
            asked in prop::collection::vec(-9000i64..9000, 200),
        ) {
            let filter = TermFilter::new(wanted.iter().copied());
            let held: BTreeSet<i64> = asked.iter().chain(&wanted).copied().filter(|term| filter.holds(*term)).collect();
            prop_assert_eq!(held, wanted);
        }
    }
}
