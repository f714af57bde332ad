//! Findings and their signs as triage lines and forms write them without brackets: "-fever, +cough", "Anxiety +,
//! depression -", "DM2 no, HTA si, asma no", "Fever N Cough Y", "Pertinent negatives: …". One such value alone is a word
//! like any other ("fever no cough" denies the cough); a row of them is read as a row, and its words govern nothing else.

use std::ops::Range;

use super::CueScope;
use super::bare_lists::FindingAt;
use super::cues::CueCategory;
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;

/// Pairs of a finding and its value that make a row.
const ROW: usize = 2;
/// Longest title over absent findings.
const TITLE: usize = 4;
/// The negative symptoms of a psychosis, which are there.
static OF_PSYCHOSIS: WordList = WordList::listed(word_lists::ASSERTION, "sign_rows.of_psychosis");

/// The result of the signs of a sentence.
#[derive(Default)]
pub(super) struct SignedFindings {
    pub(super) denied: Vec<CueScope>,
    pub(super) stated: Vec<Range<usize>>,
    /// The signs' own words, which are no cues.
    spent: Vec<Range<usize>>,
}

impl SignedFindings {
    pub(super) fn find(reading: &TokenizedText<'_>, words: &Range<usize>, finding: &FindingAt<'_>) -> Self {
        let row = SignRow { reading, words, finding };
        let mut out = Self::default();
        row.find_after_names(&mut out);
        row.before(&mut out);
        row.titled(&mut out);
        out
    }

    /// Whether a scope is opened by a sign that says no more than its own finding.
    pub(super) fn is_spent(&self, scope: &CueScope) -> bool {
        self.spent.iter().any(|words| words.contains(&scope.cue.start) && !scope.cue.is_empty())
    }

    fn take(&mut self, label: Range<usize>, sign: Range<usize>, holds: bool) {
        if holds {
            self.stated.push(label);
        } else {
            self.denied.push(CueScope { category: CueCategory::Negated, words: label, cue: sign.clone() });
        }
        self.spent.push(sign);
    }
}

struct SignRow<'a, 'b> {
    reading: &'a TokenizedText<'b>,
    words: &'a Range<usize>,
    finding: &'a FindingAt<'a>,
}

impl SignRow<'_, '_> {
    fn word(&self, at: usize) -> &str {
        if self.words.contains(&at) { self.reading.word(at) } else { "" }
    }

    fn source(&self, at: usize) -> &str {
        self.reading.words[at].source.slice(self.reading.text)
    }

    /// Whether a value is at a word, and whether it affirms.
    fn value(&self, at: usize) -> Option<bool> {
        match self.word(at) {
            "no" | "neg" | "negativo" | "negativa" | "negative" | "-" | "–" | "−" => Some(false),
            "si" | "yes" | "pos" | "positivo" | "positiva" | "positive" | "+" => Some(true),
            "n" if self.source(at) == "N" => Some(false),
            "y" if self.source(at) == "Y" => Some(true),
            _ => None,
        }
    }

    /// "DM2 no, HTA si", "Fever N Cough Y": findings each with its value after it.
    fn find_after_names(&self, out: &mut SignedFindings) {
        let mut at = self.words.start;
        while at < self.words.end {
            let mut row: Vec<(Range<usize>, usize, bool)> = Vec::new();
            let mut whole = true;
            let from = at;
            while let Some(end) = (self.finding)(at).filter(|end| *end < self.words.end) {
                let Some(holds) = self.value(end) else {
                    // In a row without commas, a value comes before the next finding where the last finding has none.
                    whole = row.last().is_some_and(|last| last.1 + 1 < at);
                    break;
                };
                row.push((at..end, end, holds));
                at = end + 1;
                while matches!(self.word(at), "," | ";" | "/") {
                    at += 1;
                }
            }
            let last = (self.finding)(at) == Some(self.words.end) && row.last().is_some_and(|last| last.1 + 1 == at);
            if row.len() >= ROW && whole && !last {
                row.into_iter().for_each(|(label, sign, holds)| out.take(label, sign..sign + 1, holds));
            }
            at = at.max(from + 1);
        }
    }

    /// "-fever, +cough": signs before their findings, of both kinds, so that no list of bullets is meant.
    fn before(&self, out: &mut SignedFindings) {
        let signs: Vec<(usize, bool)> =
            self.words.clone().filter_map(|at| self.leading(at).map(|holds| (at, holds))).collect();
        if !(signs.iter().any(|sign| sign.1) && signs.iter().any(|sign| !sign.1)) {
            return;
        }
        for (at, holds) in signs.iter().copied() {
            let ends = |word: &usize| {
                matches!(self.word(*word), "," | ";" | ".") || signs.iter().any(|(other, _)| other == word)
            };
            let end = (at + 1..self.words.end).find(ends).unwrap_or(self.words.end);
            out.take(at + 1..end, at..at + 1, holds);
        }
    }

    /// Whether a sign at a word opens its item, with a finding after it.
    fn leading(&self, at: usize) -> Option<bool> {
        let holds = match self.word(at) {
            "+" => true,
            "-" | "–" | "−" => false,
            _ => return None,
        };
        (self.finding)(at + 1)?;
        let opens = at == self.words.start || matches!(self.word(at - 1), "," | ";" | ":");
        let places = |word: usize| self.reading.words[word].source;
        let hangs = || places(at - 1).end < places(at).start && places(at).end == places(at + 1).start;
        (opens || hangs()).then_some(holds)
    }

    /// "Pertinent negatives: fever, chills", "síntomas negativos: fiebre": a title over absent findings. The negative
    /// symptoms of a psychosis are symptoms.
    fn titled(&self, out: &mut SignedFindings) {
        let title = |at: &usize| {
            matches!(
                self.word(*at),
                "negativos" | "negativas" | "negatives" | "negative" | "positivos" | "positives" | "positive"
            )
        };
        let first = self.words.clone().take(TITLE).find(title);
        let Some(first) = first else { return };
        let known = |at: usize| {
            matches!(
                self.word(at),
                "sintomas" | "signos" | "hallazgos" | "symptoms" | "findings" | "signs" | "pertinent"
            )
        };
        let small = (self.words.start..first).all(|at| known(at) || self.reading.words[at].punctuation);
        let colon = first + 1 + usize::from(known(first + 1));
        let plain = matches!(self.word(first), "negative" | "positive") && colon == first + 1;
        if !small || plain || self.word(colon) != ":" || OF_PSYCHOSIS.contains(self.word(colon + 1)) {
            return;
        }
        let stops = |at: &usize| matches!(self.word(*at), "." | ";") || title(at);
        let end = (colon + 1..self.words.end).find(stops).unwrap_or(self.words.end);
        if !(colon + 1..end).any(|at| (self.finding)(at).is_some()) {
            return;
        }
        let label = self.words.start..colon;
        out.denied.push(CueScope { category: CueCategory::Unsaid, words: label.clone(), cue: label });
        let holds = self.word(first).starts_with("pos");
        out.take(colon + 1..end, colon..colon + 1, holds);
    }
}
