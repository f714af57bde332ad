//! When a fact happened, began or is due: a calendar date with the precision that was said (model.md, "Decisions" 7).

use chrono::{Datelike as _, Days, Months, NaiveDate};
use serde::{Deserialize, Serialize};

use super::coded_enum::codes;

codes!(
    /// How exactly a date was said.
    DatePrecision { Day = "day", Week = "week", Month = "month", Year = "year" }
);

/// A typed date. It reaches typed values only, never text, quotes, logs, events or vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FactDate {
    /// The day itself; for a month or a year its first day; for a week a day in it.
    pub day: NaiveDate,
    pub precision: DatePrecision,
}

impl FactDate {
    pub fn new(day: NaiveDate, precision: DatePrecision) -> Self {
        let first = match precision {
            DatePrecision::Day | DatePrecision::Week => Some(day),
            DatePrecision::Month => day.with_day(1),
            DatePrecision::Year => NaiveDate::from_ymd_opt(day.year(), 1, 1),
        };
        Self { day: first.unwrap_or(day), precision }
    }

    /// The last day that it may mean: the day itself, a week from a day in it, the end of a month or a year.
    pub fn last_day(&self) -> Option<NaiveDate> {
        let months = |n| self.day.checked_add_months(Months::new(n))?.checked_sub_days(Days::new(1));
        match self.precision {
            DatePrecision::Day => Some(self.day),
            DatePrecision::Week => self.day.checked_add_days(Days::new(7)),
            DatePrecision::Month => months(1),
            DatePrecision::Year => months(12),
        }
    }

    /// ISO 8601 to the known precision. A week is given by its month: the form serves as identity of an event.
    pub fn iso(&self) -> String {
        let format = match self.precision {
            DatePrecision::Day => "%Y-%m-%d",
            DatePrecision::Week | DatePrecision::Month => "%Y-%m",
            DatePrecision::Year => "%Y",
        };
        self.day.format(format).to_string()
    }
}
