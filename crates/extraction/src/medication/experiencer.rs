//! The experiencer of a medicine: a relative who gives it, watches over it or is named for the time does not take it.

use std::ops::Range;

use super::StatusWindow;
use crate::analysis::{AnalyzedDocument, AssertionStatus};
use crate::lexicon::word_lists::{self, WordList};
use crate::tokenized::TokenizedText;
use crate::{Experiencer, Temporality};
use anamnesis_core::wording::person;
use anamnesis_text::Speaker;

/// Words after a name within which the person who takes it is named again.
const NAMED_AGAIN: usize = 4;
/// Words between "I gave her" and the medicine.
const GIVEN: usize = 6;

/// Sets right whose the medicine is, where words around a relative say that it is not theirs.
pub(crate) fn resolve_experiencer(
    doc: &AnalyzedDocument<'_>,
    around: &StatusWindow,
    mention: &Range<usize>,
    assertion: &mut AssertionStatus,
) {
    let reading = doc.reading;
    if is_given_to_relative(doc, around, mention.start) {
        assertion.context.experiencer = Experiencer::Family;
        return;
    }
    // "Su mujer toma apixabán y él Sintrom": the sentence itself has come back to the patient.
    if doc.scopes.is_own(reading, mention) {
        return;
    }
    match assertion.context.experiencer {
        Experiencer::Patient if is_of_relative(doc, around, mention.start) => {
            assertion.context.experiencer = Experiencer::Family;
        }
        Experiencer::Patient if is_speakers_own(doc, around, mention.start) => {
            assertion.context.experiencer = Experiencer::Family;
        }
        Experiencer::Patient => {}
        _ if takes_again(reading, mention.end) && in_a_note(doc, mention.start) => {
            assertion.context.experiencer = Experiencer::Patient;
        }
        _ => {
            let kin: Vec<usize> =
                around.sentence.clone().filter(|word| person(reading.word(*word)).is_some()).collect();
            let none_takes = !kin.is_empty() && kin.iter().all(|word| is_bystander(reading, *word, mention));
            if none_takes && !is_titled_family(doc, mention.start) {
                assertion.context.experiencer = Experiencer::Patient;
                if assertion.context.temporality == Temporality::Hypothetical {
                    assertion.context.temporality = Temporality::Recent;
                }
            }
        }
    }
}

fn in_a_note(doc: &AnalyzedDocument<'_>, word: usize) -> bool {
    doc.reading.sentences[doc.reading.sentence_of(word)].turn.is_none()
}

fn is_titled_family(doc: &AnalyzedDocument<'_>, word: usize) -> bool {
    doc.section(word) == Some(crate::structure::Section::Family)
}

/// "Apixaban he no longer takes", "X the patient stopped": in a note the person named last is the patient.
fn takes_again(reading: &TokenizedText<'_>, from: usize) -> bool {
    // "… and he takes": another clause, which is about another medicine.
    let who = (from..from + 2)
        .take_while(|word| !matches!(reading.word(*word), "and" | "y" | "but" | ","))
        .find(|word| matches!(reading.word(*word), "he" | "she" | "patient" | "pt" | "paciente"));
    who.is_some_and(|who| {
        (who + 1..who + 1 + NAMED_AGAIN).any(|word| {
            matches!(
                reading.word(word),
                "takes" | "took" | "stopped" | "uses" | "toma" | "suspendio" | "dejo" | "usa" | "has" | "was" | "is"
            )
        })
    })
}

