//! "Diagnosis changed from adjustment disorder to PTSD": the replaced diagnosis is over.

use super::CueScope;
use super::bare_lists::FindingAt;
use super::cues::CueCategory;
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::{TextSentence, TokenizedText};

/// Words between the noun and its verb.
const NEAR: usize = 3;
/// Words of a diagnosis.
const LONGEST: usize = 9;

/// The words of the diagnoses that a sentence replaces: "diagnosis (was) changed from X to Y", "se cambia el diagnóstico de X a Y".
pub(super) fn scopes(reading: &TokenizedText<'_>, sentence: &TextSentence, finding: &FindingAt<'_>) -> Vec<CueScope> {
    let words = sentence.words.clone();
    let mut out = Vec::new();
    for noun in words.clone().filter(|word| is_diagnosis(reading.word(*word))) {
        let after = (noun + 1..words.end.min(noun + 1 + NEAR)).find(|word| changes(reading.word(*word)));
        let before = (noun.saturating_sub(NEAR).max(words.start)..noun).find(|word| changes(reading.word(*word)));
        let Some(origin) = after.or(before.map(|_| noun)).map(|word| word + 1) else { continue };
        if !matches!(reading.word(origin), "from" | "de" | "del" | "desde") {
            continue;
        }
        let limit = words.end.min(origin + 1 + LONGEST);
        let Some(goal) = (origin + 2..limit).find(|word| matches!(reading.word(*word), "to" | "a" | "por")) else {
            continue;
        };
        let end = words.end.min(goal + 1 + LONGEST);
        let whole = (noun..goal).all(|word| !reading.words[word].punctuation);
        let both = (origin + 1..goal).any(|word| finding(word).is_some())
            && (goal + 1..end).any(|word| finding(word).is_some());
        let doubted = (words.start..noun).any(|word| {
            matches!(
                reading.word(word),
                "no" | "not" | "sin" | "without" | "wanted" | "wants" | "if" | "si" | "asked" | "would" | "could"
            )
        });
        if whole && both && !doubted {
            out.push(CueScope { category: CueCategory::Ended, words: origin + 1..goal, cue: noun..noun + 1 });
        }
    }
    out
}

fn is_diagnosis(word: &str) -> bool {
    matches!(word, "diagnosis" | "diagnostico" | "dx")
}

fn changes(word: &str) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::ASSERTION, "replaced_diagnoses.changes");
    WORDS.contains(word)
}
