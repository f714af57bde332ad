//! What the shipped model is trained on: the sets, their shares and their changes. docs/redaction-model.md tells the same.

use super::example::{Example, Marked};
use super::generate::Generator;
use super::vary::vary;
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
pub const HELD_OUT_TEMPLATES: u64 = 4;

/// The sets of a run.
#[derive(Default)]
pub struct Sets {
    /// Marked by people or by the maker of the set.
    pub marked: Vec<Example>,
    /// Dialogues and notes without marks.
    pub unmarked: Vec<Example>,
}

/// The examples of a run in their order; the same sets and seed give the same list.
pub fn examples(sets: Sets, generator: &Generator, random: &mut Random) -> Vec<Example> {
    let mut all = Vec::new();
    with_varied(sets.marked, VARIED, random, &mut all);
    let kept: Vec<Example> = sets.unmarked.into_iter().step_by(HELD_OUT_DIALOGUES).collect();
    debug_assert!(kept.iter().all(|example| example.marked == Marked::Nothing));
    with_varied(kept, VARIED, random, &mut all);
    with_varied(generator.examples(ROUNDS, random), VARIED_GENERATED, random, &mut all);
    with_varied(generator.written((WRITTEN_ROUNDS, CLEAN_ROUNDS), random), VARIED_GENERATED, random, &mut all);
    all
}

fn with_varied(examples: Vec<Example>, every: usize, random: &mut Random, all: &mut Vec<Example>) {
    let varied: Vec<Example> = examples.iter().step_by(every).map(|example| vary(example, random)).collect();
    all.extend(varied);
    all.extend(examples);
}
