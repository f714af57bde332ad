//! Upkeep: rows that served their purpose go, so that the store grows with what is remembered and not with what passed
//! through it: ids of messages, published events, attempts that nobody goes on with.

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::driver::{Desk, Job, JobError, Page, Window};
use super::ledger::Cursor;
use super::policy::UpkeepThresholds;
use super::registry::JobName;
use super::status::status;
use crate::store::engine::Transaction;
use crate::store::upkeep::{self, After, Lane, Spent};

/// The job.
#[derive(Debug, Clone)]
pub struct Upkeep {
    pub policy: UpkeepThresholds,
}

status!(
    /// What a night of upkeep did: rows that are gone.
    UpkeepStatus {
        examined,
        /// Ids of messages.
        messages,
        /// Published events.
        events,
        /// Attempts.
        attempts,
    }
    changed: messages | events | attempts
);

const LANES: [Lane; 3] = [Lane::Messages, Lane::Events, Lane::Attempts];

#[derive(Debug, Clone, Serialize, Deserialize)]
struct At {
    lane: usize,
    after: After,
}

impl Upkeep {
    fn until(&self, lane: Lane, cutoff: DateTime<Utc>) -> DateTime<Utc> {
        let days = match lane {
            Lane::Messages => self.policy.message_days,
            Lane::Events => self.policy.event_days,
            Lane::Attempts => self.policy.attempt_days,
        };
        cutoff - TimeDelta::days(i64::from(days))
    }
}

#[async_trait]
impl Job for Upkeep {
    const NAME: JobName = JobName::Upkeep;
    type Change = Spent;
    type Status = UpkeepStatus;

    async fn plan(
        &self,
        tx: &mut Transaction,
        window: &Window,
        from: Option<&Cursor>,
    ) -> Result<Page<Spent>, JobError> {
        let mut at = match from {
            Some(cursor) => cursor.read::<At>()?,
            None => At { lane: 0, after: After::start(LANES[0]) },
        };
        while let Some(lane) = LANES.get(at.lane).copied() {
            let until = self.until(lane, window.cutoff);
            let changes = upkeep::spent(tx, window.org, (lane, until), (&at.after, window.limit)).await?;
            at = match changes.last().filter(|_| changes.len() == window.limit as usize) {
                Some(last) => At { lane: at.lane, after: last.place.clone() },
                None => At { lane: at.lane + 1, after: After::start(LANES.get(at.lane + 1).copied().unwrap_or(lane)) },
            };
            if !changes.is_empty() {
                let next = (at.lane < LANES.len()).then(|| Cursor::write(&at));
                return Ok(Page { examined: changes.len() as u64, changes, next });
            }
        }
        Ok(Page::end())
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        _: &Desk<'_>,
        window: &Window,
        changes: &[Spent],
    ) -> Result<(), JobError> {
        for lane in LANES {
            let rows: Vec<&Spent> = changes.iter().filter(|spent| spent.lane == lane).collect();
            upkeep::forget(tx, window.org, (lane, self.until(lane, window.cutoff)), &rows).await?;
        }
        Ok(())
    }

    fn tally(&self, page: &Page<Spent>) -> UpkeepStatus {
        let count = |lane| page.changes.iter().filter(|spent| spent.lane == lane).count() as u64;
        UpkeepStatus {
            examined: page.examined,
            messages: count(Lane::Messages),
            events: count(Lane::Events),
            attempts: count(Lane::Attempts),
        }
    }
}
