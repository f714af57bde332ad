//! The forms in which dates are said. Longer forms come first; what they take is not read again.

use std::sync::LazyLock;

use chrono::{Datelike as _, Days, Months, NaiveDate};
use regex::{Captures, Regex};

use super::DateMention;
use super::resolve::{Direction, Said, month_of, moved, number_of, unit_of, weekday_after, weekday_before, weekday_of};
use crate::domain::fact_date::{DatePrecision, FactDate};
use crate::text::{Language, Span};

const MONTH: &str = "(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|diciembre|january|february|march|april|may|june|july|august|september|october|november|december|ene|feb|mar|abr|jun|jul|ago|sept|sep|set|oct|nov|dic|jan|apr|aug|dec)";
const LONG_MONTH: &str = "(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|diciembre|january|february|march|april|may|june|july|august|september|october|november|december)";
const YEAR: &str = "(?:19|20)[0-9]{2}";
const COUNT: &str = "[0-9]{1,2}|una?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|quince|veinte|treinta|un par de|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|a couple of|couple of";
const UNIT: &str = "d[ií]as?|semanas?|sem|mes(?:es)?|años?|days?|weeks?|wks?|months?|mos?|years?|yrs?|[dwy]";
const DAY_WORD: &str = "lunes|martes|mi[eé]rcoles|jueves|viernes|s[aá]bado|domingo|monday|tuesday|wednesday|thursday|friday|saturday|sunday";
/// Words before a short date that make it one: "3/4" alone may be a strength.
const LEAD: &str = "on|el|d[ií]a|since|until|by|from|desde(?: el)?|hasta el|seen|admitted|discharged|started|stopped|dated|due|appt|visit|cita|mon|tues?|wed|thurs?|fri|sat|sun";

type Reader = fn(&Captures<'_>, NaiveDate, bool) -> Option<Said>;

struct Form {
    pattern: Regex,
    read: Reader,
}

/// All forms, in the order in which they are tried.
static FORMS: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let forms: [(String, Reader); 17] = [
        (format!(r"({YEAR})-([01][0-9])-([0-3][0-9])"), |c, _, _| {
            fixed(number(c, 1)?, number(c, 2)?, number(c, 3)?)
        }),
        (r"([0-3]?[0-9])[/.-]([0-3]?[0-9])[/.-]((?:19|20)?[0-9]{2})".to_owned(), numeric),
        (
            format!(
                r"([0-3]?[0-9]|primero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince|veinte|treinta|veinti[a-zéó]+|dieci[a-zé]+)(?:º|st|nd|rd|th)? ?(?:de |of )?({MONTH})\.?(?:,? ?(?:del? |of )?({YEAR}))?"
            ),
            |c, _, _| day_month(number_of(&c[1])?, &c[2], number(c, 3)),
        ),
        (format!(r"({MONTH})\.? (?:the )?([0-3]?[0-9])(?:st|nd|rd|th)?(?:,? ({YEAR}))?"), |c, _, _| {
            day_month(number(c, 2)?, &c[1], number(c, 3))
        }),
        (format!(r"({MONTH})\.?(?: de| del| of|,|-|/)? ?({YEAR})"), |c, _, _| {
            month(number(c, 2)?, month_of(&c[1])?)
        }),
        (format!(r"(0?[1-9]|1[0-2])[/-]({YEAR})"), |c, _, _| month(number(c, 2)?, number(c, 1)?)),
        // British shorthand: days, weeks and months as parts of a week and a year.
        (r"([0-9]{1,2})/(7|52|12) ago".to_owned(), |c, today, _| {
            moved(today, number(c, 1)?, part_of(&c[2])?, Direction::Back).map(Said::Fixed)
        }),
        (r"(?:in|f/u|rv|review|review in) ([0-9]{1,2})/(7|52|12)".to_owned(), |c, today, _| {
            moved(today, number(c, 1)?, part_of(&c[2])?, Direction::Ahead).map(Said::Ahead)
        }),
        (format!(r"(?:{LEAD}),? ([0-3]?[0-9])/([0-3]?[0-9])"), short),
        (format!(r"({COUNT}) ?({UNIT}) (?:ago|atr[aá]s)"), back),
        (format!(r"(?:hace(?: unos| unas| ya)?|llev[ao]|for the (?:past|last)|for at least) ({COUNT}) ({UNIT})"), back),
        (
            format!(
                r"(?:in|dentro de|en|f/u|follow[ -]?up(?: in| at)?|rtc(?: in)?|review(?: in)?|return in|revisi[oó]n en|control en|volver en) ({COUNT}) ?({UNIT})"
            ),
            |c, today, _| moved(today, number_of(&c[1])?, unit_of(&c[2])?, Direction::Ahead).map(Said::Ahead),
        ),
        (
            format!(
                r"(?:(?:last|this past|el pasado) ({DAY_WORD})|(?:el )?({DAY_WORD}) pasado|({DAY_WORD}) week|(?:next|el pr[oó]ximo) ({DAY_WORD})|(?:el )?({DAY_WORD}) que viene|(?:on|el) ({DAY_WORD}))"
            ),
            weekday,
        ),
        (
            format!(
                r"(?:(?:last|el pasado) ({LONG_MONTH})|({LONG_MONTH}) pasado|(?:next|el pr[oó]ximo) ({LONG_MONTH})|(?:in|en|since|desde|early|late|mid|principios de|finales de|mediados de) ({LONG_MONTH}))"
            ),
            month_alone,
        ),
        (
            r"(?:last|la|el|next|this) ?(?:pasad[oa] |pr[oó]xim[oa] )?(semana|mes|año|week|month|year)(?: (pasad[oa]|que viene))?".to_owned(),
            period,
        ),
        (
            r"(yesterday|last night|ayer|anoche|anteayer|today|hoy|tomorrow|(?:hasta|para|cita) mañana)".to_owned(),
            near,
        ),
        (format!(r"({YEAR})"), |c, today, _| {
            let year = number(c, 1)?;
            let likely = (1930..=today.year() + 2).contains(&i32::try_from(year).ok()?);
            let first = date(year, 1, 1).filter(|_| likely)?;
            Some(Said::Fixed(FactDate::new(first, DatePrecision::Year)))
        }),
    ];
    let form = |(pattern, read): (String, Reader)| {
        Regex::new(&format!(r"(?i)(?-u:\b)(?:{pattern})(?-u:\b)")).ok().map(|pattern| Form { pattern, read })
    };
    forms.into_iter().filter_map(form).collect()
});

