//! "No entiende mi miedo" denies the understanding, not the fear: a denial that is spent on its verb.

use crate::lexicon::label;
use crate::lexicon::word_lists::{self, WordList};
use crate::matcher::{PhraseMatch, PhraseMatcher};
use crate::phrase_trie::TrieBuilder;
use crate::tokenized::TokenizedText;

pub(crate) const FILE: &str = include_str!("../lexicon/denied_verbs.tsv");
/// Pronouns, auxiliaries and adverbs that may come between a denial and its verb.
const LONGEST_WAY: usize = 4;

/// Verbs that absorb a denial: it does not reach their object.
pub(crate) struct NegatedVerbs {
    between: PhraseMatcher,
    verbs: PhraseMatcher,
    carries: PhraseMatcher,
}

/// English helpers after whose denial a bare verb follows.
const HELPERS: &[&str] = &["do", "does", "did", "ca", "can", "could", "wo", "will", "would", "should", "need", "must"];
/// Spanish helpers that a participle follows, and those that an infinitive follows.
const PERFECT: &[&str] = &["he", "has", "ha", "hemos", "han", "habia", "habian"];
static MODAL: WordList = WordList::listed(word_lists::ASSERTION, "negated_verbs.modal");

impl NegatedVerbs {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        Self {
            between: label(trie, FILE, "between"),
            verbs: label(trie, FILE, "verb"),
            carries: label(trie, FILE, "carries"),
        }
    }

    /// Where a bare denial ends that only covers its verb; `None` where it covers the words after it.
    pub(crate) fn spent(&self, reading: &TokenizedText<'_>, denial: &PhraseMatch, limit: usize) -> Option<usize> {
        let last = reading.word(denial.words.end - 1);
        let bare = matches!(last, "no" | "not" | "n't" | "never" | "nunca" | "jamas" | "cannot");
        if !bare {
            return None;
        }
        let helped = denial.words.end >= 2 && HELPERS.contains(&reading.word(denial.words.end - 2));
        let mut word = denial.words.end;
        for _ in 0..=LONGEST_WAY {
            if word >= limit {
                return None;
            }
            if let Some(verb) = self.verbs.at(reading, word) {
                return Some(verb.words.end);
            }
            if self.is_negated_verb(reading, word, helped) {
                return Some(word + 1);
            }
            word = self.between.at(reading, word)?.words.end;
        }
        None
    }

    /// Whether a word is a verb by its place and its ending, and none of those that pass a denial on ("no ha tenido
    /// fiebre", "didn't have a fever").
    fn is_negated_verb(&self, reading: &TokenizedText<'_>, word: usize, helped: bool) -> bool {
        let text = reading.word(word);
        if self.carries.at(reading, word).is_some() || self.between.at(reading, word).is_some() {
            return false;
        }
        let letters = text.len() > 2 && text.bytes().all(|byte| byte.is_ascii_lowercase());
        if helped {
            return letters;
        }
        let before = word.checked_sub(1).map_or("", |before| reading.word(before));
        let ends = |endings: &[&str]| letters && endings.iter().any(|ending| text.ends_with(ending));
        (PERFECT.contains(&before) && ends(&["ado", "ido", "isto", "icho", "echo", "uesto", "ierto", "elto"]))
            || (MODAL.contains(before)
                && ends(&[
                    "ar", "er", "ir", "arme", "erme", "irme", "arse", "erse", "irse", "arlo", "erlo", "arla", "erla",
                ]))
    }
}
