//! Decay: confidence fades by itself (seed 001, section 6) and is computed on read, so that nothing is rewritten each night.
//! What a night does is what a reader cannot: it notices that a memory fell below its threshold, asks once that a person
//! look at it, and counts it. When the policy changed since the last night, the instants at which memories will fall are
//! computed anew, once.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::json;
use uuid::Uuid;

use super::driver::{Desk, Job, JobError, Means, Page, Window};
use super::ledger::Cursor;
use super::policy::Thresholds;
use super::registry::JobName;
use super::status::status;
use crate::clock::micros;
use crate::domain::confidence::{self, DecayPolicy};
use crate::domain::memory::Kind;
use crate::store::aging::Place;
use crate::store::engine::Transaction;
use crate::store::fading::{self, Fading};
use crate::store::outbox::{self, Event};
use crate::store::refading::{self, Moved, Stretch};

/// The job.
#[derive(Debug, Clone, Copy)]
pub struct Decay {
    pub policy: DecayPolicy,
}

/// Thresholds of `jobs/decay.toml`: the rates themselves (seed 001, section 6).
impl Thresholds for DecayPolicy {
    fn check(&self) -> Result<(), &'static str> {
        let unit = |value: f64| (0.0..=1.0).contains(&value);
        let is_sound =
            |d: &confidence::Decay| unit(d.rate) && unit(d.floor) && (1.0..=36_500.0).contains(&d.period_days);
        let kinds = [&self.episode, &self.note, &self.belief, &self.value, &self.goal, &self.drive, &self.relationship];
        if !kinds.into_iter().all(is_sound) {
            return Err("rate and floor are 0 to 1, period_days is 1 to 36500");
        }
        if unit(self.uncertain_below) { Ok(()) } else { Err("uncertain_below is 0 to 1") }
    }
}

status!(
    /// What a night of decay did: memories that fell below their threshold, by kind.
    DecayStatus {
        examined,
        episode,
        note,
        belief,
        value,
        goal,
        drive,
        relationship,
        /// Instants that a changed policy moved.
        rescheduled,
    }
    changed: episode | note | belief | value | goal | drive | relationship | rescheduled
);

/// Memories that are looked at anew together, for each that a batch may have: they are moved by one statement and none of
/// them travels, where what fell is asked about one by one.
const TOGETHER: u32 = 10;

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// It fell at this instant.
    Fell(Fading, DateTime<Utc>),
    /// The policy says another instant than what is stored.
    Moved(Fading, Option<DateTime<Utc>>),
    /// The policy says otherwise of these memories of a stretch of patients.
    Refaded(Stretch, Vec<Moved>),
    /// All rows are in line with this policy.
    Settled(Uuid),
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum At {
    /// Computing anew, in the order of patients: behind this one.
    Behind(Uuid),
    /// As it was written before stretches: begins again.
    All(Place),
    /// What fell, in the order of instants.
    Fallen(Place),
}

impl Decay {
    async fn anew(&self, tx: &mut Transaction, window: &Window, behind: Uuid) -> Result<Page<Change>, JobError> {
        let stretch = refading::stretch(tx, window.org, behind, window.limit.saturating_mul(TOGETHER)).await?;
        if !window.preview {
            refading::hold(tx, window.org, &stretch).await?;
        }
        let alike = refading::alike(tx, window.org, &stretch).await?;
        let examined = alike.iter().map(|alike| alike.count).sum();
        let moved: Vec<Moved> = alike.iter().filter_map(|alike| alike.moved_under(&self.policy)).collect();
        let mut changes = Vec::new();
        if !moved.is_empty() {
            changes.push(Change::Refaded(stretch, moved));
        }
        if stretch.is_last {
            changes.push(Change::Settled(self.policy.fingerprint()));
        }
        let next = if stretch.is_last { At::Fallen(Place::START) } else { At::Behind(stretch.last) };
        Ok(Page { changes, examined, next: Some(Cursor::write(&next)) })
    }

