//! Weight lost or gained in numbers: "he perdido seis kilos", "dropped from 31 kilos to 29.4", "engordé siete kilos".

use std::ops::Range;

use super::NamedCondition;
use crate::lexicon::label;
use crate::lexicon::word_lists::{self, WordList};
use crate::matcher::PhraseMatcher;
use crate::phrase_trie::TrieBuilder;
use crate::tokenized::TokenizedText;

pub(super) const AMOUNTS: &str = include_str!("../lexicon/amounts.tsv");
/// Words between the verb and the unit.
const LONGEST_AMOUNT: usize = 6;

pub(crate) struct WeightRules {
    loss: PhraseMatcher,
    gain: PhraseMatcher,
    unit: PhraseMatcher,
}

impl WeightRules {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let mut of = |name| label(trie, AMOUNTS, name);
        Self { loss: of("loss"), gain: of("gain"), unit: of("unit") }
    }

    pub(crate) fn find(&self, reading: &TokenizedText<'_>, within: Range<usize>) -> Vec<NamedCondition> {
        let mut out = Vec::new();
        for unit in self.unit.find(reading, within.clone()) {
            let from = unit.words.start.saturating_sub(LONGEST_AMOUNT).max(within.start);
            let verb = |list: &PhraseMatcher| list.find(reading, from..unit.words.start).pop();
            // "Lost six kilos, then gained two": the verb nearer to the unit decides.
            let (name, code, verb) = match (verb(&self.loss), verb(&self.gain)) {
                (Some(loss), gain) if gain.as_ref().is_none_or(|gain| gain.words.start < loss.words.start) => {
                    ("weight loss", "R63.4", loss)
                }
                (_, Some(gain)) => ("weight gain", "R63.5", gain),
                _ => continue,
            };
            if (verb.words.end..unit.words.start).all(|word| is_amount(reading.word(word))) {
                let words = verb.words.start..unit.words.end;
                let named =
                    NamedCondition { words, group: "symptom", name: name.into(), code: Some(code), sureness: 1.0 };
                out.push(named);
            }
        }
        out
    }
}

/// A number, or a word that comes with one.
fn is_amount(word: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::GENERAL, "weight_change.is_amount");
    word.starts_with(|c: char| c.is_ascii_digit()) || anamnesis_text::begins_number(word) || WORDS.contains(word)
}
