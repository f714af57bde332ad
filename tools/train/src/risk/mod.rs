//! Training of the risk classifier: lines written for it, and ordinary documents as what is none. Runs from
//! `anamnesis-train risk`; nothing of it runs in the service.

mod held_out;
mod sets;
mod softmax;

use std::collections::HashMap;

pub(crate) use anamnesis_extraction::evaluation::read_documents;
pub(crate) use held_out::held_out;
pub(crate) use sets::{TrainingLine, read_gold, read_lines};
use softmax::{Softmax, SoftmaxExample};

use anamnesis_extraction::internals::TrainingSentence;
use anamnesis_extraction::internals::classifier::{CLASSES, ORDER, WINDOW, write};
use anamnesis_extraction::{ExtractionInput, Extractor, RiskClass};
use anamnesis_linear_model::random::Random;
use anamnesis_text::Document;

/// Features that the model keeps, the weightiest, and the slots in which they are looked up: 1.2 MB. Most features of
/// ordinary text are in none: two slots of three are free, so that this is seen at once.
const ROWS: usize = 90_000;
const SLOTS: usize = 1 << 18;
/// A feature is learned when so many of the lines hold it.
const LEAST: u32 = 2;
/// Share of the lines that the rules were tuned on whose rules are hidden.
const WITHOUT_RULES: f64 = 0.5;
/// Class of what is no risk, after the classes of the model.
const NONE: usize = CLASSES;
/// One in so many risk lines may stay below the gate, and how much further down it lies for lines never seen (log odds).
const SHUT_OUT: usize = 400;
const LENIENCE: f32 = 1.0;

/// How training goes on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrainingConfig {
    /// Draws of windows and of hidden rules.
    pub(crate) seed: u64,
    /// Penalty of squared weights.
    pub(crate) penalty: f64,
    pub(crate) rounds: usize,
}

/// What training made.
pub(crate) struct TrainedRiskModel {
    pub(crate) model: Vec<u8>,
    pub(crate) lines: usize,
    /// Runs of sentences out of ordinary documents.
    pub(crate) background: usize,
    pub(crate) features: usize,
}

/// Trains a model; the same lines, documents and recipe make the same bytes. `told` hears rounds and losses.
pub(crate) fn train(
    lines: &[TrainingLine],
    documents: &[Document],
    recipe: TrainingConfig,
    told: &mut dyn FnMut(usize, f64),
) -> TrainedRiskModel {
    let extractor = Extractor::builtin();
    let mut random = Random::new(recipe.seed);
    let mut samples: Vec<TrainingSample> =
        lines.iter().filter_map(|line| sample(&extractor, line, &mut random)).collect();
    let count = samples.len();
    let table = table(&samples);
    for document in documents {
        windows(&extractor, document, &mut random, &mut samples);
    }
    let examples: Vec<SoftmaxExample> = samples.iter().map(|sample| sample.numbered(&table)).collect();
    let fitted = Softmax::<{ CLASSES + 1 }>::fit(&examples, table.len(), recipe.penalty, recipe.rounds, told).weights;
    // Against "none", and a feature's value once for all.
    let against = |row: &[f64; CLASSES + 1], value: f32| -> [f32; CLASSES] {
        std::array::from_fn(|class| (row[class] - row[NONE]) as f32 * value)
    };
    let mut rows: Vec<(u64, [f32; CLASSES])> =
        table.iter().map(|(feature, (row, value))| (*feature, against(&fitted[*row as usize], *value))).collect();
    rows.sort_by_key(|(feature, _)| *feature);
    let bias = against(&fitted[table.len()], 1.0);
    let gate = gate(&samples[..count], &table, &fitted);
    let model = write(&mut rows, &bias, gate, ROWS, SLOTS);
    TrainedRiskModel { model, lines: count, background: samples.len() - count, features: table.len() }
}

/// Log odds of risk by single words alone, below which no line of risk lies (but for the last few): the classifier asks no
/// further there.
fn gate(lines: &[TrainingSample], table: &HashMap<u64, (u32, f32)>, fitted: &[[f64; CLASSES + 1]]) -> f32 {
    let odds = |line: &TrainingSample| -> f32 {
        let mut logits = fitted[table.len()];
        for (row, value) in line.alone.iter().filter_map(|(f, value)| Some((table.get(f)?.0, value))) {
            let row = &fitted[row as usize];
            logits.iter_mut().zip(row).for_each(|(logit, weight)| *logit += weight * f64::from(*value));
        }
        let together: f64 = logits[..NONE].iter().map(|logit| (logit - logits[NONE]).exp()).sum();
        together.ln() as f32
    };
    let mut all: Vec<f32> = lines.iter().filter(|line| line.class != NONE).map(odds).collect();
    all.sort_by(f32::total_cmp);
    all.get(all.len() / SHUT_OUT).map_or(f32::NEG_INFINITY, |lowest| lowest - LENIENCE)
}

