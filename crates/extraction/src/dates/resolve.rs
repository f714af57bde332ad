//! A date as written, and the date that it means as of a given day.

use chrono::{Datelike as _, Days, Months, NaiveDate, Weekday};

use crate::lexicon::word_lists::{self, WordList};
use anamnesis_core::fact_date::{DatePrecision, FactDate};
use anamnesis_text::{Language, number_words};

/// A date as far as its words determine it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateExpression {
    /// Complete, or counted back from the day of the document.
    Fixed(FactDate),
    /// Counted forward from the day of the document: for plans only.
    Ahead(FactDate),
    /// The day of the document itself ("discharged today"): of events only.
    Today(FactDate),
    /// A day and a month without a year.
    MonthDay { month: u32, day: u32 },
    /// A month without a year.
    Month(u32),
    /// A day of the week.
    Weekday(Weekday),
    /// A day of a month that is not named ("on the 17th").
    DayOfMonth(u32),
    /// Since when a complaint lasts ("for three weeks"): of conditions and symptoms only.
    Since(FactDate),
    /// A stretch of time without a word that says which way it counts ("clinic: 3 months"): ahead, of appointments only.
    Spell(FactDate),
}

/// Where a date without a year lies, seen from the day of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DateDirection {
    /// For past events.
    Back,
    /// For plans.
    Ahead,
}

impl DateExpression {
    /// The date, for a thing of this direction; `None` where such a thing cannot carry this date.
    pub(crate) fn resolve(self, today: NaiveDate, direction: DateDirection) -> Option<FactDate> {
        let on = |day: NaiveDate| match direction {
            DateDirection::Back => day <= today,
            DateDirection::Ahead => day >= today,
        };
        let years = match direction {
            DateDirection::Back => [today.year(), today.year() - 1],
            DateDirection::Ahead => [today.year(), today.year() + 1],
        };
        match self {
            Self::Fixed(date) => Some(date),
            Self::Ahead(date) | Self::Spell(date) => (direction == DateDirection::Ahead).then_some(date),
            Self::Since(date) => (direction == DateDirection::Back).then_some(date),
            Self::Today(date) => Some(date),
            Self::DayOfMonth(day) => {
                let first = NaiveDate::from_ymd_opt(today.year(), today.month(), 1)?;
                let months = (0..=2).filter_map(|n| match direction {
                    DateDirection::Back => first.checked_sub_months(Months::new(n)),
                    DateDirection::Ahead => first.checked_add_months(Months::new(n)),
                });
                let days = months.filter_map(|month| month.with_day(day));
                days.into_iter().find(|day| on(*day)).map(|day| FactDate::new(day, DatePrecision::Day))
            }
            Self::MonthDay { month, day } => years
                .into_iter()
                .filter_map(|year| NaiveDate::from_ymd_opt(year, month, day))
                .find(|day| on(*day))
                .map(|day| FactDate::new(day, DatePrecision::Day)),
            Self::Month(month) => {
                let this = NaiveDate::from_ymd_opt(today.year(), today.month(), 1)?;
                let fits = |first: &NaiveDate| match direction {
                    DateDirection::Back => *first <= this,
                    DateDirection::Ahead => *first >= this,
                };
                let mut firsts = years.into_iter().filter_map(|year| NaiveDate::from_ymd_opt(year, month, 1));
                firsts.find(fits).map(|first| FactDate::new(first, DatePrecision::Month))
            }
            Self::Weekday(day) => Some(FactDate::new(
                match direction {
                    DateDirection::Back => weekday_before(today, day)?,
                    DateDirection::Ahead => weekday_after(today, day)?,
                },
                DatePrecision::Day,
            )),
        }
    }
}

/// The last such day before today.
pub(super) fn weekday_before(today: NaiveDate, day: Weekday) -> Option<NaiveDate> {
    (1..=7).filter_map(|n| today.checked_sub_days(Days::new(n))).find(|date| date.weekday() == day)
}

/// The next such day after today.
pub(super) fn weekday_after(today: NaiveDate, day: Weekday) -> Option<NaiveDate> {
    (1..=7).filter_map(|n| today.checked_add_days(Days::new(n))).find(|date| date.weekday() == day)
}

/// A number of units from a day; `unit` is as [`unit_of`] gives it. Months end on their last day.
pub(super) fn moved(today: NaiveDate, count: u32, unit: DatePrecision, direction: DateDirection) -> Option<FactDate> {
    let days = |n: u32| match direction {
        DateDirection::Back => today.checked_sub_days(Days::new(u64::from(n))),
        DateDirection::Ahead => today.checked_add_days(Days::new(u64::from(n))),
    };
    let months = |n: u32| match direction {
        DateDirection::Back => today.checked_sub_months(Months::new(n)),
        DateDirection::Ahead => today.checked_add_months(Months::new(n)),
    };
    let day = match unit {
        DatePrecision::Day => days(count),
        DatePrecision::Week => days(count.checked_mul(7)?),
        DatePrecision::Month => months(count),
        DatePrecision::Year => months(count.checked_mul(12)?),
    }?;
    Some(FactDate::new(day, unit))
}

