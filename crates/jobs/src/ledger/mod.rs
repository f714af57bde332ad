//! The rules of one run, pure: who may run it, and the effects of a checkpoint and an end. `rows` stores it in the
//! database. Every batch writes the fence, so that a run that was taken over can change nothing more.

pub mod rows;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::planner::{DueRun, RunKey};
use super::registry::JobName;

/// State of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Known to be due; no one has begun.
    Planned,
    /// A process holds it until its lease ends.
    Running,
    Done,
    /// An attempt ended in an error; it is tried again after a rest, from its cursor.
    Failed,
    /// Stopped between two batches (shutdown); continues from its cursor immediately.
    Partial,
}

impl RunState {
    pub(crate) const ALL: &'static [RunState] =
        &[RunState::Planned, RunState::Running, RunState::Done, RunState::Failed, RunState::Partial];

    pub fn code(self) -> &'static str {
        match self {
            RunState::Planned => "planned",
            RunState::Running => "running",
            RunState::Done => "done",
            RunState::Failed => "failed",
            RunState::Partial => "partial",
        }
    }

    pub(crate) fn from_code(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|state| state.code() == code)
    }
}

/// Where the next batch begins. Opaque to the ledger: each job writes and reads its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct RunCursor(pub String);

/// One row of the ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct JobRun {
    pub key: RunKey,
    /// See [`DueRun::cutoff`].
    pub cutoff: DateTime<Utc>,
    pub state: RunState,
    /// The current or last owner: an opaque id of a process.
    pub(crate) owner: Option<String>,
    /// Grows with every claim. A write with an older fence changes nothing.
    pub(crate) fence: i64,
    /// Claims since the last progress.
    pub attempts: u32,
    /// Running: end of the lease. Failed: end of the rest.
    pub(crate) wake_at: Option<DateTime<Utc>>,
    pub(crate) cursor: Option<RunCursor>,
    /// The job's typed status as JSON, summed over all attempts.
    pub status: Option<String>,
    /// Code of the last error.
    pub error: Option<String>,
    pub started_at: Option<DateTime<Utc>>,
    pub finished_at: Option<DateTime<Utc>>,
    /// Whether the row is as this program wrote it; `None`: it has no hash, as versions before hashes wrote it.
    pub(crate) is_own: Option<bool>,
}

impl JobRun {
    pub(crate) fn planned(due: &DueRun) -> Self {
        Self {
            key: due.key,
            cutoff: due.cutoff,
            state: RunState::Planned,
            owner: None,
            fence: 0,
            attempts: 0,
            wake_at: None,
            cursor: None,
            status: None,
            error: None,
            started_at: None,
            finished_at: None,
            is_own: Some(true),
        }
    }

    /// The trustworthy part of the row. Of a forged row only the fence counts, and the run starts again. A row without
    /// a hash may be of an older version; for days before yesterday it is trusted, because running a job twice is
    /// harmless, and a missed run is not.
    pub(crate) fn believed(self, due: &DueRun, now: DateTime<Utc>) -> Self {
        let recent = || self.key.as_of >= (now - TimeDelta::days(2)).date_naive();
        let is_believed = self.is_own.unwrap_or_else(|| !recent());
        if is_believed { self } else { Self { fence: self.fence, ..Self::planned(due) } }
    }

    /// Nothing more will happen to it without a person: done, or tried too often.
    pub(crate) fn is_settled(&self, max_attempts: u32, now: DateTime<Utc>) -> bool {
        match self.state {
            RunState::Done => true,
            RunState::Planned | RunState::Partial => false,
            RunState::Running => self.attempts >= max_attempts && self.wake_at.is_none_or(|lease| lease <= now),
            RunState::Failed => self.attempts >= max_attempts,
        }
    }
}

/// The trigger of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// The tick or a CronJob: only unfinished runs, and a failed run waits first.
    Scheduled,
    /// A person: a finished run starts again, a waiting one runs immediately.
    Manual,
}

/// A wish to run.
#[derive(Debug, Clone)]
pub(crate) struct RunOffer<'a> {
    pub(crate) due: DueRun,
    pub(crate) asked: Trigger,
    pub(crate) owner: &'a str,
    pub(crate) now: DateTime<Utc>,
    pub(crate) lease: TimeDelta,
    pub(crate) max_attempts: u32,
}

