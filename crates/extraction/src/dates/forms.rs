//! The forms of dates, each with its parser. Longer forms come first; a place that one has matched is not read again.

use std::sync::LazyLock;

use chrono::{Datelike as _, Days, Months, NaiveDate};
use regex::{Captures, Regex};

use super::colloquial;
use super::resolve::{
    DateDirection, DateExpression, month_of, moved, number_of, ordinal_of, spoken_year, unit_of, weekday_after,
    weekday_before, weekday_of,
};
use anamnesis_core::fact_date::{DatePrecision, FactDate};

const MONTH: &str = "(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|diciembre|january|february|march|april|may|june|july|august|september|october|november|december|ene|feb|mar|abr|jun|jul|ago|sept|sep|set|oct|nov|dic|jan|apr|aug|dec)";
/// Months that are dates without a day or a year: a month that is an ordinary word too needs more around it.
const LONG_MONTH: &str = "(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|diciembre|january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|ene|abr|apr|jun|jul|aug|sept|oct|nov|dic|dec)";
pub(super) const YEAR: &str = "(?:19|20)[0-9]{2}";
pub(super) const COUNT: &str = "[0-9]{1,2}|una?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|quince|veinte|treinta|un par de|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|a couple of|couple of|a couple";
pub(super) const UNIT: &str =
    "d[ií]as?|noches?|nights?|semanas?|sem|mes(?:es)?|años?|days?|weeks?|wks?|months?|mos?|years?|yrs?|[dwy]";
pub(super) const DAY_WORD: &str = "lunes|martes|mi[eé]rcoles|jueves|viernes|s[aá]bado|domingo|monday|tuesday|wednesday|thursday|friday|saturday|sunday";
/// Days of the week that no other word looks like.
const DAY_ALONE: &str = "monday|tuesday|wednesday|thursday|friday|saturday|sunday|thurs|tues|weds";
const DAY_SHORT: &str = "mon|tues?|weds?|thurs?|fri|sat|sun|lun|mar|mi[eé]|jue|vie|s[aá]b|dom";
/// A day of the week before a date says nothing that the date does not.
const OF_DAY: &str = "(?:(?:lunes|martes|mi[eé]rcoles|jueves|viernes|s[aá]bado|domingo|monday|tuesday|wednesday|thursday|friday|saturday|sunday|mon|tues?|wed|thurs?|fri|sat|sun|lun|mi[eé]|jue|vie|s[aá]b|dom)\\.?,? (?:the |el |d[ií]a )?)?";
/// Words before a short date that make it one: "3/4" alone may be a strength.
const LEAD: &str = "on|el|d[ií]a|since|until|by|from|desde(?: el)?|hasta el|seen|admitted|discharged|started|stopped|dated|due|appt|visit|cita|mon|tues?|wed|thurs?|fri|sat|sun|para el|del|fecha|date|labs?|bloods|anal[ií]tica|laboratorio|echo|ecg|ekg|mri|booked|scheduled|set for|programad[oa] para|agendad[oa] para|citad[oa] para|for|w/c|wef|lun|mi[eé]|jue|vie|control|ctrl|consulta|revisi[oó]n|finished|ended|changed|drained|tested|done|review|recheck|repeat|f/u|again|court|hearing|tribunal|clinic|retinal|scan|ct|x-?ray|cxr|uss|us|eco|tac|rmn|rx|op|surgery|pharmacy|gp|psych|ingreso|ingres[oó]|alta|operad[oa]|disch|dc|d/c|adm|inicia|inicio|begin|start|vacuna|hoy|ayer|mañana|today|yesterday|tomorrow|transfusi[oó]n|dose on|use|[uú]ltim[oa]|[uú]lt|pr[oó]x(?:im[oa])?|citas?|turno|hora|session|meeting|call|round";
/// Titles of results: the day after a title belongs to the results, in any short form.
const RESULTS: &str = "labs?|bloods?|blood tests?|paths|results?|resultados?|anal[ií]ticas?|laboratorios?|labo|ex[aá]menes|an[aá]lisis|bioqu[ií]mica|hemograma";
/// Words that make a number less exact, and say the same.
const ABOUT: &str = "(?:~ ?|≈ ?|± ?|about |around |approx(?:imately)? |almost |nearly |over |more than |at least |just over |some |roughly |como |casi |unos |unas |aproximadamente |aprox |m[aá]s de |cerca de |al menos |m[aá]s o menos |ya )?";
const ORDINAL: &str = "(?:twenty|thirty)[ -](?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|twentieth|thirtieth";
const SPOKEN_YEAR: &str = "two thousand(?: and)?(?: (?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty)(?:[ -](?:one|two|three|four|five|six|seven|eight|nine))?)?|(?:nineteen|twenty) (?:(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[ -](?:one|two|three|four|five|six|seven|eight|nine))?|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen)|dos mil(?: (?:uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince|diecis[eé]is|diecisiete|dieciocho|diecinueve|veinte|veintiuno|veintid[oó]s|veintitr[eé]s|veinticuatro|veinticinco|veintis[eé]is|veintisiete))?|mil novecientos (?:treinta|cuarenta|cincuenta|sesenta|setenta|ochenta|noventa)(?: y (?:uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve))?";

