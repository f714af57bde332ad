//! A finding dated years ago that did not begin then is over: "ankle fracture 2018", "had endocarditis in 2021". The
//! code that stores it knows whether an illness is chronic.

use std::ops::Range;

use chrono::NaiveDate;

use super::analysis::AnalyzedDocument;
use super::dates::{DateExpression, DateMention};
use super::{Entity, EntityType, Temporality};
use crate::lexicon::word_lists::{self, WordList};

/// Days after which something dated is no longer recent.
const RECENT: i64 = 300;
/// Words around a mention in which its beginning is said.
const AROUND: usize = 6;
static ONSET: WordList = WordList::listed(word_lists::GENERAL, "past_dates.onset");

pub(crate) fn mark_past_findings(doc: &AnalyzedDocument<'_>, today: NaiveDate, entities: &mut [Entity]) {
    let complaint = |entity: &&mut Entity| matches!(entity.kind, EntityType::Condition | EntityType::Symptom);
    for entity in entities.iter_mut().filter(complaint) {
        let plain = !entity.context.negated && entity.context.temporality == Temporality::Recent;
        let old = entity.at.is_some_and(|at| (today - at.day).num_days() > RECENT);
        if plain && old && !begins(doc, entity) {
            entity.context.temporality = Temporality::Historical;
        }
    }
}

/// Whether the clause of words gives a day long ago and does not say that something began then.
pub(crate) fn is_past_by_date(
    doc: &AnalyzedDocument<'_>,
    words: &Range<usize>,
    dates: &[DateMention],
    today: NaiveDate,
) -> bool {
    let reading = doc.reading;
    let within = reading.sentences[reading.sentence_of(words.start)].span;
    let old = |mention: &DateMention| match mention.said {
        DateExpression::Fixed(date) => within.contains(&mention.span) && (today - date.day).num_days() > RECENT,
        _ => false,
    };
    dates.iter().any(old) && !begins_at(doc, words)
}

/// Whether the words around say that it began then.
fn begins(doc: &AnalyzedDocument<'_>, entity: &Entity) -> bool {
    begins_at(doc, &doc.reading.words_at(entity.span))
}

fn begins_at(doc: &AnalyzedDocument<'_>, words: &Range<usize>) -> bool {
    let reading = doc.reading;
    let within = &reading.sentences[reading.sentence_of(words.start)].words;
    let from = within.start.max(words.start.saturating_sub(AROUND));
    let to = within.end.min(words.end + AROUND);
    (from..to).any(|word| ONSET.contains(reading.word(word)))
}
