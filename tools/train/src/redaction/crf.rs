//! Training of the linear-chain conditional random field: stochastic gradient with AdaGrad steps, one document a step.

use std::collections::HashMap;

use anamnesis_linear_model::random::Random;
use anamnesis_redaction::internals::tagger::{COLUMNS, OUTSIDE, TAGS, is_inside, may_follow};

/// One document: features of every token, as rows of the table, and the gold tags.
pub(crate) struct Sequence {
    pub(crate) features: Vec<Vec<u32>>,
    pub(crate) tags: Vec<u8>,
}

/// How training runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrainingParameters {
    pub(crate) epochs: usize,
    pub(crate) rate: f32,
    /// Pull of every touched weight towards zero.
    pub(crate) decay: f32,
    pub(crate) seed: u64,
    /// What a token of personal data that is called none costs in training, on top of its loss: misses weigh more.
    pub(crate) miss_cost: f32,
}

/// Weights and the sums of squared gradients next to them.
pub(crate) struct ConditionalRandomField {
    pub(crate) weights: Vec<[f32; COLUMNS]>,
    squares: Vec<[f32; COLUMNS]>,
    pub(crate) transitions: Vec<[f32; COLUMNS]>,
    transition_squares: Vec<[f32; COLUMNS]>,
}

/// Numbers features in the order in which they come; those that come once only are left out.
pub(crate) fn table(documents: &[Vec<Vec<u64>>], least: u32) -> HashMap<u64, u32> {
    let mut counts: HashMap<u64, u32> = HashMap::new();
    documents.iter().flatten().flatten().for_each(|feature| *counts.entry(*feature).or_default() += 1);
    let mut kept: Vec<u64> =
        counts.into_iter().filter(|(_, count)| *count >= least).map(|(feature, _)| feature).collect();
    kept.sort_unstable();
    kept.into_iter().zip(0u32..).collect()
}

impl ConditionalRandomField {
    pub(crate) fn new(rows: usize) -> Self {
        Self {
            weights: vec![[0.0; COLUMNS]; rows],
            squares: vec![[0.0; COLUMNS]; rows],
            transitions: vec![[0.0; COLUMNS]; TAGS],
            transition_squares: vec![[0.0; COLUMNS]; TAGS],
        }
    }

    /// Trains on all sequences; tells the mean loss a token after each epoch.
    pub(crate) fn train(
        &mut self,
        sequences: &[Sequence],
        steps: TrainingParameters,
        progress: &mut dyn FnMut(usize, f64),
    ) {
        let mut order: Vec<usize> = (0..sequences.len()).collect();
        let mut random = Random::new(steps.seed);
        for epoch in 0..steps.epochs {
            random.shuffle(&mut order);
            // Later epochs take shorter steps, so that the last documents weigh no more than the first.
            let rate = steps.rate * (1.0 - epoch as f32 / steps.epochs as f32).max(0.1);
            let (mut loss, mut tokens) = (0.0, 0usize);
            for at in &order {
                let sequence = &sequences[*at];
                if sequence.tags.is_empty() {
                    continue;
                }
                loss += self.step(sequence, TrainingParameters { rate, ..steps });
                tokens += sequence.tags.len();
            }
            progress(epoch + 1, loss / tokens.max(1) as f64);
        }
    }

    fn scores(&self, sequence: &Sequence, miss_cost: f32) -> Vec<[f32; COLUMNS]> {
        let mut all = Vec::with_capacity(sequence.tags.len());
        for (features, tag) in sequence.features.iter().zip(&sequence.tags) {
            let mut row = [0f32; COLUMNS];
            for feature in features {
                row.iter_mut().zip(&self.weights[*feature as usize]).for_each(|(score, weight)| *score += weight);
            }
            if usize::from(*tag) != OUTSIDE {
                row[OUTSIDE] += miss_cost;
            }
            all.push(row);
        }
        all
    }

    fn step(&mut self, sequence: &Sequence, steps: TrainingParameters) -> f64 {
        let scores = self.scores(sequence, steps.miss_cost);
        let moves: Vec<[f32; COLUMNS]> = (0..TAGS)
            .map(|from| {
                let mut row = [0f32; COLUMNS];
                (0..TAGS).filter(|to| may_follow(from, *to)).for_each(|to| row[to] = self.transitions[from][to].exp());
                row
            })
            .collect();
        let chain = ForwardBackward::new(&scores, &moves);
        let gold: f64 = self.gold_score(sequence, &scores);
        self.update_weights(sequence, &chain, steps);
        self.update_transitions(sequence, &chain, &moves, steps);
        chain.log_sum - gold
    }

    fn gold_score(&self, sequence: &Sequence, scores: &[[f32; COLUMNS]]) -> f64 {
        let own: f32 = sequence.tags.iter().zip(scores).map(|(tag, row)| row[*tag as usize]).sum();
        let moved: f32 =
            sequence.tags.windows(2).map(|pair| self.transitions[pair[0] as usize][pair[1] as usize]).sum();
        f64::from(own) + f64::from(moved)
    }

    fn update_weights(&mut self, sequence: &Sequence, chain: &ForwardBackward, steps: TrainingParameters) {
        for (at, features) in sequence.features.iter().enumerate() {
            let mut gradient = chain.marginal(at);
            gradient[sequence.tags[at] as usize] -= 1.0;
            if gradient.iter().all(|part| part.abs() < 1e-4) {
                continue;
            }
            for feature in features {
                let row = *feature as usize;
                descend(&mut self.weights[row], &mut self.squares[row], &gradient, steps);
            }
        }
    }

