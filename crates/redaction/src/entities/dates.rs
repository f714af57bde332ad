//! Dates, Spanish and English: numbers, month names, months and years alone next to a word of time. Each carries its
//! typed value with the precision that was said (model.md, "Decisions" 7).

use std::sync::LazyLock;

use chrono::NaiveDate;
use regex::{Captures, Regex};

use super::super::document::DocumentContext;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use super::{prefilter, spoken_dates};
use crate::pattern::compiled;
use crate::word_tables::{self, WordList};
use anamnesis_core::side_value::{Precision, SideValue};
use anamnesis_text::{Language, Span};

const MONTH: &str = "enero|ene|febrero|feb|marzo|mar|abril|abr|mayo|may|junio|jun|julio|jul|agosto|ago|septiembre|setiembre|sept|sep|set|octubre|oct|noviembre|nov|diciembre|dic|january|jan|february|march|april|apr|june|july|august|aug|september|october|november|december|dec";
const LONG_MONTH: &str = "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|diciembre|january|february|april|june|july|august|september|october|november|december";

/// Years as they are said: "mil novecientos ochenta y cinco", "nineteen eighty five", "two thousand ten".
pub(super) const SAID_YEAR: &str = "(?:(?:mil novecientos|dos mil)(?: (?:y|cero|uno?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince|dieci[a-z]{3,6}|veinte|veinti[a-z]{3,6}|treinta|cuarenta|cincuenta|sesenta|setenta|ochenta|noventa)){0,3}|(?:nineteen|twenty|two thousand(?: and)?)(?:[ -](?:oh|hundred|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|one|two|three|four|five|six|seven|eight|nine)){1,2})";

/// Two digits of a year after a day and month: "del ochenta y cuatro", "eighty four".
pub(super) const SHORT_SAID_YEAR: &str = "(?:(?:cuarenta|cincuenta|sesenta|setenta|ochenta|noventa)(?: y (?:uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve))?|(?:forty|fifty|sixty|seventy|eighty|ninety)(?:[ -](?:one|two|three|four|five|six|seven|eight|nine))?)";

static NUMERIC: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:((?:19|20)[0-9]{2})([-/.])(0?[1-9]|1[0-2])[-/.]([0-2]?[0-9]|3[01])(?:t[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:z|[+-][0-9]{2}:?[0-9]{2})?)?|([0-3]?[0-9])([-/.])([0-3]?[0-9])[-/.]((?:1[89]|20)[0-9]{2}|[0-9]{2}))(?-u:\b)",
    )
});
static DAY_MONTH: LazyLock<Regex> = LazyLock::new(|| {
    compiled(&format!(
        r"(?-u:\b)(?:dia )?(?:([0-3]?[0-9])(?:º|°|ro|st|nd|rd|th)?|(primero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince|dieci[a-z]{{3,6}}|veinte|veinti[a-z]{{3,6}}|treinta(?: y uno)?|(?:twenty[ -]|thirty[ -])?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth|thirtieth)) ?(?:de |del? mes de |of |-|/|\.)? ?({MONTH})(?-u:\b)\.?(?:(?: ?(?:de |del |de ano |del ano |,|-|/|\.)? ?)((?:1[89]|20)[0-9]{{2}}|2\.0[0-9]{{2}})(?-u:\b)|(?:,? (?:de |del |of )?{SAID_YEAR}(?-u:\b))|(?: del? {SHORT_SAID_YEAR}(?-u:\b)))?"
    ))
});
static MONTH_DAY: LazyLock<Regex> = LazyLock::new(|| {
    compiled(&format!(
        r"(?-u:\b)({MONTH})\.? (?:the )?([0-3]?[0-9]|(?:twenty[ -]|thirty[ -])?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth|thirtieth)(?:st|nd|rd|th)?(?-u:\b)(?:,? (?:of )?((?:1[89]|20)[0-9]{{2}})(?-u:\b)|(?:,? (?:of )?{SAID_YEAR}(?-u:\b))|(?:,? {SHORT_SAID_YEAR}(?-u:\b)))?"
    ))
});
static MONTH_YEAR: LazyLock<Regex> = LazyLock::new(|| {
    compiled(&format!(
        r"(?-u:\b)({MONTH})\.?(?: de| del| del ano| de ano| of|,|-|/)? ?((?:1[89]|20)[0-9]{{2}})(?-u:\b)"
    ))
});
/// "diciembre-08", "sep/04".
static MONTH_SHORT_YEAR: LazyLock<Regex> =
    LazyLock::new(|| compiled(&format!(r"(?-u:\b)({MONTH})[-/']([0-9]{{2}})(?-u:\b)")));
