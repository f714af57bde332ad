//! Messages through a real broker: nothing lost, nothing twice.

use std::time::Duration;

use anamnesis_core::clock::{Clock as _, SystemClock};
use anamnesis_pipeline::CRASH_POINTS;
use anamnesis_rabbitmq::consumer::encode_message;
use anamnesis_rabbitmq::topology::Topology;
use anamnesis_rabbitmq::{BrokerError, OutboundMessage, Queue};
use lapin::BasicProperties;
use lapin::options::{QueueDeclareOptions, QueueDeleteOptions};
use lapin::types::{AMQPValue, FieldTable};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::broker::{BrokerWorker, TestBroker, until};
use crate::support::{self, Program, TestEngine, count, document, event, on_every_program};

on_every_program!(
    the_samples_through_the_broker_are_the_memory_that_ingest_makes,
    a_kill_at_any_point_loses_nothing_and_doubles_nothing,
    a_message_that_kills_is_found_alone_and_its_neighbours_are_stored,
    poison_is_quarantined_at_its_first_delivery_and_harms_no_other_message,
);

/// So many documents of one patient, each in its envelope.
pub(crate) fn documents(from: u128, number: u128) -> Vec<Vec<u8>> {
    let one = |n: u128| {
        let text = format!("Paciente refiere insomnio. Toma sertralina 50 mg al día. Sesión {n}.");
        let data = document(n, 1, "2026-03-02T10:00:00Z", &text);
        event(&format!("m-{n}"), "anamnesis.document.submitted.v1", &data).to_string().into_bytes()
    };
    (from..from + number).map(one).collect()
}

async fn stored(program: &Program) -> i64 {
    let store = program.store().await;
    let found = count(&store, "SELECT count(*) FROM inbox").await;
    store.close().await;
    found
}

pub(crate) async fn everything_is_stored(program: &Program, number: usize) {
    let number = i64::try_from(number).unwrap();
    until("every message is stored", || async { stored(program).await == number }).await;
}

pub(crate) async fn everything_is_acknowledged(corner: &TestBroker) {
    until("every queue is empty", || async {
        let mut left = 0;
        for queue in corner.queues() {
            left += corner.ready(&queue).await;
        }
        left == 0
    })
    .await;
}

async fn digests_are_equal(one: &Program, other: &Program) {
    let (one, other) = (one.store().await, other.store().await);
    let (expected, found) = (one.read().digest(None).await.unwrap(), other.read().digest(None).await.unwrap());
    // The outbox depends on the order of arrival; the rest does not.
    for (table, digest) in expected.tables.iter().filter(|(table, _)| **table != "outbox") {
        assert_eq!(found.tables[table], *digest, "{table}");
    }
}

async fn the_samples_through_the_broker_are_the_memory_that_ingest_makes(engine: TestEngine) {
    let (corner, calm) = (TestBroker::new().await, Program::on(engine).await);
    let messages = support::samples();
    let reported = support::counts(&calm.ingest(&messages, &[]));
    let program = Program::with_keys_of(&calm).await;
    corner.publish(&messages).await;
    let worker = BrokerWorker::start(&program, &corner.environment()).await;
    let expected = reported["messages"].as_f64().unwrap();
    until("every message is worked", || async { worker.sum("anamnesis_messages_processed_total").await >= expected })
        .await;
    let (status, _) = worker.terminate();
    assert!(status.success());
    everything_is_acknowledged(&corner).await;
    digests_are_equal(&calm, &program).await;
}