/// A relative next to a medicine who does not take it: who gives it, watches, owns the box, or marks the time.
fn is_bystander(reading: &TokenizedText<'_>, kin: usize, mention: &Range<usize>) -> bool {
    let small = |word: &usize| matches!(reading.word(*word), "my" | "his" | "her" | "the" | "mi" | "su" | "la" | "el");
    let first = (0..kin).rev().take(2).take_while(small).last().unwrap_or(kin);
    let before = first.checked_sub(1).map_or("", |word| reading.word(word));
    let earlier = first.checked_sub(2).map_or("", |word| reading.word(word));
    // "When mama passed", "since her mother died", "tras la muerte de su padre".
    let time = matches!(before, "when" | "cuando" | "after" | "since" | "tras" | "until" | "before")
        || before == "que" && matches!(earlier, "desde" | "despues" | "antes" | "hasta")
        || before == "de" && matches!(earlier, "muerte" | "fallecimiento" | "death" | "despues" | "antes")
        || before == "of" && matches!(earlier, "death" | "loss");
    // "Given by mum", "supervisado por la madre".
    let by = matches!(before, "by" | "por")
        && matches!(
            earlier,
            "given"
                | "administered"
                | "supervised"
                | "prepared"
                | "watched"
                | "dispensed"
                | "managed"
                | "dado"
                | "dada"
                | "administrado"
                | "administrada"
                | "supervisado"
                | "supervisada"
                | "controlado"
                | "controlada"
                | "preparado"
        );
    let gives = |word: usize| {
        matches!(
            reading.word(word),
            "watching"
                | "watches"
                | "supervises"
                | "supervising"
                | "gives"
                | "giving"
                | "administers"
                | "prepares"
                | "reminds"
                | "vigila"
                | "supervisa"
                | "controla"
                | "administra"
                | "prepara"
                | "recuerda"
                | "vigilando"
        ) || matches!(reading.word(word), "le" | "se" | "me" | "lo" | "la" | "las" | "los")
            && (word + 1..word + 3).any(|at| matches!(reading.word(at), "da" | "dan" | "daba" | "dio" | "pone"))
    };
    // "Clonazepam drops of the aunt's": another's box, and the patient took of it.
    let owns = kin > mention.end
        && kin - mention.end <= 5
        && matches!(before, "de" | "from" | "of")
        && (mention.end..first).all(|word| !matches!(reading.word(word), "." | ";" | "," | "para" | "for"));
    let giving = matches!(reading.word(kin + 1), "is" | "was" | "esta" | "keeps" | "has") && gives(kin + 2);
    time || by || owns || gives(kin + 1) || giving
}

/// "My son has a fever, I gave him ibuprofen": who writes gives it, and the relative named before takes it.
fn is_given_to_relative(doc: &AnalyzedDocument<'_>, around: &StatusWindow, mention: usize) -> bool {
    let reading = doc.reading;
    let gives = |word: usize| {
        let given = matches!(reading.word(word), "give" | "gave" | "given" | "giving")
            && matches!(reading.word(word + 1), "him" | "her" | "them");
        given || reading.word(word) == "le" && matches!(reading.word(word + 1), "di" | "doy" | "damos" | "dimos")
    };
    let from = around.sentence.start.max(mention.saturating_sub(GIVEN));
    let Some(gift) = (from..mention).rev().find(|word| gives(*word)) else { return false };
    let mine = |word: usize| matches!(reading.word(word), "my" | "our" | "mi" | "nuestro" | "nuestra");
    (around.sentence.start + 1..gift).any(|word| {
        person(reading.word(word)).is_some() && mine(word - 1)
            || reading.word(word) == "son" && matches!(reading.word(word - 1), "my" | "our")
    })
}

/// "Yo con mi Orfidal", "me, I take Valium": a relative in the room speaks of their own medicine.
fn is_speakers_own(doc: &AnalyzedDocument<'_>, around: &StatusWindow, mention: usize) -> bool {
    let reading = doc.reading;
    let speaker = reading.sentences[reading.sentence_of(mention)].speaker;
    let near = around.sentence.start.max(mention.saturating_sub(5))..mention;
    let i = near.clone().any(|word| matches!(reading.word(word), "yo" | "i"));
    let own = near.clone().any(|word| matches!(reading.word(word), "mi" | "mis" | "my"));
    let of_another = near.clone().any(|word| {
        person(reading.word(word)).is_some()
            || matches!(reading.word(word), "give" | "gave" | "le" | "him" | "her" | "doy")
    });
    speaker == Speaker::Family && i && own && !of_another
}

/// "Mother hypertensive, takes losartan": the relative who opens the sentence takes it, unless the patient comes between.
fn is_of_relative(doc: &AnalyzedDocument<'_>, around: &StatusWindow, mention: usize) -> bool {
    static WORDS: WordList = WordList::listed(word_lists::MEDICATION, "experiencer.is_of_relative");
    let reading = doc.reading;
    let turn = reading.sentences[reading.sentence_of(mention)].turn;
    let mut opening = around.sentence.clone().filter(|word| !reading.words[*word].punctuation);
    let first =
        opening.find(|word| !matches!(reading.word(*word), "su" | "la" | "el" | "his" | "her" | "the" | "their"));
    let Some(first) = first.filter(|word| *word < mention) else { return false };
    let relative = person(reading.word(first)).is_some();
    let takes = (first..mention)
        .any(|word| matches!(reading.word(word), "toma" | "takes" | "usa" | "uses" | "taking" | "tomaba" | "on"));
    let patient = (first..mention).any(|word| WORDS.contains(reading.word(word)));
    turn.is_none() && relative && takes && !patient
}
