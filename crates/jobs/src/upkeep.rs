//! Housekeeping: deletes rows that are no longer needed, so that the store grows with memories and not with traffic:
//! ids of messages, published events, abandoned attempts, and quarantined messages.

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;

use super::driver::{Job, JobContext, JobDependencies, JobError, JobPage, JobWindow};
use super::keyset_pages::{self, DueQueues};
use super::ledger::RunCursor;
use super::policy::Thresholds;
use super::registry::JobName;
use super::status::status;
use anamnesis_core::failpoints;
use anamnesis_sql::Transaction;
use anamnesis_store::upkeep::{self, ExpiredRow, UpkeepKey, UpkeepQueue};

/// The job.
#[derive(Debug, Clone)]
pub(crate) struct Upkeep {
    pub(crate) policy: UpkeepThresholds,
}

/// Thresholds of `jobs/upkeep.toml`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpkeepThresholds {
    pub(crate) message_days: u32,
    pub(crate) event_days: u32,
    pub(crate) attempt_days: u32,
    /// Six years by default, as HIPAA requires for documentation (45 CFR 164.316).
    #[serde(default = "six_years")]
    pub audit_days: u32,
    /// Files of older versions do not have the next three; their rows expire nevertheless.
    #[serde(default = "body_days")]
    pub(crate) quarantine_body_days: u32,
    #[serde(default = "row_days")]
    pub(crate) quarantine_row_days: u32,
    #[serde(default = "body_days")]
    pub(crate) answer_days: u32,
    /// Nor do they have these five.
    #[serde(default = "child_to_adult")]
    pub(crate) archive_days: u32,
    #[serde(default = "row_days")]
    pub(crate) run_days: u32,
    #[serde(default = "six_years")]
    pub(crate) hold_days: u32,
    #[serde(default = "child_to_adult")]
    pub(crate) receipt_days: u32,
    #[serde(default = "child_to_adult")]
    pub(crate) pattern_days: u32,
}

fn child_to_adult() -> u32 {
    9_497
}

fn six_years() -> u32 {
    2_192
}

fn body_days() -> u32 {
    30
}

fn row_days() -> u32 {
    365
}

impl Thresholds for UpkeepThresholds {
    fn check(&self) -> Result<(), &'static str> {
        let days = 1..=36_500;
        let quarantine = [self.quarantine_body_days, self.quarantine_row_days, self.answer_days];
        let all = [self.message_days, self.event_days, self.attempt_days, self.audit_days];
        let records = [self.archive_days, self.run_days, self.hold_days, self.receipt_days, self.pattern_days];
        if all.iter().chain(&quarantine).chain(&records).all(|d| days.contains(d)) {
            Ok(())
        } else {
            Err("days are 1 to 36500")
        }
    }
}

status!(
    /// Result of a housekeeping run: deleted rows.
    UpkeepStatus {
        examined,
        /// Ids of messages.
        messages,
        /// Published events.
        events,
        /// Attempts of messages, and of batches as one.
        attempts,
        /// Blocks of the audit trail whose entries were deleted.
        audit_blocks,
        /// Contents of quarantined messages.
        quarantined_bodies,
        /// Quarantined messages without a content.
        quarantined_rows,
        /// Answers to what people asked for.
        answers,
        /// Sealed texts of archived documents.
        archives,
        /// Rows of the ledger of runs.
        runs,
        /// Legal holds that were lifted.
        holds,
        /// Receipts of complete erasures.
        receipts,
        /// Counts over groups of patients.
        patterns,
    }
    changed: messages | events | attempts | quarantined_bodies | quarantined_rows | answers | audit_blocks | archives | runs
        | holds | receipts | patterns
);

impl Upkeep {
    fn until(&self, queue: UpkeepQueue, cutoff: DateTime<Utc>) -> DateTime<Utc> {
        let days = match queue {
            UpkeepQueue::Messages => self.policy.message_days,
            UpkeepQueue::Events => self.policy.event_days,
            UpkeepQueue::Attempts | UpkeepQueue::Batches => self.policy.attempt_days,
            UpkeepQueue::Audit => self.policy.audit_days,
            UpkeepQueue::QuarantineBodies => self.policy.quarantine_body_days,
            UpkeepQueue::QuarantineRows => self.policy.quarantine_row_days,
            UpkeepQueue::Answers => self.policy.answer_days,
            UpkeepQueue::Archives => self.policy.archive_days,
            UpkeepQueue::Runs => self.policy.run_days,
            UpkeepQueue::Holds => self.policy.hold_days,
            UpkeepQueue::Receipts => self.policy.receipt_days,
            UpkeepQueue::Patterns => self.policy.pattern_days,
        };
        cutoff - TimeDelta::days(i64::from(days))
    }
}

