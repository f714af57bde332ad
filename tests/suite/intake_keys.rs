//! An unreachable key store during consumption: nothing is acknowledged, quarantined or created. Messages wait,
//! `/readyz` and the metrics give the reason, and all are stored once the right key store is back.

use std::path::Path;

use anamnesis_core::reason::Reason;
use anamnesis_rabbitmq::Queue;
use anamnesis_store::StoreError;
use anamnesis_store::quarantine::RejectedMessage;
use serde_json::Value;

use crate::broker::{BrokerWorker, TestBroker, until};
use crate::intake_amqp::{documents, everything_is_acknowledged, everything_is_stored};
use crate::support::{Program, TestEngine, count, counts, document, on_every_program};

on_every_program!(
    a_worker_with_the_wrong_key_file_ends_and_leaves_every_message_where_it_is,
    keys_that_vanish_under_a_consumer_lose_no_message_and_quarantine_none,
    keys_that_vanish_after_a_batch_was_let_through_begin_and_quarantine_nothing,
);

/// A document of a patient whom the samples of a test do not have.
fn stranger(id: u128, patient: u128) -> Vec<u8> {
    let mut note = document(id, 1, "2026-05-02T10:00:00Z", "Toma sertralina 50 mg al día.");
    note["patient_id"] = uuid::Uuid::from_u128(patient).to_string().into();
    note.to_string().into_bytes()
}

fn replace(path: &Path, bytes: Option<&[u8]>) {
    let Some(bytes) = bytes else { return std::fs::remove_file(path).unwrap() };
    let copy = path.with_extension("copy");
    std::fs::write(&copy, bytes).unwrap();
    std::fs::rename(copy, path).unwrap();
}

/// Every wrong key file with its name: missing, empty, torn, older, another store's.
async fn wrong(old: &[u8], right: &[u8]) -> Vec<(&'static str, Option<Vec<u8>>)> {
    let other = Program::on(TestEngine::File).await;
    assert_eq!(counts(&other.ingest(&[stranger(1, 7)], &[]))["stored"], 1);
    let foreign = std::fs::read(other.folder.path().join("keys")).unwrap();
    vec![
        ("missing", None),
        ("empty", Some(Vec::new())),
        ("torn", Some(right[..right.len() / 3].to_vec())),
        ("from before the second patient", Some(old.to_vec())),
        ("another store's", Some(foreign)),
    ]
}

/// A store of two patients, with its key file as it was after the first and after the second.
async fn two_patients(program: &Program) -> (Vec<u8>, Vec<u8>) {
    let keys = program.folder.path().join("keys");
    assert_eq!(counts(&program.ingest(&[stranger(901, 1)], &[]))["stored"], 1);
    let old = std::fs::read(&keys).unwrap();
    assert_eq!(counts(&program.ingest(&[stranger(902, 2)], &[]))["stored"], 1);
    (old, std::fs::read(&keys).unwrap())
}

async fn a_worker_with_the_wrong_key_file_ends_and_leaves_every_message_where_it_is(engine: TestEngine) {
    let (corner, program) = (TestBroker::new().await, Program::on(engine).await);
    let keys = program.folder.path().join("keys");
    let (old, right) = two_patients(&program).await;
    corner.publish(&documents(1, 4)).await;
    let bulk = corner.names.queue(Queue::Bulk);
    for (name, bytes) in wrong(&old, &right).await {
        replace(&keys, bytes.as_deref());
        let (status, log) = BrokerWorker::start(&program, &corner.environment()).await.ended();
        assert_eq!(status.code(), Some(2), "{name}: {log}");
        assert!(log.contains(keys.to_str().unwrap()), "{name}: names no file: {log}");
        until("all messages lie in their queue", || async { corner.ready(&bulk).await == 4 }).await;
        assert_eq!(std::fs::read(&keys).ok(), bytes, "{name}: left as it was");
        replace(&keys, Some(&right));
    }
    let worker = BrokerWorker::start(&program, &corner.environment()).await;
    everything_is_stored(&program, 6).await;
    everything_is_acknowledged(&corner).await;
    drop(worker);
    all_opens(&program, 6).await;
}