/// Days of a month in Spanish words.
pub(super) const SPOKEN_DAY: &str = "primero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince|veinte|treinta|veinti[a-zéó]+|dieci[a-zé]+";

/// From the parts of a hit, the day of the document, and whether the month is written first.
pub(super) type DateParser = fn(&Captures<'_>, NaiveDate, bool) -> Option<DateExpression>;

/// A pattern and what its parts mean.
pub(super) struct DateForm {
    pub(crate) pattern: Regex,
    pub(crate) read: DateParser,
}

/// All forms, in the order in which they are tried.
pub(super) static FORMS: LazyLock<Vec<DateForm>> = LazyLock::new(|| {
    let compiled = |pattern: String, read| Regex::new(&pattern).ok().map(|pattern| DateForm { pattern, read });
    let form = |(pattern, read): (String, DateParser)| compiled(format!(r"(?i)(?-u:\b)(?:{pattern})(?-u:\b)"), read);
    let signed = |(pattern, read): (String, DateParser)| compiled(format!(r"(?i)(?:{pattern})(?-u:\b)"), read);
    let first = colloquial::longest().into_iter().chain(complete()).filter_map(form);
    let then = counted().into_iter().chain(colloquial::clipped()).chain(partial()).filter_map(form);
    first.chain(colloquial::signed().into_iter().filter_map(signed)).chain(then).collect()
});

/// Dates with a day, a month or a year.
fn complete() -> Vec<(String, DateParser)> {
    vec![
        (format!(r"({YEAR})-([01][0-9])-([0-3][0-9])"), |c, _, _| fixed(number(c, 1)?, number(c, 2)?, number(c, 3)?)),
        (format!(r"{OF_DAY}([0-3]?[0-9])[/.-]([0-3]?[0-9])[/.-]((?:19|20)?[0-9]{{2}})"), numeric),
        // A stretch of days: its first one.
        (
            format!(
                r"(?:del|desde el) ([0-3]?[0-9]) (?:al|hasta el) [0-3]?[0-9] (?:de )?({MONTH})(?: (?:del? )?({YEAR}))?"
            ),
            |c, today, _| day_month(number(c, 1)?, &c[2], year_of(c, 3, today)),
        ),
        (
            format!(
                r"from (?:the )?([0-3]?[0-9])(?:st|nd|rd|th)? (?:to|until|through) (?:the )?[0-3]?[0-9](?:st|nd|rd|th)? (?:of )?({MONTH})(?:,? ({YEAR}))?"
            ),
            |c, today, _| day_month(number(c, 1)?, &c[2], year_of(c, 3, today)),
        ),
        (format!(r"([0-3]?[0-9]) ?[-–] ?[0-3]?[0-9] (?:de )?({MONTH})(?: (?:de )?({YEAR}))?"), |c, today, _| {
            day_month(number(c, 1)?, &c[2], year_of(c, 3, today))
        }),
        (format!(r"{OF_DAY}([0-3]?[0-9])[/ -]({MONTH})[/ -]({YEAR}|[0-9]{{2}})"), |c, today, _| {
            day_month(number(c, 1)?, &c[2], full_year(number(c, 3)?, today))
        }),
        (
            format!(
                r"{OF_DAY}([0-3]?[0-9]|primero|uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince|veinte|treinta|veinti[a-zéó]+|dieci[a-zé]+|treinta y uno)(?:º|st|nd|rd|th)?[ /-]?(?:de |of )?({MONTH})\.?(?:,? ?(?:del? |of )?({YEAR}|este año|del año pasado|this year|last year))?"
            ),
            |c, today, _| day_month(number_of(&c[1])?, &c[2], year_of(c, 3, today)),
        ),
        (format!(r"{OF_DAY}(?:the )?({ORDINAL}) (?:of )?({MONTH})(?:,? ({YEAR}|{SPOKEN_YEAR}))?"), |c, today, _| {
            day_month(ordinal_of(&c[1])?, &c[2], year_of(c, 3, today))
        }),
        (
            format!(
                r"{OF_DAY}({MONTH})\.? (?:the )?([0-3]?[0-9])(?:st|nd|rd|th)?(?:,? ({YEAR}|of this year|this year|last year|of last year))?"
            ),
            |c, today, _| day_month(number(c, 2)?, &c[1], year_of(c, 3, today)),
        ),
        (format!(r"{OF_DAY}({MONTH}) (?:the )?({ORDINAL})(?:,? ({YEAR}|{SPOKEN_YEAR}))?"), |c, today, _| {
            day_month(ordinal_of(&c[2])?, &c[1], year_of(c, 3, today))
        }),
        (format!(r"({MONTH}) ?[-–] ?{MONTH} ?({YEAR})"), |c, _, _| month(number(c, 2)?, month_of(&c[1])?)),
        (
            format!(
                r"({MONTH})\.?(?: del?| of|,|-|/)? ?({YEAR}|{SPOKEN_YEAR}|(?:el )?año pasado|este (?:mismo )?año|last year|this year)"
            ),
            |c, today, _| month(year_of(c, 2, today)?, month_of(&c[1])?),
        ),
        (format!(r"({MONTH})[ -/]?'([0-9]{{2}})"), |c, today, _| {
            month(full_year(number(c, 2)?, today)?, month_of(&c[1])?)
        }),
        (format!(r"(0?[1-9]|1[0-2])[/-]({YEAR})"), |c, _, _| month(number(c, 2)?, number(c, 1)?)),
        (
            format!(r"(?:summer|winter|spring|fall|autumn|verano|invierno|primavera|otoño)(?: of| del?|,)? ({YEAR})"),
            |c, _, _| year(number(c, 1)?),
        ),
    ]
}

/// Dates that count from the day of the document.
fn counted() -> Vec<(String, DateParser)> {
    vec![
        // British shorthand: days, weeks and months as parts of a week and a year.
        (r"([0-9]{1,2})/(7|52|12) ago".to_owned(), |c, today, _| {
            moved(today, number(c, 1)?, part_of(&c[2])?, DateDirection::Back).map(DateExpression::Fixed)
        }),
        (r"(?:in|at|f/u|rv|review|review in|follow up|repeat(?: in)?|clinic|opd|see in) ([0-9]{1,2})/(7|52|12)".to_owned(), |c, today, _| {
            moved(today, number(c, 1)?, part_of(&c[2])?, DateDirection::Ahead).map(DateExpression::Ahead)
        }),
        (r"([0-9]{1,2})/(52|12)".to_owned(), |c, today, month_first| {
            let day = number(c, 1)? > 12 && &c[2] == "12";
            if month_first || day {
                return None;
            }
            moved(today, number(c, 1)?, part_of(&c[2])?, DateDirection::Ahead).map(DateExpression::Spell)
        }),
        (format!(r"(?:{RESULTS})\.?:?,? \(?(?:del? |of |from |on )?([0-3]?[0-9])[/-]([0-3]?[0-9])"), short),
        (format!(r"(?:{RESULTS})\.?:?,? \(?(?:del? |of |from |on )?([0-3]?[0-9])\.(1[0-2]|0[1-9])"), short),
        (format!(r"(?:{LEAD})\.?,? ([0-3]?[0-9])/([0-3]?[0-9])"), short),
        (format!(r"(?:{LEAD})\.?,? ([0-3][0-9])[.-](0[1-9]|1[0-2])"), short),
        (format!(r"(?:{DAY_WORD}|{DAY_SHORT})\.?,? (?:d[ií]a |the |el )?([0-3]?[0-9])[/.-](0?[1-9]|1[0-2])"), short),
        // Two figures with a nought each are no strength and no score.
        (r"([0-3][0-9])/(0[1-9]|1[0-2])".to_owned(), |c, today, first| {
            let zero = c[1].starts_with('0') || c[2].starts_with('0');
            zero.then(|| short(c, today, first)).flatten()
        }),
        (format!(r"({COUNT}) ?({UNIT}) (?:ago|atr[aá]s|antes de hoy|back)"), back),
        (r"(?:a fortnight|una quincena) (?:ago|atr[aá]s)|hace (?:una quincena|quince días)".to_owned(), |_, today, _| {
            moved(today, 2, DatePrecision::Week, DateDirection::Back).map(DateExpression::Fixed)
        }),
        (
            format!(r"(?:hace|hac[ií]a|har[aá]|llev[ao]s?|llevamos|llevaba|llevan|va para|for the (?:past|last)|over the (?:past|last)|(?:en|durante) l[oa]s [uú]ltim[oa]s) {ABOUT}({COUNT}) ({UNIT}|a)"),
            back,
        ),
        (format!(r"(?:x|for|during|durante|por) ?{ABOUT}({COUNT}) ?({UNIT})|({COUNT})[ -]({UNIT})(?: history|'s history| hx| h/o)|(?:de )?({COUNT}) ({UNIT}) (?:de )?evol(?:uci[oó]n)?"), lasting),
        (r"([0-9]{1,2}) a(?:[,.;)\n]|$)".to_owned(), |c, today, _| {
            moved(today, number(c, 1)?, DatePrecision::Year, DateDirection::Back).map(DateExpression::Since)
        }),
        (
            format!(
                r"(?:in|within|within the next|in the next|dentro de|en|en los pr[oó]ximos|en las pr[oó]ximas|a los|a las|f/u|follow[ -]?up(?: in| at)?|rtc(?: in)?|review(?: in)?|return in|back in|revisi[oó]n en|control en|volver en) {ABOUT}({COUNT}) ?({UNIT})(?:'s? time| time)?"
            ),
            |c, today, _| {
                // "A las doce y …": a letter is a unit after figures only.
                let spoken = c[2].len() == 1 && !c[1].starts_with(|sign: char| sign.is_ascii_digit());
                let unit = unit_of(&c[2]).filter(|_| !spoken)?;
                moved(today, number_of(&c[1])?, unit, DateDirection::Ahead).map(DateExpression::Ahead)
            },
        ),
        (r"(?:in|within) a fortnight(?:'s time)?".to_owned(), |_, today, _| {
            moved(today, 2, DatePrecision::Week, DateDirection::Ahead).map(DateExpression::Ahead)
        }),
        (format!(r"({DAY_WORD}|{DAY_SHORT})\.?,? (?:the |d[ií]a |el )?([0-3]?[0-9]|{ORDINAL})(?:st|nd|rd|th)?"), |c, _, _| {
            let day = number(c, 2).or_else(|| ordinal_of(&c[2]))?;
            (1..=31).contains(&day).then_some(DateExpression::DayOfMonth(day))
        }),
        (format!(r"(?:el )?({DAY_WORD}) antepasado|(?:the )?({DAY_WORD}) before last"), |c, today, _| {
            let day = weekday_of(c.get(1).or_else(|| c.get(2))?.as_str())?;
            let last = weekday_before(today, day)?.checked_sub_days(Days::new(7))?;
            Some(DateExpression::Fixed(FactDate::new(last, DatePrecision::Day)))
        }),
        (
            format!(
                r"(?:(?:last|this past|el pasado) ({DAY_WORD}|{DAY_SHORT})|(?:el )?({DAY_WORD}) pasado|({DAY_WORD}) week|(?:next|el pr[oó]ximo|este pr[oó]ximo) ({DAY_WORD}|{DAY_SHORT})|(?:el )?({DAY_WORD}) (?:que viene|pr[oó]ximo|que entra)|(?:on|el|this|este|by|since|desde el|para el|until|hasta el) ({DAY_WORD})|on ({DAY_SHORT})|({DAY_ALONE}))"
            ),
            weekday,
        ),
        (
            r"(?:last|la|el|next|this|esta|este|the coming|the following) ?(?:pasad[oa] |pr[oó]xim[oa] |past )?(semana|mes|año|week|month|year)(?: (pasad[oa]|que viene|pr[oó]xim[oa]|entrante|que entra|anterior))?|del? (semana|mes|año) (pasad[oa]|que viene|anterior)".to_owned(),
            period,
        ),
        (
            r"(the day before yesterday|the day after tomorrow|pasado mañana|yesterday|last night|ayer|anoche|anteayer|antier|antenoche|antes de ayer|today|hoy|esta mañana|esta tarde|esta noche|this morning|this afternoon|this evening|tonight|tomorrow|mañana)".to_owned(),
            near,
        ),
    ]
}

/// Dates without a year, and years alone.
fn partial() -> Vec<(String, DateParser)> {
    vec![
        (
            format!(
                r"(?:(?:last|el pasado) ({LONG_MONTH})|({LONG_MONTH}) pasado|(?:next|el pr[oó]ximo) ({LONG_MONTH})|(?:in|en|since|desde|early|late|mid|around|about|by|before|after|until|till|from|during|hacia|hasta|para|antes de|despu[eé]s de|(?:a )?principios de|(?:a )?finales de|(?:a )?mediados de|a fines de|este|this|del?|la de|pasado)[ -]({LONG_MONTH}))"
            ),
            month_alone,
        ),
        (
            r"(?:last|this past|the|el|este|since|desde el|in the|en) ?(?:pasado )?(summer|winter|spring|autumn|verano|invierno|primavera|otoño|fall semester|spring semester)(?: (pasad[oa]))?".to_owned(),
            season,
        ),
        (
            r"(?:at|since|before|over|around|by|after|en|desde|antes de|por|para|despu[eé]s de|(?:el )?puente de la|en la) ?(christmas|xmas|navidad(?:es)?|new year(?:'?s)?|año nuevo|reyes)".to_owned(),
            |c, _, _| Some(DateExpression::Month(match c[1].to_lowercase().as_str() {
                "christmas" | "xmas" | "navidad" | "navidades" => 12,
                _ => 1,
            })),
        ),
        (r"(?:on the|since the|by the|of the|the|el d[ií]a|d[ií]a|desde el|del|el) ([0-3]?[0-9])(st|nd|rd|th)?".to_owned(), day_alone),
        (format!(r"(?:on|since|by|set for|for) (?:the )?({ORDINAL})"), |c, _, _| ordinal_of(&c[1]).map(DateExpression::DayOfMonth)),
        (format!(r"({SPOKEN_YEAR})"), |c, today, _| {
            let said = spoken_year(&c[1])?;
            likely(said, today).then(|| year(said)).flatten()
        }),
        (r"(?:en el|en|del|desde el|in|of|since|de) '?([0-9]{2})|'([0-9]{2})".to_owned(), two_figures),
        (format!(r"({COUNT}) ({UNIT})"), |c, today, _| {
            // Years are an age.
            let unit = unit_of(&c[2]).filter(|unit| *unit != DatePrecision::Year)?;
            moved(today, number_of(&c[1])?, unit, DateDirection::Ahead).map(DateExpression::Spell)
        }),
        (format!(r"({YEAR})"), |c, today, _| {
            let said = number(c, 1)?;
            likely(said, today).then(|| year(said)).flatten()
        }),
    ]
}

pub(super) fn likely(year: u32, today: NaiveDate) -> bool {
    i32::try_from(year).is_ok_and(|year| (1930..=today.year() + 2).contains(&year))
}

pub(super) fn year(year: u32) -> Option<DateExpression> {
    Some(DateExpression::Fixed(FactDate::new(date(year, 1, 1)?, DatePrecision::Year)))
}

/// "26" is 2026, "88" is 1988.
pub(super) fn full_year(year: u32, today: NaiveDate) -> Option<u32> {
    let this = u32::try_from(today.year()).ok()?;
    Some(match year {
        0..=99 if 2000 + year <= this + 2 => 2000 + year,
        0..=99 => 1900 + year,
        _ => year,
    })
}

/// The year that a group names, in figures, in words, or by this one.
fn year_of(c: &Captures<'_>, group: usize, today: NaiveDate) -> Option<u32> {
    let words = c.get(group)?.as_str();
    if let Ok(year) = words.parse() {
        return Some(year);
    }
    let this = u32::try_from(today.year()).ok()?;
    match words {
        words if words.ends_with("año pasado") || words.ends_with("last year") => Some(this - 1),
        words if words.ends_with("año") || words.ends_with("this year") => Some(this),
        words => spoken_year(words),
    }
}

/// A complaint that lasts: "for three weeks", "3-day history", "5 días de evolución".
fn lasting(c: &Captures<'_>, today: NaiveDate, _: bool) -> Option<DateExpression> {
    let (count, unit) = [(1, 2), (3, 4), (5, 6)].into_iter().find_map(|(n, u)| c.get(n).zip(c.get(u)))?;
    moved(today, number_of(count.as_str())?, unit_of(unit.as_str())?, DateDirection::Back).map(DateExpression::Since)
}

/// A season without its year: to the year only, as the halves of the world have it at other times.
fn season(c: &Captures<'_>, today: NaiveDate, _: bool) -> Option<DateExpression> {
    let this = u32::try_from(today.year()).ok()?;
    let whole = &c[0];
    let back = whole.starts_with("last") || whole.contains("pasad") || whole.starts_with("this past");
    let begun = if c[1].contains("fall") || c[1].contains("autumn") || c[1].contains("otoño") { 9 } else { 7 };
    let past = today.month() < begun;
    if back || past { year(this - u32::from(past)) } else { year(this) }
}

/// "On the 17th", "el día 3": English needs the ending, Spanish the word for day or the end of the clause.
fn day_alone(c: &Captures<'_>, _: NaiveDate, month_first: bool) -> Option<DateExpression> {
    let day = number(c, 1).filter(|day| (1..=31).contains(day))?;
    let ending = c.get(2).is_some();
    let spanish = c[0].contains("el") || c[0].contains('d') && !c[0].contains("th");
    let sure = if month_first { ending } else { ending || spanish };
    sure.then_some(DateExpression::DayOfMonth(day))
}

/// "'24", "en el 98": two figures of a year, where they cannot be a day or an age.
fn two_figures(c: &Captures<'_>, today: NaiveDate, _: bool) -> Option<DateExpression> {
    let quoted = c[0].contains('\'');
    let figures = number(c, 1).or_else(|| number(c, 2))?;
    let decade = c[0].starts_with("en el ") || c[0].starts_with("del ") || c[0].starts_with("desde el ");
    let english = c[0].starts_with("in ") || c[0].starts_with("since ");
    let zero = c.get(1).is_some_and(|figures| figures.as_str().starts_with('0'));
    if !quoted && !(decade && figures > 31) && !(english && (zero || figures >= 60)) {
        return None;
    }
    full_year(figures, today).filter(|said| likely(*said, today)).and_then(year)
}

pub(super) fn number(c: &Captures<'_>, group: usize) -> Option<u32> {
    c.get(group)?.as_str().parse().ok()
}

fn date(year: u32, month: u32, day: u32) -> Option<NaiveDate> {
    NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)
}

