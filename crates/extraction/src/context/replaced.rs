//! "Diagnosis changed from adjustment disorder to PTSD": what a diagnosis was changed from is over.

use super::Scope;
use super::cues::Category;
use crate::reading::{Reading, Sentence};

/// Words between the noun, the verb and the diagnosis that is replaced.
const NEAR: usize = 6;
/// Words of a diagnosis.
const LONGEST: usize = 9;

/// The words of the diagnoses that a sentence replaces.
pub(super) fn scopes(reading: &Reading<'_>, sentence: &Sentence) -> Vec<Scope> {
    let words = sentence.words.clone();
    let mut out = Vec::new();
    for noun in words.clone().filter(|word| is_diagnosis(reading.word(*word))) {
        let to = words.end.min(noun + 1 + 2 * NEAR);
        let from = noun.saturating_sub(NEAR).max(words.start);
        let changed = (from..to).any(|word| changes(reading.word(word)));
        let Some(origin) = (noun + 1..to).find(|word| matches!(reading.word(*word), "from" | "de" | "del" | "desde"))
        else {
            continue;
        };
        let limit = words.end.min(origin + 1 + LONGEST);
        let goal =
            (origin + 2..limit).find(|word| matches!(reading.word(*word), "to" | "a" | "por" | "into" | "hacia"));
        if let Some(goal) = goal.filter(|_| changed) {
            out.push(Scope { category: Category::Ended, words: origin + 1..goal, cue: noun..noun + 1 });
        }
    }
    out
}

fn is_diagnosis(word: &str) -> bool {
    word.starts_with("diagnos") || matches!(word, "dx" | "label" | "etiqueta" | "impression" | "impresion")
}

fn changes(word: &str) -> bool {
    matches!(
        word,
        "changed"
            | "revised"
            | "reclassified"
            | "switched"
            | "amended"
            | "updated"
            | "reformulated"
            | "corrected"
            | "moved"
            | "cambia"
            | "cambio"
            | "cambiado"
            | "cambiamos"
            | "modifica"
            | "modifico"
            | "modificado"
            | "pasa"
            | "paso"
            | "corrige"
            | "corregido"
            | "reformula"
            | "reformulo"
            | "reclasifica"
            | "reclasificado"
            | "sustituye"
            | "sustituido"
    )
}
