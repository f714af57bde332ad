//! Days whose day, month and year are said as numbers.

use std::sync::LazyLock;

use regex::Regex;

use super::super::finding::PiiFinding;
use super::dates::{SAID_YEAR, SHORT_SAID_YEAR, is_dose, push, span};
use crate::pattern::compiled;
use crate::word_tables::{self, WordList};

/// "30 del 4 del 88", "eleventh of the second, seventy-five": day, month and year as numbers that are said.
static SAID_NUMBERS: LazyLock<Regex> = LazyLock::new(|| {
    compiled(&format!(
        r"(?-u:\b)(?:(0?[1-9]|[12][0-9]|3[01]) del (?:0?[1-9]|1[0-2]) del (?:(?:19|20)?[0-9]{{2}})|(?:twenty[ -]|thirty[ -])?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|[a-z]{{3,6}}teenth|twentieth|thirtieth) of the (?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth),? (?:of )?(?:{SAID_YEAR}|{SHORT_SAID_YEAR}))(?-u:\b)"
    ))
});
/// Units after a last number that is no year.
static COUNTED: WordList = WordList::listed(word_tables::ENTITIES, "spoken_dates.counted");

/// Finds them in a folded text in lower case.
pub(super) fn find(lower: &str, found: &mut Vec<PiiFinding>) {
    if ![" del ", " of the "].iter().any(|between| lower.contains(between)) {
        return;
    }
    // "eighth of the second, forty minutes", "3 del 1 del 20 por ciento": no year.
    let counts = |end: usize| COUNTED.iter().any(|unit| lower[end..].trim_start_matches(' ').starts_with(unit));
    for hit in SAID_NUMBERS.captures_iter(lower).filter(|hit| !is_dose(lower, hit) && !counts(span(hit, 0).end)) {
        push(found, span(&hit, 0), None);
    }
}