static SAID: LazyLock<Regex> = LazyLock::new(|| {
    compiled(&format!(
        r"(?-u:\b)(?:en|desde|hasta|ano|in|since|until|year|from|born|(?:{LONG_MONTH})(?: de| del| of)?) ({SAID_YEAR})(?-u:\b)"
    ))
});
static SLASHED_MONTH: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"(?-u:\b)(0?[1-9]|1[0-2])[-/]((?:19|20)[0-9]{2})(?-u:\b)"));
static MONTH_ALONE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(&format!(
        r"(?-u:\b)(?:en|in|desde|since|until|hasta|last|next|este|pasado|mes de|finales de|principios de|mediados de|late|early|mid|of|during|durante|by|this|entre)[ -]({LONG_MONTH})(?-u:\b)|(?-u:\b)(?:mid|early|late)[ -](march|may)(?-u:\b)"
    ))
});
static YEAR: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:en|desde|hacia|anos|en el|el|del|de|in|since|year|years|from|until|till|hasta|durante|during|back in|circa|around|verano|invierno|otono|primavera|summer|winter|spring|fall|of|entre|y|and|mid|early|late|by|before|after|antes|despues|,) ?(?:el |de |del |los )?((?:ano )?(?:19|20)[0-9]{2})(?-u:\b)(?:(?: ?- ?| ?/ ?| y | al? | to | and )((?:19|20)[0-9]{2})(?-u:\b))?",
    )
});
static BRACKETED_YEAR: LazyLock<Regex> = LazyLock::new(|| compiled(r"[(]((?:19|20)[0-9]{2})(?-u:\b)"));
/// Day and month alone only after a word of time: "3/4" may be a strength.
static SHORT: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:on|dated|seen|lmp|edd|filled|intubated|extubated|placed|expires|expired|ends|ended|out|spoke|due|started|starts|admitted|discharged|transferred|signed|faxed|mailed|received|collected|inserted|removed|appt|visit|visto el|el dia|el|dia|fecha|date|since|desde el|hasta el|until|mon|tues?|weds?|thurs?|fri|sat|sun|monday|tuesday|wednesday|thursday|friday|saturday|sunday|lunes|martes|miercoles|jueves|viernes|sabado|domingo),? ((?:[0-2]?[0-9]|3[01])[/-](?:[0-2]?[0-9]|3[01]))(?-u:\b)",
    )
});

/// "DNA 17/4", "op 19/3": a day after the twelfth and its month need no word of time; scores are not out of less than they
/// count. Pressures of breathing, hours of fasting and "24/7" look alike.
static LATE_DAY: LazyLock<Regex> =
    LazyLock::new(|| compiled(r"(?-u:\b)(?:([a-z]+)[ :]{1,2})?((?:1[3-9]|2[0-9]|3[01])/(?:0?[1-9]|1[0-2]))(?-u:\b)"));
/// Words before figures that are no day.
pub(crate) static FIGURES: WordList = WordList::listed(word_tables::ENTITIES, "dates.figures");