/// Features of a run of sentences, those of single words once more, and its class.
struct TrainingSample {
    features: Vec<(u64, f32)>,
    alone: Vec<(u64, f32)>,
    class: usize,
}

impl TrainingSample {
    fn from_sentences<'a>(
        sentences: impl Iterator<Item = &'a TrainingSentence>,
        class: usize,
        hide_rules: bool,
    ) -> Self {
        let (mut features, mut alone) = (Vec::new(), Vec::new());
        for sentence in sentences {
            features.extend_from_slice(&sentence.features);
            alone.extend_from_slice(&sentence.features[..sentence.alone]);
            if !hide_rules {
                features.extend(sentence.rule_hits.features().map(|feature| (feature, 1.0)));
            }
        }
        features.sort_by_key(|(feature, _)| *feature);
        Self { features, alone, class }
    }

    /// Each feature once, its value as often as it stood there.
    fn numbered(&self, table: &HashMap<u64, (u32, f32)>) -> SoftmaxExample {
        let mut features: Vec<(u32, f32)> = Vec::with_capacity(self.features.len());
        for (feature, value) in &self.features {
            let Some((row, _)) = table.get(feature) else { continue };
            match features.last_mut().filter(|(last, _)| last == row) {
                Some((_, sum)) => *sum += value,
                None => features.push((*row, *value)),
            }
        }
        SoftmaxExample { features, class: self.class }
    }
}

/// The features of the lines that come often enough: their rows and values.
fn table(samples: &[TrainingSample]) -> HashMap<u64, (u32, f32)> {
    let mut seen: HashMap<u64, (u32, f32)> = HashMap::new();
    for sample in samples {
        let mut last = None;
        for (feature, value) in &sample.features {
            if last != Some(*feature) {
                seen.entry(*feature).or_insert((0, *value)).0 += 1;
                last = Some(*feature);
            }
        }
    }
    let mut kept: Vec<(u64, f32)> = seen
        .into_iter()
        .filter(|(_, (times, _))| *times >= LEAST)
        .map(|(feature, (_, value))| (feature, value))
        .collect();
    kept.sort_by_key(|(feature, _)| *feature);
    kept.into_iter().zip(0u32..).map(|((feature, value), row)| (feature, (row, value))).collect()
}

fn sample(extractor: &Extractor, line: &TrainingLine, random: &mut Random) -> Option<TrainingSample> {
    let document = Document::plain(line.text.clone(), line.language);
    let sentences = extractor.training_sentences(&ExtractionInput::new(&document));
    let hide_rules = line.tuned && random.chance(WITHOUT_RULES);
    let class = line.class.map_or(NONE, column);
    let said = sentences.iter().filter(|sentence| !sentence.asked);
    (said.clone().count() > 0).then(|| TrainingSample::from_sentences(said, class, hide_rules))
}

/// Cuts an ordinary document into runs of one to three sentences of one speaker; where the rules find risk, it is not
/// ordinary.
fn windows(extractor: &Extractor, document: &Document, random: &mut Random, out: &mut Vec<TrainingSample>) {
    let sentences = extractor.training_sentences(&ExtractionInput::new(document));
    let mut at = 0;
    while at < sentences.len() {
        let most = [1, 1, 1, 2, WINDOW][random.below(5)];
        let same = |sentence: &&TrainingSentence| sentence.turn == sentences[at].turn;
        let length = sentences[at..].iter().take(most).take_while(same).count().max(1);
        let run = &sentences[at..at + length];
        at += length;
        if !run.iter().any(|sentence| sentence.asked || sentence.rule_hits.own || sentence.rule_hits.others) {
            out.push(TrainingSample::from_sentences(run.iter(), NONE, false));
        }
    }
}

fn column(class: RiskClass) -> usize {
    ORDER.iter().position(|known| *known == class).unwrap_or(NONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_text::Language;

    #[test]
    fn the_lines_of_the_repository_can_be_read() {
        let lines = read_lines(include_str!("../../../../models/risk/lines.tsv")).unwrap();
        assert!(lines.len() >= 9_300);
        assert!(ORDER.iter().all(|class| lines.iter().any(|line| line.class == Some(*class))));
    }

    #[test]
    fn the_same_lines_make_the_same_bytes_and_others_do_not() {
        let lines = read_lines(include_str!("../../../../models/risk/lines.tsv")).unwrap();
        let few: Vec<TrainingLine> = lines.into_iter().step_by(90).collect();
        let ordinary = [Document::plain("My knee is better. The tablets taste of mint.", Language::English)];
        let model = |lines: &[TrainingLine]| {
            train(lines, &ordinary, TrainingConfig { seed: 7, penalty: 3.0, rounds: 5 }, &mut |_, _| {}).model
        };
        assert_eq!(model(&few), model(&few));
        assert_ne!(model(&few), model(&few[1..]));
    }
}
