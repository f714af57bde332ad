//! Decay: confidence decreases with time (seed 001, section 6) and is computed on read, so no run rewrites it. The job
//! raises one review request per memory whose effective confidence has dropped below its threshold, and counts it.
//! After a change of the policy it withdraws requests that the new policy would not raise. Memories themselves stay
//! unchanged, because no instant of a policy is stored with them (`store::decay_index`).

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::driver::{Job, JobContext, JobDependencies, JobError, JobPage, JobWindow};
use super::ledger::RunCursor;
use super::policy::Thresholds;
use super::registry::JobName;
use super::status::status;
use anamnesis_core::clock::micros;
use anamnesis_core::confidence;
pub(crate) use anamnesis_core::confidence::DecayPolicy;
use anamnesis_core::event::{DueCause, ReconfirmationDue};
use anamnesis_core::memory::Kind;
use anamnesis_sql::Transaction;
use anamnesis_store::decay_index::{self, DecayPosition, DecayingMemory};
use anamnesis_store::outbox::{self, NewOutboxEvent};

/// The job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Decay {
    pub(crate) policy: DecayPolicy,
}

/// Thresholds of `jobs/decay.toml`: the rates themselves (seed 001, section 6).
impl Thresholds for DecayPolicy {
    fn check(&self) -> Result<(), &'static str> {
        let unit = |value: f64| (0.0..=1.0).contains(&value);
        let is_sound =
            |d: &confidence::DecayRate| unit(d.rate) && unit(d.floor) && (1.0..=36_500.0).contains(&d.period_days);
        let kinds = [&self.episode, &self.note, &self.belief, &self.value, &self.goal, &self.drive, &self.relationship];
        if !kinds.into_iter().all(is_sound) {
            return Err("rate and floor are 0 to 1, period_days is 1 to 36500");
        }
        if unit(self.uncertain_below) { Ok(()) } else { Err("uncertain_below is 0 to 1") }
    }
}

status!(
    /// Result of a decay run: memories that fell below their threshold, by kind.
    DecayStatus {
        examined,
        episode,
        note,
        belief,
        value,
        goal,
        drive,
        relationship,
        /// Questions that a changed policy would not have asked.
        taken_back,
    }
    changed: episode | note | belief | value | goal | drive | relationship | taken_back
);

/// A change that a run makes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum DecayChange {
    /// It fell below the threshold at this instant.
    BelowThreshold(DecayingMemory, DateTime<Utc>),
    /// It was asked about, and under this policy would not have been yet.
    WithdrawRequest(DecayingMemory),
    /// All questions are in line with this policy.
    PolicyApplied(Uuid),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum DecayCursor {
    /// Among open questions, in the order of patients: after this one.
    Asked(Uuid),
    /// In the queue of memories below their threshold.
    Fallen(DecayPosition),
}

impl Decay {
    async fn asked(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        behind: Uuid,
    ) -> Result<JobPage<DecayChange>, JobError> {
        let patients = decay_index::patients_with_questions(tx, window.org, window.after(behind)).await?;
        if !window.preview {
            decay_index::hold(tx, window.org, &patients).await?;
        }
        let questions = decay_index::questions(tx, window.org, &patients).await?;
        let examined = questions.len() as u64;
        let is_early = |row: &DecayingMemory| row.uncertain_under(&self.policy).is_none_or(|at| at > window.cutoff);
        let mut changes: Vec<DecayChange> =
            questions.into_iter().filter(is_early).map(DecayChange::WithdrawRequest).collect();
        let next = match patients.last().filter(|_| patients.len() >= window.limit as usize) {
            Some(last) => DecayCursor::Asked(*last),
            None => {
                changes.push(DecayChange::PolicyApplied(self.policy.fingerprint()));
                DecayCursor::Fallen(DecayPosition::nothing())
            }
        };
        Ok(JobPage { changes, examined, next: Some(RunCursor::write(&next)) })
    }

