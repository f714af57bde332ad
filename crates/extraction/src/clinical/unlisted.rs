//! Illnesses in no list, by their own words: the words after "diagnosed with" or "antecedentes de", and words whose
//! ending marks an illness ("onicomicosis", "cervicobraquialgia"). Their confidence is lower.

use std::collections::HashSet;
use std::ops::Range;

use super::NamedCondition;
use crate::lexicon::label;
use crate::lexicon::word_lists::{self, WordList};
use crate::matcher::{PhraseMatcher, expand};
use crate::phrase_trie::TrieBuilder;
use crate::tokenized::TokenizedText;

pub(super) const FILE: &str = include_str!("../lexicon/named.tsv");
/// Words of the name of an illness.
const LONGEST_NAME: usize = 5;
/// Letters of a word that is known by its ending alone, and of its beginning.
const SHORTEST_WORD: usize = 8;
const SHORTEST_STEM: usize = 4;
/// Confidence of a name in no list: with an ending that marks an illness, and without.
const BY_ENDING: f64 = 0.8;
const BY_CUE: f64 = 0.6;

pub(crate) struct UnlistedConditions {
    cues: PhraseMatcher,
    stops: PhraseMatcher,
    never: PhraseMatcher,
    openers: PhraseMatcher,
    endings: Vec<&'static str>,
    /// Words with such an ending that are no illness.
    plain: HashSet<String>,
}

impl UnlistedConditions {
    pub(crate) fn builtin(trie: &mut TrieBuilder) -> Self {
        let words = |name: &str| {
            let rows = FILE.lines().filter_map(|line| line.split_once('\t'));
            rows.filter(|(label, _)| *label == name)
                .flat_map(|(_, words)| words.split('|'))
                .map(str::trim)
                .collect::<Vec<_>>()
        };
        Self {
            cues: label(trie, FILE, "cue"),
            stops: label(trie, FILE, "stop"),
            never: label(trie, FILE, "never"),
            openers: label(trie, FILE, "opener"),
            endings: words("suffix"),
            plain: words("plain").into_iter().flat_map(expand).collect(),
        }
    }

    /// Whether the word is announced as an illness: "h/o", "dx de", "no".
    pub(crate) fn announces(&self, reading: &TokenizedText<'_>, within: &Range<usize>, word: usize) -> bool {
        static WORDS: WordList = WordList::listed(word_lists::GENERAL, "unlisted.announces");
        let denied = word > within.start && WORDS.contains(reading.word(word - 1));
        // "PE descartada", "SNM poco probable", "TAB vs …": judged right after.
        let judged = (word + 1..within.end.min(word + 3)).any(|after| {
            let said = reading.word(after);
            said.starts_with("descartad")
                || matches!(said, "negativo" | "negativa" | "neg" | "excluded" | "vs")
                || said == "ruled" && reading.word(after + 1) == "out"
        });
        let denied = denied || judged;
        denied || self.cues.find(reading, within.start..word).iter().any(|cue| cue.words.end == word)
    }

    /// Names in no list. `found` holds the listed names of the sentence.
    pub(crate) fn find(
        &self,
        reading: &TokenizedText<'_>,
        within: Range<usize>,
        found: &[NamedCondition],
    ) -> Vec<NamedCondition> {
        let free = |words: &Range<usize>| {
            !found.iter().any(|known| known.words.start < words.end && words.start < known.words.end)
        };
        let mut out: Vec<NamedCondition> = Vec::new();
        for cue in self.cues.find(reading, within.clone()) {
            let Some(words) = self.noun_phrase(reading, cue.words.end, within.end) else { continue };
            if free(&words) && !is_proper(reading, &words) {
                let ended = words.clone().any(|word| self.ends_as_illness(reading.word(word)));
                out.push(named(reading, words, if ended { BY_ENDING } else { BY_CUE }));
            }
        }
        for word in within.clone() {
            let words = word..word + 1;
            let known = out.iter().any(|other| other.words.contains(&word));
            let illness = self.ends_as_illness(reading.word(word)) && !is_measured(reading, word, within.end);
            if !known && free(&words) && illness {
                out.push(named(reading, words, BY_ENDING));
            }
        }
        out
    }

