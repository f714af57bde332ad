//! Runs one run: claims it in the ledger, then batch after batch, each one transaction that holds the effects and the
//! checkpoint. A kill between or inside batches loses nothing and doubles nothing; a run that another owner took over
//! cannot commit.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio_util::sync::CancellationToken;

use super::JobName;
pub use super::error::JobError;
use super::ledger::{self, JobRun, RunClaim, RunCursor, RunEnding, RunOffer, Trigger, rows};
use super::metrics::JobObserver;
use super::planner::{DueRun, RunKey};
use super::policy::{Policies, RunPolicy};
use super::report::report;
pub use super::report::{JobOutcome, JobReport};
use super::status::JobStatus;
use super::traced;
use anamnesis_core::clock::{Clock, Entropy};
use anamnesis_core::failpoints;
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{KeyStore, PatientKeys};
use anamnesis_embedding::{ModelGenerations, Models};
use anamnesis_extraction::llm::SummaryParaphraser;
use anamnesis_observability::traces::{self, Count, Name, SpanGroup, SpanKind, TraceContext, Traces};
use anamnesis_pipeline::Redactors;
use anamnesis_sql::{Access, Database, Transaction};
use anamnesis_store::maintenance::{MaintenanceWriter, ProjectionRules};
use anamnesis_store::{Keys, PageRequest, audit_trail};

impl RunCursor {
    pub(crate) fn write(value: &impl Serialize) -> Self {
        Self(serde_json::to_string(value).expect("a place is JSON"))
    }

    /// # Errors
    /// When it was written by another version.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, JobError> {
        serde_json::from_str(&self.0).map_err(|_| JobError::Cursor)
    }

    /// Where a page begins: after the last one, or at the start.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub(crate) fn after<T: DeserializeOwned>(from: Option<&Self>, start: T) -> Result<T, JobError> {
        from.map_or(Ok(start), Self::read)
    }
}

/// The parameters of a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JobWindow {
    pub(crate) org: OrgId,
    /// The run covers rows that were due up to this instant, inclusive.
    pub(crate) cutoff: DateTime<Utc>,
    /// Rows of one page.
    pub(crate) limit: u32,
    /// Of the available embedding models; `None` without any.
    pub(crate) generations: Option<ModelGenerations>,
    /// Nothing is written, so the rows that were read stay due.
    pub(crate) preview: bool,
}

impl JobWindow {
    /// A page of rows after this one.
    pub(crate) fn after<K>(&self, after: K) -> PageRequest<K> {
        PageRequest { after, limit: self.limit }
    }
}

/// One bounded piece of work.
#[derive(Debug)]
pub(crate) struct JobPage<C> {
    pub(crate) changes: Vec<C>,
    /// Rows read, changed or not.
    pub(crate) examined: u64,
    /// Where the next page begins; `None` after the last.
    pub(crate) next: Option<RunCursor>,
}

impl<C> JobPage<C> {
    /// Nothing left.
    pub(crate) fn end() -> Self {
        Self { changes: Vec::new(), examined: 0, next: None }
    }
}

/// The dependencies of a job while it writes.
pub(crate) struct JobContext<'a> {
    pub(crate) now: DateTime<Utc>,
    pub(crate) entropy: &'a dyn Entropy,
    pub(crate) keys: &'a dyn KeyStore,
    pub(crate) models: Option<&'a Models>,
}

impl JobContext<'_> {
    /// Keys of the patients of a batch. An erased patient has none: the event that no one may read is not written.
    ///
    /// # Errors
    /// When the key store is out of reach.
    pub(crate) async fn keys_of(
        &self,
        org: OrgId,
        patients: impl Iterator<Item = PatientId> + Send,
    ) -> Result<HashMap<PatientId, Arc<PatientKeys>>, JobError> {
        let keys = self.keys_by_scope(org, patients).await?;
        Ok(keys.into_iter().map(|(scope, keys)| (scope.patient(), keys)).collect())
    }

    /// The same as the store takes them.
    ///
    /// # Errors
    /// As [`JobContext::keys_of`].
    pub(crate) async fn keys_by_scope(
        &self,
        org: OrgId,
        patients: impl Iterator<Item = PatientId> + Send,
    ) -> Result<Keys, JobError> {
        let mut scopes: Vec<Scope> = patients.filter_map(|patient| Scope::new(org, patient).ok()).collect();
        scopes.sort_unstable();
        scopes.dedup();
        if scopes.is_empty() {
            return Ok(HashMap::new());
        }
        Ok(self.keys.known(&scopes).await?)
    }

    /// The dependencies of writing to the log and projecting it.
    pub(crate) fn shift<'s>(
        &'s self,
        window: &JobWindow,
        keys: &'s Keys,
        rules: &'s ProjectionRules,
    ) -> MaintenanceWriter<'s> {
        let platform = self.keys.platform();
        MaintenanceWriter { org: window.org, now: self.now, keys, platform, entropy: self.entropy, rules }
    }
}