async fn keys_that_vanish_under_a_consumer_lose_no_message_and_quarantine_none(engine: TestEngine) {
    let (corner, program) = (TestBroker::new().await, Program::on(engine).await);
    let keys = program.folder.path().join("keys");
    let (old, right) = two_patients(&program).await;
    let mut environment = corner.environment();
    // A try that counted would be the last one.
    environment.push(("ANAMNESIS__BROKER__MAX_RETRIES".to_owned(), "0".to_owned()));
    environment.push(("ANAMNESIS__PIPELINE__BATCH_DOCUMENTS".to_owned(), "4".to_owned()));
    let worker = BrokerWorker::start(&program, &environment).await;
    let ready = |wanted: u16| {
        let worker = &worker;
        async move { worker.probe("/readyz").await.is_some_and(|(status, _)| status == wanted) }
    };
    until("it is ready", || ready(200)).await;
    let mut stored = 2;
    for (n, (name, bytes)) in wrong(&old, &right).await.into_iter().enumerate() {
        // During the work: uncommitted messages wait. The right file is moved away, and may be written until the worker
        // notices.
        corner.publish(&documents(1 + 100 * n as u128, 12)).await;
        std::fs::rename(&keys, keys.with_extension("away")).unwrap();
        if let Some(bytes) = &bytes {
            replace(&keys, Some(bytes));
        }
        until(name, || ready(503)).await;
        let (_, said) = worker.probe("/readyz").await.unwrap();
        let said: Value = serde_json::from_str(&said).unwrap();
        let check = said["checks"].as_array().unwrap().iter().find(|check| check["name"] == "keys").unwrap();
        assert_eq!(check["code"], "keys_unavailable", "{name}: {said}");
        assert_eq!(worker.metric("anamnesis_keys_unavailable").await, 1.0, "{name}");
        // Of a patient who is new to the store, too.
        corner.publish(&bodies_of(n)).await;
        tokio::time::sleep(std::time::Duration::from_millis(700)).await;
        assert_eq!(std::fs::read(&keys).ok(), bytes, "{name}: nothing is made");
        std::fs::rename(keys.with_extension("away"), &keys).unwrap();
        until("it is ready again", || ready(200)).await;
        stored += 13;
        everything_is_stored(&program, stored).await;
        assert_eq!(worker.metric("anamnesis_keys_unavailable").await, 0.0, "{name}");
    }
    everything_is_acknowledged(&corner).await;
    drop(worker);
    all_opens(&program, stored).await;
}

/// A batch may wait for long between the gate and its work: for another organisation's part of it, or for a provider.
async fn keys_that_vanish_after_a_batch_was_let_through_begin_and_quarantine_nothing(engine: TestEngine) {
    let program = Program::on(engine).await;
    let keys = program.folder.path().join("keys");
    let (old, right) = two_patients(&program).await;
    let store = program.store().await;
    let rejected = [RejectedMessage {
        org: None,
        patient: None,
        message: [9; 32],
        reason: Reason::Malformed,
        field: None,
        body: Some(b"{".to_vec()),
        attributes: None,
    }];
    for (name, bytes) in wrong(&old, &right).await {
        replace(&keys, bytes.as_deref());
        for messages in [vec![[1; 32]], vec![[1; 32], [2; 32]]] {
            let begun = store.intake().begin_attempts(&messages).await;
            assert!(matches!(begun, Err(StoreError::Key(_))), "{name}: {} messages", messages.len());
        }
        assert!(matches!(store.quarantined().quarantine(&rejected).await, Err(StoreError::Key(_))), "{name}");
        for written in
            ["SELECT count(*) FROM attempt", "SELECT count(*) FROM attempt_batch", "SELECT count(*) FROM quarantine"]
        {
            assert_eq!(count(&store, written).await, 0, "{name}: {written}");
        }
        replace(&keys, Some(&right));
        assert!(store.key_binding().check_keys().await.is_ok(), "{name}: the right one is back");
    }
    store.intake().begin_attempts(&[[1; 32]]).await.unwrap();
    store.quarantined().quarantine(&rejected).await.unwrap();
    assert_eq!(count(&store, "SELECT count(*) FROM quarantine").await, 1);
}

fn bodies_of(n: usize) -> Vec<Vec<u8>> {
    vec![stranger(50_000 + n as u128, 1_000 + n as u128)]
}

/// Nothing is lost, quarantined or unreadable.
async fn all_opens(program: &Program, documents: usize) {
    let store = program.store().await;
    assert_eq!(count(&store, "SELECT count(*) FROM documents").await, documents as i64, "0 lost");
    assert_eq!(count(&store, "SELECT count(*) FROM quarantine").await, 0);
    assert_eq!(count(&store, "SELECT count(*) FROM attempt").await, 0);
    store.read().digest(None).await.expect("every sealed cell opens");
}
