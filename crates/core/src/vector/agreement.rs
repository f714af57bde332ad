//! How far two ways of measuring the same things agree (seed 002, §12: shadow comparison).

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// Share of the `k` best of one that are among the `k` best of the other; `None` where there are no more than `k`
/// things, so that any two measures would choose the same. Equal similarities are distinguished by the thing itself,
/// alike on both sides.
pub fn overlap_at<T: Copy + Ord + Hash>(k: usize, one: &[(T, f64)], other: &[(T, f64)]) -> Option<f64> {
    if k == 0 || one.len() <= k || other.len() <= k {
        return None;
    }
    let best = |of: &[(T, f64)]| -> HashSet<T> { ranked(of).into_iter().take(k).collect() };
    let both = best(one).intersection(&best(other)).count();
    Some(both as f64 / k as f64)
}

/// Spearman's rank correlation over what both measured, −1.0–1.0; `None` for fewer than three things.
pub fn rank_agreement<T: Copy + Ord + Hash>(one: &[(T, f64)], other: &[(T, f64)]) -> Option<f64> {
    let shared: HashSet<T> = other.iter().map(|(thing, _)| *thing).collect();
    let shared: HashSet<T> = one.iter().map(|(thing, _)| *thing).filter(|thing| shared.contains(thing)).collect();
    if shared.len() < 3 {
        return None;
    }
    let places = |of: &[(T, f64)]| -> HashMap<T, usize> {
        let ranked = ranked(of).into_iter().filter(|thing| shared.contains(thing));
        ranked.enumerate().map(|(place, thing)| (thing, place)).collect()
    };
    let (first, second) = (places(one), places(other));
    let apart = |thing: &T| (first[thing] as f64 - second[thing] as f64).powi(2);
    let (n, sum) = (shared.len() as f64, shared.iter().map(apart).sum::<f64>());
    Some(1.0 - 6.0 * sum / (n * (n * n - 1.0)))
}

fn ranked<T: Copy + Ord>(of: &[(T, f64)]) -> Vec<T> {
    let mut order: Vec<(T, f64)> = of.to_vec();
    order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    order.into_iter().map(|(thing, _)| thing).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbered(similarities: &[f64]) -> Vec<(usize, f64)> {
        similarities.iter().copied().enumerate().collect()
    }

    #[test]
    fn the_same_order_agrees_wholly_and_the_opposite_one_not_at_all() {
        let up = numbered(&[0.1, 0.2, 0.3, 0.4]);
        let down = numbered(&[0.4, 0.3, 0.2, 0.1]);
        assert_eq!((overlap_at(2, &up, &up), rank_agreement(&up, &up)), (Some(1.0), Some(1.0)));
        assert_eq!((overlap_at(2, &up, &down), rank_agreement(&up, &down)), (Some(0.0), Some(-1.0)));
    }

    #[test]
    fn where_everything_is_among_the_best_nothing_was_compared() {
        let few = numbered(&[0.1, 0.2]);
        assert_eq!((overlap_at(2, &few, &few), rank_agreement(&few, &few)), (None, None));
    }

    proptest! {
        #[test]
        fn agreement_is_symmetric_and_within_its_bounds(pairs in prop::collection::vec((-1.0f64..1.0, -1.0f64..1.0), 3..40), k in 1usize..6) {
            let one: Vec<(usize, f64)> = pairs.iter().map(|p| p.0).enumerate().collect();
            let other: Vec<(usize, f64)> = pairs.iter().map(|p| p.1).enumerate().collect();
            prop_assert_eq!(overlap_at(k, &one, &other), overlap_at(k, &other, &one));
            if let Some(overlap) = overlap_at(k, &one, &other) {
                prop_assert!((0.0..=1.0).contains(&overlap));
            }
            let agreement = rank_agreement(&one, &other).unwrap();
            prop_assert!((-1.0..=1.0).contains(&agreement));
            prop_assert!((agreement - rank_agreement(&other, &one).unwrap()).abs() < 1e-9);
        }
    }
}
