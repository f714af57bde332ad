//! What a person finds better or worse, likes or cannot bear, thinks of things, and says of relatives with "always" and
//! "never": the clause as it was said. Another opinion may oppose it (`anamnesis_core::contradiction`), and both are
//! stored.

use std::ops::Range;

use super::is_denied_as_a_whole;
use crate::analysis::{AnalyzedDocument, AssertionStatus};
use crate::tokenized::TextSentence;
use crate::{Entity, EntityType, MentionContext};
use anamnesis_core::contradiction::{Opinion, opinion};
use anamnesis_core::document::DocumentType;
use anamnesis_core::finding::Experiencer;
use anamnesis_core::wording::person;
use anamnesis_text::Speaker;

#[rustfmt::skip] // lists of words read as paragraphs
#[path = "opinion_words.rs"]
mod vocabulary;
use vocabulary::{
    ASKING, ASKING_UNMARKED, FIRST, JUDGING, LIVELY, NOT_MEANT, OF_THE_PATIENT, OTHERS, PICTURES, REPORTING, TREATS, US,
};

/// Words of a clause that is one opinion; a longer one is cut at its commas.
const LONGEST: usize = 15;
const REACH: usize = 8;
const SURENESS: f64 = 0.7;

pub(super) fn find(doc: &AnalyzedDocument<'_>, out: &mut Vec<Entity>) {
    for (index, sentence) in doc.sentences() {
        if !may_be_the_patients(sentence) {
            continue;
        }
        for words in clauses(doc, sentence) {
            if sentence.question && asks(doc, sentence, &words) {
                continue;
            }
            let Some(kind) = kind_of_opinion(doc, sentence, &words, out) else { continue };
            let assertion = AssertionStatus {
                context: MentionContext { experiencer: Experiencer::Patient, ..MentionContext::default() },
                epistemic: doc.epistemic(sentence.speaker),
                evidence: doc.reading.source(&words),
                turn: doc.reading.sentences[index].turn,
                answered: false,
                confidence: SURENESS,
            };
            let value = doc.reading.source(&words).slice(doc.text()).to_lowercase();
            let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
            out.extend(doc.entity(kind, &words, value, &assertion));
        }
    }
}

/// A chat has no full stops: one line of a sentence may ask while the next one states.
fn asks(doc: &AnalyzedDocument<'_>, sentence: &TextSentence, words: &Range<usize>) -> bool {
    let after = (words.end..sentence.words.end).take(2).any(|word| doc.reading.word(word) == "?");
    let whole = sentence.words.len() <= words.len() + 2;
    after || whole || ASKING.contains(&doc.reading.word(words.start))
}

fn may_be_the_patients(sentence: &TextSentence) -> bool {
    sentence.turn.is_none() || sentence.speaker == Speaker::Patient
}

fn clauses(doc: &AnalyzedDocument<'_>, sentence: &TextSentence) -> Vec<Range<usize>> {
    let is_sign = |word: usize| doc.reading.words[word].punctuation;
    let new_line = |word: usize| word > sentence.words.start && doc.reading.begins_line(word);
    let mut lines = Vec::new();
    let mut start = sentence.words.start;
    for word in sentence.words.clone() {
        let parts = new_line(word) || matches!(doc.reading.word(word), ":" | ";");
        if parts && word > start {
            lines.push(start..word);
            start = word;
        }
    }
    lines.push(start..sentence.words.end);
    let cut = |line: Range<usize>| -> Vec<Range<usize>> {
        if line.len() <= LONGEST {
            return vec![line];
        }
        let mut parts = Vec::new();
        let mut start = line.start;
        for word in line.clone() {
            if matches!(doc.reading.word(word), "," | "." | "-" | "–" | "(" | "y" | "and" | "pero" | "but") {
                parts.push(start..word);
                start = word + 1;
            }
        }
        parts.push(start..line.end);
        parts
    };
    let mut parts: Vec<Range<usize>> = lines.into_iter().flat_map(cut).collect();
    for part in &mut parts {
        while part.start < part.end && is_sign(part.start) {
            part.start += 1;
        }
        let picture = |word: &usize| {
            let is = |phrase: &&[&str]| phrase.iter().enumerate().all(|(n, said)| doc.reading.word(word + n) == *said);
            word + 1 < part.end && PICTURES.iter().any(is)
        };
        part.end = part.clone().find(picture).unwrap_or(part.end);
        while part.start < part.end && is_sign(part.end - 1) {
            part.end -= 1;
        }
    }
    parts.retain(|part| (3..=LONGEST).contains(&part.len()));
    parts
}

