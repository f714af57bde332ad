//! Upkeep: rows that served their purpose go, so that the store grows with what is remembered and not with what passed
//! through it: ids of messages, published events, attempts that nobody goes on with.

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use serde::Deserialize;

use super::driver::{Desk, Job, JobError, Means, Page, Window};
use super::lanes::{self, Lanes};
use super::ledger::Cursor;
use super::policy::Thresholds;
use super::registry::JobName;
use super::status::status;
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
}

fn six_years() -> u32 {
    2_192
}

impl Thresholds for UpkeepThresholds {
    fn check(&self) -> Result<(), &'static str> {
        let days = 1..=36_500;
        let all = [self.message_days, self.event_days, self.attempt_days, self.audit_days];
        if all.iter().all(|d| days.contains(d)) { Ok(()) } else { Err("days are 1 to 36500") }
    }
}

status!(
    /// What a night of upkeep did: rows that are gone.
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
    }
    changed: messages | events | attempts | audit_blocks
);

impl Upkeep {
    fn until(&self, lane: Lane, cutoff: DateTime<Utc>) -> DateTime<Utc> {
        let days = match lane {
            Lane::Messages => self.policy.message_days,
            Lane::Events => self.policy.event_days,
            Lane::Attempts | Lane::Batches => self.policy.attempt_days,
            Lane::Audit => self.policy.audit_days,
        };
        cutoff - TimeDelta::days(i64::from(days))
    }
}

#[async_trait]
impl Lanes for Upkeep {
    type Lane = Lane;
    type Place = After;
    type Row = Spent;
    const LANES: &'static [Lane] = &[Lane::Messages, Lane::Events, Lane::Attempts, Lane::Batches, Lane::Audit];

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
        _: &Desk<'_>,
        window: &Window,
        changes: &[Spent],
    ) -> Result<(), JobError> {
        for lane in Self::LANES.iter().copied() {
            let rows: Vec<&Spent> = changes.iter().filter(|spent| spent.lane == lane).collect();
            upkeep::forget(tx, window.org, lane, self.until(lane, window.cutoff), &rows).await?;
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_each_lane_are_kept_for_the_days_of_its_kind() {
        let job = Upkeep {
            policy: UpkeepThresholds { message_days: 90, event_days: 30, attempt_days: 7, audit_days: 2_192 },
        };
        let cutoff: DateTime<Utc> = "2026-05-01T04:30:00Z".parse().unwrap();
        for (lane, days) in
            [(Lane::Messages, 90), (Lane::Events, 30), (Lane::Attempts, 7), (Lane::Batches, 7), (Lane::Audit, 2_192)]
        {
            assert_eq!(cutoff - job.until(lane, cutoff), TimeDelta::days(days), "{lane:?}");
        }
        assert_eq!(Upkeep::LANES.len(), 5, "each lane is gone through");
    }
}