/// The ledger's answer to an offer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum RunClaim {
    /// Run it, from its cursor.
    Granted(Box<JobRun>),
    /// Another owner has it.
    LeasedElsewhere {
        until: DateTime<Utc>,
    },
    /// It failed and rests.
    BackingOff {
        until: DateTime<Utc>,
    },
    AlreadyDone,
    /// Tried too often: a person must look.
    Exhausted,
}

/// Decides an offer. `found` is the row as it is now; a granted run must be written only if the row is still that one.
pub(crate) fn claim(found: Option<&JobRun>, offer: &RunOffer<'_>) -> RunClaim {
    let mut run = found.cloned().unwrap_or_else(|| JobRun::planned(&offer.due));
    let waits = run.wake_at.filter(|wake| *wake > offer.now);
    let by_schedule = offer.asked == Trigger::Scheduled;
    match (run.state, waits) {
        (RunState::Running, Some(until)) => return RunClaim::LeasedElsewhere { until },
        (RunState::Done, _) if by_schedule => return RunClaim::AlreadyDone,
        (RunState::Failed, Some(until)) if by_schedule && run.attempts < offer.max_attempts => {
            return RunClaim::BackingOff { until };
        }
        (RunState::Failed | RunState::Running, _) if by_schedule && run.attempts >= offer.max_attempts => {
            return RunClaim::Exhausted;
        }
        (RunState::Planned | RunState::Partial | RunState::Failed | RunState::Running | RunState::Done, _) => {}
    }
    // The cursor belongs to another cutoff, or the run is requested again.
    if run.state == RunState::Done || run.cutoff != offer.due.cutoff {
        run.cursor = None;
        // Results of a repeated run are added up; those of reconciliation describe the current state and replace the
        // old ones.
        if run.key.job == JobName::Reconciliation {
            run.status = None;
        }
    }
    run.cutoff = offer.due.cutoff;
    run.state = RunState::Running;
    run.owner = Some(offer.owner.to_owned());
    run.fence = run.fence.saturating_add(1);
    run.attempts = run.attempts.saturating_add(1);
    run.wake_at = Some(offer.now + offer.lease);
    run.started_at = Some(offer.now);
    run.finished_at = None;
    RunClaim::Granted(Box::new(run))
}

/// Another owner took the run over: the old one must write nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the run was taken over by another owner")]
pub(crate) struct FenceLost;

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RunEnding {
    Done,
    /// Asked to stop between two batches.
    Interrupted,
    Failed {
        /// A code, never a message.
        code: String,
        rest: TimeDelta,
    },
}

impl JobRun {
    /// Progress of the owner with `fence`: the lease starts again, and so does the count of attempts.
    ///
    /// # Errors
    /// When the run was taken over or has ended.
    pub(crate) fn checkpoint(
        &self,
        fence: i64,
        cursor: Option<RunCursor>,
        status: String,
        lease_until: DateTime<Utc>,
    ) -> Result<JobRun, FenceLost> {
        self.guard(fence)?;
        Ok(JobRun {
            cursor,
            status: Some(status),
            attempts: 0,
            wake_at: Some(lease_until),
            error: None,
            ..self.clone()
        })
    }

    /// The end of an attempt of the holder with `fence`.
    ///
    /// # Errors
    /// When the run was taken over or has ended.
    pub(crate) fn finish(&self, fence: i64, ending: RunEnding, now: DateTime<Utc>) -> Result<JobRun, FenceLost> {
        self.guard(fence)?;
        let run = JobRun { finished_at: Some(now), wake_at: None, ..self.clone() };
        Ok(match ending {
            RunEnding::Done => JobRun { state: RunState::Done, cursor: None, attempts: 0, error: None, ..run },
            RunEnding::Interrupted => JobRun { state: RunState::Partial, attempts: 0, ..run },
            RunEnding::Failed { code, rest } => {
                JobRun { state: RunState::Failed, error: Some(code), wake_at: Some(now + rest), ..run }
            }
        })
    }

    fn guard(&self, fence: i64) -> Result<(), FenceLost> {
        if self.state == RunState::Running && self.fence == fence { Ok(()) } else { Err(FenceLost) }
    }
}

#[cfg(test)]
mod tests;
