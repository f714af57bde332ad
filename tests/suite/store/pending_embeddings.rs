//! Vectors that are left to the job run, on each engine, on a server as the role of the jobs.

use std::sync::Arc;

use anamnesis_core::clock::SeededEntropy;
use anamnesis_core::document::DocumentType;
use anamnesis_jobs::JobName;
use anamnesis_jobs::driver::JobReport;
use anamnesis_jobs::ledger::Trigger;
use anamnesis_jobs::policy::Policies;
use anamnesis_jobs::scheduler::JobScheduler;
use anamnesis_pipeline::Pipeline;
use anamnesis_sql::Database;
use anamnesis_store::Store;
use anamnesis_store::read::{DocumentFilter, ReadInstant};
use chrono::TimeDelta;
use tokio_util::sync::CancellationToken;

use crate::support::{Clinic, StorePlace, TestEngine, bodies, document, embedder, feed, on_every_engine, scope};

on_every_engine!(a_document_left_to_the_job_is_found_by_words_now_and_by_meaning_the_next_day);

async fn batch(scheduler: &JobScheduler, clinic: &Clinic) -> JobReport {
    clinic.time.advance(TimeDelta::days(1));
    let due = scheduler.due().await.unwrap().into_iter().rfind(|due| due.key.job == JobName::EmbedBatch).unwrap();
    let report = scheduler.offer(due, Trigger::Manual).await.unwrap();
    assert_eq!(report.outcome.code(), "done", "{report:?}");
    report
}

/// Passages, and how many of them have a vector.
async fn passages(pipeline: &Pipeline) -> (usize, usize) {
    let query = vec![0.25f32; 16];
    let mut snapshot = pipeline.store().read().snapshot(scope()).await.unwrap();
    let found =
        snapshot.candidates(1, Some(&query), None, &DocumentFilter::default(), ReadInstant::Now).await.unwrap().1;
    drop(snapshot);
    assert!(found.iter().all(|passage| !passage.terms.is_empty()), "found by words");
    (found.len(), found.iter().filter(|passage| passage.similarity.is_some()).count())
}

async fn a_document_left_to_the_job_is_found_by_words_now_and_by_meaning_the_next_day(engine: TestEngine) {
    let late = |settings: &mut anamnesis_config::Settings| {
        settings.pipeline.deferred_embedding_types = vec![DocumentType::ClinicalNote];
    };
    let clinic = Clinic::new().await.with(late);
    let place = StorePlace::on(engine).await;
    let pipeline = clinic.pipeline_at(&place.location()).await;
    let mut chat = document(2, 1, "2026-06-21T10:00:00Z", "Tengo mucha ansiedad.");
    chat["document_type"] = "chat_message".into();
    let reported = [document(1, 1, "2026-06-20T10:00:00Z", "Refiere insomnio desde hace un mes."), chat];
    feed(&pipeline, &bodies(&reported), 2).await;
    assert_eq!(passages(&pipeline).await, (2, 1), "a chat message does not wait");

    let database = match &place {
        StorePlace::Postgres(server) => Database::open(&server.location("test_jobs")).await.unwrap(),
        _ => pipeline.store().db().clone(),
    };
    let entropy = Arc::new(SeededEntropy::new(5));
    let store = Store::new(database, Arc::clone(&clinic.keys), clinic.time.clone(), entropy);
    let scheduler =
        || JobScheduler::over(&store, Policies::embedded().unwrap(), Arc::new(()), CancellationToken::new());
    assert_eq!(batch(&scheduler(), &clinic).await.examined, 0, "without a model nothing is promised");
    let scheduler = scheduler().with_models(embedder().into());
    assert_eq!(batch(&scheduler, &clinic).await.changed, 1);
    assert_eq!(passages(&pipeline).await, (2, 2));
    assert_eq!(batch(&scheduler, &clinic).await.changed, 0, "once");
}
