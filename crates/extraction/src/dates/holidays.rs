//! Feasts and public holidays as dates: those of one day each year, those that move with Easter or with the days of the
//! week, and those that people mean loosely ("over Christmas"), which are months.

use chrono::{Datelike as _, Days, NaiveDate, Weekday};
use regex::Captures;

use super::resolve::DateExpression;
use anamnesis_core::fact_date::{DatePrecision, FactDate};

/// Feasts that are one day of every year, and the pattern of their names.
const FIXED: &[(&str, u32, u32)] = &[
    ("new year(?:['’]?s)? day|d[ií]a de año nuevo", 1, 1),
    ("new year(?:['’]?s)? eve|nochevieja|fin de año|v[ií]spera de año nuevo|hogmanay", 12, 31),
    ("(?:d[ií]a|noche) de reyes|epiphany|twelfth night", 1, 6),
    ("australia day|invasion day", 1, 26),
    ("waitangi day", 2, 6),
    ("(?:saint |st\\.? )?valentine['’]?s day|san valent[ií]n|d[ií]a de los enamorados", 2, 14),
    ("(?:saint |st\\.? )?patrick['’]?s day|paddy['’]?s day|d[ií]a de san patricio", 3, 17),
    ("d[ií]a de la mujer", 3, 8),
    ("anzac day", 4, 25),
    ("may day|d[ií]a del trabajo|d[ií]a del trabajador", 5, 1),
    ("juneteenth", 6, 19),
    ("(?:noche|d[ií]a|v[ií]spera) de san juan", 6, 24),
    ("(?:fourth|4th) of july|independence day", 7, 4),
    ("d[ií]a de la hispanidad|d[ií]a del pilar|puente del pilar|d[ií]a de la raza", 10, 12),
    ("halloween|noche de brujas", 10, 31),
    ("todos los santos|all saints(?:['’]? day)?", 11, 1),
    ("d[ií]a de (?:los )?muertos|d[ií]a de (?:los )?difuntos|all souls(?:['’]? day)?", 11, 2),
    ("bonfire night|guy fawkes(?: night)?", 11, 5),
    ("remembrance day|veterans['’]? day", 11, 11),
    ("puente de la constituci[oó]n|d[ií]a de la constituci[oó]n", 12, 6),
    ("(?:d[ií]a de )?la inmaculada|la pur[ií]sima", 12, 8),
    ("(?:d[ií]a de )?la virgen de guadalupe", 12, 12),
    ("christmas eve|nochebuena", 12, 24),
    ("christmas day|xmas day|d[ií]a de navidad", 12, 25),
    ("(?:saint |st\\.? )stephen['’]?s(?: day| night)?|stephen['’]?s (?:day|night)|boxing day", 12, 26),
    ("d[ií]a de los inocentes", 12, 28),
];

/// Days from Easter Sunday, whether only the month is meant, and the names.
const OF_EASTER: &[(&str, i64, bool)] = &[
    ("easter sunday|domingo de (?:resurrecci[oó]n|pascua)", 0, false),
    ("good friday|viernes santo", -2, false),
    ("holy thursday|jueves santo", -3, false),
    ("easter monday|lunes de pascua", 1, false),
    ("ash wednesday|mi[eé]rcoles de ceniza", -46, false),
    ("shrove tuesday|pancake day|mardi gras|martes de carnaval", -47, false),
    ("whitsun|pentecost[eé]s?", 49, false),
    ("corpus christi|d[ií]a del corpus", 60, false),
    ("carnaval(?:es)?|carnival", -47, true),
    ("easter|semana santa|holy week|pascua", 0, true),
    ("lent|cuaresma", -40, true),
];

/// The pattern of all names, without a group.
pub(super) fn names() -> String {
    let fixed = FIXED.iter().map(|(names, ..)| *names);
    let moved = OF_EASTER.iter().map(|(names, ..)| *names);
    let loose = ["thanks ?giving(?: day)?", "labor day", "memorial day", "melbourne cup(?: day)?"];
    fixed.chain(moved).chain(loose).collect::<Vec<_>>().join("|")
}