/// "From 3/18 to 4/1": two days. Scores of one scale ("from 3/5 to 4/5") share what they are out of.
static FROM_TO: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)from ((?:0?[1-9]|1[0-2])/([0-2]?[0-9]|3[01])) (?:to|until|till|through) ((?:0?[1-9]|1[0-2])/([0-2]?[0-9]|3[01]))(?-u:\b)",
    )
});

/// "Thanksgiving 2019", "around Christmas", "la Nochevieja de 2018": well-known days.
static HOLIDAY: LazyLock<Regex> = LazyLock::new(|| {
    const DAYS: &str = "thanksgiving(?: day)?|christmas(?: eve| day)?|new year'?s(?: eve| day)?|easter(?: sunday| monday)?|halloween|labor day|memorial day|independence day|mother's day|father's day|valentine's day|st\\.? patrick's day|nochebuena|nochevieja|navidad(?:es)?|ano nuevo|semana santa|dia de reyes|dia de muertos|dia de la madre|dia del padre";
    compiled(&format!(
        r"(?-u:\b)(?:({DAYS})(?: of| de| del)?,? ((?:19|20)[0-9]{{2}})(?-u:\b)|(?:around|since|before|after|on|until|by|last|over|desde|hasta|antes de|despues de|tras|en)(?: la| el)? ({DAYS})(?-u:\b))"
    ))
});
/// "Friday the 21st".
static WEEKDAY: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:mon|tues|wednes|thurs|fri|satur|sun)day,? the [0-3]?[0-9](?:st|nd|rd|th)(?-u:\b)|(?-u:\b)(?:lunes|martes|miercoles|jueves|viernes|sabado|domingo),? (?:dia )[0-3]?[0-9](?-u:\b)|(?-u:\b)(?:on|since|until|till|by|before|after|from) (the [0-3]?[0-9](?:st|nd|rd|th))(?-u:\b)",
    )
});
/// "Fri 10th", "Sunday 16th", "monday the eleventh".
static WEEKDAY_ORDINAL: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tues?|wed|thurs?|fri|sat|sun),? (?:the )?(?:[0-3]?[0-9](?:st|nd|rd|th)|(?:twenty[ -]|thirty[ -])?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth|thirtieth)(?-u:\b)",
    )
});
/// The day of the week before a date belongs to it.
static LED_BY: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"(?-u:\b)(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|mon|tues?|wed|thurs?|fri|sat|sun|lunes|martes|miercoles|jueves|viernes|sabado|domingo)(?:,? | the |, the |,? el |,? dia )$",
    )
});

/// Long names and short ones next to a number: without them no pattern of months is tried.
static MONTHS: LazyLock<Regex> = LazyLock::new(|| {
    compiled(&format!(
        "{LONG_MONTH}|march|(?:ene|feb|mar|abr|may|jun|jul|ago|sept?|set|oct|nov|dic|jan|apr|aug|dec)(?:[^a-z]|$)"
    ))
});

/// Means "at all hours", unless a word of time precedes it.
pub(crate) const ROUND_THE_CLOCK: &str = "24/7";
const RECOGNIZER: &str = "date";
/// Score of what the model may give up where it is sure of nothing.
const UNSURE: f64 = 0.6;
/// Longest day of the week with the words after it, in bytes.
const LED: usize = 18;

