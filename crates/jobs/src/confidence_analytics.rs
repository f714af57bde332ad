//! Confidence analytics: the confidence of a patient's statements over time, compared with the patient's own baseline
//! (seed 004, "Cognitive Decline Analytics"; `core::confidence_trend`). An alert is raised once when it falls, and
//! again only after it recovered.

use std::collections::BTreeMap;

use async_trait::async_trait;
use chrono::{DateTime, Offset as _, TimeDelta, TimeZone as _, Utc};
use uuid::Uuid;

use super::driver::{Job, JobContext, JobDependencies, JobError, JobPage, JobWindow};
use super::keyset_pages::next_after;
use super::ledger::RunCursor;
use super::permits::Permits;
use super::policy::Thresholds;
use super::registry::JobName;
use super::status::status;
use anamnesis_core::clock::micros;
pub(crate) use anamnesis_core::confidence_trend::TrendPolicy;
use anamnesis_core::confidence_trend::{ConfidenceTrend, TrendStatement, course};
use anamnesis_core::event::ConfidenceAlert;
use anamnesis_core::ids::{PatientId, derive};
use anamnesis_core::scope::Scope;
use anamnesis_sql::Transaction;
use anamnesis_store::confidence_trends::{self, ComputedTrend, DailyReadings};
use anamnesis_store::consents::MemoryUse;
use anamnesis_store::outbox::{self, NewOutboxEvent};
use anamnesis_store::summary_inputs;

/// The job.
pub(crate) struct ConfidenceAnalytics {
    pub(crate) policy: TrendPolicy,
    permits: Permits,
}

impl Thresholds for TrendPolicy {
    fn check(&self) -> Result<(), &'static str> {
        let days = 1..=3_650;
        if !days.contains(&self.recent_days) || !days.contains(&self.baseline_days) {
            return Err("recent_days and baseline_days are 1 to 3650");
        }
        if self.min_baseline_days < 2 || self.min_recent == 0 {
            return Err("min_baseline_days is at least 2, min_recent at least 1");
        }
        let unit = 0.0..=1.0;
        if !unit.contains(&self.min_drop) || !unit.contains(&self.threshold) || !(0.0..=100.0).contains(&self.min_mads)
        {
            return Err("min_drop and threshold are 0 to 1, min_mads 0 to 100");
        }
        Ok(())
    }
}

status!(
    /// Result of a confidence analytics run.
    ConfidenceAnalyticsStatus {
        /// Patients with new documents.
        examined,
        /// Trends that are other than before. A run that the version before began has the old name.
        #[serde(alias = "reckoned")]
        trends_updated,
        /// Patients with a falling trend: an alert is raised.
        alerts,
    }
    changed: trends_updated
);

/// A course that is other than before.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TrendChange {
    scope: Scope,
    said: Vec<TrendStatement>,
    input: Uuid,
    /// An alert is to be raised.
    falls: bool,
    /// Without readings, which are sealed.
    course: ConfidenceTrend,
}

impl ConfidenceAnalytics {
    fn change(
        &self,
        scope: Scope,
        said: Vec<TrendStatement>,
        known: Option<&(Uuid, bool)>,
        cutoff: DateTime<Utc>,
        offset: TimeDelta,
    ) -> Option<TrendChange> {
        let course = course(&said, &DailyReadings::new(), cutoff, offset, &self.policy);
        let text = serde_json::to_string(&course).ok()?;
        let input = derive("confidence_course", &[text.as_bytes()]);
        let was_alerted = known.is_some_and(|(_, told)| *told);
        let falls = course.alert.is_some() && !was_alerted;
        known.is_none_or(|(before, _)| *before != input).then_some(TrendChange { scope, said, input, falls, course })
    }
}

/// How far the organisation's clock is from UTC then; an unknown zone is UTC.
async fn offset(tx: &mut Transaction, window: &JobWindow) -> Result<TimeDelta, JobError> {
    let zone = confidence_trends::zone(tx, window.org).await?;
    let zone: chrono_tz::Tz = zone.and_then(|name| name.parse().ok()).unwrap_or(chrono_tz::Tz::UTC);
    let local = zone.offset_from_utc_datetime(&window.cutoff.naive_utc());
    Ok(TimeDelta::seconds(i64::from(local.fix().local_minus_utc())))
}

