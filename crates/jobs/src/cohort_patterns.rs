//! Cohort patterns: common features of an organisation's patients in a past month, computed only from unencrypted
//! columns, without rare values (seed 003, phase 3; `core::cohort`), over patients who permit research. A month is
//! announced once; a month without publishable results is computed once.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Datelike, Months, NaiveDate, NaiveTime, TimeDelta, Utc};
use serde::Deserialize;
use uuid::Uuid;

use super::driver::{Job, JobContext, JobDependencies, JobError, JobPage, JobWindow};
use super::ledger::RunCursor;
use super::policy::Thresholds;
use super::registry::JobName;
use super::status::status;
use anamnesis_core::cohort::publishable_counts;
use anamnesis_crypto::KeyStore;
use anamnesis_sql::Transaction;
use anamnesis_store::cohorts::{self, CohortCount};
use anamnesis_store::consents;
use anamnesis_store::decay_index;

/// The job.
pub(crate) struct CohortPatterns {
    pub(crate) policy: CohortThresholds,
    keys: Arc<dyn KeyStore>,
    /// Patients who permit it at this instant are counted.
    now: DateTime<Utc>,
}

/// Thresholds of `jobs/cohort_patterns.toml`. How many patients must share a value is no matter of policy
/// (`core::cohort::K`).
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
    /// Result of a cohort patterns run.
    CohortPatternsStatus {
        /// Counts of the month.
        examined,
        /// Those that may be published.
        told,
    }
    changed: told
);

/// A month that was computed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CohortMonth {
    /// The instant of its beginning, as a mark: a later month has a higher one.
    mark: Uuid,
    counts: Vec<CohortCount>,
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
    type Change = CohortMonth;
    type Status = CohortPatternsStatus;

    fn from_dependencies(JobDependencies { policies, keys, now, .. }: &JobDependencies<'_>) -> Self {
        Self { policy: policies.cohort_patterns.thresholds.clone(), keys: Arc::clone(keys), now: *now }
    }

    async fn plan(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        _: Option<&RunCursor>,
    ) -> Result<JobPage<CohortMonth>, JobError> {
        let (from, until) = month(window.cutoff, self.policy.settled_days);
        let name = from.format("%Y-%m").to_string();
        let mark = mark(from);
        if last_computed_month(tx, window).await? == Some(mark) || cohorts::is_published(tx, window.org, &name).await? {
            return Ok(JobPage::end());
        }
        let left_out = consents::left_out_of_research(tx, window.org, self.keys.as_ref(), self.now).await?;
        let counts = cohorts::counts(tx, window.org, &(from..until), &left_out).await?;
        let examined = counts.values().map(|values| values.len() as u64).sum();
        let published = counts.iter().flat_map(|(dimension, values)| {
            let (name, dimension) = (name.clone(), dimension.clone());
            publishable_counts(values).into_iter().map(move |(value, patients)| CohortCount {
                month: name.clone(),
                dimension: dimension.clone(),
                value,
                patients,
            })
        });
        let month = CohortMonth { mark, counts: published.collect() };
        Ok(JobPage { changes: vec![month], examined, next: None })
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        context: &JobContext<'_>,
        window: &JobWindow,
        changes: &[CohortMonth],
    ) -> Result<(), JobError> {
        for month in changes {
            cohorts::keep(tx, window.org, &month.counts, context.now).await?;
            // An earlier month, asked for by a person, does not hide a later one.
            if last_computed_month(tx, window).await?.is_none_or(|before| before < month.mark) {
                decay_index::set_mark(tx, window.org, Self::NAME.code(), month.mark, context.now).await?;
            }
        }
        Ok(())
    }

    fn tally(&self, page: &JobPage<CohortMonth>) -> CohortPatternsStatus {
        let told = page.changes.iter().map(|month| month.counts.len() as u64).sum();
        CohortPatternsStatus { examined: page.examined, told }
    }
}

/// Names a month by its beginning, in the order of time.
fn mark(from: DateTime<Utc>) -> Uuid {
    Uuid::from_u128(u128::from(from.timestamp().unsigned_abs()))
}

/// The latest month that was computed.
async fn last_computed_month(tx: &mut Transaction, window: &JobWindow) -> Result<Option<Uuid>, JobError> {
    Ok(decay_index::mark(tx, window.org, JobName::CohortPatterns.code()).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_is_announced_when_it_has_been_over_for_long_enough() {
        let utc = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
        let june = (utc("2026-06-01T00:00:00Z"), utc("2026-07-01T00:00:00Z"));
        assert_eq!(month(utc("2026-07-08T05:30:00Z"), 7), june);
        assert_eq!(month(utc("2026-07-07T05:30:00Z"), 7).1, june.0, "June is not settled yet");
        assert_eq!(month(utc("2026-01-20T05:30:00Z"), 7).0, utc("2025-12-01T00:00:00Z"));
    }
}
