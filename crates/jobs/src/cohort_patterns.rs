//! Cohort patterns: what the patients of an organisation have in common in a month that is over, from columns in the clear
//! alone, with rare values left out (seed 003, phase 3; `domain::cohort`), of those who permit research. A month is announced once and never again; one of which
//! nothing may be told is reckoned once.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Datelike, Months, NaiveDate, NaiveTime, TimeDelta, Utc};
use serde::Deserialize;
use uuid::Uuid;

use super::driver::{Desk, Job, JobError, Means, Page, Window};
use super::ledger::Cursor;
use super::policy::Thresholds;
use super::registry::JobName;
use super::status::status;
use anamnesis_core::cohort::told;
use anamnesis_crypto::KeyStore;
use anamnesis_sql::Transaction;
use anamnesis_store::cohorts::{self, Pattern};
use anamnesis_store::consents;
use anamnesis_store::fading;

/// The job.
pub(crate) struct CohortPatterns {
    pub(crate) policy: CohortThresholds,
    keys: Arc<dyn KeyStore>,
    /// Who permits it at this moment is counted.
    now: DateTime<Utc>,
}

/// Thresholds of `jobs/cohort_patterns.toml`. How many patients must share a value is no matter of policy
/// (`domain::cohort::K`).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CohortThresholds {
    pub(crate) settled_days: u32,
}

impl Thresholds for CohortThresholds {
    fn check(&self) -> Result<(), &'static str> {
        if (1..=366).contains(&self.settled_days) { Ok(()) } else { Err("settled_days is 1 to 366") }
    }
}

status!(
    /// What a night of cohort patterns did.
    CohortPatternsStatus {
        /// Counts of the month.
        examined,
        /// Those that may be told.
        told,
    }
    changed: told
);

/// A month that was reckoned.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Month {
    /// The instant of its beginning, as a mark: a later month has a higher one.
    mark: Uuid,
    told: Vec<Pattern>,
}

/// The last month that was over so many days ago.
fn month(cutoff: DateTime<Utc>, settled_days: u32) -> (DateTime<Utc>, DateTime<Utc>) {
    let last = (cutoff - TimeDelta::days(i64::from(settled_days))).date_naive();
    let end = NaiveDate::from_ymd_opt(last.year(), last.month(), 1).unwrap_or(last);
    let start = end.checked_sub_months(Months::new(1)).unwrap_or(end);
    (start.and_time(NaiveTime::MIN).and_utc(), end.and_time(NaiveTime::MIN).and_utc())
}

#[async_trait]
impl Job for CohortPatterns {
    const NAME: JobName = JobName::CohortPatterns;
    type Change = Month;
    type Status = CohortPatternsStatus;

    fn of(Means { policies, keys, now, .. }: &Means<'_>) -> Self {
        Self { policy: policies.cohort_patterns.thresholds.clone(), keys: Arc::clone(keys), now: *now }
    }

    async fn plan(&self, tx: &mut Transaction, window: &Window, _: Option<&Cursor>) -> Result<Page<Month>, JobError> {
        let (from, until) = month(window.cutoff, self.policy.settled_days);
        let name = from.format("%Y-%m").to_string();
        let mark = mark(from);
        if reckoned(tx, window).await? == Some(mark) || cohorts::is_told(tx, window.org, &name).await? {
            return Ok(Page::end());
        }
        let left_out = consents::left_out_of_research(tx, window.org, self.keys.as_ref(), self.now).await?;
        let counts = cohorts::counts(tx, window.org, &(from..until), &left_out).await?;
        let examined = counts.values().map(|values| values.len() as u64).sum();
        let told = counts.iter().flat_map(|(dimension, values)| {
            let (name, dimension) = (name.clone(), dimension.clone());
            told(values).into_iter().map(move |(value, patients)| Pattern {
                month: name.clone(),
                dimension: dimension.clone(),
                value,
                patients,
            })
        });
        let month = Month { mark, told: told.collect() };
        Ok(Page { changes: vec![month], examined, next: None })
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        desk: &Desk<'_>,
        window: &Window,
        changes: &[Month],
    ) -> Result<(), JobError> {
        for month in changes {
            cohorts::keep(tx, window.org, &month.told, desk.now).await?;
            // An earlier month, asked for by a person, does not hide a later one.
            if reckoned(tx, window).await?.is_none_or(|before| before < month.mark) {
                fading::set_mark(tx, window.org, Self::NAME.code(), month.mark, desk.now).await?;
            }
        }
        Ok(())
    }

    fn tally(&self, page: &Page<Month>) -> CohortPatternsStatus {
        let told = page.changes.iter().map(|month| month.told.len() as u64).sum();
        CohortPatternsStatus { examined: page.examined, told }
    }
}

/// Names a month by its beginning, in the order of time.
fn mark(from: DateTime<Utc>) -> Uuid {
    Uuid::from_u128(u128::from(from.timestamp().unsigned_abs()))
}

/// The latest month that was reckoned.
async fn reckoned(tx: &mut Transaction, window: &Window) -> Result<Option<Uuid>, JobError> {
    Ok(fading::mark(tx, window.org, JobName::CohortPatterns.code()).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_told_when_it_has_been_over_for_long_enough() {
        let utc = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
        let june = (utc("2026-06-01T00:00:00Z"), utc("2026-07-01T00:00:00Z"));
        assert_eq!(month(utc("2026-07-08T05:30:00Z"), 7), june);
        assert_eq!(month(utc("2026-07-07T05:30:00Z"), 7).1, june.0, "June is not settled yet");
        assert_eq!(month(utc("2026-01-20T05:30:00Z"), 7).0, utc("2025-12-01T00:00:00Z"));
    }
}
