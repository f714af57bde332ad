//! Dates as people say and scribble them: halves ("cuatro meses y medio"), weekends, figures with an apostrophe, clipped
//! days of the week, days and months as bare figures, stretches of years.

use chrono::{Datelike as _, Days, Months, NaiveDate, Weekday};
use regex::Captures;

use super::forms::{COUNT, DAY_WORD, DateParser, SPOKEN_DAY, UNIT, YEAR, full_year, likely, number, year};
use super::holidays;
use super::resolve::{DateDirection, DateExpression, moved, number_of, unit_of, weekday_before, weekday_of};
use anamnesis_core::fact_date::{DatePrecision, FactDate};

/// Words after which a clipped day of the week ("fri") is one.
const BEFORE_DAY: &str = "recheck|back|seen|due|until|til|till|by|since|last|this|next|f/u|fu|review|rv|rtc|appt|clinic|visit|from|before|after|again|him|her|them|it|up|tomorrow|call|home|out|session|labs|bloods|bit|scan|opd|every other";
/// The part of the day after a day of the week.
const PART_OF_DAY: &str = "morning|nite|night|am|pm|arvo|afternoon|evening|eve";
const CLIPPED: &str = "mon|tues?|weds?|thurs?|thu|fri|sat|sun";

/// Forms that are tried before all others: they hold shorter ones.
pub(super) fn longest() -> Vec<(String, DateParser)> {
    vec![
        // Of a stretch of years, the end: the period is over.
        (format!(r"({YEAR}) ?[–—] ?((?:19|20)[0-9]{{2}}|[0-9]{{2}})|({YEAR}) ?(?:-|to|al?|hasta) ?({YEAR})"), |c, today, _| {
            let (from, to) = (number(c, 1).or_else(|| number(c, 3))?, number(c, 2).or_else(|| number(c, 4))?);
            let to = if to < 100 { from / 100 * 100 + to } else { to };
            (from < to && likely(from, today) && likely(to, today)).then(|| year(to)).flatten()
        }),
        (
            format!(r"({DAY_WORD}) (?:fortnight|week),? (?:the )?([0-3]?[0-9])(?:st|nd|rd|th)?"),
            |c, _, _| number(c, 2).filter(|day| (1..=31).contains(day)).map(DateExpression::DayOfMonth),
        ),
        (format!(r"({DAY_WORD}) fortnight"), |c, today, _| {
            let day = weekday_of(&c[1])?;
            let on = (0..7).filter_map(|n| today.checked_add_days(Days::new(n))).find(|date| date.weekday() == day)?;
            Some(DateExpression::Ahead(FactDate::new(on.checked_add_days(Days::new(14))?, DatePrecision::Day)))
        }),
        (format!(r"(?:el )?({DAY_WORD}) (?:d[ií]a )?({SPOKEN_DAY})"), |c, _, _| {
            number_of(&c[2]).filter(|day| (1..=31).contains(day)).map(DateExpression::DayOfMonth)
        }),
        (format!(r"(?:el|para el|del|al) d[ií]a ({SPOKEN_DAY})"), |c, _, _| {
            number_of(&c[1]).filter(|day| (1..=31).contains(day)).map(DateExpression::DayOfMonth)
        }),
        (
            format!(
                r"(?:hace|hac[ií]a|har[aá]|llev[ao]s?|llevamos|llevaba|for|x|since|durante) ?(?:about |around |ya |como |unos |unas |~ ?)?({COUNT}) ({UNIT}) y medi[oa]|({COUNT}) and a half ({UNIT})(?: ago)?|({COUNT}) ({UNIT}) and a half(?: ago)?"
            ),
            halves,
        ),
        (r"(?:the |this |last |this past |over the |at the |el |este |todo el )(?:weekend|wkend|w/e|finde|fin de semana)(?: (?:pasado|anterior))?".to_owned(), |_, today, _| {
            let saturday = weekday_before(today, Weekday::Sat)?;
            Some(DateExpression::Fixed(FactDate::new(saturday, DatePrecision::Week)))
        }),
        (
            format!(
                r"(?:(at|on|since|before|over|around|about|by|after|next|last|until|till|during|en|desde|antes de|por|para|hasta|despu[eé]s de|(?:el )?puente de) )?(?:the |la |el )?({}),?(?: (?:of |de |del )?({YEAR}))?",
                holidays::names()
            ),
            holidays::feast,
        ),
    ]
}