/// The dependencies of jobs.
pub(crate) struct JobDependencies<'a> {
    pub(crate) policies: &'a Policies,
    pub(crate) redactors: &'a Redactors,
    pub(crate) keys: &'a Arc<dyn KeyStore>,
    pub(crate) entropy: &'a Arc<dyn Entropy>,
    /// Words the summaries of the jobs; without one, fixed sentences are used.
    pub(crate) writer: Option<&'a SummaryParaphraser>,
    pub(crate) now: DateTime<Utc>,
}

/// A job: what to do is read first and written then, so that a preview shows the very plan that a run would carry out.
/// Both see the same transaction, but in a job that prepares or compares.
#[async_trait]
pub(crate) trait Job: Send + Sync {
    const NAME: JobName;
    type Change: Send + Sync;
    type Status: JobStatus;

    /// The job as it is configured.
    fn from_dependencies(dependencies: &JobDependencies<'_>) -> Self
    where
        Self: Sized;

    /// It does slow work between reading and writing that needs no rows (`prepare`). Reading and writing are then two
    /// transactions, and no row is locked during calls of other services.
    fn prepares(&self) -> bool {
        false
    }

    /// It compares tables with each other. Reading is then one snapshot, and writing another transaction, because
    /// separate statements would report concurrent writes as differences.
    fn compares(&self) -> bool {
        false
    }

    /// The next page after `from`. Reads only; depends on nothing but rows, window and policy.
    async fn plan(
        &self,
        tx: &mut Transaction,
        window: &JobWindow,
        from: Option<&RunCursor>,
    ) -> Result<JobPage<Self::Change>, JobError>;

    /// Work between reading and writing, outside of any transaction.
    async fn prepare(&self, _: &JobContext<'_>, _: &JobWindow, _: &mut [Self::Change]) -> Result<(), JobError> {
        Ok(())
    }

    /// Carries a page out, idempotently, by a constant number of statements.
    async fn apply(
        &self,
        tx: &mut Transaction,
        context: &JobContext<'_>,
        window: &JobWindow,
        changes: &[Self::Change],
    ) -> Result<(), JobError>;

    fn tally(&self, page: &JobPage<Self::Change>) -> Self::Status;
}

/// Everything that running needs, once per process.
pub struct JobDriver {
    pub database: Database,
    pub keys: Arc<dyn KeyStore>,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
    /// Names this process in the ledger.
    pub owner: String,
    pub observer: Arc<dyn JobObserver>,
    /// Cancelled: stop between two batches.
    pub shutdown: CancellationToken,
    /// For jobs that embed; without it they find nothing to do.
    pub models: Option<Models>,
    pub traces: Traces,
}

/// The progress of one attempt.
struct RunProgress<S> {
    attempt: S,
    total: S,
    batches: u64,
}

impl JobDriver {
    /// Claims a run and carries it out as far as possible. A failure is a result: the ledger records it, and other runs
    /// continue.
    ///
    /// # Errors
    /// Only when the ledger itself cannot be reached.
    pub(crate) async fn run<J: Job>(
        &self,
        job: &J,
        policy: &RunPolicy,
        due: DueRun,
        asked: Trigger,
    ) -> Result<JobReport, JobError> {
        let none = J::Status::default();
        if due.cutoff > self.clock.now() {
            return Ok(report(&due, JobOutcome::NotDue, &none, 0));
        }
        let claim = self.claim(policy, due, asked).await?;
        let run = match claim {
            RunClaim::Granted(run) => *run,
            RunClaim::LeasedElsewhere { until } => {
                return Ok(report(&due, JobOutcome::LeasedElsewhere { until }, &none, 0));
            }
            RunClaim::BackingOff { until } => return Ok(report(&due, JobOutcome::BackingOff { until }, &none, 0)),
            RunClaim::AlreadyDone => return Ok(report(&due, JobOutcome::AlreadyDone, &none, 0)),
            RunClaim::Exhausted => return Ok(report(&due, JobOutcome::Exhausted, &none, 0)),
        };
        self.observer.began(J::NAME);
        let span = self.run_span(&run.key);
        let began = self.clock.now();
        let total = J::Status::from_json(run.status.as_deref());
        let mut progress = RunProgress { attempt: J::Status::default(), total, batches: 0 };
        let within = span.context();
        let outcome = match self.batches(job, policy, run.clone(), &mut progress, &within).await {
            Ok(outcome) => outcome,
            Err(JobError::FenceLost) => JobOutcome::LeasedElsewhere { until: self.clock.now() + policy.lease },
            Err(error) => self.note_failure(policy, &run.key, run.fence, &error).await,
        };
        let report = report(&due, outcome, &progress.attempt, progress.batches);
        traced::end_run(span, &report);
        self.observer.ended(&report, self.clock.now() - began);
        Ok(report)
    }

