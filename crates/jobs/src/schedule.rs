//! When a job runs: a five-field cron expression in local time, at most once per local date, free of surprises where
//! clocks change. croner matches the calendar, chrono-tz finds the instant.

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, TimeZone, Timelike, Utc};
use chrono_tz::Tz;
use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Why an expression is refused. Kubernetes reads the same expressions, so only what means the same there is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ScheduleError {
    #[error("a schedule has five fields: minute, hour, day of month, month, day of week")]
    NotFiveFields,
    #[error("a schedule sets the day of month or the day of week, not both: cron implementations differ on both")]
    BothDayFields,
    #[error("minute and hour of a schedule are single numbers: a run belongs to one local date")]
    NotOncePerDay,
    #[error("a schedule may contain only numbers, names, and * , - /")]
    UnknownSyntax,
    #[error("a field of the schedule is out of range")]
    OutOfRange,
}

/// A validated expression.
#[derive(Debug, Clone)]
pub struct Schedule {
    text: String,
    cron: Cron,
    time: NaiveTime,
}

impl Schedule {
    /// # Errors
    /// See [`ScheduleError`].
    pub(crate) fn parse(text: &str) -> Result<Self, ScheduleError> {
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minute, hour, day_of_month, _, day_of_week] = fields[..] else {
            return Err(ScheduleError::NotFiveFields);
        };
        if !text.chars().all(|c| c.is_ascii_alphanumeric() || " *,-/".contains(c)) {
            return Err(ScheduleError::UnknownSyntax);
        }
        // L, W and the like are words of croner that Kubernetes does not know.
        let is_known_word = |word: &str| word.len() == 3 || word.is_empty();
        if !text.split(|c: char| !c.is_ascii_alphabetic()).all(is_known_word) {
            return Err(ScheduleError::UnknownSyntax);
        }
        if day_of_month != "*" && day_of_week != "*" {
            return Err(ScheduleError::BothDayFields);
        }
        let (Ok(minute), Ok(hour)) = (minute.parse(), hour.parse()) else {
            return Err(ScheduleError::NotOncePerDay);
        };
        let time = NaiveTime::from_hms_opt(hour, minute, 0).ok_or(ScheduleError::OutOfRange)?;
        let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
        let text = fields.join(" ");
        let cron = parser.parse(&text).map_err(|_| ScheduleError::OutOfRange)?;
        Ok(Self { text, cron, time })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the calendar fields include this date. The date is read as a date, in no time zone at all, so that no
    /// change of clocks can hide or repeat it.
    pub fn fires_on(&self, date: NaiveDate) -> bool {
        self.cron.is_time_matching(&date.and_time(self.time).and_utc()).unwrap_or(false)
    }

    /// The instant of the scheduled time on a local date, whether or not the schedule fires on it: the first of two
    /// when clocks go back, the first moment after the gap when they go forward. `None` for a date that the zone
    /// skipped altogether (Samoa had no 30 December 2011).
    pub(crate) fn instant(&self, date: NaiveDate, zone: Tz) -> Option<DateTime<Utc>> {
        let wanted = date.and_time(self.time);
        if let Some(at) = zone.from_local_datetime(&wanted).earliest() {
            return Some(at.to_utc());
        }
        let minutes_left = i64::from(24 * 60 - (self.time.hour() * 60 + self.time.minute()));
        (1..minutes_left)
            .find_map(|minute| zone.from_local_datetime(&(wanted + TimeDelta::minutes(minute))).earliest())
            .map(|at| at.to_utc())
    }
}

impl PartialEq for Schedule {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Serialize for Schedule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Schedule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    fn instant(schedule: &str, day: &str, zone: Tz) -> String {
        let at = Schedule::parse(schedule).unwrap().instant(date(day), zone);
        at.map_or_else(|| "none".into(), |at| at.to_rfc3339())
    }

    #[test]
    fn expressions_that_kubernetes_and_croner_read_differently_are_refused() {
        for (text, error) in [
            ("0 15 3 * * *", ScheduleError::NotFiveFields),
            ("15 3 * *", ScheduleError::NotFiveFields),
            ("@daily", ScheduleError::NotFiveFields),
            ("15 3 1 * 1", ScheduleError::BothDayFields),
            ("15 3 */2 * 1-5", ScheduleError::BothDayFields),
            ("*/5 3 * * *", ScheduleError::NotOncePerDay),
            ("15 1,13 * * *", ScheduleError::NotOncePerDay),
            ("15 3 L * *", ScheduleError::UnknownSyntax),
            ("15 3 15W * *", ScheduleError::UnknownSyntax),
            ("15 3 * * 5#2", ScheduleError::UnknownSyntax),
            ("15 3 ? * 1", ScheduleError::UnknownSyntax),
            ("75 3 * * *", ScheduleError::OutOfRange),
            ("15 3 40 * *", ScheduleError::OutOfRange),
        ] {
            assert_eq!(Schedule::parse(text).unwrap_err(), error, "{text}");
        }
    }

    #[test]
    fn the_calendar_fields_decide_the_dates() {
        let weekdays = Schedule::parse("15  3 * * MON-FRI").unwrap();
        assert_eq!(weekdays.as_str(), "15 3 * * MON-FRI");
        assert!(weekdays.fires_on(date("2026-03-06")), "a Friday");
        assert!(!weekdays.fires_on(date("2026-03-07")), "a Saturday");
        let first = Schedule::parse("15 3 1 */2 *").unwrap();
        assert!(first.fires_on(date("2026-03-01")) && !first.fires_on(date("2026-04-01")));
        let sunday = Schedule::parse("15 3 * * 0").unwrap();
        assert!(sunday.fires_on(date("2026-03-29")), "the night when Madrid has no 02:30");
    }

    #[test]
    fn a_time_in_the_gap_happens_right_after_it() {
        // Madrid, 29 March 2026: 02:00 becomes 03:00 at 01:00 UTC.
        assert_eq!(instant("30 2 * * *", "2026-03-29", Tz::Europe__Madrid), "2026-03-29T01:00:00+00:00");
        // Santiago, 6 September 2026: midnight becomes 01:00 at 04:00 UTC.
        assert_eq!(instant("15 0 * * *", "2026-09-06", Tz::America__Santiago), "2026-09-06T04:00:00+00:00");
        // Lord Howe, 4 October 2026: half an hour is skipped at 02:00.
        assert_eq!(instant("15 2 * * *", "2026-10-04", Tz::Australia__Lord_Howe), "2026-10-03T15:30:00+00:00");
    }

    #[test]
    fn a_time_that_comes_twice_counts_the_first_time() {
        // New York, 1 November 2026: 01:30 is 05:30 UTC and again 06:30 UTC.
        assert_eq!(instant("30 1 * * *", "2026-11-01", Tz::America__New_York), "2026-11-01T05:30:00+00:00");
    }

    #[test]
    fn a_date_that_a_zone_skipped_has_no_run() {
        assert_eq!(instant("15 3 * * *", "2011-12-30", Tz::Pacific__Apia), "none");
        assert_eq!(instant("15 3 * * *", "2011-12-31", Tz::Pacific__Apia), "2011-12-30T13:15:00+00:00");
    }
}
