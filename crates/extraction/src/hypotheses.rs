//! Patterns of thought read into the patient's words: always hypotheses with their evidence, never facts (seed 000,
//! principle 4). None is a frequent and good answer.

use super::Hypothesis;
use super::analysis::AnalyzedDocument;
use super::lexicon::{LabelledPhrases, LexiconList};
use super::phrase_trie::TrieBuilder;
use anamnesis_text::Speaker;

pub(super) const FILE: &str = include_str!("lexicon/patterns.tsv");
/// One occurrence is a guess; each further one adds to it, up to the ceiling of an inference.
const FIRST: f64 = 0.4;
const FURTHER: f64 = 0.1;
const CEILING: f64 = 0.7;

pub(crate) struct HypothesisRules {
    patterns: LabelledPhrases,
}

impl HypothesisRules {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        Self { patterns: LabelledPhrases::load(trie, LexiconList::Patterns) }
    }

    /// Each pattern once, with the sentence that first shows it.
    pub(crate) fn find(&self, doc: &AnalyzedDocument<'_>) -> Vec<Hypothesis> {
        let mut out: Vec<Hypothesis> = Vec::new();
        let own = |speaker| !matches!(speaker, Speaker::Clinician | Speaker::Family);
        for (_, sentence) in doc.sentences().filter(|(_, sentence)| own(sentence.speaker)) {
            for (words, pattern) in self.patterns.find(doc.reading, sentence.words.clone()) {
                if doc.scopes.mention_context(doc.reading, &words).negated {
                    continue;
                }
                let text = format!("possible {pattern}");
                match out.iter_mut().find(|known| known.text == text) {
                    Some(known) => known.confidence = (known.confidence + FURTHER).min(CEILING),
                    None => out.push(Hypothesis { text, confidence: FIRST, evidence: sentence.span }),
                }
            }
        }
        out
    }
}