    /// The plan of a run, page by page, without writing anything, the ledger included.
    ///
    /// # Errors
    /// Of the database.
    pub(crate) async fn preview<J: Job>(
        &self,
        job: &J,
        policy: &RunPolicy,
        due: DueRun,
    ) -> Result<JobReport, JobError> {
        let window = JobWindow { preview: true, ..self.window(due.key.org, due.cutoff, policy) };
        let (mut status, mut batches, mut cursor) = (J::Status::default(), 0, None);
        loop {
            let mut tx = self.reading(job, &window).await?;
            let page = job.plan(&mut tx, &window, cursor.as_ref()).await?;
            tx.rollback().await?;
            status.add(&job.tally(&page));
            batches += 1;
            cursor = page.next;
            if cursor.is_none() || self.shutdown.is_cancelled() {
                return Ok(report(&due, JobOutcome::Preview, &status, batches));
            }
        }
    }

    /// The transaction in which a page is read.
    async fn reading<J: Job>(&self, job: &J, window: &JobWindow) -> Result<Transaction, JobError> {
        let access = Access::Organization(window.org);
        Ok(if job.compares() { self.database.read(access).await? } else { self.database.begin(access).await? })
    }

    async fn claim(&self, policy: &RunPolicy, due: DueRun, asked: Trigger) -> Result<RunClaim, JobError> {
        let mut tx = self.database.begin(Access::Organization(due.key.org)).await?;
        let now = self.clock.now();
        let found = rows::find(&mut tx, &due.key, self.keys.platform()).await?;
        if found.as_ref().is_some_and(|run| run.is_own == Some(false)) {
            let (job, as_of) = (due.key.job.code(), due.key.as_of.to_string());
            tracing::error!(job, org = %due.key.org, as_of, code = "run_forged", "a job run was changed outside the program; it starts from the beginning");
            self.observer.forged();
            audit_trail::run_forged(&mut tx, self.keys.platform(), due.key.org, (job, &as_of), now).await?;
        }
        let found = found.map(|run| run.believed(&due, now));
        let offer =
            RunOffer { due, asked, owner: &self.owner, now, lease: policy.lease, max_attempts: policy.max_attempts };
        let claim = ledger::claim(found.as_ref(), &offer);
        if let RunClaim::Granted(run) = &claim
            && !rows::hold(&mut tx, run, self.keys.platform()).await?
        {
            return Ok(RunClaim::LeasedElsewhere { until: offer.now + policy.lease });
        }
        tx.commit().await?;
        Ok(claim)
    }

    async fn batches<J: Job>(
        &self,
        job: &J,
        policy: &RunPolicy,
        mut run: JobRun,
        progress: &mut RunProgress<J::Status>,
        span: &TraceContext,
    ) -> Result<JobOutcome, JobError> {
        loop {
            if self.shutdown.is_cancelled() {
                return self.interrupt(&run).await;
            }
            let examined = progress.attempt.examined();
            let mut batch = self.traces.child(Name::JobBatch, SpanKind::Internal, span);
            let working = Box::pin(self.batch(job, policy, run, progress));
            let worked = traces::within(SpanGroup::alone(batch.context()), working).await;
            batch.count(Count::Examined, progress.attempt.examined() - examined);
            run = worked.inspect_err(|error| batch.fail(error.code()))?;
            batch.end();
            self.observer.batch(&run.key, progress.attempt.examined(), progress.attempt.changed());
            if run.state == ledger::RunState::Done {
                return Ok(JobOutcome::Done);
            }
            tokio::select! {
                () = tokio::time::sleep(policy.pause) => {}
                () = self.shutdown.cancelled() => {}
            }
        }
    }

