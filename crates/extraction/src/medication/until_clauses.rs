//! Until when a medicine is taken, where no day says so: "took it until it made her dizzy" has ended, "continue it until the
//! clinic says otherwise" goes on.

use std::ops::Range;

use crate::analysis::AnalyzedDocument;
use crate::dates::EndTense;
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;

/// How many words after "until" the verb of its clause may come.
const CLAUSE: usize = 12;
static SUBJECTS: WordList = WordList::listed(word_lists::MEDICATION, "until_clauses.subjects");
static PAST: WordList = WordList::listed(word_lists::MEDICATION, "until_clauses.past");
static OPEN: WordList = WordList::listed(word_lists::MEDICATION, "until_clauses.open");
static NOW: WordList = WordList::listed(word_lists::MEDICATION, "until_clauses.now");

pub(super) fn is_until(word: &str) -> bool {
    matches!(word, "until" | "till" | "til" | "hasta")
}

/// Whether the clause after "until" ended the medicine; `None` where "until" names a day, which the dates read.
/// `tense`: how the verb before the name speaks of it.
pub(super) fn ended(doc: &AnalyzedDocument<'_>, at: usize, limit: usize, tense: Option<EndTense>) -> Option<bool> {
    let reading = doc.reading;
    let clause = clause(reading, at, limit);
    let first = reading.word(clause.start);
    if clause.is_empty() || NOW.iter().any(|now| clause.clone().take(2).any(|word| reading.word(word) == *now)) {
        return (tense == Some(EndTense::Now)).then_some(false);
    }
    let spanish = reading.word(at) == "hasta";
    let speaks = if spanish { first == "que" } else { SUBJECTS.contains(first) };
    let past = speaks && clause.clone().skip(1).any(|word| is_past(doc, word, spanish));
    let open = clause.clone().any(|word| OPEN.contains(reading.word(word)));
    match tense {
        // In Spanish the mood of the clause says more than a verb without its accent does.
        Some(EndTense::Now) => Some(spanish && past),
        Some(EndTense::Over) if speaks => Some(past || !open && !spanish),
        _ if speaks => Some(past),
        _ => (tense == Some(EndTense::Now)).then_some(false),
    }
}

/// "Tome naproxeno hasta que ceda el dolor": an order, which "tomé" without its accent would otherwise deny.
pub(super) fn is_still_open(reading: &TokenizedText<'_>, from: usize) -> bool {
    let until = (from..from + CLAUSE).find(|word| is_until(reading.word(*word)));
    until.is_some_and(|at| {
        let clause = clause(reading, at, reading.words.len());
        reading.word(clause.start) == "que"
            && !clause.clone().skip(1).any(|word| PAST.contains(reading.word(word)) || ends_in_o(reading, word))
    })
}

/// The words after "until", up to a sign.
fn clause(reading: &TokenizedText<'_>, at: usize, limit: usize) -> Range<usize> {
    let to = limit.min(at + 1 + CLAUSE).min(reading.words.len());
    let end = (at + 1..to).find(|word| reading.words[*word].punctuation).unwrap_or(to);
    (at + 1).min(end)..end
}

fn is_past(doc: &AnalyzedDocument<'_>, word: usize, spanish: bool) -> bool {
    let said = doc.reading.word(word);
    let ends = |endings: &[&str]| said.len() > 4 && endings.iter().any(|ending| said.ends_with(ending));
    PAST.contains(said)
        || if spanish {
            ends_in_o(doc.reading, word) || ends(&["aron", "ieron", "aba", "aban"])
        } else {
            ends(&["ed"]) && said != "need"
        }
}

/// "Sangró": the accent of the past.
fn ends_in_o(reading: &TokenizedText<'_>, word: usize) -> bool {
    reading.source(&(word..word + 1)).slice(reading.text).to_lowercase().ends_with('ó')
}
