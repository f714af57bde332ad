//! "The 27th at ten, with Benjumea": a day to come with an hour is a visit, whatever it is called.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::super::analysis::AnalyzedDocument;
use crate::dates::{DateExpression, DateMention};
use crate::lexicon::word_lists::{self, WordList};
use anamnesis_text::Speaker;

/// Bytes after a day in which its hour may come.
const HOUR_REACH: usize = 30;

static HOUR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let spoken = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|quarter|noon|midday|una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce";
    let figures =
        r"[0-2]?[0-9](?:[:.h][0-5][0-9])?\s?(?:am|pm|a\.m|p\.m|hs?\b|hrs\b|horas\b)|[0-2]?[0-9][:.h][0-5][0-9]\b";
    Regex::new(&format!(
        r"(?i)^[\s,)]*(?:mismo |morning,? |afternoon,? |evening,? |por la (?:mañana|tarde),? )?(?:(?:a las?|at|about|around|@|sobre las|tipo|desde las),? (?:about )?(?:{spoken}|[0-2]?[0-9])\b|{figures})"
    ))
    .ok()
});

static AHEAD: WordList = WordList::listed(word_lists::EVENTS, "timed_visits.ahead");
/// Words for the past.
static OVER: WordList = WordList::listed(word_lists::EVENTS, "timed_visits.over");

/// The days of a sentence that have an hour and are still to come, as their words.
pub(super) fn visits(
    doc: &AnalyzedDocument<'_>,
    within: &Range<usize>,
    speaker: Speaker,
    dates: &[DateMention],
) -> Vec<Range<usize>> {
    let reading = doc.reading;
    let says = |list: &[&str]| within.clone().any(|word| list.contains(&reading.word(word)));
    let (ahead, over) = (says(&AHEAD), says(&OVER));
    let open = ahead && !over;
    // A clinician who names a day and an hour makes an appointment; a patient may report one.
    let spoken = matches!(speaker, Speaker::Clinician | Speaker::Agent);
    let to_come = |said: DateExpression| match said {
        DateExpression::Ahead(_) => true,
        DateExpression::Fixed(date) => doc.input.today.is_some_and(|today| date.day > today),
        DateExpression::Weekday(_) | DateExpression::DayOfMonth(_) | DateExpression::MonthDay { .. } => {
            open || spoken && !over
        }
        DateExpression::Today(_) | DateExpression::Month(_) | DateExpression::Since(_) | DateExpression::Spell(_) => {
            false
        }
    };
    let timed = |date: &&DateMention| {
        let end = doc.text().floor_char_boundary((date.span.end + HOUR_REACH).min(doc.text().len()));
        let after = doc.text().get(date.span.end..end).unwrap_or_default();
        HOUR.as_ref().is_some_and(|hour| hour.is_match(after))
    };
    dates.iter().filter(|date| to_come(date.said)).filter(timed).map(|date| reading.words_at(date.span)).collect()
}