/// The unit that a word names, folded or not.
pub(super) fn unit_of(word: &str) -> Option<DatePrecision> {
    Some(match word {
        "d" | "day" | "days" | "night" | "nights" | "noche" | "noches" | "dia" | "dias" | "día" | "días" => {
            DatePrecision::Day
        }
        "w" | "wk" | "wks" | "week" | "weeks" | "sem" | "sems" | "semana" | "semanas" => DatePrecision::Week,
        "mo" | "mos" | "month" | "months" | "mes" | "meses" => DatePrecision::Month,
        "y" | "yr" | "yrs" | "a" | "year" | "years" | "año" | "años" | "ano" | "anos" => DatePrecision::Year,
        _ => return None,
    })
}

/// Numbers as they are said in dates.
pub(super) fn number_of(word: &str) -> Option<u32> {
    const WORDS: &[&[&str]] = &[
        &["un", "una", "uno", "one", "a", "an", "primero", "first"],
        &["dos", "two", "a couple of", "un par de", "couple of", "a couple", "couple", "par de"],
        &["tres", "three"],
        &["cuatro", "four"],
        &["cinco", "five"],
        &["seis", "six"],
        &["siete", "seven"],
        &["ocho", "eight"],
        &["nueve", "nine"],
        &["diez", "ten"],
        &["once", "eleven"],
        &["doce", "twelve"],
        &["trece", "thirteen"],
        &["catorce", "fourteen"],
        &["quince", "fifteen"],
        &["dieciséis", "dieciseis", "sixteen"],
        &["diecisiete", "seventeen"],
        &["dieciocho", "eighteen"],
        &["diecinueve", "nineteen"],
        &["veinte", "twenty"],
        &["veintiuno", "veintiún"],
        &["veintidós", "veintidos"],
        &["veintitrés", "veintitres"],
        &["veinticuatro"],
        &["veinticinco"],
        &["veintiséis", "veintiseis"],
        &["veintisiete"],
        &["veintiocho"],
        &["veintinueve"],
        &["treinta", "thirty"],
    ];
    word.parse().ok().or_else(|| {
        let at = WORDS.iter().position(|same| same.contains(&word))?;
        u32::try_from(at + 1).ok()
    })
}

pub(super) fn month_of(word: &str) -> Option<u32> {
    const STARTS: &[&[&str]] = &[
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
    let at = STARTS.iter().position(|starts| starts.iter().any(|start| word.starts_with(start)))?;
    u32::try_from(at + 1).ok()
}

pub(super) fn weekday_of(word: &str) -> Option<Weekday> {
    const STARTS: &[(&[&str], Weekday)] = &[
        (&["lun", "mon"], Weekday::Mon),
        (&["mart", "tue"], Weekday::Tue),
        (&["mi", "wed"], Weekday::Wed),
        (&["jue", "thu"], Weekday::Thu),
        (&["vie", "fri"], Weekday::Fri),
        (&["sá", "sab", "sat"], Weekday::Sat),
        (&["dom", "sun"], Weekday::Sun),
    ];
    STARTS.iter().find(|(starts, _)| starts.iter().any(|start| word.starts_with(start))).map(|(_, day)| *day)
}

/// Days of a month as ordinals: "sixteenth", "twenty first", "vigésimo".
pub(super) fn ordinal_of(word: &str) -> Option<u32> {
    static UNITS: WordList = WordList::listed(word_lists::DATES, "resolve.units");
    let unit = |word: &str| UNITS.iter().position(|known| *known == word).and_then(|at| u32::try_from(at + 1).ok());
    let word = word.trim().replace('-', " ");
    match word.split_once(' ') {
        Some(("twenty", rest)) => unit(rest).filter(|n| *n < 10).map(|n| 20 + n),
        Some(("thirty", "first")) => Some(31),
        Some(_) => None,
        None => match word.as_str() {
            "twentieth" => Some(20),
            "thirtieth" => Some(30),
            word => unit(word),
        },
    }
}

/// A year in words: "two thousand eight", "twenty twenty four", "nineteen ninety", "dos mil quince".
pub(super) fn spoken_year(words: &str) -> Option<u32> {
    let language =
        if words.contains("mil") || words.contains("noventa") { Language::Spanish } else { Language::English };
    let parts: Vec<u32> =
        number_words(words, language).iter().filter_map(|number| number.digits.parse::<u32>().ok()).collect();
    match parts.as_slice() {
        [year] if (1930..=2100).contains(year) => Some(*year),
        [century @ 19..=20, rest @ 10..=99] => Some(century * 100 + rest),
        [two_thousand @ 2000, rest @ 1..=99] => Some(two_thousand + rest),
        [century @ 19..=20, tens @ 20..=90, unit @ 1..=9] => Some(century * 100 + tens + unit),
        _ => None,
    }
}
