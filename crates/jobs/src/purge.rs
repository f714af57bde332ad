//! Purge: the content of forgotten or expired memories is removed after its term (model.md, "States" and "Forgetting
//! and erasing are two verbs"). A row without content stays for the audit trail, and a memory that it had replaced does
//! not return.

use async_trait::async_trait;
use chrono::TimeDelta;
use serde::Deserialize;

use super::driver::{Job, JobContext, JobDependencies, JobError, JobPage, JobWindow};
use super::keyset_pages::{self, DueQueues};
use super::ledger::RunCursor;
use super::policy::Thresholds;
use super::registry::JobName;
use super::status::status;
use anamnesis_core::memory::State;
use anamnesis_core::scope::Scope;
use anamnesis_sql::Transaction;
use anamnesis_store::due_transitions::TransitionKey;
use anamnesis_store::maintenance::ProjectionRules;
use anamnesis_store::purge::{self, PurgeableMemory};

/// The job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Purge {
    pub(crate) rules: ProjectionRules,
}

/// Thresholds of `jobs/purge.toml` (model.md, "States").
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PurgeThresholds {
    pub(crate) recoverable_days: u32,
    pub(crate) expired_kept_days: u32,
}

impl Thresholds for PurgeThresholds {
    fn check(&self) -> Result<(), &'static str> {
        let days = 1..=36_500;
        if days.contains(&self.recoverable_days) && days.contains(&self.expired_kept_days) {
            Ok(())
        } else {
            Err("recoverable_days and expired_kept_days are 1 to 36500")
        }
    }
}

status!(
    /// Result of a purge run: memories whose content was removed.
    PurgeStatus {
        examined,
        /// Forgotten, and past the time of grace.
        inactive,
        /// Expired, and past the time for audit.
        expired,
    }
    changed: inactive | expired
);

#[async_trait]
impl DueQueues for Purge {
    type Queue = State;
    type Position = TransitionKey;
    type Row = PurgeableMemory;
    const QUEUES: &'static [State] = &[State::Inactive, State::Expired];

    fn start(_: State) -> TransitionKey {
        TransitionKey::START
    }

    fn place(row: &PurgeableMemory) -> TransitionKey {
        row.place
    }

    async fn read(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        state: State,
        after: &TransitionKey,
    ) -> Result<Vec<PurgeableMemory>, JobError> {
        let days = match state {
            State::Inactive => self.rules.lifecycle.recoverable_days,
            _ => self.rules.lifecycle.expired_kept_days,
        };
        let until = window.cutoff - TimeDelta::days(i64::from(days));
        Ok(purge::purgeable(tx, window.org, state, until, window.after(*after)).await?)
    }
}

#[async_trait]
impl Job for Purge {
    const NAME: JobName = JobName::Purge;
    type Change = PurgeableMemory;
    type Status = PurgeStatus;

    fn from_dependencies(JobDependencies { policies, .. }: &JobDependencies<'_>) -> Self {
        Self { rules: policies.rules() }
    }

    async fn plan(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        from: Option<&RunCursor>,
    ) -> Result<JobPage<PurgeableMemory>, JobError> {
        keyset_pages::page(self, tx, window, from).await
    }

    async fn apply(
        &self,
        tx: &mut Transaction,
        context: &JobContext<'_>,
        window: &JobWindow,
        changes: &[PurgeableMemory],
    ) -> Result<(), JobError> {
        let keys = context.keys_by_scope(window.org, changes.iter().map(|kept| kept.patient)).await?;
        // Of a patient whose key is destroyed nothing can be read any more: erasure takes the rows.
        let scopes = changes.iter().filter_map(|kept| {
            let scope = Scope::new(window.org, kept.patient).ok().filter(|scope| keys.contains_key(scope))?;
            Some((scope, kept.memory))
        });
        let memories: Vec<_> = scopes.collect();
        Ok(context.shift(window, &keys, &self.rules).purge(tx, &memories).await?)
    }

    fn tally(&self, page: &JobPage<PurgeableMemory>) -> PurgeStatus {
        let count = |state| page.changes.iter().filter(|kept| kept.state == state).count() as u64;
        PurgeStatus { examined: page.examined, inactive: count(State::Inactive), expired: count(State::Expired) }
    }
}