fn fixed(year: u32, month: u32, day: u32) -> Option<DateExpression> {
    Some(DateExpression::Fixed(FactDate::new(date(year, month, day)?, DatePrecision::Day)))
}

fn month(year: u32, month: u32) -> Option<DateExpression> {
    Some(DateExpression::Fixed(FactDate::new(date(year, month, 1)?, DatePrecision::Month)))
}

fn day_month(day: u32, month: &str, year: Option<u32>) -> Option<DateExpression> {
    let month = month_of(month)?;
    match year {
        Some(year) => fixed(year, month, day),
        None => NaiveDate::from_ymd_opt(2000, month, day).map(|_| DateExpression::MonthDay { month, day }),
    }
}

/// Day and month in the order of the language, unless only the other order is possible.
fn ordered(first: u32, second: u32, month_first: bool) -> (u32, u32) {
    let (month, day) = if month_first { (first, second) } else { (second, first) };
    if month > 12 && day <= 12 { (day, month) } else { (month, day) }
}

fn numeric(c: &Captures<'_>, today: NaiveDate, month_first: bool) -> Option<DateExpression> {
    let (month, day) = ordered(number(c, 1)?, number(c, 2)?, month_first);
    let year = number(c, 3)?;
    fixed(full_year(year, today)?, month, day)
}

