//! Training of the verifier: what models found in texts that they had not seen, and whether people had marked it. Each half of
//! the examples is read by a model that learned the other half.

use std::collections::HashMap;

use super::crf::TrainingParameters;
use super::example::{AnnotationScope, TaggerExample};
use super::{gold_of, train};
use anamnesis_linear_model::random::Random;
use anamnesis_redaction::internals::document::DocumentContext;
use anamnesis_redaction::internals::tagger::verifier::write;
use anamnesis_redaction::internals::tagger::{CrfModel, Tagger, Verifier};
use anamnesis_redaction::{KnownPeople, RedactionPolicy, Redactor, SurrogateKey};
use anamnesis_text::{Document, Span};

/// Features that the verifier keeps, the weightiest, and the slots in which they are looked up.
const ROWS: usize = 40_000;
const SLOTS: usize = 1 << 16;
/// A feature is learned when it comes at least so often.
const LEAST: u32 = 3;
const EPOCHS: usize = 12;
const RATE: f32 = 0.1;
const DECAY: f32 = 2e-4;
/// What is personal and thrown away costs so much more than a word that is taken for nothing.
const MISS: f32 = 2.0;

/// One finding of a model in a text that it had not seen.
pub(crate) struct VerifierCase {
    features: Vec<u64>,
    /// Whether anything of it is personal.
    personal: bool,
}

/// One half of the examples, read by a model that learned the other half.
pub(crate) struct TrainingHalf {
    model: &'static [u8],
    cases: Vec<VerifierCase>,
    /// 0 or 1: what the group of an example leaves over when it is divided by two.
    number: usize,
}

/// Trains a model on each half and reads the other one with it. `progress` is called with halves and losses.
pub(crate) fn halves(
    examples: &[TaggerExample],
    steps: TrainingParameters,
    progress: &mut dyn FnMut(usize, f64),
) -> [TrainingHalf; 2] {
    [0, 1].map(|number| {
        let learned = examples.iter().filter(|example| example.group % 2 != number);
        let mut last = 0.0;
        let model: &'static [u8] = train(learned, steps, &mut |_, loss| last = loss).model.leak();
        progress(number + 1, last);
        let held_out = examples.iter().filter(|example| example.group % 2 == number);
        TrainingHalf { model, cases: cases(held_out, &tagger(model, None)), number }
    })
}

/// The verifier of both halves, in its file's form.
pub(crate) fn verifier_of(halves: &[TrainingHalf; 2], seed: u64) -> Vec<u8> {
    verifier(&halves.iter().flat_map(|half| &half.cases).collect::<Vec<_>>(), seed)
}

/// How well lines are redacted by a model and a verifier that saw none of their half.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct HoldoutScore {
    /// Marked values, and those of which nothing was taken.
    pub(crate) values: usize,
    pub(crate) missed: usize,
    /// Lines without marks, and those of which something was taken.
    pub(crate) clean: usize,
    pub(crate) touched: usize,
}

/// Redacts lines with the model that did not see them, and the verifier of the other half, or the lists where `verified` is false.
pub(crate) fn holdout_score(
    lines: &[TaggerExample],
    halves: &[TrainingHalf; 2],
    seed: u64,
    verified: bool,
) -> HoldoutScore {
    let mut sum = HoldoutScore::default();
    for half in halves {
        let others: Vec<&VerifierCase> = halves[1 - half.number].cases.iter().collect();
        let verifier = verified.then(|| verifier(&others, seed).leak() as &'static [u8]);
        let redactor = Redactor::with_tagger(RedactionPolicy::default(), tagger(half.model, verifier));
        for line in lines.iter().filter(|line| line.group % 2 == half.number) {
            sum.add(line, &redactor);
        }
    }
    sum
}

impl HoldoutScore {
    fn add(&mut self, line: &TaggerExample, redactor: &Redactor) {
        let document = Document::plain(line.text.clone(), line.language);
        let key = SurrogateKey::new([7; 32]);
        // What cannot be redacted is not stored: it leaks nothing and says nothing, and counts as missed.
        let redacted = redactor.redact(&document, &KnownPeople::default(), &key).ok();
        let found = redacted.as_ref().map(|redacted| redacted.redactions()).unwrap_or_default();
        self.values += line.spans.len();
        self.missed += line.spans.iter().filter(|(span, _)| !found.iter().any(|one| one.source.overlaps(span))).count();
        if line.spans.is_empty() {
            self.clean += 1;
            self.touched += usize::from(!found.is_empty());
        }
    }
}

/// A tagger of models that training just made.
fn tagger(model: &'static [u8], verifier: Option<&'static [u8]>) -> Tagger {
    let verifier = verifier.map(|verifier| Verifier::read(verifier).expect("written a moment ago, in this format"));
    Tagger::new(CrfModel::read(model).expect("written a moment ago, in this format"), verifier)
}

/// What a model finds in examples that it had not learned from.
fn cases<'a>(examples: impl Iterator<Item = &'a TaggerExample>, tagger: &Tagger) -> Vec<VerifierCase> {
    let redactor = Redactor::rules_only(RedactionPolicy::strictest());
    let mut all = Vec::new();
    // Where no one marked anything, no one can tell what is right.
    for example in examples.filter(|example| example.marked != AnnotationScope::Nothing) {
        let document = Document::plain(example.text.clone(), example.language);
        let context = DocumentContext::new(&document, redactor.policy());
        let found = redactor.rule_findings(&context, &KnownPeople::default());
        let gold = gold_of(example, &context, &found);
        for (span, features) in tagger.candidates(&context, &found) {
            let personal = gold.iter().any(|(known, _): &(Span, u8)| known.overlaps(&span));
            all.push(VerifierCase { features, personal });
        }
    }
    all
}

