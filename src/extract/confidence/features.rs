//! What a finding's surroundings say about how far its reading can be trusted. Each feature is a short name; the words
//! among them are folded and come from the clause itself, so that nothing here knows a lexicon.

use std::fmt::Arguments;
use std::ops::Range;

use super::super::scene::Scene;
use super::super::{Entity, Epistemic};
use crate::text::Speaker;

/// Words to each side of a mention that are looked at.
const NEAR: usize = 6;

/// Names every feature of `entity`, which is one of `all` of the same document.
pub fn each(scene: &Scene<'_>, all: &[Entity], entity: &Entity, emit: &mut dyn FnMut(Arguments<'_>)) {
    let words = scene.reading.words_at(entity.span);
    let sentence = scene.reading.sentence_of(words.start);
    let Some(place) = scene.reading.sentences.get(sentence) else { return };
    let kind = entity.kind.code();
    let within = place.words.clone();
    own(scene, entity, kind, emit);
    surroundings(scene, kind, &words, &within, emit);
    let speaker = speaker_name(place.speaker);
    emit(format_args!("{kind} speaker={speaker}"));
    emit(format_args!("speaker={speaker}"));
    if place.question {
        emit(format_args!("{kind} in question"));
    }
    let count = all
        .iter()
        .filter(|other| other.kind == entity.kind && within.contains(&scene.reading.words_at(other.span).start))
        .count();
    emit(format_args!("{kind} listed={}", bucket(count)));
    let elsewhere = all.iter().filter(|other| other.kind == entity.kind && other.value == entity.value).count();
    emit(format_args!("{kind} mentions={}", bucket(elsewhere)));
    let opposed = all.iter().any(|other| {
        other.kind == entity.kind && other.value == entity.value && other.context.negated != entity.context.negated
    });
    if opposed {
        emit(format_args!("{kind} opposed elsewhere"));
    }
}

/// What the finding says of itself.
fn own(scene: &Scene<'_>, entity: &Entity, kind: &str, emit: &mut dyn FnMut(Arguments<'_>)) {
    let context = &entity.context;
    emit(format_args!("{kind}"));
    emit(format_args!("{kind} negated={}", context.negated));
    emit(format_args!("{kind} time={}", context.temporality.code()));
    emit(format_args!("{kind} of={}", context.experiencer.code()));
    if context.uncertain {
        emit(format_args!("{kind} uncertain"));
    }
    if entity.epistemic == Epistemic::Inferred {
        emit(format_args!("{kind} inferred"));
    }
    if let Some(document) = scene.input.document_type {
        emit(format_args!("{kind} in={}", document.code()));
    }
    let dialogue = if scene.is_dialogue() { "dialogue" } else { "text" };
    emit(format_args!("{kind} {dialogue}"));
    emit(format_args!("{kind} status={}", entity.status.as_deref().unwrap_or("none")));
    emit(format_args!("{kind} dose={} frequency={}", entity.dose.is_some(), entity.frequency.is_some()));
    emit(format_args!("{kind} coded={}", entity.code.is_some()));
    emit(format_args!("{kind} rule={:.0}", entity.confidence * 20.0));
    let mention = entity.span.of(scene.text());
    let letters = mention.chars().filter(|c| c.is_alphabetic()).count();
    if letters <= 5 && mention.chars().filter(|c| c.is_alphabetic()).all(char::is_uppercase) {
        emit(format_args!("{kind} abbreviation={}", letters.min(5)));
    } else if mention.chars().next().is_some_and(char::is_uppercase) {
        emit(format_args!("{kind} capital"));
    }
    if crate::text::fold(mention) == entity.value {
        emit(format_args!("{kind} as named"));
    }
    emit(format_args!("{kind} evidence={}", bucket(entity.evidence.len() / 40)));
}

/// The words around it.
fn surroundings(
    scene: &Scene<'_>,
    kind: &str,
    words: &Range<usize>,
    within: &Range<usize>,
    emit: &mut dyn FnMut(Arguments<'_>),
) {
    let reading = scene.reading;
    emit(format_args!("{kind} long={}", bucket(within.len() / 6)));
    emit(format_args!("{kind} before={}", bucket(words.start.saturating_sub(within.start))));
    emit(format_args!("{kind} after={}", bucket(within.end.saturating_sub(words.end))));
    emit(format_args!("{kind} width={}", bucket(words.len())));
    emit(format_args!("first={}", reading.word(within.start)));
    let word = |at: Option<usize>| at.filter(|at| within.contains(at)).map_or("^", |at| reading.word(at));
    emit(format_args!("-1={}", word(words.start.checked_sub(1))));
    emit(format_args!("-2={}", word(words.start.checked_sub(2))));
    emit(format_args!("+1={}", word(Some(words.end))));
    emit(format_args!("+2={}", word(Some(words.end + 1))));
    let near = within.start.max(words.start.saturating_sub(NEAR))..within.end.min(words.end + NEAR);
    for at in near.filter(|at| !words.contains(at)) {
        let word = reading.word(at);
        if word.bytes().any(|b| b.is_ascii_digit()) {
            emit(format_args!("{kind} near number"));
        } else {
            emit(format_args!("near={word}"));
        }
    }
}

fn speaker_name(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::Patient => "patient",
        Speaker::Clinician => "clinician",
        Speaker::Family => "family",
        Speaker::Agent => "agent",
        Speaker::Unknown => "unknown",
    }
}

/// Small counts as they are, larger ones together.
fn bucket(count: usize) -> &'static str {
    match count {
        0 => "0",
        1 => "1",
        2 => "2",
        3 | 4 => "3-4",
        5..=8 => "5-8",
        9..=16 => "9-16",
        _ => "17+",
    }
}