/// Finds dates.
pub(crate) fn find(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    let lower = &context.view.lower;
    let month_first = context.language == Language::English;
    if prefilter::has_joined_numbers(context, b"-/.") {
        for hit in NUMERIC.captures_iter(lower) {
            numeric(lower, &hit, month_first, found);
        }
        for hit in SLASHED_MONTH.captures_iter(lower).filter(|hit| free(lower, span(hit, 0))) {
            push(found, span(&hit, 0), value(number(&hit[2]), number(&hit[1]), None));
        }
    }
    if MONTHS.is_match(lower) {
        months(context, found);
    }
    if ["mil", "dos", "teen", "twenty", "thousand"].iter().any(|word| lower.contains(word)) {
        spoken_years(lower, found);
    }
    spoken_dates::find(lower, found);
    if prefilter::has_year(context) {
        years(lower, found);
    }
    if prefilter::has_joined_numbers(context, b"/") {
        for hit in FROM_TO.captures_iter(lower).filter(|hit| hit[2] != hit[4] && free(lower, span(hit, 3))) {
            [1, 3].into_iter().for_each(|day| push(found, span(&hit, day), None));
        }
        for hit in LATE_DAY.captures_iter(lower) {
            let day = span(&hit, 2);
            let figure = hit.get(1).is_some_and(|word| FIGURES.contains(word.as_str())) || &hit[2] == ROUND_THE_CLOCK;
            if !figure && free(lower, day) && !is_measure(lower, day.end) {
                found.push(PiiFinding::new(day, label::DATE, RECOGNIZER, UNSURE, DetectionLayer::Entity));
            }
        }
        for hit in SHORT.captures_iter(lower).filter(|hit| free(lower, span(hit, 1)) && hit[1].contains('/')) {
            push(found, span(&hit, 1), None);
        }
    }
    days(context, found);
}

/// Named days, and the day of the week before a date.
fn days(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    let lower = &context.view.lower;
    for known in found.iter_mut().filter(|known| known.label == label::DATE && known.recognizer == RECOGNIZER) {
        let mut from = known.span.start.saturating_sub(LED);
        while !lower.is_char_boundary(from) {
            from += 1;
        }
        if let Some(day) = LED_BY.find(&lower[from..known.span.start]) {
            known.span.start = from + day.start();
        }
    }
    for hit in HOLIDAY.captures_iter(lower) {
        let day = hit.get(1).map(|day| Span::new(day.start(), span(&hit, 0).end)).unwrap_or_else(|| span(&hit, 3));
        let year = hit.get(2).and_then(|year| value(number(year.as_str()), None, None));
        push(found, day, year);
    }
    if ["day ", "day, ", "fri ", "mon ", "wed ", "sat ", "sun ", "tue ", "tues ", "thu "]
        .iter()
        .any(|day| lower.contains(day))
    {
        WEEKDAY_ORDINAL.find_iter(lower).for_each(|hit| push(found, Span::new(hit.start(), hit.end()), None));
    }
    if !prefilter::has_before_digit(lower, &["the ", "dia "]) {
        return;
    }
    for hit in WEEKDAY.captures_iter(lower) {
        match hit.get(1).map(|day| Span::new(day.start(), day.end())) {
            Some(day) if !ends_a_phrase(lower, day.end) => {}
            Some(day) => push(found, day, None),
            None => push(found, span(&hit, 0), None),
        }
    }
}

/// "On the 22nd." and "on the 22nd at noon", not "on the 5th toe".
fn ends_a_phrase(lower: &str, end: usize) -> bool {
    const NEXT: &[&str] = &["at", "with", "for", "when", "she", "he", "they", "but", "by", "because", "via"];
    let rest = lower[end..].trim_start_matches(' ');
    let word = rest.find(|c: char| !c.is_alphabetic()).map_or(rest, |to| &rest[..to]);
    !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-' || c == '/') || NEXT.contains(&word)
}

