//! "No entiende mi miedo" denies the understanding, not the fear: a denial that is spent on its verb.

use crate::extract::lexicon::label;
use crate::extract::matcher::{Hit, Matcher};
use crate::extract::phrasebook::Builder;
use crate::extract::reading::Reading;

pub(in crate::extract) const FILE: &str = include_str!("../lexicon/denied_verbs.tsv");
/// Pronouns, auxiliaries and adverbs that may stand between a denial and its verb.
const LONGEST_WAY: usize = 4;

/// Verbs that keep a denial to themselves.
pub struct Deeds {
    between: Matcher,
    verbs: Matcher,
}

impl Deeds {
    pub fn builtin(book: &mut Builder) -> Self {
        Self { between: label(book, FILE, "between"), verbs: label(book, FILE, "verb") }
    }

    /// Where a bare denial ends that is spent on its verb; `None` where it goes on to what follows.
    pub fn spent(&self, reading: &Reading<'_>, denial: &Hit, limit: usize) -> Option<usize> {
        let last = reading.word(denial.words.end - 1);
        let bare =
            matches!(last, "no" | "not" | "n't" | "never" | "nunca" | "jamas" | "cannot") && denial.words.len() <= 2;
        if !bare {
            return None;
        }
        let mut word = denial.words.end;
        for _ in 0..=LONGEST_WAY {
            if word >= limit {
                return None;
            }
            if let Some(verb) = self.verbs.at(reading, word) {
                return Some(verb.words.end);
            }
            word = self.between.at(reading, word)?.words.end;
        }
        None
    }
}