#[async_trait]
impl Job for ConfidenceAnalytics {
    const NAME: JobName = JobName::ConfidenceAnalytics;
    type Change = TrendChange;
    type Status = ConfidenceAnalyticsStatus;

    fn from_dependencies(dependencies: &JobDependencies<'_>) -> Self {
        Self {
            policy: dependencies.policies.confidence_analytics.thresholds,
            permits: Permits::from_dependencies(dependencies),
        }
    }

    async fn plan(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        from: Option<&RunCursor>,
    ) -> Result<JobPage<TrendChange>, JobError> {
        let after = RunCursor::after(from, Uuid::nil())?;
        let settled = summary_inputs::settled(tx, window.org, Self::NAME.code(), window.cutoff).await?;
        // The recent period moves on, so every patient with a statement in it is computed again.
        let recent = TimeDelta::days(i64::from(self.policy.recent_days) + 1);
        let since = settled.map_or(DateTime::UNIX_EPOCH, |settled| settled - recent);
        let patients = summary_inputs::patients(tx, window.org, &(since..window.cutoff), window.after(after)).await?;
        let next = next_after(&patients, window, |patient| patient.0);
        if patients.is_empty() {
            return Ok(JobPage::end());
        }
        let offset = offset(tx, window).await?;
        let mut said = confidence_trends::said(tx, window.org, &patients, window.cutoff).await?;
        let known = confidence_trends::known(tx, window.org, &patients).await?;
        let permits = self.permits.permitting(tx, window.org, MemoryUse::Work, patients.iter().copied()).await?;
        let changes = patients.iter().filter(|patient| permits.contains(patient)).filter_map(|patient| {
            let scope = Scope::new(window.org, *patient).ok()?;
            self.change(scope, said.remove(patient)?, known.get(patient), window.cutoff, offset)
        });
        Ok(JobPage { changes: changes.collect(), examined: patients.len() as u64, next })
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        context: &JobContext<'_>,
        window: &JobWindow,
        changes: &[TrendChange],
    ) -> Result<(), JobError> {
        let patients: Vec<PatientId> = changes.iter().map(|change| change.scope.patient()).collect();
        let keys = context.keys_by_scope(window.org, patients.iter().copied()).await?;
        let offset = offset(tx, window).await?;
        let mut readings: BTreeMap<PatientId, DailyReadings> =
            confidence_trends::readings(tx, window.org, &keys, &patients, window.cutoff).await?;
        let days = i64::from(self.policy.recent_days) + i64::from(self.policy.baseline_days);
        let within = (window.cutoff - TimeDelta::days(days)).date_naive()..=window.cutoff.date_naive();
        for (patient, regimens) in confidence_trends::regimens(tx, window.org, &keys, &patients, &within).await? {
            readings.entry(patient).or_default().extend(regimens);
        }
        let trends = changes.iter().map(|change| {
            let own = readings.remove(&change.scope.patient()).unwrap_or_default();
            let course = course(&change.said, &own, window.cutoff, offset, &self.policy);
            ComputedTrend { scope: change.scope, input: change.input, course }
        });
        let trends: Vec<ComputedTrend> = trends.collect();
        confidence_trends::keep(tx, &keys, &trends, window.cutoff, context.now, context.entropy).await?;
        let events: Vec<_> = changes
            .iter()
            .filter(|change| change.falls)
            .filter_map(|change| {
                let keys = keys.get(&change.scope)?;
                let key = micros(window.cutoff).to_be_bytes();
                let alert = ConfidenceAlert { cause: change.course.alert, as_of: window.cutoff };
                Some(NewOutboxEvent::new(keys, &[&key], &alert))
            })
            .collect();
        outbox::enqueue(tx, &events, context.now, context.entropy).await?;
        Ok(())
    }

    fn tally(&self, page: &JobPage<TrendChange>) -> ConfidenceAnalyticsStatus {
        ConfidenceAnalyticsStatus {
            examined: page.examined,
            trends_updated: page.changes.len() as u64,
            alerts: page.changes.iter().filter(|change| change.falls).count() as u64,
        }
    }
}