/// A feast with or without its year. The first group is the word before it, the second its name, the third its year.
pub(super) fn feast(c: &Captures<'_>, today: NaiveDate, _: bool) -> Option<DateExpression> {
    let name = c.get(2)?.as_str();
    // "Lent" is a verb too.
    if matches!(name, "lent" | "pascua") && c.get(1).is_none() && c.get(3).is_none() {
        return None;
    }
    let said_year = c.get(3).and_then(|year| year.as_str().parse::<i32>().ok());
    if let Some((_, month, day)) = FIXED.iter().find(|(names, ..)| is_one_of(names, name)) {
        return match said_year {
            Some(year) => exact(NaiveDate::from_ymd_opt(year, *month, *day)?, false),
            None => Some(DateExpression::MonthDay { month: *month, day: *day }),
        };
    }
    if let Some(year) = said_year {
        return day_of(name, year).and_then(|(day, loose)| exact(day, loose));
    }
    let before = c.get(1).map_or("", |word| word.as_str());
    let ahead =
        ["after", "next", "until", "till", "para", "hasta", "despu"].iter().any(|word| before.starts_with(word));
    let this = today.year();
    let (day, loose) = day_of(name, this)?;
    let (day, loose) = match (ahead, day <= today) {
        (true, true) => return None,
        (_, true) => (day, loose),
        (true, false) => return Some(DateExpression::Ahead(date(day, loose))),
        (false, false) => day_of(name, this - 1)?,
    };
    exact(day, loose)
}

fn exact(day: NaiveDate, loose: bool) -> Option<DateExpression> {
    Some(DateExpression::Fixed(date(day, loose)))
}

fn date(day: NaiveDate, loose: bool) -> FactDate {
    FactDate::new(day, if loose { DatePrecision::Month } else { DatePrecision::Day })
}

/// The day of a feast that moves, in a year, and whether only its month is meant.
fn day_of(name: &str, year: i32) -> Option<(NaiveDate, bool)> {
    if let Some((_, days, loose)) = OF_EASTER.iter().find(|(names, ..)| is_one_of(names, name)) {
        let easter = easter(year)?;
        let day = match u64::try_from(*days) {
            Ok(after) => easter.checked_add_days(Days::new(after)),
            Err(_) => easter.checked_sub_days(Days::new(days.unsigned_abs())),
        };
        return day.map(|day| (day, *loose));
    }
    let name = name.replace(' ', "");
    match name.as_str() {
        name if name.starts_with("thanks") => {
            NaiveDate::from_weekday_of_month_opt(year, 11, Weekday::Thu, 4).map(|day| (day, true))
        }
        "laborday" => NaiveDate::from_weekday_of_month_opt(year, 9, Weekday::Mon, 1).map(|day| (day, false)),
        "memorialday" => {
            let last = NaiveDate::from_weekday_of_month_opt(year, 5, Weekday::Mon, 5);
            last.or_else(|| NaiveDate::from_weekday_of_month_opt(year, 5, Weekday::Mon, 4)).map(|day| (day, false))
        }
        name if name.starts_with("melbournecup") => {
            NaiveDate::from_weekday_of_month_opt(year, 11, Weekday::Tue, 1).map(|day| (day, false))
        }
        _ => None,
    }
}

/// Whether one of the names of a pattern is meant; the names were matched before, so that a whole match of one suffices.
fn is_one_of(names: &'static str, name: &str) -> bool {
    use std::collections::HashMap;
    use std::sync::LazyLock;
    static COMPILED: LazyLock<HashMap<&'static str, regex::Regex>> = LazyLock::new(|| {
        let all = FIXED.iter().map(|(names, ..)| *names).chain(OF_EASTER.iter().map(|(names, ..)| *names));
        all.filter_map(|names| regex::Regex::new(&format!("^(?:{names})$")).ok().map(|one| (names, one))).collect()
    });
    COMPILED.get(names).is_some_and(|one| one.is_match(name))
}

/// Easter Sunday of a year of the Gregorian calendar (the anonymous algorithm).
fn easter(year: i32) -> Option<NaiveDate> {
    let (a, b, c) = (year % 19, year / 100, year % 100);
    let (d, e) = (b / 4, b % 4);
    let g = (8 * b + 13) / 25;
    let h = (19 * a + b - d - g + 15) % 30;
    let (i, k) = (c / 4, c % 4);
    let l = (32 + 2 * e + 2 * i - h - k) % 7;
    let m = (a + 11 * h + 19 * l) / 433;
    let month = (h + l - 7 * m + 90) / 25;
    let day = (h + l - 7 * m + 33 * month + 19) % 32;
    NaiveDate::from_ymd_opt(year, u32::try_from(month).ok()?, u32::try_from(day).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn easter_is_where_the_calendar_has_it() {
        for (year, month, day) in [(2022, 4, 17), (2024, 3, 31), (2025, 4, 20), (2026, 4, 5)] {
            assert_eq!(easter(year), NaiveDate::from_ymd_opt(year, month, day));
        }
    }
}
