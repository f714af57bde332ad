//! Words by which a record of an allergy is refuted, whatever the allergen: "no es verdad", "tachado", "nonsense", "que lo quiten".

use std::ops::Range;

use crate::analysis::AnalyzedDocument;
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;

static REFUTES: WordList = WordList::listed(word_lists::ALLERGIES, "refutation_words.refutes");
/// Orders that are complete after an entry.
const ALONE: &[&str] = &["remove", "removed", "delete", "deleted", "quitar", "borrar", "retirar", "eliminar"];

/// The words of a refutation that begins at a word.
pub(super) fn refutes_at(doc: &AnalyzedDocument<'_>, word: usize) -> Option<Range<usize>> {
    let reading = doc.reading;
    let sentence = &reading.sentences[reading.sentence_of(word)].words;
    // "Pues no, que lo quiten": that "no" is a separate answer.
    let near = if reading.word(word) == "que" { word.saturating_sub(1) } else { word };
    let denied = (sentence.start.max(word.saturating_sub(2))..near)
        .any(|at| matches!(reading.word(at), "no" | "not" | "n't" | "nunca" | "never"));
    let ends = |at: usize| at >= sentence.end || reading.words[at].punctuation;
    let found = REFUTES.iter().find_map(|phrase| {
        let mut at = word;
        let fits = phrase.split(' ').all(|wanted| {
            let fits = match wanted {
                "$" => return ends(at),
                wanted => at < sentence.end && wanted.split('/').any(|one| one == reading.word(at)),
            };
            at += 1;
            fits
        });
        // "No es verdad que la tolere" refutes another thing.
        (fits && !matches!(reading.word(at), "que" | "that")).then_some(word..at)
    });
    let alone = ALONE.contains(&reading.word(word))
        && word == sentence.start
        && sentence.clone().filter(|at| !reading.words[*at].punctuation).count() == 1;
    found.filter(|_| !denied).or(alone.then_some(word..word + 1))
}

/// "No alergia", "not a true allergy", after a reaction: the reaction happened, and is no allergy.
pub(super) fn is_no_true_allergy(reading: &TokenizedText<'_>, from: usize, end: usize) -> bool {
    (from..end).any(|at| {
        let denies = matches!(reading.word(at), "no" | "not" | "n't" | "rather");
        let near = at + 1..end.min(at + 5);
        denies
            && near.clone().any(|word| {
                let said = reading.word(word);
                said.starts_with("allerg") || said.starts_with("alergi")
            })
            && near.clone().all(|word| !reading.words[word].punctuation)
    })
}
