//! The weeks and quarters that summaries are written of.

use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveTime, TimeDelta, Utc};

/// From Monday to Monday, UTC.
pub(super) fn week(at: DateTime<Utc>) -> (DateTime<Utc>, DateTime<Utc>) {
    let today = at.date_naive();
    let monday = today - Days::new(u64::from(today.weekday().num_days_from_monday()));
    let start = monday.and_time(NaiveTime::MIN).and_utc();
    (start, start + TimeDelta::days(7))
}

/// Three months, UTC.
pub(super) fn quarter(at: DateTime<Utc>) -> (DateTime<Utc>, DateTime<Utc>) {
    let first = |year: i32, month: u32| {
        NaiveDate::from_ymd_opt(year, month, 1).map_or(at, |date| date.and_time(NaiveTime::MIN).and_utc())
    };
    let month = at.month0() / 3 * 3 + 1;
    let end = if month == 10 { first(at.year() + 1, 1) } else { first(at.year(), month + 3) };
    (first(at.year(), month), end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utc(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn a_week_goes_from_monday_to_monday_and_a_quarter_over_three_months() {
        let sunday = utc("2026-06-28T23:59:59Z");
        assert_eq!(week(sunday), (utc("2026-06-22T00:00:00Z"), utc("2026-06-29T00:00:00Z")));
        assert_eq!(week(utc("2026-06-29T00:00:00Z")).0, utc("2026-06-29T00:00:00Z"));
        assert_eq!(quarter(sunday), (utc("2026-04-01T00:00:00Z"), utc("2026-07-01T00:00:00Z")));
        assert_eq!(quarter(utc("2026-12-31T10:00:00Z")).1, utc("2027-01-01T00:00:00Z"));
    }
}