    fn update_transitions(
        &mut self,
        sequence: &Sequence,
        chain: &ForwardBackward,
        moves: &[[f32; COLUMNS]],
        steps: TrainingParameters,
    ) {
        let mut gradient = vec![[0f32; COLUMNS]; TAGS];
        for at in 1..sequence.tags.len() {
            chain.add_moves(at, moves, &mut gradient);
            gradient[sequence.tags[at - 1] as usize][sequence.tags[at] as usize] -= 1.0;
        }
        for (from, row) in gradient.iter().enumerate() {
            descend(&mut self.transitions[from], &mut self.transition_squares[from], row, steps);
        }
    }
}

fn descend(
    weights: &mut [f32; COLUMNS],
    squares: &mut [f32; COLUMNS],
    gradient: &[f32; COLUMNS],
    steps: TrainingParameters,
) {
    for ((weight, square), part) in weights.iter_mut().zip(squares).zip(gradient) {
        let pull = part + steps.decay * *weight;
        *square += pull * pull;
        *weight -= steps.rate * pull / (square.sqrt() + 1e-3);
    }
}

/// Forward and backward sums of one document, scaled token by token.
struct ForwardBackward {
    forward: Vec<[f32; COLUMNS]>,
    backward: Vec<[f32; COLUMNS]>,
    own: Vec<[f32; COLUMNS]>,
    log_sum: f64,
}

impl ForwardBackward {
    fn new(scores: &[[f32; COLUMNS]], moves: &[[f32; COLUMNS]]) -> Self {
        let length = scores.len();
        let mut chain = Self {
            forward: Vec::with_capacity(length),
            backward: vec![[0.0; COLUMNS]; length],
            own: Vec::with_capacity(length),
            log_sum: 0.0,
        };
        for (at, row) in scores.iter().enumerate() {
            let most = row[..TAGS].iter().fold(f32::MIN, |most, score| most.max(*score));
            let mut own = [0f32; COLUMNS];
            (0..TAGS).for_each(|tag| own[tag] = (row[tag] - most).exp());
            let mut now = [0f32; COLUMNS];
            if at == 0 {
                (0..TAGS).filter(|tag| !is_inside(*tag)).for_each(|tag| now[tag] = own[tag]);
            } else {
                for (from, before) in chain.forward[at - 1][..TAGS].iter().enumerate() {
                    now.iter_mut().zip(&moves[from]).for_each(|(sum, way)| *sum += before * way);
                }
                now.iter_mut().zip(&own).for_each(|(sum, own)| *sum *= own);
            }
            let sum: f32 = now.iter().sum::<f32>().max(f32::MIN_POSITIVE);
            now.iter_mut().for_each(|part| *part /= sum);
            chain.log_sum += f64::from(sum.ln()) + f64::from(most);
            chain.forward.push(now);
            chain.own.push(own);
        }
        chain.run_back(moves);
        chain
    }

    fn run_back(&mut self, moves: &[[f32; COLUMNS]]) {
        let length = self.forward.len();
        (0..TAGS).for_each(|tag| self.backward[length - 1][tag] = 1.0);
        for at in (0..length - 1).rev() {
            let mut next = [0f32; COLUMNS];
            (0..COLUMNS).for_each(|tag| next[tag] = self.backward[at + 1][tag] * self.own[at + 1][tag]);
            let mut now = [0f32; COLUMNS];
            for (tag, sum) in now.iter_mut().enumerate().take(TAGS) {
                *sum = moves[tag].iter().zip(&next).map(|(way, next)| way * next).sum();
            }
            let sum: f32 = now.iter().sum::<f32>().max(f32::MIN_POSITIVE);
            now.iter_mut().for_each(|part| *part /= sum);
            self.backward[at] = now;
        }
    }

    /// How probable each tag of a token is.
    fn marginal(&self, at: usize) -> [f32; COLUMNS] {
        let mut parts = [0f32; COLUMNS];
        (0..TAGS).for_each(|tag| parts[tag] = self.forward[at][tag] * self.backward[at][tag]);
        let sum: f32 = parts.iter().sum::<f32>().max(f32::MIN_POSITIVE);
        parts.map(|part| part / sum)
    }

    /// Adds how probable each move into a token is.
    fn add_moves(&self, at: usize, moves: &[[f32; COLUMNS]], gradient: &mut [[f32; COLUMNS]]) {
        let mut next = [0f32; COLUMNS];
        (0..TAGS).for_each(|tag| next[tag] = self.own[at][tag] * self.backward[at][tag]);
        let mut sum = 0f32;
        for (before, ways) in self.forward[at - 1].iter().zip(moves) {
            sum += before * ways.iter().zip(&next).map(|(way, next)| way * next).sum::<f32>();
        }
        let scale = 1.0 / sum.max(f32::MIN_POSITIVE);
        for ((before, ways), row) in self.forward[at - 1].iter().zip(moves).zip(gradient) {
            let before = before * scale;
            if before < 1e-7 {
                continue;
            }
            for (part, (way, next)) in row.iter_mut().zip(ways.iter().zip(&next)) {
                *part += before * way * next;
            }
        }
    }
}
