//! Counts over patients that reveal nothing of one (seed 003, phase 3). Values that fewer than `k` patients share are
//! left out, and the others are rounded down to whole steps. Where exactly one value of a dimension was left out, the
//! next rarest is left out too, so that no sum reveals it. A month is published once, when it is over: two publications
//! that differ by one patient do not exist. Pure.

use std::collections::BTreeMap;

/// Fewest patients that share a value.
pub(crate) const K: u64 = 10;
/// Counts are published in steps of this.
pub(crate) const STEP: u64 = 5;

/// The publishable part of one dimension: values with their rounded counts.
pub fn publishable_counts(counts: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let mut kept: BTreeMap<&String, u64> =
        counts.iter().filter(|(_, n)| **n >= K).map(|(value, n)| (value, *n)).collect();
    let hidden = counts.values().filter(|n| (1..K).contains(*n)).count();
    if hidden == 1 {
        let rarest = kept.iter().min_by_key(|(value, n)| (**n, **value)).map(|(value, _)| *value);
        rarest.map(|value| kept.remove(value));
    }
    kept.into_iter().map(|(value, n)| (value.clone(), n / STEP * STEP)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counts(all: &[(&str, u64)]) -> BTreeMap<String, u64> {
        all.iter().map(|(value, n)| ((*value).to_owned(), *n)).collect()
    }

    #[test]
    fn rare_values_are_left_out_and_one_alone_takes_the_next_rarest_along() {
        assert_eq!(publishable_counts(&counts(&[("a", 23), ("b", 12), ("c", 9)])), counts(&[("a", 20)]));
        assert_eq!(
            publishable_counts(&counts(&[("a", 23), ("b", 12), ("c", 9), ("d", 2)])),
            counts(&[("a", 20), ("b", 10)])
        );
        assert_eq!(publishable_counts(&counts(&[("a", 10), ("b", 14)])), counts(&[("a", 10), ("b", 10)]));
        assert!(publishable_counts(&counts(&[("a", 9)])).is_empty());
    }

    proptest! {
        /// One patient more or less is seen only where a count crosses a step, never as itself; nothing below k is
        /// published.
        #[test]
        fn no_difference_between_two_cohorts_reveals_a_single_patient(
            all in prop::collection::btree_map("[a-d]", 0u64..60, 0..5), who in "[a-d]"
        ) {
            let mut more = all.clone();
            *more.entry(who).or_insert(0) += 1;
            for (_, n) in publishable_counts(&all).into_iter().chain(publishable_counts(&more)) {
                prop_assert!(n >= K && n % STEP == 0);
            }
            let (before, after) = (publishable_counts(&all), publishable_counts(&more));
            for (value, n) in &before {
                if let Some(now) = after.get(value) {
                    prop_assert!(now == n || *now == n + STEP, "a step, never one");
                }
            }
        }
    }
}
