//! What the shipped model is trained on: the sets, their shares and their changes. docs/redaction-model.md tells the same.

use super::augment::augment;
use super::example::{AnnotationScope, TaggerExample};
use super::generate::Generator;
use anamnesis_linear_model::random::Random;

/// Rounds through all templates.
const ROUNDS: usize = 15;
/// One in so many marked documents is trained on a second time, changed.
const VARIED: usize = 3;
const VARIED_GENERATED: usize = 4;
/// Rounds through the lines that people wrote, values exchanged in all but the first; those without personal data have
/// nothing to exchange.
const WRITTEN_ROUNDS: usize = 10;
const CLEAN_ROUNDS: usize = 5;
/// Every second dialogue, every fourth template of the English set is kept from training.
const HELD_OUT_DIALOGUES: usize = 2;
pub(crate) const HELD_OUT_TEMPLATES: u64 = 4;

/// The sets of a run.
#[derive(Default)]
pub(crate) struct TrainingSets {
    /// Marked by people or by the maker of the set.
    pub(crate) marked: Vec<TaggerExample>,
    /// Dialogues and notes without marks.
    pub(crate) unmarked: Vec<TaggerExample>,
}

/// The examples of a run in their order; the same sets and seed give the same list.
pub(crate) fn examples(sets: TrainingSets, generator: &Generator, random: &mut Random) -> Vec<TaggerExample> {
    let mut all = Vec::new();
    with_varied(sets.marked, VARIED, random, &mut all);
    let kept: Vec<TaggerExample> = sets.unmarked.into_iter().step_by(HELD_OUT_DIALOGUES).collect();
    debug_assert!(kept.iter().all(|example| example.marked == AnnotationScope::Nothing));
    with_varied(kept, VARIED, random, &mut all);
    with_varied(generator.examples(ROUNDS, random), VARIED_GENERATED, random, &mut all);
    with_varied(generator.annotated_lines((WRITTEN_ROUNDS, CLEAN_ROUNDS), random), VARIED_GENERATED, random, &mut all);
    all
}

fn with_varied(examples: Vec<TaggerExample>, every: usize, random: &mut Random, all: &mut Vec<TaggerExample>) {
    let varied: Vec<TaggerExample> = examples.iter().step_by(every).map(|example| augment(example, random)).collect();
    all.extend(varied);
    all.extend(examples);
}
