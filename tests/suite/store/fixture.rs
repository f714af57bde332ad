//! A clinic and its job runs, on one engine; on a server they have their own role.

use std::sync::Arc;

use anamnesis_core::clock::SeededEntropy;
use anamnesis_jobs::JobName;
use anamnesis_jobs::driver::JobReport;
use anamnesis_jobs::ledger::Trigger;
use anamnesis_jobs::policy::Policies;
use anamnesis_jobs::scheduler::JobScheduler;
use anamnesis_pipeline::Pipeline;
use anamnesis_sql::Database;
use anamnesis_store::Store;
use chrono::TimeDelta;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::support::{Clinic, StorePlace, TestEngine, bodies, feed};

pub(crate) struct StoreFixture {
    pub(crate) clinic: Clinic,
    pub(crate) place: StorePlace,
    pub(crate) pipeline: Pipeline,
    pub(crate) scheduler: JobScheduler,
}

impl StoreFixture {
    pub(crate) async fn on(engine: TestEngine) -> Self {
        let clinic = Clinic::new().await;
        let place = StorePlace::on(engine).await;
        let pipeline = clinic.pipeline_at(&place.location()).await;
        let database = match &place {
            StorePlace::Postgres(server) => Database::open(&server.location("test_jobs")).await.unwrap(),
            _ => pipeline.store().db().clone(),
        };
        let entropy = Arc::new(SeededEntropy::new(5));
        let store = Store::new(database, Arc::clone(&clinic.keys), clinic.time.clone(), entropy);
        let scheduler =
            JobScheduler::over(&store, Policies::embedded().unwrap(), Arc::new(()), CancellationToken::new());
        Self { clinic, place, pipeline, scheduler }
    }

    pub(crate) fn store(&self) -> &Store {
        self.pipeline.store()
    }

    pub(crate) async fn ingest(&self, messages: &[Value]) {
        let done = feed(&self.pipeline, &bodies(messages), 32).await;
        assert!(done.iter().all(|disposition| disposition.code() == "stored"), "{done:?}");
    }

    /// The run of a job at its latest hour after so many days. Its preview had the same result, and a repetition
    /// changes nothing.
    pub(crate) async fn after(&self, days: i64, job: JobName) -> JobReport {
        self.clinic.time.advance(TimeDelta::days(days));
        let due = self.scheduler.due().await.unwrap().into_iter().rfind(|due| due.key.job == job).unwrap();
        let preview = self.scheduler.preview(due).await.unwrap();
        let report = self.scheduler.offer(due, Trigger::Manual).await.unwrap();
        assert_eq!(report.outcome.code(), "done", "{report:?}");
        assert_eq!(preview.status, report.status, "a preview tells what the run does");
        let again = self.scheduler.offer(due, Trigger::Manual).await.unwrap();
        assert_eq!(again.changed, 0, "the same night again changes nothing");
        report
    }
}