fn short(c: &Captures<'_>, _: NaiveDate, month_first: bool) -> Option<DateExpression> {
    let (month, day) = ordered(number(c, 1)?, number(c, 2)?, month_first);
    NaiveDate::from_ymd_opt(2000, month, day).map(|_| DateExpression::MonthDay { month, day })
}

fn part_of(whole: &str) -> Option<DatePrecision> {
    Some(match whole {
        "7" => DatePrecision::Day,
        "52" => DatePrecision::Week,
        "12" => DatePrecision::Month,
        _ => return None,
    })
}

fn back(c: &Captures<'_>, today: NaiveDate, _: bool) -> Option<DateExpression> {
    moved(today, number_of(&c[1])?, unit_of(&c[2])?, DateDirection::Back).map(DateExpression::Fixed)
}

fn weekday(c: &Captures<'_>, today: NaiveDate, _: bool) -> Option<DateExpression> {
    let at = |group: usize| c.get(group).and_then(|word| weekday_of(word.as_str()));
    let day = |date: NaiveDate| FactDate::new(date, DatePrecision::Day);
    if let Some(past) = at(1).or_else(|| at(2)) {
        return Some(DateExpression::Fixed(day(weekday_before(today, past)?)));
    }
    if let Some(after) = at(3) {
        return Some(DateExpression::Ahead(day(weekday_after(today, after)?.checked_add_days(Days::new(7))?)));
    }
    if let Some(next) = at(4).or_else(|| at(5)) {
        return Some(DateExpression::Ahead(day(weekday_after(today, next)?)));
    }
    at(6).or_else(|| at(7)).or_else(|| at(8)).map(DateExpression::Weekday)
}