fn kind_of_opinion(
    doc: &AnalyzedDocument<'_>,
    sentence: &TextSentence,
    words: &Range<usize>,
    found: &[Entity],
) -> Option<EntityType> {
    let says = |list: &[&str]| words.clone().any(|word| list.contains(&doc.reading.word(word)));
    let chat = doc.input.document_type == Some(DocumentType::ChatMessage);
    let written = sentence.turn.is_none() && !chat;
    // Reported words are the patient's own in a note alone.
    let unreal = says(NOT_MEANT) || conditional(doc, sentence, words) || denied(doc, sentence, words);
    let theirs = !written && (says(REPORTING) || says(&["le", "les"]));
    if unreal || theirs || (chat && ASKING_UNMARKED.contains(&doc.reading.word(words.start))) || is_irony(doc, words) {
        return None;
    }
    let span = doc.reading.source(words);
    let found_already = |kind: EntityType, sure: f64| {
        found.iter().any(|other| other.kind == kind && other.span.overlaps(&span) && other.confidence > sure)
    };
    if (written || says(FIRST)) && (treats(doc, words) || lives(doc, words)) {
        return (!found_already(EntityType::Relationship, 0.5)).then_some(EntityType::Relationship);
    }
    if names_other_subject(doc, words) || found_already(EntityType::Preference, 0.0) {
        return None;
    }
    let clinical = || {
        let is = |other: &Entity| {
            matches!(
                other.kind,
                EntityType::Symptom | EntityType::Condition | EntityType::Measurement | EntityType::Procedure
            )
        };
        found.iter().any(|other| is(other) && other.span.overlaps(&span))
    };
    let kept = match (opinion(span.slice(doc.text()), doc.input.document.language)?, written) {
        // "Pain worse at night than in the morning" is a finding; "mornings are better than evenings per pt" is not.
        (Opinion::Comparison, true) => (says(OF_THE_PATIENT) || says(FIRST)) && !clinical(),
        (Opinion::Attitude, true) => (says(LIVELY) || says(FIRST)) && !clinical(),
        // "Muscle strength 5/5", "strong smell of alcohol".
        (Opinion::Judgement, true) => false,
        // "Weekends are harder than weekdays" is the speaker's own where no one else is named.
        (Opinion::Comparison, false) => says(FIRST) || !says(OTHERS),
        // A chat leaves the "I" away: "hate trudging in".
        (Opinion::Attitude, false) => says(FIRST) || (chat && opens_with_feeling(doc, words)),
        (Opinion::Judgement, false) => (says(JUDGING) || is_defined(doc, words)) && !says(OTHERS),
    };
    kept.then_some(EntityType::Preference)
}

/// Also where the denial ends the line before: "i dont think", "i like the group".
fn denied(doc: &AnalyzedDocument<'_>, sentence: &TextSentence, words: &Range<usize>) -> bool {
    let from = words.start.saturating_sub(4).max(sentence.words.start);
    is_denied_as_a_whole(doc, &(from..words.end), words.end)
}

/// "Asking for help is for cowards", "es de valientes": a definition of an act.
fn is_defined(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
    words.clone().any(|word| {
        matches!(doc.reading.word(word), "is" | "are" | "es" | "son")
            && matches!(doc.reading.word(word + 1), "for" | "a" | "an" | "the" | "de" | "para" | "cosa")
    })
}

fn opens_with_feeling(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
    words
        .clone()
        .take(2)
        .any(|word| matches!(doc.reading.word(word), "hate" | "love" | "like" | "prefer" | "dread" | "enjoy"))
}

/// "Oh I just love waiting rooms".
fn is_irony(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
    let at = |word: usize| doc.reading.word(word);
    words.clone().any(|word| at(word) == "just" && matches!(at(word + 1), "love" | "adore"))
}

/// "If I'm hung over, being alone is better" holds in one case only. "Si te soy franca" is a way of speaking.
fn conditional(doc: &AnalyzedDocument<'_>, sentence: &TextSentence, words: &Range<usize>) -> bool {
    let from = sentence.words.start.max(words.start.saturating_sub(LONGEST));
    (from..words.end).any(|word| match doc.reading.word(word) {
        "if" | "unless" | "whenever" => true,
        "si" => !matches!(doc.reading.word(word + 2), "soy" | "digo" | "sincera" | "sincero" | "franca" | "franco"),
        _ => false,
    })
}

/// "My mum hates it": the opinion of a relative at the beginning of a clause.
fn names_other_subject(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
    let said = |word: usize| doc.reading.word(word);
    let opens = words.clone().take(3).find(|word| person(said(*word)).is_some());
    let with =
        |word: usize| matches!(said(word), "con" | "with" | "a" | "to" | "de" | "than" | "que" | "of" | "between");
    opens.is_some_and(|kin| !(words.start..kin).any(with))
}

/// "My mother never supported me": a relative, an act, and the patient as its object.
fn treats(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
    let is = |word: usize, list: &[&str]| list.contains(&doc.reading.word(word));
    let kin = words.clone().find(|word| person(doc.reading.word(*word)).is_some());
    kin.is_some_and(|kin| {
        let near = kin..words.end.min(kin + REACH);
        // "Beat me at chess" is a game.
        let done =
            |word: usize| is(word, US) && !matches!(doc.reading.word(word + 1), "at" | "in" | "to" | "un" | "una");
        near.clone().any(|word| is(word, TREATS)) && near.clone().any(done)
    })
}

/// "I never lived alone": how a person lives, denied or for a long time.
fn lives(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
    let is = |word: usize, list: &[&str]| list.contains(&doc.reading.word(word));
    let lived = words.clone().find(|word| is(*word, &["lived", "vivido", "vivia", "vivi"]));
    lived.is_some_and(|at| {
        let near = at.saturating_sub(4).max(words.start)..words.end.min(at + 3);
        near.into_iter().any(|word| is(word, &["alone", "sola", "solo"]))
    })
}
