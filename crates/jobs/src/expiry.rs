//! Expiry: every time-driven row of the state table (model.md, "States"). A memory that was not confirmed, an inference
//! past its day, a signal that was not refreshed moves to the state that time gives it, as of the instant at which it
//! happened; its log, its clinical row and an event say so in the same transaction.

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;

use super::driver::{Job, JobContext, JobDependencies, JobError, JobPage, JobWindow};
use super::keyset_pages::{self, DueQueues};
use super::ledger::RunCursor;
use super::policy::Thresholds;
use super::registry::JobName;
use super::status::status;
use anamnesis_core::clock::micros;
use anamnesis_core::event::MemoryChanged;
use anamnesis_core::lifecycle::{LifecyclePolicy, status_at};
use anamnesis_core::memory::{Class, State};
use anamnesis_crypto::PatientKeys;
use anamnesis_sql::Transaction;
use anamnesis_store::due_transitions::{self, DueMemory, MemoryTransition, TransitionKey, TransitionQueue};
use anamnesis_store::outbox::{self, NewOutboxEvent};

/// The job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expiry {
    pub(crate) policy: LifecyclePolicy,
}

status!(
    /// Result of an expiry run.
    ExpiryStatus {
        examined,
        /// Time-bound states that no one confirmed.
        resolved_unconfirmed,
        /// Inferences and memories past their own end.
        expired,
        /// Health signals that were not refreshed.
        stale,
    }
    changed: resolved_unconfirmed | expired | stale
);

/// Thresholds of `jobs/expiry.toml` (model.md, "States").
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpiryThresholds {
    pub(crate) unconfirmed_days: u32,
    pub(crate) stale_days: u32,
    pub(crate) inference_hours: u32,
    /// Absent in a policy file that was written for an earlier version.
    #[serde(default = "min_extraction_confidence")]
    pub(crate) min_extraction_confidence: f64,
}

fn min_extraction_confidence() -> f64 {
    LifecyclePolicy::default().min_extraction_confidence
}

impl Thresholds for ExpiryThresholds {
    fn check(&self) -> Result<(), &'static str> {
        if !(0.0..=1.0).contains(&self.min_extraction_confidence) {
            return Err("min_extraction_confidence is 0.0 to 1.0");
        }
        if !(1..=24).contains(&self.inference_hours) {
            return Err("inference_hours is 1 to 24: an inference never lives longer than a day");
        }
        let days = 1..=3_650;
        if !days.contains(&self.unconfirmed_days) || !days.contains(&self.stale_days) {
            return Err("unconfirmed_days and stale_days are 1 to 3650");
        }
        Ok(())
    }
}

impl Expiry {
    /// Rows of a queue can be due only if their instant is at or before this one.
    fn until(&self, queue: TransitionQueue, cutoff: DateTime<Utc>) -> DateTime<Utc> {
        let days = |days: u32| TimeDelta::days(i64::from(days));
        match queue {
            TransitionQueue::TimeBound | TransitionQueue::Unasked => cutoff - days(self.policy.unconfirmed_days),
            TransitionQueue::Signals => cutoff - days(self.policy.stale_days),
            TransitionQueue::Expiring => cutoff,
        }
    }

    /// Time-bound states are in two queues. Rows of the first are done when the second is read, except in a preview.
    fn was_seen(&self, row: &DueMemory, cutoff: DateTime<Utc>) -> bool {
        row.life.class == Class::TimeBoundState
            && row.life.last_confirmed_at.is_some_and(|at| at <= self.until(TransitionQueue::TimeBound, cutoff))
    }
}

#[async_trait]
impl DueQueues for Expiry {
    type Queue = TransitionQueue;
    type Position = TransitionKey;
    type Row = (TransitionQueue, DueMemory);
    const QUEUES: &'static [TransitionQueue] =
        &[TransitionQueue::TimeBound, TransitionQueue::Expiring, TransitionQueue::Signals];

    fn start(_: TransitionQueue) -> TransitionKey {
        TransitionKey::START
    }

    fn place(row: &(TransitionQueue, DueMemory)) -> TransitionKey {
        row.1.place
    }

