//! "En diciembre inició sertralina, que abandonó": the day of the beginning of a medicine is not the day of its end.

use std::ops::Range;

use super::{DateExpression, DateMention};
use crate::Entity;
use crate::analysis::AnalyzedDocument;
use crate::lexicon::word_lists::{self, WordList};
use anamnesis_core::finding::EntityType;

/// Words between a day and its verb.
const REACH: usize = 10;
/// Stems of verbs of beginning, and of ending.
const STARTS: &[&str] = &[
    "inici", "empez", "empiez", "comenz", "comienz", "started", "starting", "began", "begun", "commenc", "initiat",
    "prescri", "recet", "pautad", "introduc",
];
static STOPS: WordList = WordList::listed(word_lists::DATES, "start_dates.stops");

static ORDERS: WordList = WordList::listed(word_lists::DATES, "start_dates.orders");
/// Words before an order, apart from a sign and the beginning of a sentence.
const BEFORE_ORDER: &[&str] = &["plan", "to", "will", "and", "then", "y", "va", "a", "se", "debe", "please"];

/// "Plan: start sertraline from Monday", "iniciar a partir del lunes": a day from which an order holds is still to come.
/// "Desde" and "since" look back, and so does whatever was not done.
pub(super) fn is_to_begin(doc: &AnalyzedDocument<'_>, entity: &Entity, mention: &DateMention) -> bool {
    let days = matches!(
        mention.said,
        DateExpression::Weekday(_) | DateExpression::DayOfMonth(_) | DateExpression::MonthDay { .. }
    );
    let over = matches!(entity.status.as_deref(), Some("stopped" | "not_taken" | "declined"));
    if entity.kind != EntityType::Medication || !days || over || entity.context.negated {
        return false;
    }
    let reading = doc.reading;
    let date = reading.words_at(mention.span);
    let sentence = &reading.sentences[reading.sentence_of(date.start)].words;
    let from = |word: usize| matches!(reading.word(word), "from" | "starting" | "beginning" | "partir");
    let is_from = (date.start.saturating_sub(2)..=date.start).any(from);
    let is_order = |word: usize| {
        let first = word == sentence.start || reading.words[word - 1].punctuation;
        ORDERS.contains(reading.word(word)) && (first || BEFORE_ORDER.contains(&reading.word(word - 1)))
    };
    is_from && (sentence.start..date.start).any(is_order)
}

/// Whether the verb nearest to a day is one of beginning, while the medicine is stated to be stopped.
pub(super) fn is_of_the_start(doc: &AnalyzedDocument<'_>, entity: &Entity, mention: &DateMention) -> bool {
    if entity.kind != EntityType::Medication || entity.status.as_deref() != Some("stopped") {
        return false;
    }
    let reading = doc.reading;
    let date = reading.words_at(mention.span);
    let sentence = &reading.sentences[reading.sentence_of(date.start)].words;
    let is = |word: usize, stems: &[&str]| stems.iter().any(|stem| reading.word(word).starts_with(stem));
    let distance = |word: usize| if word < date.start { date.start - word } else { word.saturating_sub(date.end) + 1 };
    let nearest = |words: Range<usize>, stems: &[&str]| {
        words.filter(|word| !date.contains(word) && is(*word, stems)).map(distance).min()
    };
    // A verb after a joining word belongs to another clause: "began in January but gave it up".
    let parts =
        |word: &usize| matches!(reading.word(*word), "," | ";" | "but" | "pero" | "and" | "y" | "which" | "que");
    let first = sentence.start.max(date.start.saturating_sub(REACH));
    let last = sentence.end.min(date.end + REACH);
    let from = (first..date.start).rev().find(parts).map_or(first, |word| word + 1);
    let to = (date.end..last).find(parts).unwrap_or(last);
    let near = from..to.max(from);
    let Some(start) = nearest(near.clone(), STARTS) else { return false };
    nearest(near, &STOPS).is_none_or(|stop| start < stop)
}
