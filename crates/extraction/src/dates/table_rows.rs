//! Rows of a table: the first cell names the finding, the others say when it began and when it was last so.

use chrono::NaiveDate;

use super::{DateDirection, DateMention};
use crate::Entity;
use crate::analysis::AnalyzedDocument;
use anamnesis_core::finding::EntityType;
use anamnesis_text::Span;

/// Words of a cell that speak of the last time.
const LAST: &[&str] = &["last", "ult", "últ", "most recent", "stopped", "quit", "fin", "suspend", "until", "hasta"];
/// Words of a cell that speak of the first time.
const FIRST: &[&str] = &["first", "age", "onset", "began", "started", "inicio", "primer", "edad", "since", "desde"];

/// Dates the findings of rows: of several dates the last time counts before the first.
pub(super) fn link_row_dates(
    doc: &AnalyzedDocument<'_>,
    dates: &[DateMention],
    today: NaiveDate,
    entities: &mut [Entity],
) {
    let text = doc.text();
    for at in 0..entities.len() {
        let entity = &entities[at];
        let dated = matches!(
            entity.kind,
            EntityType::Condition
                | EntityType::Medication
                | EntityType::Procedure
                | EntityType::Event
                | EntityType::Allergy
        );
        if !dated || entity.at.is_some() {
            continue;
        }
        let row = line_of(text, entity.span);
        let lead = &text[row.start..entity.span.start];
        if row.slice(text).matches('|').count() < 2 || lead.contains('|') && !lead.trim_start().starts_with('|') {
            continue;
        }
        let here = dates.iter().filter(|date| row.contains(&date.span) && date.span.start > entity.span.end);
        let ranked = here.filter_map(|date| {
            let cell = text[row.start..date.span.start].rsplit('|').next().unwrap_or_default().to_lowercase();
            let says = |words: &[&str]| words.iter().any(|word| cell.contains(word));
            let rank = if says(LAST) { 2 } else { u8::from(!says(FIRST)) };
            let free = text[entity.span.end..date.span.start].contains('|')
                && !entities.iter().any(|other| shares_cell(text, other, date, at, entities));
            free.then(|| date.said.resolve(today, DateDirection::Back).map(|day| (rank, day))).flatten()
        });
        let best = ranked.filter(|(_, day)| day.day <= today).max_by_key(|(rank, _)| *rank);
        entities[at].at = best.map(|(_, day)| day);
    }
}

/// Whether another finding is in the cell of a date, which then belongs to it.
fn shares_cell(text: &str, other: &Entity, date: &DateMention, at: usize, entities: &[Entity]) -> bool {
    if std::ptr::eq(other, &entities[at]) || other.value == entities[at].value {
        return false;
    }
    let (from, to) = match other.span.end <= date.span.start {
        true => (other.span.end, date.span.start),
        false => (date.span.end, other.span.start),
    };
    from <= to && text.get(from..to).is_some_and(|between| !between.contains(['|', '\n']))
}

/// The line of a place.
fn line_of(text: &str, place: Span) -> Span {
    let start = text[..place.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[place.end..].find('\n').map_or(text.len(), |at| place.end + at);
    Span::new(start, end)
}
