//! Screenings that were answered: "Asked directly about domestic abuse while the partner was out of the room: says none".
//! The words of risk are the screening's; the patient's is the answer after them.

use std::ops::Range;

use crate::lexicon::word_lists::{self, WordList};
use crate::lexicon::{SPEECH, label};
use crate::matcher::PhraseMatcher;
use crate::phrase_trie::TrieBuilder;
use crate::tokenized::{TextSentence, TokenizedText};

/// How many words of the next sentence may hold the answer.
const NEXT: usize = 6;

pub(crate) struct ScreeningRules {
    screen: PhraseMatcher,
}

impl ScreeningRules {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        Self { screen: label(trie, SPEECH, "screen") }
    }

    /// Whether a sentence names a screening for the found risk that was answered with no, and with nothing else.
    pub(crate) fn answered_no(&self, reading: &TokenizedText<'_>, index: usize, found: &Range<usize>) -> bool {
        let Some(here) = reading.sentences.get(index) else { return false };
        if self.screen.first(reading, here.words.clone()).is_none() {
            return false;
        }
        let next = reading.sentences.get(index + 1).filter(|next| continues(reading, here, next));
        let after = next.map_or(0..0, |next| next.words.start..next.words.end.min(next.words.start + NEXT));
        let mut words = (found.end..here.words.end).chain(after.clone());
        let answers =
            |at: usize| is_no(reading.word(at)) && (opens(reading, at) || at == after.start) && !leads_on(reading, at);
        let no = words.clone().any(answers);
        no && !words.any(|at| goes_on(reading.word(at)))
    }
}

/// The next sentence of the same text answers, unless it asks.
fn continues(reading: &TokenizedText<'_>, here: &TextSentence, next: &TextSentence) -> bool {
    let gap = reading.text.get(here.span.end..next.span.start).unwrap_or("");
    here.turn == next.turn && !next.question && gap.matches('\n').count() < 2
}

/// "Thoughts daily, no sleep": the "no" concerns another word.
fn leads_on(reading: &TokenizedText<'_>, at: usize) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::RISK, "screening_answers.leads_on");
    let bare = matches!(reading.word(at), "no" | "not" | "nil" | "zero" | "ningun");
    let ends = reading.words.get(at + 1).is_none_or(|next| next.punctuation);
    let asked = WORDS.contains(reading.word(at + 1));
    bare && !ends && !asked
}

fn is_no(word: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::RISK, "screening_answers.is_no");
    WORDS.contains(word)
}

/// Whether an answer begins at a word: after a sign, or after who gives it.
fn opens(reading: &TokenizedText<'_>, at: usize) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::RISK, "screening_answers.opens");
    let Some(before) = at.checked_sub(1) else { return false };
    reading.words[before].punctuation || WORDS.contains(reading.word(before))
}

fn goes_on(word: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::RISK, "screening_answers.goes_on");
    WORDS.contains(word)
}
