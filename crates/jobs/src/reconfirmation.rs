//! Reconfirmation: a time-bound state whose last confirmation is two days old gets one question per cycle (seed 002,
//! sections 4 and 8). The task is an event in the outbox whose id is (memory, cycle), so that a repetition, a second
//! worker or a replay does not repeat the question.

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;

use super::driver::{Job, JobContext, JobDependencies, JobError, JobPage, JobWindow};
use super::keyset_pages::next_after;
use super::ledger::RunCursor;
use super::permits::Permits;
use super::policy::Thresholds;
use super::registry::JobName;
use super::status::status;
use anamnesis_core::event::{DueCause, ReconfirmationDue};
use anamnesis_core::lifecycle::{LifecyclePolicy, status_at};
use anamnesis_sql::Transaction;
use anamnesis_store::consents::MemoryUse;
use anamnesis_store::due_transitions::{self, DueMemory, TransitionKey, TransitionQueue};
use anamnesis_store::outbox::{self, NewOutboxEvent};

/// The job.
pub(crate) struct Reconfirmation {
    pub(crate) policy: LifecyclePolicy,
    permits: Permits,
}

/// Thresholds of `jobs/reconfirmation.toml`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReconfirmationThresholds {
    pub(crate) reconfirm_hours: u32,
}

impl Thresholds for ReconfirmationThresholds {
    fn check(&self) -> Result<(), &'static str> {
        if self.reconfirm_hours == 0 { Err("reconfirm_hours is at least 1") } else { Ok(()) }
    }
}

status!(
    /// Result of a reconfirmation run.
    ReconfirmationStatus {
        examined,
        /// Questions put into the outbox.
        asked,
    }
    changed: asked
);

/// A row and since when its confirmation is due.
type ReconfirmationRequest = (DueMemory, DateTime<Utc>);

#[async_trait]
impl Job for Reconfirmation {
    const NAME: JobName = JobName::Reconfirmation;
    type Change = ReconfirmationRequest;
    type Status = ReconfirmationStatus;

    fn from_dependencies(dependencies: &JobDependencies<'_>) -> Self {
        Self { policy: dependencies.policies.lifecycle(), permits: Permits::from_dependencies(dependencies) }
    }

    async fn plan(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        from: Option<&RunCursor>,
    ) -> Result<JobPage<ReconfirmationRequest>, JobError> {
        let after = RunCursor::after(from, TransitionKey::START)?;
        let until = window.cutoff - TimeDelta::hours(i64::from(self.policy.reconfirm_hours));
        let rows = due_transitions::page(tx, window.org, TransitionQueue::Unasked, until, window.after(after)).await?;
        let next = next_after(&rows, window, |row| row.place);
        let examined = rows.len() as u64;
        // A state past its whole interval is left to expiry.
        let changes = rows.into_iter().filter_map(|row| {
            let moment = status_at(&row.life, window.cutoff, &self.policy);
            moment.reconfirm_due.then_some(row).zip(moment.reconfirm_due_at)
        });
        let mut changes: Vec<ReconfirmationRequest> = changes.collect();
        let patients = changes.iter().map(|(row, _)| row.patient);
        let permits = self.permits.permitting(tx, window.org, MemoryUse::Work, patients).await?;
        changes.retain(|(row, _)| permits.contains(&row.patient));
        Ok(JobPage { changes, examined, next })
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        context: &JobContext<'_>,
        window: &JobWindow,
        changes: &[ReconfirmationRequest],
    ) -> Result<(), JobError> {
        due_transitions::mark_asked(tx, window.org, changes, context.now).await?;
        let keys = context.keys_of(window.org, changes.iter().map(|(row, _)| row.patient)).await?;
        let events: Vec<_> = changes
            .iter()
            .filter_map(|(row, due)| {
                let keys = keys.get(&row.patient)?;
                let key: [&[u8]; 2] = [row.memory.0.as_bytes(), &row.cycle.to_be_bytes()];
                let due = ReconfirmationDue {
                    memory_id: row.memory,
                    cause: DueCause::Age,
                    due_at: Some(*due),
                    cycle: Some(row.cycle),
                    contradiction_id: None,
                };
                Some(NewOutboxEvent::new(keys, &key, &due))
            })
            .collect();
        outbox::enqueue(tx, &events, context.now, context.entropy).await?;
        Ok(())
    }

    fn tally(&self, page: &JobPage<ReconfirmationRequest>) -> ReconfirmationStatus {
        ReconfirmationStatus { examined: page.examined, asked: page.changes.len() as u64 }
    }
}
