//! Softmax regression with an L2 penalty, by L-BFGS: convex, so that the same examples give the same weights whatever
//! their order means. One thread, no randomness.

use std::collections::VecDeque;

/// One example: rows of features with values, and its class.
pub(crate) struct SoftmaxExample {
    pub(crate) features: Vec<(u32, f32)>,
    pub(crate) class: usize,
}

/// Steps remembered by the search.
const MEMORY: usize = 8;
/// Share of the expected gain that a step must bring (Armijo).
const LEAST_GAIN: f64 = 1e-4;
/// Relative gain below which training has ended.
const SETTLED: f64 = 1e-5;

/// Weights by feature and class, the biases in the last row.
pub(crate) struct Softmax<const K: usize> {
    pub(crate) weights: Vec<[f64; K]>,
}

impl<const K: usize> Softmax<K> {
    /// Minimises the summed log loss plus `penalty`/2 of the squared weights (biases are free) in at most `rounds` steps.
    pub(crate) fn fit(
        examples: &[SoftmaxExample],
        features: usize,
        penalty: f64,
        rounds: usize,
        told: &mut dyn FnMut(usize, f64),
    ) -> Self {
        let objective = |weights: &[f64], slope: &mut [f64]| loss::<K>(examples, features, penalty, weights, slope);
        let mut at = vec![0f64; (features + 1) * K];
        let mut slope = vec![0f64; at.len()];
        let mut value = objective(&at, &mut slope);
        let mut memory: VecDeque<(Vec<f64>, Vec<f64>, f64)> = VecDeque::new();
        for round in 0..rounds {
            let step = direction(&slope, &memory);
            let downhill = dot(&step, &slope);
            let mut length = if memory.is_empty() { 1.0 / dot(&slope, &slope).sqrt().max(1e-12) } else { 1.0 };
            let mut slope_there = vec![0f64; at.len()];
            let (there, value_there) = loop {
                let there: Vec<f64> = at.iter().zip(&step).map(|(at, step)| at + length * step).collect();
                let value_there = objective(&there, &mut slope_there);
                if value_there <= value + LEAST_GAIN * length * downhill || length < 1e-10 {
                    break (there, value_there);
                }
                length *= 0.5;
            };
            let moved: Vec<f64> = there.iter().zip(&at).map(|(there, at)| there - at).collect();
            let turned: Vec<f64> = slope_there.iter().zip(&slope).map(|(there, here)| there - here).collect();
            let bent = dot(&moved, &turned);
            if bent > 1e-12 {
                memory.push_back((moved, turned, bent));
                if memory.len() > MEMORY {
                    memory.pop_front();
                }
            }
            let gain = (value - value_there) / value.abs().max(1.0);
            (at, slope, value) = (there, slope_there, value_there);
            told(round, value / examples.len().max(1) as f64);
            if gain < SETTLED {
                break;
            }
        }
        let rows = at.chunks_exact(K).map(|row| std::array::from_fn(|class| row[class]));
        Self { weights: rows.collect() }
    }
}

/// Value and slope of what is minimised.
fn loss<const K: usize>(
    examples: &[SoftmaxExample],
    features: usize,
    penalty: f64,
    weights: &[f64],
    slope: &mut [f64],
) -> f64 {
    let free = features * K;
    slope[..free].iter_mut().zip(weights).for_each(|(slope, weight)| *slope = penalty * weight);
    slope[free..].fill(0.0);
    let mut sum = penalty / 2.0 * dot(&weights[..free], &weights[..free]);
    for example in examples {
        let mut logits: [f64; K] = std::array::from_fn(|class| weights[free + class]);
        for (row, value) in &example.features {
            let row = &weights[*row as usize * K..][..K];
            logits.iter_mut().zip(row).for_each(|(logit, weight)| *logit += weight * f64::from(*value));
        }
        let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let together: f64 = logits.iter().map(|logit| (logit - most).exp()).sum();
        sum += most + together.ln() - logits[example.class];
        let mut error: [f64; K] = std::array::from_fn(|class| (logits[class] - most).exp() / together);
        error[example.class] -= 1.0;
        for (row, value) in &example.features {
            let row = &mut slope[*row as usize * K..][..K];
            row.iter_mut().zip(error).for_each(|(slope, error)| *slope += error * f64::from(*value));
        }
        slope[free..].iter_mut().zip(error).for_each(|(slope, error)| *slope += error);
    }
    sum
}

/// Where the search goes next: downhill, bent by what the last steps showed of the curvature.
fn direction(slope: &[f64], memory: &VecDeque<(Vec<f64>, Vec<f64>, f64)>) -> Vec<f64> {
    let mut step: Vec<f64> = slope.iter().map(|slope| -slope).collect();
    let mut shares = Vec::with_capacity(memory.len());
    for (moved, turned, bent) in memory.iter().rev() {
        let share = dot(moved, &step) / bent;
        step.iter_mut().zip(turned).for_each(|(step, turned)| *step -= share * turned);
        shares.push(share);
    }
    if let Some((_, turned, bent)) = memory.back() {
        let scale = bent / dot(turned, turned).max(1e-12);
        step.iter_mut().for_each(|step| *step *= scale);
    }
    for ((moved, turned, bent), share) in memory.iter().zip(shares.into_iter().rev()) {
        let back = dot(turned, &step) / bent;
        step.iter_mut().zip(moved).for_each(|(step, moved)| *step += (share - back) * moved);
    }
    step
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_of_one_class_is_learned_and_twice_the_same() {
        let example = |row: u32, class| SoftmaxExample { features: vec![(row, 1.0)], class };
        let examples: Vec<SoftmaxExample> = (0..30).map(|at| example(at % 3, (at % 3) as usize)).collect();
        let fit = || Softmax::<3>::fit(&examples, 3, 0.1, 50, &mut |_, _| {}).weights;
        let weights = fit();
        assert!((0..3).all(|row| (0..3).all(|class| class == row || weights[row][row] > weights[row][class] + 2.0)));
        assert_eq!(weights, fit());
    }
}