    fn window(&self, org: OrgId, cutoff: DateTime<Utc>, policy: &RunPolicy) -> JobWindow {
        let generations = self.models.as_ref().map(Models::generations);
        JobWindow { org, cutoff, limit: policy.batch_size, generations, preview: false }
    }

    /// One transaction: read, effects, checkpoint or ending; two for a job that prepares or compares.
    async fn batch<J: Job>(
        &self,
        job: &J,
        policy: &RunPolicy,
        run: JobRun,
        progress: &mut RunProgress<J::Status>,
    ) -> Result<JobRun, JobError> {
        let now = self.clock.now();
        let window = self.window(run.key.org, run.cutoff, policy);
        let models = self.models.as_ref();
        let context = JobContext { now, entropy: self.entropy.as_ref(), keys: self.keys.as_ref(), models };
        // Without the right key store a job would change states and lose the events about them.
        self.keys.known(&[]).await?;
        let mut tx = self.reading(job, &window).await?;
        let mut page = job.plan(&mut tx, &window, run.cursor.as_ref()).await?;
        let prepares = job.prepares() && !page.changes.is_empty();
        if prepares || job.compares() {
            tx.rollback().await?;
            if prepares {
                job.prepare(&context, &window, &mut page.changes).await?;
            }
            tx = self.database.begin(Access::Organization(window.org)).await?;
        }
        if !page.changes.is_empty() {
            job.apply(&mut tx, &context, &window, &page.changes).await?;
        }
        let done = job.tally(&page);
        let mut total = progress.total.clone();
        total.add(&done);
        let is_last = page.next.is_none();
        let mut run = run
            .checkpoint(run.fence, page.next, total.to_json(), now + policy.lease)
            .map_err(|_| JobError::FenceLost)?;
        if is_last {
            run = run.finish(run.fence, RunEnding::Done, now).map_err(|_| JobError::FenceLost)?;
        }
        if !rows::write(&mut tx, &run, self.keys.platform(), now).await? && !failpoints::is("fence_ignored") {
            tx.rollback().await?;
            return Err(JobError::FenceLost);
        }
        if is_last && total.changed() > 0 {
            let (job, as_of) = (run.key.job.code(), run.key.as_of.to_string());
            audit_trail::job_ran(&mut tx, self.keys.platform(), window.org, (job, &as_of), now).await?;
        }
        tx.commit().await?;
        progress.attempt.add(&done);
        progress.total = total;
        progress.batches += 1;
        Ok(run)
    }

    async fn interrupt(&self, run: &JobRun) -> Result<JobOutcome, JobError> {
        self.end(&run.key, run.fence, |_| RunEnding::Interrupted).await?;
        Ok(JobOutcome::Partial)
    }

    /// A failure that cannot be noted leaves a lease that runs out: the run is offered again then.
    async fn note_failure(&self, policy: &RunPolicy, key: &RunKey, fence: i64, error: &JobError) -> JobOutcome {
        let code = error.code();
        tracing::warn!(job = key.job.code(), org = %key.org, as_of = %key.as_of, code, "a run failed");
        let ending = |run: &JobRun| RunEnding::Failed { code: code.to_owned(), rest: policy.rest_after(run.attempts) };
        if self.end(key, fence, ending).await.is_err() {
            tracing::warn!(job = key.job.code(), org = %key.org, code = "ledger_unavailable", "not noted");
        }
        JobOutcome::Failed { error: code }
    }

    async fn end(&self, key: &RunKey, fence: i64, ending: impl FnOnce(&JobRun) -> RunEnding) -> Result<(), JobError> {
        let now = self.clock.now();
        let mut tx = self.database.begin(Access::Organization(key.org)).await?;
        // A row that this program did not write is not signed.
        let found = rows::find(&mut tx, key, self.keys.platform()).await?;
        let Some(run) = found.filter(|run| run.is_own == Some(true)) else { return Err(JobError::FenceLost) };
        let ended = run.finish(fence, ending(&run), now).map_err(|_| JobError::FenceLost)?;
        if !rows::write(&mut tx, &ended, self.keys.platform(), now).await? {
            return Err(JobError::FenceLost);
        }
        Ok(tx.commit().await?)
    }
}
