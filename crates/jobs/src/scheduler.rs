//! The job runs of a store: due runs are offered to the ledger and run. A tick, a CronJob and a simulated run all do
//! one round.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};
use chrono_tz::Tz;
use tokio_util::sync::CancellationToken;

use super::JobName;
use super::driver::{Job as _, JobDependencies, JobDriver, JobError, JobOutcome, JobReport};
use super::ledger::{JobRun, Trigger, rows};
use super::metrics::JobObserver;
use super::planner::{self, DueRun, PlannedOrganization, RunKey};
use super::policy::Policies;
use super::registry::jobs;
use super::ticker;
use crate::statements::scheduler as sql;
use anamnesis_core::clock::ordered_id;
use anamnesis_core::ids::OrgId;
use anamnesis_embedding::Models;
use anamnesis_extraction::llm::SummaryParaphraser;
use anamnesis_observability::traces::Traces;
use anamnesis_pipeline::Redactors;
use anamnesis_sql::Access;
use anamnesis_store::Store;

/// The one place where a name becomes a job under its policies.
macro_rules! dispatch {
    (
        [$scheduler:expr, $name:expr, |$job:ident, $policy:ident| $then:expr]
        $($module:ident::$known:ident($thresholds:ident): $about:literal;)+
    ) => {
        match $name {
            $(JobName::$known => {
                let dependencies = $scheduler.dependencies();
                let $job = crate::$module::$known::from_dependencies(&dependencies);
                let $policy = $scheduler.policies.get(JobName::$known);
                $then
            })+
        }
    };
}

/// Plans and runs.
pub struct JobScheduler {
    pub driver: JobDriver,
    pub policies: Policies,
    redactors: Redactors,
    writer: Option<SummaryParaphraser>,
    /// Runs that need no more offering: spares the ledger a question a minute.
    settled: Mutex<HashSet<RunKey>>,
}

impl JobScheduler {
    pub fn new(driver: JobDriver, policies: Policies) -> Self {
        Self { driver, policies, redactors: Redactors::built_in(), writer: None, settled: Mutex::default() }
    }

    /// With the redactors of a configuration: organisations' own policies, recognisers and services. Without, the built-in
    /// policies that the rows of organisations name.
    #[must_use]
    pub fn redacting(self, redactors: Redactors) -> Self {
        Self { redactors, ..self }
    }

    /// The job runs of an open store, under an owner's name made now.
    pub fn over(
        store: &Store,
        policies: Policies,
        observer: Arc<dyn JobObserver>,
        shutdown: CancellationToken,
    ) -> Self {
        let owner = ordered_id(store.clock().now(), store.entropy().as_ref()).to_string();
        let driver = JobDriver {
            database: store.db().clone(),
            keys: store.keys().clone(),
            clock: store.clock().clone(),
            entropy: store.entropy().clone(),
            owner,
            observer,
            shutdown,
            models: None,
            traces: Traces::default(),
        };
        Self::new(driver, policies)
    }

    /// With the models for the jobs that embed.
    #[must_use]
    pub fn with_models(mut self, models: Models) -> Self {
        self.driver.models = Some(models);
        self
    }

    /// With spans of its runs.
    #[must_use]
    pub fn with_traces(mut self, traces: Traces) -> Self {
        self.driver.traces = traces;
        self
    }

    /// Sets the model that words the summaries, if there is one.
    #[must_use]
    pub fn with_writer(self, writer: Option<SummaryParaphraser>) -> Self {
        Self { writer, ..self }
    }