fn month_alone(c: &Captures<'_>, today: NaiveDate, _: bool) -> Option<DateExpression> {
    let at = |group: usize| c.get(group).and_then(|word| month_of(word.as_str()));
    let resolved = |month: u32, from: NaiveDate, direction| DateExpression::Month(month).resolve(from, direction);
    if let Some(past) = at(1).or_else(|| at(2)) {
        return resolved(past, today.checked_sub_months(Months::new(1))?, DateDirection::Back)
            .map(DateExpression::Fixed);
    }
    if let Some(next) = at(3) {
        return resolved(next, today.checked_add_months(Months::new(1))?, DateDirection::Ahead)
            .map(DateExpression::Ahead);
    }
    at(4).map(DateExpression::Month)
}

fn period(c: &Captures<'_>, today: NaiveDate, _: bool) -> Option<DateExpression> {
    let whole = &c[0];
    let unit = unit_of(c.get(1).or_else(|| c.get(3))?.as_str())?;
    if whole.contains("pasad") || whole.starts_with("last") {
        return moved(today, 1, unit, DateDirection::Back).map(DateExpression::Fixed);
    }
    let next = ["next", "the coming", "the following"].iter().any(|word| whole.starts_with(word))
        || ["xim", "que viene", "entrante", "que entra"].iter().any(|word| whole.contains(word));
    if next { moved(today, 1, unit, DateDirection::Ahead).map(DateExpression::Ahead) } else { None }
}

fn near(c: &Captures<'_>, today: NaiveDate, _: bool) -> Option<DateExpression> {
    let by = |days: u32, direction| moved(today, days, DatePrecision::Day, direction);
    match &c[1] {
        "today" | "hoy" | "esta mañana" | "esta tarde" | "esta noche" | "this morning" | "this afternoon"
        | "this evening" | "tonight" => by(0, DateDirection::Back).map(DateExpression::Today),
        "anteayer" | "antier" | "antes de ayer" | "antenoche" | "the day before yesterday" => {
            by(2, DateDirection::Back).map(DateExpression::Fixed)
        }
        "the day after tomorrow" | "pasado mañana" => by(2, DateDirection::Ahead).map(DateExpression::Ahead),
        "yesterday" | "last night" | "ayer" | "anoche" => by(1, DateDirection::Back).map(DateExpression::Fixed),
        _ => by(1, DateDirection::Ahead).map(DateExpression::Ahead),
    }
}