/// Words after a number that make it an amount.
const AMOUNTS: &[&str] = &[
    "mg", "ml", "mcg", "g", "kcal", "ui", "iu", "units", "unidades", "steps", "pasos", "euros", "calories", "cc",
    "hrs", "hours",
];

/// All dates of a text, in their order and without overlaps. `today` is the day of the document.
pub fn find(text: &str, language: Language, today: NaiveDate) -> Vec<DateMention> {
    let month_first = language == Language::English;
    let mut out: Vec<DateMention> = Vec::new();
    for form in FORMS.iter() {
        for hit in form.pattern.captures_iter(text) {
            let Some(whole) = hit.get(0) else { continue };
            let span = Span::new(whole.start(), whole.end());
            if out.iter().any(|known| known.span.overlaps(&span)) || !stands_alone(text, span) {
                continue;
            }
            let lower = whole.as_str().to_lowercase();
            let folded = form.pattern.captures(&lower);
            if let Some(said) = folded.and_then(|hit| (form.read)(&hit, today, month_first)) {
                out.push(DateMention { span, said });
            }
        }
    }
    out.sort_by_key(|mention| mention.span);
    out
}

/// No part of a longer number or word, no amount, no hour and no date of birth.
fn stands_alone(text: &str, span: Span) -> bool {
    let (before, after) = (&text[..span.start], &text[span.end..]);
    let joined = |c: char| c.is_alphanumeric() || matches!(c, '/' | '-' | '%' | '$' | '€');
    let ahead = |c: char| c.is_alphanumeric() || matches!(c, '/' | '$' | '€');
    let mut rest = after.chars();
    let next = rest.next();
    let decimal = matches!(next, Some('.' | ',' | ':')) && rest.next().is_some_and(|c| c.is_ascii_digit());
    let digits = text[span.start..span.end].ends_with(|c: char| c.is_ascii_digit());
    if before.chars().next_back().is_some_and(ahead) || (digits && (decimal || next.is_some_and(joined))) {
        return false;
    }
    if !digits && next.is_some_and(char::is_alphanumeric) {
        return false;
    }
    let word: String = after.trim_start().chars().take_while(|c| c.is_alphabetic()).collect();
    if digits && AMOUNTS.contains(&word.to_lowercase().as_str()) {
        return false;
    }
    let from = before.char_indices().rev().nth(24).map_or(0, |(at, _)| at);
    let lead = before[from..].to_lowercase();
    let hour = lead.ends_with("at ") || lead.ends_with("a las ");
    !hour && !["dob", "born", "birth", "nacid", "nacimiento", "f. nac", "fn:"].iter().any(|word| lead.contains(word))
}

fn number(c: &Captures<'_>, group: usize) -> Option<u32> {
    c.get(group)?.as_str().parse().ok()
}

fn date(year: u32, month: u32, day: u32) -> Option<NaiveDate> {
    NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)
}

