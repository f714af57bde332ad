//! Purge: the content of what was forgotten or expired goes after its time (model.md, "States" and "Forgetting and erasing
//! are two verbs"). A row without content stays for the audit trail, and nothing that the memory had replaced comes back.

use async_trait::async_trait;
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

use super::driver::{Desk, Job, JobError, Page, Window};
use super::ledger::Cursor;
use super::registry::JobName;
use super::status::status;
use crate::domain::confidence::DecayPolicy;
use crate::domain::lifecycle::LifecyclePolicy;
use crate::domain::memory::State;
use crate::domain::scope::Scope;
use crate::store::aging::Place;
use crate::store::engine::Transaction;
use crate::store::nightly::Shift;
use crate::store::purging::{self, Kept};

/// The job.
#[derive(Debug, Clone, Copy)]
pub struct Purge {
    pub lifecycle: LifecyclePolicy,
    pub decay: DecayPolicy,
}

status!(
    /// What a night of purging did: memories whose content is gone.
    PurgeStatus {
        examined,
        /// Forgotten, and past the time of grace.
        inactive,
        /// Expired, and past the time for audit.
        expired,
    }
    changed: inactive | expired
);

const LANES: [State; 2] = [State::Inactive, State::Expired];

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct At {
    lane: usize,
    after: Place,
}

#[async_trait]
impl Job for Purge {
    const NAME: JobName = JobName::Purge;
    type Change = Kept;
    type Status = PurgeStatus;

    async fn plan(&self, tx: &mut Transaction, window: &Window, from: Option<&Cursor>) -> Result<Page<Kept>, JobError> {
        let mut at = match from {
            Some(cursor) => cursor.read::<At>()?,
            None => At { lane: 0, after: Place::START },
        };
        while let Some(state) = LANES.get(at.lane).copied() {
            let days = match state {
                State::Inactive => self.lifecycle.recoverable_days,
                _ => self.lifecycle.expired_kept_days,
            };
            let until = window.cutoff - TimeDelta::days(i64::from(days));
            let changes = purging::kept(tx, window.org, (state, until), (at.after, window.limit)).await?;
            at = match changes.last().filter(|_| changes.len() == window.limit as usize) {
                Some(last) => At { after: last.place, ..at },
                None => At { lane: at.lane + 1, after: Place::START },
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
        desk: &Desk<'_>,
        window: &Window,
        changes: &[Kept],
    ) -> Result<(), JobError> {
        let keys = desk.keys_by_scope(window.org, changes.iter().map(|kept| kept.patient)).await?;
        // Of a patient whose key is destroyed nothing can be read any more: erasure takes the rows.
        let scopes = changes.iter().filter_map(|kept| {
            let scope = Scope::new(window.org, kept.patient).ok().filter(|scope| keys.contains_key(scope))?;
            Some((scope, kept.memory))
        });
        let memories: Vec<_> = scopes.collect();
        let shift = Shift {
            org: window.org,
            now: desk.now,
            keys: &keys,
            entropy: desk.entropy,
            lifecycle: &self.lifecycle,
            decay: &self.decay,
        };
        Ok(shift.purge(tx, &memories).await?)
    }

    fn tally(&self, page: &Page<Kept>) -> PurgeStatus {
        let count = |state| page.changes.iter().filter(|kept| kept.state == state).count() as u64;
        PurgeStatus { examined: page.examined, inactive: count(State::Inactive), expired: count(State::Expired) }
    }
}