    async fn read(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        queue: TransitionQueue,
        after: &TransitionKey,
    ) -> Result<Vec<(TransitionQueue, DueMemory)>, JobError> {
        let until = self.until(queue, window.cutoff);
        let rows = due_transitions::page(tx, window.org, queue, until, window.after(*after)).await?;
        Ok(rows.into_iter().map(|row| (queue, row)).collect())
    }
}

#[async_trait]
impl Job for Expiry {
    const NAME: JobName = JobName::Expiry;
    type Change = MemoryTransition;
    type Status = ExpiryStatus;

    fn from_dependencies(JobDependencies { policies, .. }: &JobDependencies<'_>) -> Self {
        Self { policy: policies.lifecycle() }
    }

    async fn plan(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        from: Option<&RunCursor>,
    ) -> Result<JobPage<MemoryTransition>, JobError> {
        let page = keyset_pages::page(self, tx, window, from).await?;
        let mut rows = page.changes;
        rows.retain(|(queue, row)| *queue != TransitionQueue::Expiring || !self.was_seen(row, window.cutoff));
        let examined = rows.len() as u64;
        let changes = rows.into_iter().filter_map(|(_, row)| {
            let moment = status_at(&row.life, window.cutoff, &self.policy);
            let since = moment.since?;
            (moment.state != row.life.state).then_some(MemoryTransition { row, to: moment.state, since })
        });
        Ok(JobPage { changes: changes.collect(), examined, next: page.next })
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        context: &JobContext<'_>,
        window: &JobWindow,
        changes: &[MemoryTransition],
    ) -> Result<(), JobError> {
        due_transitions::apply_transitions(tx, window.org, changes, context.now).await?;
        let keys = context.keys_of(window.org, changes.iter().map(|moved| moved.row.patient)).await?;
        let events: Vec<_> = changes
            .iter()
            .filter_map(|moved| {
                let keys = keys.get(&moved.row.patient)?;
                Some(changed(keys, moved))
            })
            .collect();
        outbox::enqueue(tx, &events, context.now, context.entropy).await?;
        Ok(())
    }

    fn tally(&self, page: &JobPage<MemoryTransition>) -> ExpiryStatus {
        let count = |state| page.changes.iter().filter(|moved| moved.to == state).count() as u64;
        ExpiryStatus {
            examined: page.examined,
            resolved_unconfirmed: count(State::ResolvedUnconfirmed),
            expired: count(State::Expired),
            stale: count(State::Stale),
        }
    }
}

/// The same event that a document would have announced, had one touched the memory at that time.
fn changed<'a>(keys: &'a PatientKeys, moved: &MemoryTransition) -> NewOutboxEvent<'a> {
    let (row, state) = (&moved.row, moved.to.code());
    let (since, cycle) = (micros(moved.since).to_be_bytes(), row.cycle.to_be_bytes());
    let key: [&[u8]; 4] = [row.memory.0.as_bytes(), state.as_bytes(), &since, &cycle];
    let (kind, class) = (row.kind, row.life.class);
    let data = MemoryChanged { memory_id: row.memory, kind, class, change: state, state: moved.to };
    NewOutboxEvent::new(keys, &key, &data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policies;

    #[test]
    fn each_queue_ends_at_its_own_interval_before_the_cutoff() {
        let mut policy = Policies::embedded().unwrap().lifecycle();
        (policy.unconfirmed_days, policy.stale_days) = (7, 3);
        let job = Expiry { policy };
        let cutoff: DateTime<Utc> = "2026-03-10T02:10:00Z".parse().unwrap();
        for (queue, until) in [
            (TransitionQueue::TimeBound, "2026-03-03T02:10:00Z"),
            (TransitionQueue::Unasked, "2026-03-03T02:10:00Z"),
            (TransitionQueue::Signals, "2026-03-07T02:10:00Z"),
            (TransitionQueue::Expiring, "2026-03-10T02:10:00Z"),
        ] {
            assert_eq!(job.until(queue, cutoff), until.parse::<DateTime<Utc>>().unwrap(), "{queue:?}");
        }
        assert!(Expiry::QUEUES.iter().all(|queue| Expiry::start(*queue) == TransitionKey::START));
        assert!(!Expiry::QUEUES.contains(&TransitionQueue::Unasked), "that one is reconfirmation's");
    }
}