    async fn fallen(&self, tx: &mut Transaction, window: &Window, after: Place) -> Result<Page<Change>, JobError> {
        let rows = fading::fallen(tx, window.org, window.cutoff, (after, window.limit)).await?;
        let next = rows.last().filter(|_| rows.len() == window.limit as usize).map(|row| At::Fallen(row.place));
        let examined = rows.len() as u64;
        let changes = rows.into_iter().filter_map(|row| match row.uncertain_under(&self.policy) {
            Some(at) if at <= window.cutoff => Some(Change::Fell(row, at)),
            at => (at != row.uncertain_at).then_some(Change::Moved(row, at)),
        });
        Ok(Page { changes: changes.collect(), examined, next: next.map(|at| Cursor::write(&at)) })
    }
}

#[async_trait]
impl Job for Decay {
    const NAME: JobName = JobName::Decay;
    type Change = Change;
    type Status = DecayStatus;

    fn of(Means { policies, .. }: &Means<'_>) -> Self {
        Self { policy: policies.decay.thresholds }
    }

    async fn plan(
        &self,
        tx: &mut Transaction,
        window: &Window,
        from: Option<&Cursor>,
    ) -> Result<Page<Change>, JobError> {
        let at = match from {
            Some(cursor) => cursor.read()?,
            None if fading::mark(tx, window.org, Self::NAME.code()).await? == Some(self.policy.fingerprint()) => {
                At::Fallen(Place::START)
            }
            None => At::Behind(Uuid::nil()),
        };
        match at {
            At::Behind(patient) => self.anew(tx, window, patient).await,
            At::All(_) => self.anew(tx, window, Uuid::nil()).await,
            At::Fallen(after) => self.fallen(tx, window, after).await,
        }
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        desk: &Desk<'_>,
        window: &Window,
        changes: &[Change],
    ) -> Result<(), JobError> {
        let (mut fell, mut moved) = (Vec::new(), Vec::new());
        for change in changes {
            match change {
                Change::Fell(row, at) => fell.push((*row, *at)),
                Change::Moved(row, at) => moved.push((*row, *at)),
                Change::Refaded(stretch, moved) => {
                    refading::set(tx, window.org, (stretch, moved), (window.cutoff, desk.now)).await?;
                }
                Change::Settled(mark) => {
                    fading::set_mark(tx, window.org, Self::NAME.code(), (*mark, desk.now)).await?;
                }
            }
        }
        fading::reschedule(tx, window.org, &moved, (window.cutoff, desk.now)).await?;
        fading::ask(tx, window.org, &fell, desk.now).await?;
        let keys = desk.keys_of(window.org, fell.iter().map(|(row, _)| row.patient)).await?;
        let events: Vec<_> = fell
            .iter()
            .filter_map(|(row, at)| {
                let keys = keys.get(&row.patient)?;
                // Another reset of its clock, another question.
                let key: [&[u8]; 3] = [row.memory.0.as_bytes(), b"decay", &micros(*at).to_be_bytes()];
                let body = json!({"memory_id": row.memory, "cause": "decay", "due_at": at});
                Some(Event::new(keys, "anamnesis.reconfirmation.due.v1", &key, body))
            })
            .collect();
        outbox::enqueue(tx, &events, desk.now, desk.entropy).await?;
        Ok(())
    }

    fn tally(&self, page: &Page<Change>) -> DecayStatus {
        let fell = |kind| page.changes.iter().filter(|c| matches!(c, Change::Fell(row, _) if row.kind == kind)).count();
        let moved = |change: &Change| match change {
            Change::Moved(..) => 1,
            Change::Refaded(_, moved) => moved.iter().map(|moved| moved.alike.count).sum(),
            Change::Fell(..) | Change::Settled(_) => 0,
        };
        DecayStatus {
            examined: page.examined,
            episode: fell(Kind::Episode) as u64,
            note: fell(Kind::Note) as u64,
            belief: fell(Kind::Belief) as u64,
            value: fell(Kind::Value) as u64,
            goal: fell(Kind::Goal) as u64,
            drive: fell(Kind::Drive) as u64,
            relationship: fell(Kind::Relationship) as u64,
            rescheduled: page.changes.iter().map(moved).sum(),
        }
    }
}
