//! Two concurrent workers: a consent that one of them records also binds messages that the other one has already
//! admitted.

use std::sync::Arc;

use anamnesis_embedding::{EmbedError, Embedder, ModelProfile, Purpose};
use anamnesis_pipeline::{Disposition, Pipeline};
use async_trait::async_trait;
use serde_json::json;
use tokio::sync::Semaphore;
use uuid::Uuid;

use crate::support::{
    Clinic, ORG, PATIENT, TestEngine, bodies, count, document, embedder, event, feed, on_every_engine,
};

on_every_engine!(
    a_withdrawal_that_another_worker_records_meanwhile_binds_a_document_in_work,
    ephemeral_mode_that_another_worker_switches_on_meanwhile_binds_a_document_in_work,
    a_record_of_another_patient_delays_no_one,
);

const AT: &str = "2026-06-20T10:00:00Z";

/// Says when it was asked, and answers when it may.
struct SlowKeys {
    inner: Arc<dyn Embedder>,
    asked: Arc<Semaphore>,
    answers: Arc<Semaphore>,
}

#[async_trait]
impl Embedder for SlowKeys {
    fn profile(&self) -> &ModelProfile {
        self.inner.profile()
    }

    async fn embed(&self, purpose: Purpose, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.asked.add_permits(1);
        self.answers.acquire().await.unwrap().forget();
        self.inner.embed(purpose, texts).await
    }
}

/// Works a document, and another message while the document is between admission and commit. What became of the document,
/// and of the same document sent again.
async fn meanwhile(engine: TestEngine, other: serde_json::Value) -> (Clinic, Pipeline, [Disposition; 2]) {
    let clinic = Clinic::on(engine).await;
    let quick = clinic.pipeline().await;
    let known = document(9, 1, "2026-06-01T10:00:00Z", "Refiere cefalea.");
    feed(&quick, &bodies(&[known]), 1).await;
    let (asked, answers) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let slow = SlowKeys { inner: embedder(), asked: Arc::clone(&asked), answers: Arc::clone(&answers) };
    let slow = clinic.pipeline_over(quick.store().clone(), (Arc::new(slow) as Arc<dyn Embedder>).into());
    let message = bodies(&[document(1, 1, AT, "Toma litio 400 mg al día.")]);
    let sent = message.clone();
    let work = tokio::spawn(async move { feed(&slow, &sent, 1).await });
    asked.acquire().await.unwrap().forget();
    assert_eq!(feed(&quick, &bodies(&[other]), 1).await, [Disposition::Stored]);
    answers.add_permits(100);
    let first = work.await.unwrap()[0];
    let again = feed(&quick, &message, 1).await[0];
    (clinic, quick, [first, again])
}

async fn stored(pipeline: &Pipeline) -> i64 {
    count(pipeline.store(), "SELECT count(*) FROM documents").await
}

async fn a_withdrawal_that_another_worker_records_meanwhile_binds_a_document_in_work(engine: TestEngine) {
    let deny = json!({"organization_id": ORG, "patient_id": PATIENT, "scope": "memory", "provision": "deny",
        "from": "2026-06-10T00:00:00Z", "recorded_by": Uuid::from_u128(9)});
    let (_clinic, pipeline, done) = meanwhile(engine, deny).await;
    assert_eq!(done[0], Disposition::Waits, "it is looked at again");
    assert_eq!(done[1].code(), "quarantined");
    assert_eq!(stored(&pipeline).await, 1);
}

async fn ephemeral_mode_that_another_worker_switches_on_meanwhile_binds_a_document_in_work(engine: TestEngine) {
    let data = json!({"organization_id": ORG, "patient_id": PATIENT, "command": "ephemeral_on",
        "actor": {"id": Uuid::from_u128(9), "role": "patient"}, "issued_at": "2026-06-10T00:00:00Z"});
    let on = event("on", "anamnesis.memory.command.v1", &data);
    let (_clinic, pipeline, done) = meanwhile(engine, on).await;
    assert_eq!(done, [Disposition::Waits, Disposition::Ephemeral]);
    assert_eq!(stored(&pipeline).await, 1);
}

async fn a_record_of_another_patient_delays_no_one(engine: TestEngine) {
    let deny = json!({"organization_id": ORG, "patient_id": Uuid::from_u128(77), "scope": "memory", "provision": "deny",
        "from": "2026-06-10T00:00:00Z", "recorded_by": Uuid::from_u128(9)});
    let (_clinic, pipeline, done) = meanwhile(engine, deny).await;
    assert_eq!(done, [Disposition::Stored, Disposition::Duplicate]);
    assert_eq!(stored(&pipeline).await, 2);
}