    async fn fallen(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        after: &DecayPosition,
    ) -> Result<JobPage<DecayChange>, JobError> {
        let next = window.after(after);
        let (rows, reached) = decay_index::fallen(tx, window.org, &self.policy, window.cutoff, next).await?;
        let examined = rows.len() as u64;
        let fell = |row: DecayingMemory| {
            let at = row.uncertain_under(&self.policy).filter(|at| *at <= window.cutoff)?;
            Some(DecayChange::BelowThreshold(row, at))
        };
        let changes = rows.into_iter().filter_map(fell).collect();
        Ok(JobPage { changes, examined, next: reached.map(|reached| RunCursor::write(&DecayCursor::Fallen(reached))) })
    }
}

#[async_trait]
impl Job for Decay {
    const NAME: JobName = JobName::Decay;
    type Change = DecayChange;
    type Status = DecayStatus;

    fn from_dependencies(JobDependencies { policies, .. }: &JobDependencies<'_>) -> Self {
        Self { policy: policies.decay.thresholds }
    }

    async fn plan(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        from: Option<&RunCursor>,
    ) -> Result<JobPage<DecayChange>, JobError> {
        // The cursor of another version is ignored: the run starts again, and skips finished work.
        let at = match from.and_then(|cursor| cursor.read().ok()) {
            Some(at) => at,
            None if decay_index::mark(tx, window.org, Self::NAME.code()).await? == Some(self.policy.fingerprint()) => {
                DecayCursor::Fallen(DecayPosition::nothing())
            }
            None => DecayCursor::Asked(Uuid::nil()),
        };
        match at {
            DecayCursor::Asked(patient) => self.asked(tx, window, patient).await,
            DecayCursor::Fallen(after) => self.fallen(tx, window, &after).await,
        }
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        context: &JobContext<'_>,
        window: &JobWindow,
        changes: &[DecayChange],
    ) -> Result<(), JobError> {
        let (mut fell, mut asked) = (Vec::new(), Vec::new());
        for change in changes {
            match change {
                DecayChange::BelowThreshold(row, at) => fell.push((*row, *at)),
                DecayChange::WithdrawRequest(row) => asked.push(*row),
                DecayChange::PolicyApplied(mark) => {
                    decay_index::set_mark(tx, window.org, Self::NAME.code(), *mark, context.now).await?;
                }
            }
        }
        decay_index::take_back(tx, window.org, &asked, context.now).await?;
        decay_index::ask(tx, window.org, &fell, context.now).await?;
        let keys = context.keys_of(window.org, fell.iter().map(|(row, _)| row.patient)).await?;
        let events: Vec<_> = fell
            .iter()
            .filter_map(|(row, at)| {
                let keys = keys.get(&row.patient)?;
                // Another reset of its clock, another question.
                let key: [&[u8]; 3] = [row.memory.0.as_bytes(), b"decay", &micros(*at).to_be_bytes()];
                let due = ReconfirmationDue {
                    memory_id: row.memory,
                    cause: DueCause::Decay,
                    due_at: Some(*at),
                    cycle: None,
                    contradiction_id: None,
                };
                Some(NewOutboxEvent::new(keys, &key, &due))
            })
            .collect();
        outbox::enqueue(tx, &events, context.now, context.entropy).await?;
        Ok(())
    }

    fn tally(&self, page: &JobPage<DecayChange>) -> DecayStatus {
        let fell = |kind| {
            page.changes.iter().filter(|c| matches!(c, DecayChange::BelowThreshold(row, _) if row.kind == kind)).count()
        };
        let taken_back = page.changes.iter().filter(|change| matches!(change, DecayChange::WithdrawRequest(_))).count();
        DecayStatus {
            examined: page.examined,
            episode: fell(Kind::Episode) as u64,
            note: fell(Kind::Note) as u64,
            belief: fell(Kind::Belief) as u64,
            value: fell(Kind::Value) as u64,
            goal: fell(Kind::Goal) as u64,
            drive: fell(Kind::Drive) as u64,
            relationship: fell(Kind::Relationship) as u64,
            taken_back: taken_back as u64,
        }
    }
}