/// A verifier of these cases, in its file's form. The same cases and seed make the same bytes.
fn verifier(cases: &[&VerifierCase], seed: u64) -> Vec<u8> {
    let mut counts: HashMap<u64, u32> = HashMap::new();
    cases.iter().flat_map(|case| &case.features).for_each(|feature| *counts.entry(*feature).or_default() += 1);
    let mut kept: Vec<u64> =
        counts.into_iter().filter(|(_, count)| *count >= LEAST).map(|(feature, _)| feature).collect();
    kept.sort_unstable();
    let numbers: HashMap<u64, u32> = kept.iter().copied().zip(0u32..).collect();
    let rows: Vec<Vec<u32>> = cases
        .iter()
        .map(|case| case.features.iter().filter_map(|feature| numbers.get(feature).copied()).collect())
        .collect();
    let weights = fitted(cases, &rows, kept.len(), seed);
    let mut table: Vec<(u64, [f32; 1])> =
        kept.into_iter().zip(weights).map(|(feature, weight)| (feature, [weight])).collect();
    write(&mut table, ROWS, SLOTS)
}

/// Logistic regression with AdaGrad steps, one case a step.
fn fitted(cases: &[&VerifierCase], rows: &[Vec<u32>], features: usize, seed: u64) -> Vec<f32> {
    let (mut weights, mut squares) = (vec![0f32; features], vec![0f32; features]);
    let mut order: Vec<usize> = (0..cases.len()).collect();
    let mut random = Random::new(seed);
    for epoch in 0..EPOCHS {
        random.shuffle(&mut order);
        let rate = RATE * (1.0 - epoch as f32 / EPOCHS as f32).max(0.1);
        for at in &order {
            let sum: f32 = rows[*at].iter().map(|row| weights[*row as usize]).sum();
            let likely = 1.0 / (1.0 + (-sum).exp());
            let wrong = if cases[*at].personal { MISS * (likely - 1.0) } else { likely };
            for row in &rows[*at] {
                let row = *row as usize;
                let pull = wrong + DECAY * weights[row];
                squares[row] += pull * pull;
                weights[row] -= rate * pull / (squares[row].sqrt() + 1e-3);
            }
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(features: &[u64], personal: bool) -> VerifierCase {
        VerifierCase { features: features.to_vec(), personal }
    }

    #[test]
    fn a_verifier_accepts_what_people_marked_and_the_same_cases_make_the_same_bytes() {
        let cases: Vec<VerifierCase> =
            (0..200).flat_map(|n| [case(&[1, 100 + n % 7, 9], true), case(&[2, 100 + n % 7, 9], false)]).collect();
        let all: Vec<&VerifierCase> = cases.iter().collect();
        let bytes = verifier(&all, 5);
        assert_eq!(bytes, verifier(&all, 5));
        let verifier = Verifier::read(bytes.leak()).unwrap();
        assert!(verifier.accepts(&[1, 103, 9]) && !verifier.accepts(&[2, 103, 9]));
    }

    #[test]
    fn a_half_is_read_by_the_model_of_the_other_one() {
        let line = |text: &str, name: &str, group| {
            let start = text.find(name).unwrap();
            let span = Span::new(start, start + name.len());
            let language = anamnesis_text::Language::English;
            TaggerExample {
                text: text.into(),
                language,
                spans: vec![(span, "PERSON")],
                marked: AnnotationScope::All,
                group,
            }
        };
        let examples: Vec<TaggerExample> = (0..40)
            .flat_map(|_| [line("Seen by Quorvex in clinic", "Quorvex", 0), line("Told Zyndle to rest", "Zyndle", 1)])
            .collect();
        let steps = TrainingParameters { epochs: 3, rate: 0.15, decay: 1e-6, seed: 1, miss_cost: 0.0 };
        let halves = halves(&examples, steps, &mut |_, _| ());
        assert!(halves[0].model != halves[1].model);
        assert_eq!(holdout_score(&examples, &halves, 5, false).values, 80);
    }
}