/// Forms that are tried after the complete ones.
pub(super) fn clipped() -> Vec<(String, DateParser)> {
    vec![
        (r"(yest|yday|y'day|last nite|la otra noche|esta madrugada|anoche mismo)".to_owned(), |_, today, _| {
            moved(today, 1, DatePrecision::Day, DateDirection::Back).map(DateExpression::Fixed)
        }),
        (r"(tmrw|tmr|tomoz|2moro|2morrow|ma[nñ]ana mismo|this arvo)".to_owned(), |c, today, _| {
            let days = u32::from(&c[1] != "this arvo");
            moved(today, days, DatePrecision::Day, DateDirection::Ahead).map(DateExpression::Ahead)
        }),
        (format!(r"(?:last|this past) (yr|wk|mo|fortnight)|(?:la|el) ({UNIT}) anterior"), |c, today, _| {
            let word = c.get(1).or_else(|| c.get(2))?.as_str();
            if word == "fortnight" {
                return moved(today, 2, DatePrecision::Week, DateDirection::Back).map(DateExpression::Fixed);
            }
            moved(today, 1, unit_of(word)?, DateDirection::Back).map(DateExpression::Fixed)
        }),
        (format!(r"(?:(?:{BEFORE_DAY}) )({CLIPPED})|({CLIPPED}) (?:{PART_OF_DAY})"), |c, _, _| {
            weekday_of(c.get(1).or_else(|| c.get(2))?.as_str()).map(DateExpression::Weekday)
        }),
        // "El 9-XI", "10/XI/2026": months in Roman figures, as Spanish letters have them.
        (
            r"(?:(?:el|del|al|d[ií]a|desde|hasta|fecha) ([0-3]?[0-9])-(i{1,3}|iv|vi{0,3}|ix|xi{0,2})|([0-3]?[0-9])[/-](i{1,3}|iv|vi{0,3}|ix|xi{0,2})[/-]((?:19|20)?[0-9]{2}))"
                .to_owned(),
            roman,
        ),
        // A day and a month in bare figures: of a score, or of a part of a week, the lower figure is never the smaller.
        (r"([0-3]?[0-9])/(0?[1-9]|1[0-2])".to_owned(), |c, _, month_first| {
            let (first, second) = (number(c, 1)?, number(c, 2)?);
            let (month, day) = if month_first && first <= 12 { (first, second) } else { (second, first) };
            let eyes = first == 6 && second > 3;
            let date = first > second && second != 7 && !eyes && NaiveDate::from_ymd_opt(2000, month, day).is_some();
            date.then_some(DateExpression::MonthDay { month, day })
        }),
    ]
}

/// A day, a month in Roman figures, and a year or none.
fn roman(c: &Captures<'_>, today: NaiveDate, _: bool) -> Option<DateExpression> {
    const MONTHS: &[&str] = &["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii"];
    let (day, month, year) = if c.get(1).is_some() { (1, 2, 6) } else { (3, 4, 5) };
    let (day, figures) = (number(c, day)?, c.get(month)?.as_str());
    let month = u32::try_from(MONTHS.iter().position(|known| *known == figures)? + 1).ok()?;
    match number(c, year) {
        Some(year) => {
            let day = NaiveDate::from_ymd_opt(i32::try_from(full_year(year, today)?).ok()?, month, day)?;
            Some(DateExpression::Fixed(FactDate::new(day, DatePrecision::Day)))
        }
        None => NaiveDate::from_ymd_opt(2000, month, day).map(|_| DateExpression::MonthDay { month, day }),
    }
}

/// Forms that begin with a sign, so that no word boundary comes before them.
pub(super) fn signed() -> Vec<(String, DateParser)> {
    vec![(r"['’]([0-9]{2})".to_owned(), |c, today, _| {
        full_year(number(c, 1)?, today).filter(|said| likely(*said, today)).and_then(year)
    })]
}

/// "Cuatro meses y medio", "two and a half years": back from the day of the document.
fn halves(c: &Captures<'_>, today: NaiveDate, _: bool) -> Option<DateExpression> {
    let (count, unit) = [(1, 2), (3, 4), (5, 6)].into_iter().find_map(|(n, u)| c.get(n).zip(c.get(u)))?;
    let (count, unit) = (number_of(count.as_str())?, unit_of(unit.as_str())?);
    let months = match unit {
        DatePrecision::Year => count.checked_mul(12)?.checked_add(6)?,
        DatePrecision::Month => count,
        DatePrecision::Week | DatePrecision::Day => 0,
    };
    let days = match unit {
        DatePrecision::Year => 0,
        DatePrecision::Month => 15,
        DatePrecision::Week => count.checked_mul(7)?.checked_add(4)?,
        DatePrecision::Day => count,
    };
    let day = today.checked_sub_months(Months::new(months))?.checked_sub_days(Days::new(u64::from(days)))?;
    let precision = if unit == DatePrecision::Year { DatePrecision::Month } else { unit };
    Some(DateExpression::Fixed(FactDate::new(day, precision)))
}
