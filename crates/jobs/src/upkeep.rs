//! Upkeep: rows that served their purpose go, so that the store grows with what is remembered and not with what passed
//! through it: ids of messages, published events, attempts that nobody goes on with, and what was set aside.

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;

use super::driver::{Desk, Job, JobError, Means, Page, Window};
use super::lanes::{self, Lanes};
use super::ledger::Cursor;
use super::policy::Thresholds;
use super::registry::JobName;
use super::status::status;
use anamnesis_core::failpoints;
use anamnesis_sql::Transaction;
use anamnesis_store::upkeep::{self, After, Lane, Spent};

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
    /// Six years where nothing is said: what HIPAA asks of documentation (45 CFR 164.316).
    #[serde(default = "six_years")]
    pub audit_days: u32,
    /// Files of older versions do not have the next three: what they speak of has a term all the same.
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
        let asides = [self.quarantine_body_days, self.quarantine_row_days, self.answer_days];
        let all = [self.message_days, self.event_days, self.attempt_days, self.audit_days];
        let records = [self.archive_days, self.run_days, self.hold_days, self.receipt_days, self.pattern_days];
        if all.iter().chain(&asides).chain(&records).all(|d| days.contains(d)) {
            Ok(())
        } else {
            Err("days are 1 to 36500")
        }
    }
}

status!(
    /// What a run of upkeep did: rows that are gone.
    UpkeepStatus {
        examined,
        /// Ids of messages.
        messages,
        /// Published events.
        events,
        /// Attempts of messages, and of batches as one.
        attempts,
        /// Blocks of the audit trail whose entries are gone.
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
    fn until(&self, lane: Lane, cutoff: DateTime<Utc>) -> DateTime<Utc> {
        let days = match lane {
            Lane::Messages => self.policy.message_days,
            Lane::Events => self.policy.event_days,
            Lane::Attempts | Lane::Batches => self.policy.attempt_days,
            Lane::Audit => self.policy.audit_days,
            Lane::AsideBodies => self.policy.quarantine_body_days,
            Lane::Asides => self.policy.quarantine_row_days,
            Lane::Answers => self.policy.answer_days,
            Lane::Archives => self.policy.archive_days,
            Lane::Runs => self.policy.run_days,
            Lane::Holds => self.policy.hold_days,
            Lane::Receipts => self.policy.receipt_days,
            Lane::Patterns => self.policy.pattern_days,
        };
        cutoff - TimeDelta::days(i64::from(days))
    }
}

#[async_trait]
impl Lanes for Upkeep {
    type Lane = Lane;
    type Place = After;
    type Row = Spent;
    const LANES: &'static [Lane] = &[
        Lane::Messages,
        Lane::Events,
        Lane::Attempts,
        Lane::Batches,
        Lane::AsideBodies,
        Lane::Asides,
        Lane::Answers,
        Lane::Audit,
        Lane::Archives,
        Lane::Runs,
        Lane::Holds,
        Lane::Receipts,
        Lane::Patterns,
    ];

    fn start(lane: Lane) -> After {
        After::start(lane)
    }

    fn place(row: &Spent) -> After {
        row.place.clone()
    }

    async fn read(
        &self,
        tx: &mut Transaction,
        window: &Window,
        lane: Lane,
        after: &After,
    ) -> Result<Vec<Spent>, JobError> {
        let until = self.until(lane, window.cutoff);
        let for_ever = match lane {
            Lane::AsideBodies => failpoints::is("aside_for_ever"),
            Lane::Answers => failpoints::is("answers_for_ever"),
            _ => false,
        };
        if for_ever {
            return Ok(Vec::new());
        }
        Ok(upkeep::spent(tx, window.org, lane, until, window.after(after)).await?)
    }
}

#[async_trait]
impl Job for Upkeep {
    const NAME: JobName = JobName::Upkeep;
    type Change = Spent;
    type Status = UpkeepStatus;

    fn of(Means { policies, .. }: &Means<'_>) -> Self {
        Self { policy: policies.upkeep.thresholds.clone() }
    }

    async fn plan(
        &self,
        tx: &mut Transaction,
        window: &Window,
        from: Option<&Cursor>,
    ) -> Result<Page<Spent>, JobError> {
        lanes::page(self, tx, window, from).await
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        desk: &Desk<'_>,
        window: &Window,
        changes: &[Spent],
    ) -> Result<(), JobError> {
        for lane in Self::LANES.iter().copied() {
            let rows: Vec<&Spent> = changes.iter().filter(|spent| spent.lane == lane).collect();
            let instants = (self.until(lane, window.cutoff), desk.now);
            if lane == Lane::Receipts && !rows.is_empty() {
                upkeep::end_receipts(tx, window.org, desk.keys.platform(), instants).await?;
            }
            upkeep::forget(tx, window.org, lane, instants, &rows).await?;
        }
        Ok(())
    }

    fn tally(&self, page: &Page<Spent>) -> UpkeepStatus {
        let count = |lane| page.changes.iter().filter(|spent| spent.lane == lane).count() as u64;
        UpkeepStatus {
            examined: page.examined,
            messages: count(Lane::Messages),
            events: count(Lane::Events),
            attempts: count(Lane::Attempts) + count(Lane::Batches),
            audit_blocks: count(Lane::Audit),
            quarantined_bodies: count(Lane::AsideBodies),
            quarantined_rows: count(Lane::Asides),
            answers: count(Lane::Answers),
            archives: count(Lane::Archives),
            runs: count(Lane::Runs),
            holds: count(Lane::Holds),
            receipts: count(Lane::Receipts),
            patterns: count(Lane::Patterns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_each_lane_are_kept_for_the_days_of_its_kind() {
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
        let asides = [(Lane::AsideBodies, 30), (Lane::Asides, 365), (Lane::Answers, 31), (Lane::Audit, 2_192)];
        let records = [
            (Lane::Archives, 9_497),
            (Lane::Runs, 366),
            (Lane::Holds, 2_193),
            (Lane::Receipts, 9_498),
            (Lane::Patterns, 9_499),
        ];
        for (lane, days) in [(Lane::Messages, 90), (Lane::Events, 30), (Lane::Attempts, 7), (Lane::Batches, 7)]
            .into_iter()
            .chain(asides)
            .chain(records)
        {
            assert_eq!(cutoff - job.until(lane, cutoff), TimeDelta::days(days), "{lane:?}");
        }
        assert_eq!(Upkeep::LANES.len(), 13, "each lane is gone through");
    }
}