    /// The words after a cue up to a sign, a joining word or a verb; `None` where they name no illness.
    fn noun_phrase(&self, reading: &TokenizedText<'_>, from: usize, limit: usize) -> Option<Range<usize>> {
        let mut end = from;
        while end < limit && end - from < LONGEST_NAME {
            let said = reading.word(end);
            let sign = reading.words.get(end).is_none_or(|word| word.punctuation);
            let number = said.starts_with(|c: char| c.is_ascii_digit());
            if sign || number || self.stops.at(reading, end).is_some() {
                break;
            }
            if self.never.at(reading, end).is_some() {
                return None;
            }
            end += 1;
        }
        let long = end - from == LONGEST_NAME && end < limit && !reading.words[end].punctuation;
        let substantial =
            (from..end).any(|word| reading.word(word).len() > 3 && self.openers.at(reading, word).is_none());
        // A phrase that goes on after so many words is no name, and neither is a surrogate of redaction.
        let bare = (from..end).all(|word| !reading.word(word).contains(['[', ']', '_']));
        (end > from && !long && substantial && bare).then_some(from..end)
    }

    fn ends_as_illness(&self, word: &str) -> bool {
        word.len() >= SHORTEST_WORD
            && word.bytes().all(|byte| byte.is_ascii_lowercase())
            && !self.plain.contains(word)
            && !is_level(word)
            && self.endings.iter().any(|ending| {
                let plural = word.strip_suffix('s').unwrap_or(word);
                [word, plural]
                    .iter()
                    .any(|form| form.strip_suffix(ending).is_some_and(|stem| stem.len() >= SHORTEST_STEM))
            })
    }
}

/// "Paracetamolemia", "digoxinemia": how much of a medicine is in the blood, unless it is too much or too little.
fn is_level(word: &str) -> bool {
    let stem = word.strip_suffix("emia").or_else(|| word.strip_suffix("aemia"));
    let changed = ["hip", "hyp", "dis", "dys"].iter().any(|start| word.starts_with(start));
    let medicine = |stem: &str| ["ol", "in", "am", "pro", "xin", "lit", "liti"].iter().any(|end| stem.ends_with(end));
    stem.is_some_and(medicine) && !changed
}

/// "Digoxinemia 1,1 ng/mL", "paracetamolemia a las 6 h 168 mcg/mL": a measurement in blood. "Hiperpotasemia 6,2 mEq/L"
/// is an illness.
fn is_measured(reading: &TokenizedText<'_>, word: usize, limit: usize) -> bool {
    const UNITS: &[&str] =
        &["ng/ml", "mcg/ml", "mg/dl", "mg/l", "mmol/l", "meq/l", "umol/l", "ug/ml", "µg/ml", "nmol/l", "g/l"];
    let name = reading.word(word);
    let level = name.ends_with("emia")
        && !["hiper", "hipo", "hyper", "hypo", "bacter"].iter().any(|stem| name.starts_with(stem));
    let unit = |at: usize| {
        UNITS.contains(&reading.word(at))
            || reading.word(at + 1) == "/"
                && matches!(reading.word(at), "ng" | "mcg" | "mg" | "mmol" | "meq" | "umol" | "ug" | "µg")
    };
    let number = |at: usize| reading.word(at).starts_with(|c: char| c.is_ascii_digit());
    level && (word + 1..limit.min(word + 9)).any(|at| number(at) && at + 1 < limit && unit(at + 1))
}

fn named(reading: &TokenizedText<'_>, words: Range<usize>, sureness: f64) -> NamedCondition {
    let name = reading.source(&words).slice(reading.text).to_lowercase();
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    NamedCondition { words, group: "condition", name, code: None, sureness }
}

/// A proper name, unless it says that it is an illness: "Whipple disease".
fn is_proper(reading: &TokenizedText<'_>, words: &Range<usize>) -> bool {
    let capital = |word: usize| reading.words[word].source.slice(reading.text).starts_with(char::is_uppercase);
    let says = |word: usize| {
        matches!(
            reading.word(word),
            "disease"
                | "syndrome"
                | "disorder"
                | "deficiency"
                | "virus"
                | "enfermedad"
                | "sindrome"
                | "trastorno"
                | "deficit"
                | "mal"
        )
    };
    words.clone().any(capital) && !words.clone().any(says)
}
