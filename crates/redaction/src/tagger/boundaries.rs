//! Corrects the boundaries of a model finding: titles stay in the text, and words after a value are cut off. Without
//! this, 489 characters more were replaced in the fixed sets (docs/redaction-model.md).

use super::super::document::DocumentContext;
use super::super::entities::cues::OPENERS;
use super::super::entities::word_classes::{WordClasses, word_classes};
use super::super::label;
use super::super::token::{LetterCase, TextTokenKind};
use super::tags::KINDS;

/// Titles that stay in the text, because they show that a clinician speaks. Other titles may go with their name.
const CLINICIANS: [&str; 5] = ["dr", "dra", "prof", "doctor", "doctora"];
const LEADS: [&str; 18] = [
    "soy", "hola", "hi", "hello", "hey", "dear", "im", "i'm", "y", "e", "and", "&", "thanks", "gracias", "querida",
    "querido", "estimada", "estimado",
];
const ARTICLES: [&str; 5] = ["el", "la", "the", "mi", "my"];

/// The tokens of a finding without the edges that do not belong to it. At least one token stays.
pub(crate) fn trimmed(context: &DocumentContext<'_>, kind: usize, first: usize, end: usize) -> (usize, usize) {
    if let Some(at) = (first..end).find(|at| context.plain(&context.tokens[*at]) == "@") {
        return address(context, first, end, at);
    }
    match KINDS[kind] {
        label::PERSON => person(context, first, end),
        label::EMAIL => (first, spoken_address_end(context, first, end)),
        label::NUMBER | label::PHONE | label::POSTAL_CODE => number(context, first, end),
        _ => (first, end),
    }
}

fn address(context: &DocumentContext<'_>, first: usize, end: usize, at: usize) -> (usize, usize) {
    let tight = |left: usize| context.tokens[left].span.end == context.tokens[left + 1].span.start;
    let from = (first..at).rev().take_while(|left| tight(*left)).last().unwrap_or(at);
    let to = (at + 1..end).take_while(|right| tight(right - 1)).last().unwrap_or(at);
    (from, to + 1)
}

/// "gmail punto com mándeme la receta": a spoken address ends one word after the last "punto" of its domain.
fn spoken_address_end(context: &DocumentContext<'_>, first: usize, end: usize) -> usize {
    let word = |at: usize| context.lower(&context.tokens[at]);
    let domain = (first..end).rev().find(|at| matches!(word(*at), "arroba" | "at")).unwrap_or(end);
    (domain..end).rev().find(|at| matches!(word(*at), "punto" | "dot")).map_or(end, |at| (at + 2).min(end))
}

/// "Soy Ramón", "el doctor Lee": introduction and title stay. "Chelsea's inhaler technique": a possessive ends a name.
fn person(context: &DocumentContext<'_>, first: usize, end: usize) -> (usize, usize) {
    let mut first = first;
    let is = |at: usize, words: &[&str]| words.contains(&context.lower(&context.tokens[at]));
    // "Mire, Vale, Oiga doctora, ¿Tomás": words of address before a name are no part of it.
    let speaks = |at: &usize| {
        let word = context.lower(&context.tokens[*at]);
        OPENERS.contains(word) && !word_classes(word).has(WordClasses::GIVEN) || matches!(word, "¿" | "¡" | "?" | "!")
    };
    if let Some(last) = (first..end.saturating_sub(1)).rev().find(speaks) {
        first = last + 1;
    }
    while first + 1 < end && is(first, &LEADS) {
        first += 1;
    }
    if first + 2 < end && is(first, &ARTICLES) && is(first + 1, &CLINICIANS) {
        first += 1;
    }
    while first + 1 < end && is(first, &CLINICIANS) {
        let dotted = usize::from(context.plain(&context.tokens[first + 1]) == ".");
        if first + 1 + dotted >= end {
            break;
        }
        first += 1 + dotted;
    }
    let possessive = |at: &usize| context.lower(&context.tokens[*at]).ends_with("'s");
    let small = |at: usize| context.tokens[at].case == LetterCase::Lower;
    if context.tokens[first].is_capitalized()
        && let Some(at) = (first..end - 1).find(|at| possessive(at) && small(at + 1))
    {
        return (first, at + 1);
    }
    (first, end)
}

/// A number in digits ends with its digits or one or two letters, one in words with its last number word.
fn number(context: &DocumentContext<'_>, first: usize, end: usize) -> (usize, usize) {
    let (mut first, mut end) = (first, end);
    let said = |at: &usize| word_classes(context.lower(&context.tokens[*at])).has(WordClasses::NUMBER);
    if !(first..end).any(|at| context.tokens[at].kind == TextTokenKind::Number) {
        // A single word may belong to a number that the lists do not contain.
        if (first..end).filter(said).count() > 2 {
            let last = (first..end).rev().find(said).unwrap_or(end - 1);
            end = last + 1;
        }
        return (first, end);
    }
    let word = |at: usize| context.tokens[at].is_word() && context.tokens[at].span.len() > 2;
    while word(first) {
        first += 1;
    }
    while word(end - 1) {
        end -= 1;
    }
    (first, end)
}