    fn dependencies(&self) -> JobDependencies<'_> {
        let JobDriver { keys, entropy, clock, .. } = &self.driver;
        let (redactors, writer) = (&self.redactors, self.writer.as_ref());
        JobDependencies { policies: &self.policies, redactors, keys, entropy, writer, now: clock.now() }
    }

    /// All organisations. A zone that this program does not know counts as UTC: expiring at another hour is better than
    /// never.
    ///
    /// # Errors
    /// Of the database.
    pub async fn organizations(&self) -> Result<Vec<PlannedOrganization>, JobError> {
        let mut tx = self.driver.database.read(Access::Platform).await?;
        let mut organizations = Vec::new();
        for row in tx.fetch_all(&sql::ORGANIZATIONS, Vec::new()).await? {
            let org = OrgId(row.uuid(sql::organizations::ORG_ID)?);
            let zone = row.text(sql::organizations::TIME_ZONE)?.parse().unwrap_or_else(|_| {
                tracing::warn!(%org, code = "unknown_time_zone", "the time zone of the organisation is unknown; UTC is used");
                Tz::UTC
            });
            organizations.push(PlannedOrganization { org, zone, since: row.time(sql::organizations::CREATED_AT)? });
        }
        Ok(organizations)
    }

    /// Everything that is due now and not settled, in order.
    ///
    /// # Errors
    /// Of the database.
    pub async fn due(&self) -> Result<Vec<DueRun>, JobError> {
        let now = self.driver.clock.now();
        self.load_finished_runs(now).await?;
        let organizations = self.organizations().await?;
        let settled = self.settled();
        Ok(planner::plan(&self.policies, &organizations, now, &|key| settled.contains(key)))
    }

    /// Offers everything that is due, one run after the other, until all were offered or the process must go.
    ///
    /// # Errors
    /// When the ledger cannot be reached.
    pub async fn round(&self) -> Result<Vec<JobReport>, JobError> {
        let mut reports = Vec::new();
        for due in self.due().await? {
            if self.driver.shutdown.is_cancelled() {
                break;
            }
            reports.push(self.offer(due, Trigger::Scheduled).await?);
        }
        let last_done = self.last_done().await?;
        self.driver.observer.ticked(self.driver.clock.now(), &last_done);
        Ok(reports)
    }

    /// Reports when each job last succeeded, from the ledger: of runs of any process, so that a worker that plans no jobs exports the
    /// results of CronJobs.
    ///
    /// # Errors
    /// When the ledger cannot be reached.
    pub async fn observe(&self) -> Result<(), JobError> {
        self.driver.observer.succeeded(&self.last_done().await?);
        Ok(())
    }

    /// Rounds at every tick until the driver's token is cancelled: the worker's share of job runs.
    pub async fn watch(self: Arc<Self>) {
        let shutdown = self.driver.shutdown.clone();
        ticker::run(shutdown, || {
            let scheduler = self.clone();
            async move { scheduler.tick().await }
        })
        .await;
    }

    /// One round that reports to the log and not to its caller: used by the tick.
    pub(crate) async fn tick(&self) {
        match self.round().await {
            Ok(reports) => {
                for report in reports.iter().filter(|report| report.batches > 0) {
                    tracing::info!(
                        code = "job_run",
                        job = report.job.code(),
                        org = %report.org,
                        as_of = %report.as_of,
                        changed = report.changed,
                        "a job run did work"
                    );
                }
            }
            Err(error) => tracing::warn!(code = error.code(), "job runs could not be planned"),
        }
    }

    /// Offers one run to the ledger and carries it out if granted.
    ///
    /// # Errors
    /// When the ledger cannot be reached.
    pub async fn offer(&self, due: DueRun, asked: Trigger) -> Result<JobReport, JobError> {
        let report =
            jobs!(dispatch [self, due.key.job, |job, policy| self.driver.run(&job, policy, due, asked).await])?;
        if matches!(report.outcome, JobOutcome::Done | JobOutcome::AlreadyDone | JobOutcome::Exhausted) {
            self.settled().insert(due.key);
        }
        Ok(report)
    }

    /// The result that a run would have, without writing it.
    ///
    /// # Errors
    /// Of the database.
    pub async fn preview(&self, due: DueRun) -> Result<JobReport, JobError> {
        jobs!(dispatch [self, due.key.job, |job, policy| self.driver.preview(&job, policy, due).await])
    }

    /// The newest runs of the ledger.
    ///
    /// # Errors
    /// Of the database.
    pub async fn history(&self, filter: &rows::RunFilter, limit: u32) -> Result<Vec<JobRun>, JobError> {
        let mut tx = self.driver.database.read(Access::Platform).await?;
        Ok(rows::recent(&mut tx, filter, limit, self.driver.keys.platform()).await?)
    }

    async fn last_done(&self) -> Result<Vec<(JobName, DateTime<Utc>)>, JobError> {
        let mut tx = self.driver.database.read(Access::Platform).await?;
        let now = self.driver.clock.now();
        // A time to come was not written by a job.
        Ok(rows::last_done(&mut tx).await?.into_iter().filter(|(_, at)| *at <= now).collect())
    }

    /// Reads the finished runs of other processes from the ledger, once per process; drops runs that are too old to be
    /// offered.
    async fn load_finished_runs(&self, now: DateTime<Utc>) -> Result<(), JobError> {
        let horizon = planner::horizon(&self.policies, now);
        if self.settled().is_empty() {
            let mut tx = self.driver.database.read(Access::Platform).await?;
            let filter = rows::RunFilter { from: Some(horizon), ..rows::RunFilter::default() };
            let runs = rows::recent(&mut tx, &filter, u32::MAX, self.driver.keys.platform()).await?;
            let done = runs
                .iter()
                .filter(|run| run.is_own == Some(true))
                .filter(|run| run.is_settled(self.policies.get(run.key.job).max_attempts, now))
                .map(|run| run.key);
            self.settled().extend(done);
        }
        self.settled().retain(|key| key.as_of >= horizon);
        Ok(())
    }

    fn settled(&self) -> std::sync::MutexGuard<'_, HashSet<RunKey>> {
        self.settled.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The worker spawns it next to its other roles.
    #[allow(dead_code)] // compiling is the test
    fn watching_can_be_spawned(scheduler: Arc<JobScheduler>) -> impl Future<Output = ()> + Send {
        scheduler.watch()
    }
}
