//! Cohort patterns: what the patients of an organisation have in common in a month that is over, from columns in the clear
//! alone, with rare values left out (seed 003, phase 3; `domain::cohort`). A month is told once and never again.

use async_trait::async_trait;
use chrono::{DateTime, Datelike, Months, NaiveDate, NaiveTime, TimeDelta, Utc};
use serde::Deserialize;

use super::driver::{Desk, Job, JobError, Means, Page, Window};
use super::ledger::Cursor;
use super::policy::Thresholds;
use super::registry::JobName;
use super::status::status;
use crate::domain::cohort::told;
use crate::store::cohorts::{self, Pattern};
use crate::store::engine::Transaction;

/// The job.
#[derive(Debug, Clone)]
pub struct CohortPatterns {
    pub policy: CohortThresholds,
}

/// Thresholds of `jobs/cohort_patterns.toml`. How many patients must share a value is no matter of policy
/// (`domain::cohort::K`).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CohortThresholds {
    pub settled_days: u32,
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
    type Change = Pattern;
    type Status = CohortPatternsStatus;

    fn of(Means { policies, .. }: &Means<'_>) -> Self {
        Self { policy: policies.cohort_patterns.thresholds.clone() }
    }

    async fn plan(&self, tx: &mut Transaction, window: &Window, _: Option<&Cursor>) -> Result<Page<Pattern>, JobError> {
        let (from, until) = month(window.cutoff, self.policy.settled_days);
        let name = from.format("%Y-%m").to_string();
        if cohorts::is_told(tx, window.org, &name).await? {
            return Ok(Page::end());
        }
        let counts = cohorts::counts(tx, window.org, (from, until)).await?;
        let examined = counts.values().map(|values| values.len() as u64).sum();
        let changes = counts.iter().flat_map(|(dimension, values)| {
            let (name, dimension) = (name.clone(), dimension.clone());
            told(values).into_iter().map(move |(value, patients)| Pattern {
                month: name.clone(),
                dimension: dimension.clone(),
                value,
                patients,
            })
        });
        Ok(Page { changes: changes.collect(), examined, next: None })
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        desk: &Desk<'_>,
        window: &Window,
        changes: &[Pattern],
    ) -> Result<(), JobError> {
        cohorts::keep(tx, window.org, changes, desk.now).await?;
        Ok(())
    }

    fn tally(&self, page: &Page<Pattern>) -> CohortPatternsStatus {
        CohortPatternsStatus { examined: page.examined, told: page.changes.len() as u64 }
    }
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