async fn a_kill_at_any_point_loses_nothing_and_doubles_nothing(engine: TestEngine) {
    let messages = documents(1, 12);
    let calm = Program::on(engine).await;
    calm.ingest(&messages, &[]);
    for point in CRASH_POINTS {
        let (corner, program) = (TestBroker::new().await, Program::with_keys_of(&calm).await);
        corner.publish(&messages).await;
        let mut environment = corner.environment();
        environment.push(("ANAMNESIS__PIPELINE__BATCH_DOCUMENTS".to_owned(), "4".to_owned()));
        let mut dying = environment.clone();
        dying.push(("ANAMNESIS_CRASH_AT".to_owned(), point.to_owned()));
        let (status, log) = BrokerWorker::start(&program, &dying).await.ended();
        assert_eq!(status.code(), None, "{point}: the worker was not killed\n{log}");
        let worker = BrokerWorker::start(&program, &environment).await;
        everything_is_stored(&program, messages.len()).await;
        let (status, _) = worker.terminate();
        assert!(status.success(), "{point}");
        everything_is_acknowledged(&corner).await;
        digests_are_equal(&calm, &program).await;
        let store = program.store().await;
        let indexed = "SELECT count(*) FROM outbox WHERE event_type = 'anamnesis.document.indexed.v1'";
        assert_eq!(count(&store, indexed).await, 12, "{point}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn attributes_come_as_headers_of_either_prefix_or_in_the_body() {
    let (corner, program) = (TestBroker::new().await, Program::on(TestEngine::File).await);
    let data = |n: u128| document(n, 1, "2026-03-02T10:00:00Z", "Duerme mal.").to_string().into_bytes();
    let mut letters = Vec::new();
    for (n, prefix) in [(1, "cloudEvents_"), (2, "cloudEvents:")] {
        let mut headers = FieldTable::default();
        for (name, value) in
            [("specversion", "1.0"), ("source", "urn:test"), ("type", "anamnesis.document.submitted.v1")]
        {
            headers.insert(format!("{prefix}{name}").into(), AMQPValue::LongString(value.into()));
        }
        let properties = BasicProperties::default()
            .with_content_type("application/json".into())
            .with_message_id(format!("m-{n}").into())
            .with_headers(headers);
        letters.push(OutboundMessage {
            exchange: corner.names.ingest(),
            routing_key: "bulk.anamnesis.document.submitted.v1".to_owned(),
            properties,
            body: data(n),
        });
    }
    let structured = event("m-3", "anamnesis.document.submitted.v1", &document(3, 1, "2026-03-02T10:00:00Z", "Llora."));
    letters.push(encode_message(&corner.names.ingest(), structured.to_string().into_bytes(), true, SystemClock.now()));
    corner.send(&letters).await;
    let _worker = BrokerWorker::start(&program, &corner.environment()).await;
    everything_is_stored(&program, 3).await;
    everything_is_acknowledged(&corner).await;
}

async fn poison_is_quarantined_at_its_first_delivery_and_harms_no_other_message(engine: TestEngine) {
    let (corner, program) = (TestBroker::new().await, Program::on(engine).await);
    let mut messages = documents(1, 3);
    messages.push(b"{\"no\": json".to_vec());
    let other = document(99, 1, "2026-03-02T10:00:00Z", "Otro texto.");
    messages.push(event("m-1", "anamnesis.document.submitted.v1", &other).to_string().into_bytes());
    messages.push(event("m-9", "anamnesis.unknown.v9", &json!({})).to_string().into_bytes());
    corner.publish(&messages).await;
    let worker = BrokerWorker::start(&program, &corner.environment()).await;
    everything_is_stored(&program, 3).await;
    everything_is_acknowledged(&corner).await;
    let store = program.store().await;
    until("three are quarantined", || async { count(&store, "SELECT count(*) FROM quarantine").await == 3 }).await;
    let reasons = support::rows(&store, "SELECT reason FROM quarantine ORDER BY reason").await;
    let reasons: Vec<String> = reasons.iter().map(|row| row.text(0).unwrap()).collect();
    assert_eq!(reasons, ["id_reused", "malformed", "schema_unknown"]);
    assert!((worker.metric("anamnesis_messages_redelivered_total{queue=\"bulk\"}").await).abs() < 0.5);
}

async fn a_message_that_kills_is_found_alone_and_its_neighbours_are_stored(engine: TestEngine) {
    let (corner, program) = (TestBroker::new().await, Program::on(engine).await);
    let mut messages = documents(1, 6);
    let killer = document(50, 1, "2026-03-02T10:00:00Z", "Palabra mortífera: XYZZY.");
    messages.insert(3, event("m-50", "anamnesis.document.submitted.v1", &killer).to_string().into_bytes());
    corner.publish(&messages).await;
    let mut environment = corner.environment();
    environment.push(("ANAMNESIS_DIE_OF".to_owned(), "XYZZY".to_owned()));
    let mut deaths = 0;
    let mut worker = BrokerWorker::start(&program, &environment).await;
    let store = program.store().await;
    loop {
        if !worker.running() {
            deaths += 1;
            assert!(deaths <= 3, "the message kills one worker after the other\n{}", worker.log());
            worker = BrokerWorker::start(&program, &environment).await;
        }
        if count(&store, "SELECT count(*) FROM quarantine").await == 1 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let reason = support::rows(&store, "SELECT reason FROM quarantine").await[0].text(0).unwrap();
    assert_eq!(reason, "crash_suspect");
    everything_is_stored(&program, 6).await;
    everything_is_acknowledged(&corner).await;
    assert_eq!(deaths, 2);
    assert_eq!(count(&store, "SELECT count(*) FROM attempt").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_outside_waits_in_a_tier_and_comes_back() {
    let (corner, program) = (TestBroker::new().await, Program::on(TestEngine::File).await);
    let mut environment = corner.environment();
    // Nothing listens there: the first attempt fails.
    let mut broken = environment.clone();
    broken.push(("ANAMNESIS__EMBEDDING__URL".to_owned(), "http://127.0.0.1:9/v1".to_owned()));
    broken.push(("ANAMNESIS__EMBEDDING__RETRY__ATTEMPTS".to_owned(), "1".to_owned()));
    let messages = documents(1, 4);
    corner.publish(&messages).await;
    let worker = BrokerWorker::start(&program, &broken).await;
    let tier = format!("{}.retry.5s", corner.names.prefix());
    until("all wait in the first tier", || async { corner.ready(&tier).await == 4 }).await;
    let (status, _) = worker.terminate();
    assert!(status.success());
    environment.push(("ANAMNESIS__BROKER__MAX_RETRIES".to_owned(), "3".to_owned()));
    let _worker = BrokerWorker::start(&program, &environment).await;
    everything_is_stored(&program, 4).await;
    everything_is_acknowledged(&corner).await;
    let store = program.store().await;
    assert_eq!(count(&store, "SELECT count(*) FROM quarantine").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_offered_often_enough_is_quarantined() {
    let (corner, program) = (TestBroker::new().await, Program::on(TestEngine::File).await);
    let mut environment = corner.environment();
    environment.push(("ANAMNESIS__EMBEDDING__URL".to_owned(), "http://127.0.0.1:9/v1".to_owned()));
    environment.push(("ANAMNESIS__EMBEDDING__RETRY__ATTEMPTS".to_owned(), "1".to_owned()));
    environment.push(("ANAMNESIS__BROKER__MAX_RETRIES".to_owned(), "0".to_owned()));
    corner.publish(&documents(1, 1)).await;
    let _worker = BrokerWorker::start(&program, &environment).await;
    let store = program.store().await;
    until("it is quarantined", || async { count(&store, "SELECT count(*) FROM quarantine").await == 1 }).await;
    assert_eq!(support::rows(&store, "SELECT reason FROM quarantine").await[0].text(0).unwrap(), "transient_exhausted");
    everything_is_acknowledged(&corner).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_refuses_ends_the_worker_with_words_and_without_the_password() {
    let (corner, program) = (TestBroker::empty(), Program::on(TestEngine::File).await);
    for (url, words) in [
        ("amqp://guest:hunter2@HOST/%2f", "the broker refuses this user or password"),
        (
            "amqp://guest:guest@HOST/nosuchvhost",
            "the broker has no such virtual host, or this user has no access to it",
        ),
    ] {
        let host = crate::broker::url().split('@').nth(1).unwrap().split('/').next().unwrap();
        let mut environment = corner.environment();
        environment.push(("ANAMNESIS__BROKER__URL".to_owned(), url.replace("HOST", host)));
        let (status, log) = BrokerWorker::start(&program, &environment).await.ended();
        assert_eq!(status.code(), Some(2), "{log}");
        assert!(log.contains(words), "{log}");
        assert!(!log.contains("hunter2"), "{log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_that_is_deleted_under_the_consumer_is_consumed_again() {
    let (corner, program) = (TestBroker::new().await, Program::on(TestEngine::File).await);
    let worker = BrokerWorker::start(&program, &corner.environment()).await;
    until("it consumes", || async { worker.probe("/readyz").await.is_some_and(|(status, _)| status == 200) }).await;
    let link = corner.link().await;
    let channel = link.channel().await.unwrap();
    let name = corner.names.queue(Queue::Bulk);
    channel.queue_delete(name.as_str().into(), QueueDeleteOptions::default()).await.unwrap();
    until("it is declared again", || async {
        let channel = link.channel().await.unwrap();
        let options = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::durable() };
        channel.queue_declare(name.as_str().into(), options, FieldTable::default()).await.is_ok()
    })
    .await;
    let topology = Topology::new(&corner.names);
    until("its bindings are there", || async { topology.differences(&link).await.unwrap().is_empty() }).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    corner.publish(&documents(1, 2)).await;
    everything_is_stored(&program, 2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn chat_passes_a_bulk_backlog() {
    let (corner, program) = (TestBroker::new().await, Program::on(TestEngine::File).await);
    corner.publish(&documents(1, 400)).await;
    let mut environment = corner.environment();
    environment.push(("ANAMNESIS__PIPELINE__BATCH_DOCUMENTS".to_owned(), "8".to_owned()));
    let _worker = BrokerWorker::start(&program, &environment).await;
    until("the backlog is being worked", || async { stored(&program).await > 8 }).await;
    let mut chat = document(9_000, 1, "2026-03-02T10:00:00Z", "Hoy dormí bien.");
    chat["document_type"] = json!("chat_message");
    let chat = event("chat", "anamnesis.document.submitted.v1", &chat);
    corner.publish(&[chat.to_string().into_bytes()]).await;
    let store = program.store().await;
    let own = Uuid::from_u128(9_000);
    until("the chat message is stored", || async {
        let found =
            support::rows(&store, "SELECT document_id FROM documents WHERE document_type = 'chat_message'").await;
        found.iter().any(|row| row.uuid(0).unwrap() == own)
    })
    .await;
    assert!(stored(&program).await < 401, "the chat message waited for the whole backlog");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_topology_is_declared_again_and_again_and_its_differences_are_explained() {
    let corner = TestBroker::empty();
    let link = corner.link().await;
    let topology = Topology::new(&corner.names);
    let missing = topology.differences(&link).await.unwrap();
    assert_eq!(missing.len(), topology.exchanges.len() + topology.queues.len());
    // An operator made a classic queue of that name.
    let channel = link.channel().await.unwrap();
    let name = corner.names.queue(Queue::Bulk);
    channel.queue_declare(name.as_str().into(), QueueDeclareOptions::durable(), FieldTable::default()).await.unwrap();
    let refused = topology.declare(&link).await.unwrap_err();
    assert!(matches!(&refused, BrokerError::Mismatch { what } if what.contains(&name)), "{refused:?}");
    let different = topology.differences(&link).await.unwrap();
    let found = different.iter().find(|one| one.name == name).unwrap();
    assert!(found.problem.contains("x-"), "{found:?}");
    channel.queue_delete(name.as_str().into(), QueueDeleteOptions::default()).await.unwrap();
    for _ in 0..2 {
        topology.declare(&link).await.unwrap();
        assert_eq!(topology.differences(&link).await.unwrap(), []);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn publish_reports_accepted_and_unroutable_messages() {
    let (corner, program) = (TestBroker::new().await, Program::on(TestEngine::File).await);
    let file = program.folder.path().join("messages.ndjson");
    std::fs::write(&file, documents(1, 7).join(&b'\n')).unwrap();
    let publish = || {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_anamnesis"));
        let output = command.args(["publish", "--output", "json"]).arg(&file).envs(corner.environment()).output();
        let output = output.unwrap();
        (output.status.code(), crate::broker::json_output(&output))
    };
    let (code, reported): (_, Value) = publish();
    assert_eq!((code, &reported["confirmed"]), (Some(0), &json!(7)), "{reported}");
    assert_eq!(corner.taken(&corner.names.queue(Queue::Bulk)).await.len(), 7);
    let link = corner.link().await;
    let channel = link.channel().await.unwrap();
    let name = corner.names.queue(Queue::Bulk);
    channel.queue_delete(name.as_str().into(), QueueDeleteOptions::default()).await.unwrap();
    let (code, reported) = publish();
    assert_eq!((code, &reported["unroutable"]), (Some(1), &json!(7)), "{reported}");
}

/// Runs the documented snippets unchanged: a producer in another language needs ten lines.
#[tokio::test(flavor = "multi_thread")]
async fn the_documented_producers_reach_the_store() {
    let (corner, program) = (TestBroker::new().await, Program::on(TestEngine::File).await);
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let setup = std::process::Command::new(root.join("scripts/producers.sh")).arg("setup").output().unwrap();
    assert!(setup.status.success(), "{}", String::from_utf8_lossy(&setup.stderr));
    let home = std::path::PathBuf::from(String::from_utf8(setup.stdout).unwrap().trim());
    let python = (root.join("docs/producers/publish.py"), "python3", 1u128);
    let typescript = (home.join("publish.js"), "node", 2u128);
    for (script, runner, n) in [python, typescript] {
        let data = document(n, 1, "2026-03-02T10:00:00Z", "Refiere insomnio.");
        // Twice under one id: the second is a repetition.
        for _ in 0..2 {
            let mut child = std::process::Command::new(runner)
                .arg(&script)
                .env("AMQP_URL", crate::broker::url())
                .env("EXCHANGE", corner.names.ingest())
                .env("EVENT_ID", format!("producer-{n}"))
                .env("PYTHONPATH", home.join("python"))
                .stdin(std::process::Stdio::piped())
                .spawn()
                .unwrap();
            std::io::Write::write_all(&mut child.stdin.take().unwrap(), data.to_string().as_bytes()).unwrap();
            assert!(child.wait().unwrap().success(), "{runner}");
        }
    }
    assert_eq!(corner.ready(&corner.names.queue(Queue::Bulk)).await, 4);
    let worker = BrokerWorker::start(&program, &corner.environment()).await;
    everything_is_stored(&program, 2).await;
    everything_is_acknowledged(&corner).await;
    let stored = "anamnesis_messages_processed_total{outcome=\"duplicate\",queue=\"bulk\",type=\"document_submitted\"}";
    until("the repetitions are known", || async { worker.metric(stored).await > 1.5 }).await;
}