fn fixed(year: u32, month: u32, day: u32) -> Option<Said> {
    Some(Said::Fixed(FactDate::new(date(year, month, day)?, DatePrecision::Day)))
}

fn month(year: u32, month: u32) -> Option<Said> {
    Some(Said::Fixed(FactDate::new(date(year, month, 1)?, DatePrecision::Month)))
}

fn day_month(day: u32, month: &str, year: Option<u32>) -> Option<Said> {
    let month = month_of(month)?;
    match year {
        Some(year) => fixed(year, month, day),
        None => NaiveDate::from_ymd_opt(2000, month, day).map(|_| Said::MonthDay { month, day }),
    }
}

/// Day and month in the order of the language, unless only the other order is possible.
fn ordered(first: u32, second: u32, month_first: bool) -> (u32, u32) {
    let (month, day) = if month_first { (first, second) } else { (second, first) };
    if month > 12 && day <= 12 { (day, month) } else { (month, day) }
}

fn numeric(c: &Captures<'_>, today: NaiveDate, month_first: bool) -> Option<Said> {
    let (month, day) = ordered(number(c, 1)?, number(c, 2)?, month_first);
    let year = number(c, 3)?;
    let this = u32::try_from(today.year()).ok()?;
    let full = match year {
        0..=99 if 2000 + year <= this + 2 => 2000 + year,
        0..=99 => 1900 + year,
        _ => year,
    };
    fixed(full, month, day)
}

fn short(c: &Captures<'_>, _: NaiveDate, month_first: bool) -> Option<Said> {
    let (month, day) = ordered(number(c, 1)?, number(c, 2)?, month_first);
    NaiveDate::from_ymd_opt(2000, month, day).map(|_| Said::MonthDay { month, day })
}

fn part_of(whole: &str) -> Option<DatePrecision> {
    Some(match whole {
        "7" => DatePrecision::Day,
        "52" => DatePrecision::Week,
        "12" => DatePrecision::Month,
        _ => return None,
    })
}

fn back(c: &Captures<'_>, today: NaiveDate, _: bool) -> Option<Said> {
    moved(today, number_of(&c[1])?, unit_of(&c[2])?, Direction::Back).map(Said::Fixed)
}

fn weekday(c: &Captures<'_>, today: NaiveDate, _: bool) -> Option<Said> {
    let at = |group: usize| c.get(group).and_then(|word| weekday_of(word.as_str()));
    let day = |date: NaiveDate| FactDate::new(date, DatePrecision::Day);
    if let Some(past) = at(1).or_else(|| at(2)) {
        return Some(Said::Fixed(day(weekday_before(today, past)?)));
    }
    if let Some(after) = at(3) {
        return Some(Said::Ahead(day(weekday_after(today, after)?.checked_add_days(Days::new(7))?)));
    }
    if let Some(next) = at(4).or_else(|| at(5)) {
        return Some(Said::Ahead(day(weekday_after(today, next)?)));
    }
    at(6).map(Said::Weekday)
}

fn month_alone(c: &Captures<'_>, today: NaiveDate, _: bool) -> Option<Said> {
    let at = |group: usize| c.get(group).and_then(|word| month_of(word.as_str()));
    let resolved = |month: u32, from: NaiveDate, direction| Said::Month(month).resolve(from, direction);
    if let Some(past) = at(1).or_else(|| at(2)) {
        return resolved(past, today.checked_sub_months(Months::new(1))?, Direction::Back).map(Said::Fixed);
    }
    if let Some(next) = at(3) {
        return resolved(next, today.checked_add_months(Months::new(1))?, Direction::Ahead).map(Said::Ahead);
    }
    at(4).map(Said::Month)
}

fn period(c: &Captures<'_>, today: NaiveDate, _: bool) -> Option<Said> {
    let whole = &c[0];
    let unit = unit_of(&c[1])?;
    if whole.contains("pasad") || whole.starts_with("last") {
        return moved(today, 1, unit, Direction::Back).map(Said::Fixed);
    }
    let next = whole.starts_with("next") || whole.contains("xim") || whole.contains("que viene");
    if next { moved(today, 1, unit, Direction::Ahead).map(Said::Ahead) } else { None }
}

fn near(c: &Captures<'_>, today: NaiveDate, _: bool) -> Option<Said> {
    let by = |days: u32, direction| moved(today, days, DatePrecision::Day, direction);
    match &c[1] {
        "today" | "hoy" => by(0, Direction::Back).map(Said::Today),
        "anteayer" => by(2, Direction::Back).map(Said::Fixed),
        "yesterday" | "last night" | "ayer" | "anoche" => by(1, Direction::Back).map(Said::Fixed),
        _ => by(1, Direction::Ahead).map(Said::Ahead),
    }
}