#[async_trait]
impl DueQueues for Upkeep {
    type Queue = UpkeepQueue;
    type Position = UpkeepKey;
    type Row = ExpiredRow;
    const QUEUES: &'static [UpkeepQueue] = &[
        UpkeepQueue::Messages,
        UpkeepQueue::Events,
        UpkeepQueue::Attempts,
        UpkeepQueue::Batches,
        UpkeepQueue::QuarantineBodies,
        UpkeepQueue::QuarantineRows,
        UpkeepQueue::Answers,
        UpkeepQueue::Audit,
        UpkeepQueue::Archives,
        UpkeepQueue::Runs,
        UpkeepQueue::Holds,
        UpkeepQueue::Receipts,
        UpkeepQueue::Patterns,
    ];

    fn start(queue: UpkeepQueue) -> UpkeepKey {
        UpkeepKey::start(queue)
    }

    fn place(row: &ExpiredRow) -> UpkeepKey {
        row.place.clone()
    }

    async fn read(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        queue: UpkeepQueue,
        after: &UpkeepKey,
    ) -> Result<Vec<ExpiredRow>, JobError> {
        let until = self.until(queue, window.cutoff);
        let for_ever = match queue {
            UpkeepQueue::QuarantineBodies => failpoints::is("quarantine_forever"),
            UpkeepQueue::Answers => failpoints::is("answers_for_ever"),
            _ => false,
        };
        if for_ever {
            return Ok(Vec::new());
        }
        Ok(upkeep::expired_rows(tx, window.org, queue, until, window.after(after)).await?)
    }
}

#[async_trait]
impl Job for Upkeep {
    const NAME: JobName = JobName::Upkeep;
    type Change = ExpiredRow;
    type Status = UpkeepStatus;

    fn from_dependencies(JobDependencies { policies, .. }: &JobDependencies<'_>) -> Self {
        Self { policy: policies.upkeep.thresholds.clone() }
    }

    async fn plan(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        from: Option<&RunCursor>,
    ) -> Result<JobPage<ExpiredRow>, JobError> {
        keyset_pages::page(self, tx, window, from).await
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        context: &JobContext<'_>,
        window: &JobWindow,
        changes: &[ExpiredRow],
    ) -> Result<(), JobError> {
        for queue in Self::QUEUES.iter().copied() {
            let rows: Vec<&ExpiredRow> = changes.iter().filter(|spent| spent.queue == queue).collect();
            let instants = (self.until(queue, window.cutoff), context.now);
            if queue == UpkeepQueue::Receipts && !rows.is_empty() {
                upkeep::end_receipts(tx, window.org, context.keys.platform(), instants).await?;
            }
            upkeep::forget(tx, window.org, queue, instants, &rows).await?;
        }
        Ok(())
    }

    fn tally(&self, page: &JobPage<ExpiredRow>) -> UpkeepStatus {
        let count = |queue| page.changes.iter().filter(|spent| spent.queue == queue).count() as u64;
        UpkeepStatus {
            examined: page.examined,
            messages: count(UpkeepQueue::Messages),
            events: count(UpkeepQueue::Events),
            attempts: count(UpkeepQueue::Attempts) + count(UpkeepQueue::Batches),
            audit_blocks: count(UpkeepQueue::Audit),
            quarantined_bodies: count(UpkeepQueue::QuarantineBodies),
            quarantined_rows: count(UpkeepQueue::QuarantineRows),
            answers: count(UpkeepQueue::Answers),
            archives: count(UpkeepQueue::Archives),
            runs: count(UpkeepQueue::Runs),
            holds: count(UpkeepQueue::Holds),
            receipts: count(UpkeepQueue::Receipts),
            patterns: count(UpkeepQueue::Patterns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_each_queue_are_stored_for_the_days_of_its_kind() {
        let policy = UpkeepThresholds {
            message_days: 90,
            event_days: 30,
            attempt_days: 7,
            audit_days: 2_192,
            quarantine_body_days: 30,
            quarantine_row_days: 365,
            answer_days: 31,
            archive_days: 9_497,
            run_days: 366,
            hold_days: 2_193,
            receipt_days: 9_498,
            pattern_days: 9_499,
        };
        let job = Upkeep { policy };
        let cutoff: DateTime<Utc> = "2026-05-01T04:30:00Z".parse().unwrap();
        let quarantine = [
            (UpkeepQueue::QuarantineBodies, 30),
            (UpkeepQueue::QuarantineRows, 365),
            (UpkeepQueue::Answers, 31),
            (UpkeepQueue::Audit, 2_192),
        ];
        let records = [
            (UpkeepQueue::Archives, 9_497),
            (UpkeepQueue::Runs, 366),
            (UpkeepQueue::Holds, 2_193),
            (UpkeepQueue::Receipts, 9_498),
            (UpkeepQueue::Patterns, 9_499),
        ];
        for (queue, days) in [
            (UpkeepQueue::Messages, 90),
            (UpkeepQueue::Events, 30),
            (UpkeepQueue::Attempts, 7),
            (UpkeepQueue::Batches, 7),
        ]
        .into_iter()
        .chain(quarantine)
        .chain(records)
        {
            assert_eq!(cutoff - job.until(queue, cutoff), TimeDelta::days(days), "{queue:?}");
        }
        assert_eq!(Upkeep::QUEUES.len(), 13, "each queue is gone through");
    }
}