/// Dates that name their month.
fn months(context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
    let lower = &context.view.lower;
    for hit in DAY_MONTH.captures_iter(lower) {
        let (day, month) = (hit.get(1).map(|d| number(d.as_str())), month_of(&hit[3]));
        let year = hit.get(4).map(|year| number(&year.as_str().replace('.', "")));
        if !(short_month_alone(&hit[3], year) && !titled(context, span(&hit, 3)))
            && day.is_none_or(|day| (1..=31).contains(&day))
            && !is_dose(lower, &hit)
        {
            push(found, span(&hit, 0), full(year, month, day));
        }
    }
    for hit in MONTH_DAY.captures_iter(lower) {
        let said = hit[2].starts_with(|c: char| c.is_ascii_alphabetic());
        let (day, year) = (if said { 1 } else { number(&hit[2]) }, hit.get(3).map(|year| number(year.as_str())));
        let clear = !matches!(&hit[1], "may" | "mar" | "set" | "sept" | "dec" | "dic")
            || year.is_some()
            // "may third nineteen eighty eight": the year was said.
            || said && hit[0].split([' ', '-']).count() > 3
            || large(context, span(&hit, 0));
        if clear && (1..=31).contains(&day) && !(short_month_alone(&hit[1], year) && !large(context, span(&hit, 0))) {
            push(found, span(&hit, 0), full(year, month_of(&hit[1]), (!said).then_some(day)));
        }
    }
    for hit in MONTH_YEAR.captures_iter(lower) {
        push(found, span(&hit, 0), value(number(&hit[2]), month_of(&hit[1]), None));
    }
    for hit in MONTH_SHORT_YEAR.captures_iter(lower) {
        let year = number(&hit[2]);
        push(found, span(&hit, 0), value(if year > 40 { 1900 } else { 2000 } + year, month_of(&hit[1]), None));
    }
    for hit in MONTH_ALONE.captures_iter(lower) {
        push(found, if hit.get(1).is_some() { span(&hit, 1) } else { span(&hit, 2) }, None);
    }
}

/// The name of a month with a capital first letter, or in capitals.
fn titled(context: &DocumentContext<'_>, month: Span) -> bool {
    month.slice(&context.view.plain).starts_with(|c: char| c.is_ascii_uppercase())
}

fn spoken_years(lower: &str, found: &mut Vec<PiiFinding>) {
    for hit in
        SAID.captures_iter(lower).filter(|hit| hit[1].contains([' ', '-']) && !is_measure(lower, span(hit, 1).end))
    {
        push(found, span(&hit, 1), None);
    }
}

fn years(lower: &str, found: &mut Vec<PiiFinding>) {
    for hit in YEAR.captures_iter(lower).chain(BRACKETED_YEAR.captures_iter(lower)) {
        for group in [1, 2].into_iter().filter(|group| *group < hit.len() && hit.get(*group).is_some()) {
            let year = span(&hit, group);
            if free(lower, year) && !is_measure(lower, year.end) {
                push(found, year, value(number(year.slice(lower).trim_start_matches("ano ")), None, None));
            }
        }
    }
}

fn numeric(lower: &str, hit: &Captures<'_>, month_first: bool, found: &mut Vec<PiiFinding>) {
    let whole = span(hit, 0);
    if let (Some(year), Some(month), Some(day)) = (hit.get(1), hit.get(3), hit.get(4)) {
        push(found, whole, value(number(year.as_str()), number(month.as_str()), Some(number(day.as_str()))));
        return;
    }
    let (a, b, year) = (number(&hit[5]), number(&hit[7]), number(&hit[8]));
    let short = hit[8].len() == 2;
    // Two-digit years only with slashes or full pairs: "1-2-10" and "12.5.10" may be anything.
    let pairs = hit[5].len() == 2 && hit[7].len() == 2;
    let single = hit[5].len() == 1 && hit[7].len() == 1;
    let cue = ["el ", "dia ", "on "].iter().any(|cue| lower[..whole.start].ends_with(cue));
    let unclear = short && (&hit[6] == "." && !pairs && !cue || &hit[6] == "-" && single && !cue);
    let (day, month) = if month_first && a <= 12 || b > 12 { (b, a) } else { (a, b) };
    let fits = (1..=31).contains(&day) && (1..=12).contains(&month);
    let same_sign = whole.slice(lower).matches(&hit[6]).count() == 2;
    if fits && same_sign && !unclear && free(lower, whole) && !is_measure(lower, whole.end) {
        let century = if !short {
            0
        } else if year > 40 {
            1900
        } else {
            2000
        };
        push(found, whole, value(century + year, month, Some(day)));
    }
}

/// Abbreviations that are words ("mar", "set", "dic", "may") need a year.
fn short_month_alone(month: &str, year: Option<i32>) -> bool {
    static WORDS: WordList = WordList::listed(word_tables::ENTITIES, "dates.short_month_alone");
    year.is_none() && WORDS.contains(month)
}

pub(super) fn is_dose(lower: &str, hit: &Captures<'_>) -> bool {
    hit.get(0).is_some_and(|whole| is_measure(lower, whole.end()))
}

/// A unit after a number: "2000 mg", "2000 UI", "1950 g".
fn is_measure(lower: &str, end: usize) -> bool {
    static UNIT: LazyLock<Regex> = LazyLock::new(|| {
        compiled(
            r"^ ?(?:mg|ml|mcg|g|gr|kg|ui|iu|u|units?|unidades|gotas|drops|tabs?|tablets?|comprimidos|cm|cc|mm|mm3|meq|mmol|ng|pg|%|x|/|cel|celulas|cells|copias|copies|leucocitos|plaquetas|hematies|kcal|cal|calorias|calories|steps|pasos|euros|dolares|dollars|pesos|cgy|gy|rads?|hz|m|l|°|º|ppm)(?-u:\b|$)|^[.,][0-9]|^-[0-9]",
        )
    });
    UNIT.is_match(&lower[end..])
}

/// Not a part of a longer number or word.
fn free(lower: &str, span: Span) -> bool {
    let bytes = lower.as_bytes();
    let joins = |byte: u8| matches!(byte, b'/' | b'-' | b'.' | b',');
    let before = span.start >= 2 && joins(bytes[span.start - 1]) && bytes[span.start - 2].is_ascii_digit();
    let after =
        bytes.get(span.end).is_some_and(|byte| joins(*byte)) && bytes.get(span.end + 1).is_some_and(u8::is_ascii_digit);
    !before && !after
}

fn large(context: &DocumentContext<'_>, span: Span) -> bool {
    span.slice(&context.view.plain).starts_with(|c: char| c.is_uppercase())
}

pub(super) fn span(hit: &Captures<'_>, group: usize) -> Span {
    hit.get(group).map(|part| Span::new(part.start(), part.end())).unwrap_or_default()
}

fn number(digits: &str) -> i32 {
    digits.parse().unwrap_or(0)
}

/// The month of a name in either language, by its first three letters; "ene" is mapped to "jan".
fn month_of(name: &str) -> i32 {
    const STARTS: [&[&str]; 12] = [
        &["ene", "jan"],
        &["feb"],
        &["mar"],
        &["abr", "apr"],
        &["may"],
        &["jun"],
        &["jul"],
        &["ago", "aug"],
        &["sep", "set"],
        &["oct"],
        &["nov"],
        &["dic", "dec"],
    ];
    STARTS.iter().position(|starts| starts.iter().any(|start| name.starts_with(start))).map_or(0, |at| at as i32 + 1)
}

fn full(year: Option<i32>, month: i32, day: Option<i32>) -> Option<SideValue> {
    value(year?, month, day)
}

/// The typed value; day 1 or January where less was said.
fn value(year: i32, month: impl Into<Option<i32>>, day: Option<i32>) -> Option<SideValue> {
    let month = month.into();
    let precision = match (month, day) {
        (Some(_), Some(_)) => Precision::Day,
        (Some(_), None) => Precision::Month,
        _ => Precision::Year,
    };
    let date = NaiveDate::from_ymd_opt(year, month.unwrap_or(1) as u32, day.unwrap_or(1) as u32)?;
    Some(SideValue::Date { date, precision })
}

pub(super) fn push(found: &mut Vec<PiiFinding>, span: Span, value: Option<SideValue>) {
    let mut finding = PiiFinding::new(span, label::DATE, RECOGNIZER, 0.85, DetectionLayer::Entity);
    finding.value = value;
    found.push(finding);
}

#[cfg(test)]
#[path = "dates_tests.rs"]
mod tests;
