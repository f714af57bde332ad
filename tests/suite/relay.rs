//! The outbox leaves through a real broker and over HTTP: every event, under one id, when and only when it was taken.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use anamnesis_config::broker::Webhook;
use anamnesis_core::clock::{SeededEntropy, SystemClock};
use anamnesis_observability::metrics::{Identity, Metrics};
use anamnesis_outbox::{
    DeliveryOutcome, Destination, ExchangeDestination, OutboxEvent, OutboxRelay, WebhookDestination, signature,
};
use anamnesis_pipeline::{Disposition, Pipeline, RawMessage};
use anamnesis_rabbitmq::{ConnectionRole, Publisher, Queue};
use async_trait::async_trait;
use aws_lc_rs::hmac;
use chrono::TimeDelta;
use lapin::options::{QueueBindOptions, QueueDeclareOptions, QueueDeleteOptions, QueuePurgeOptions};
use lapin::types::FieldTable;
use serde_json::{Value, json};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::broker::{BrokerWorker, PrivateBroker, TestBroker, json_output, until};
use crate::support::{self, Clinic, Program, TestEngine, bodies, count, document, event, feed, on_every_engine, rows};

on_every_engine!(
    an_event_that_a_callback_does_not_take_waits_until_it_does,
    an_event_that_is_not_taken_waits_and_one_that_is_taken_goes_once,
    an_event_that_was_committed_late_goes_out_too,
    two_relays_never_hold_one_event,
);

fn relay(pipeline: &Pipeline, destinations: Vec<Arc<dyn Destination>>) -> OutboxRelay {
    let metrics = Arc::new(Metrics::new(&Identity::default()).unwrap());
    let (clock, entropy) = (Arc::new(SystemClock), Arc::new(SeededEntropy::new(7)));
    OutboxRelay::new(
        pipeline.store().clone(),
        destinations,
        metrics,
        clock,
        entropy,
        std::time::Duration::from_millis(20),
    )
}

fn exchange(corner: &TestBroker) -> Arc<dyn Destination> {
    let publisher = Publisher::new(&corner.config, ConnectionRole::Relay, Arc::new(SeededEntropy::new(8)));
    Arc::new(ExchangeDestination::new(publisher, corner.names.clone()))
}

fn notes(from: u128, number: u128) -> Vec<Vec<u8>> {
    let one = |n| document(n, 1, "2026-03-02T10:00:00Z", "Alergia a la penicilina. Duerme mal.");
    bodies(&(from..from + number).map(one).collect::<Vec<Value>>())
}

const WAITING: &str = "SELECT count(*) FROM outbox WHERE published_at IS NULL";
const ALL: &str = "SELECT count(*) FROM outbox";

/// Accepts or refuses events as configured, and records them.
struct RecordingDestination {
    name: &'static str,
    deaf: Mutex<bool>,
    received: Mutex<Vec<OutboxEvent>>,
}

impl RecordingDestination {
    fn named(name: &'static str) -> Arc<Self> {
        Arc::new(Self { name, deaf: Mutex::default(), received: Mutex::default() })
    }
}

#[async_trait]
impl Destination for RecordingDestination {
    fn name(&self) -> &str {
        self.name
    }

    async fn deliver(&self, events: &[OutboxEvent]) -> Vec<DeliveryOutcome> {
        if *self.deaf.lock().unwrap() {
            return vec![DeliveryOutcome::Failed; events.len()];
        }
        self.received.lock().unwrap().extend(events.iter().cloned());
        vec![DeliveryOutcome::Accepted; events.len()]
    }
}

async fn an_event_that_is_not_taken_waits_and_one_that_is_taken_goes_once(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    feed(&pipeline, &notes(1, 3), 3).await;
    let all = count(pipeline.store(), ALL).await;
    assert!(all >= 3);
    let (ear, other) = (RecordingDestination::named("ear"), RecordingDestination::named("other"));
    *ear.deaf.lock().unwrap() = true;
    let relay = relay(&pipeline, vec![Arc::clone(&ear) as _, Arc::clone(&other) as _]);
    relay.pass(true).await.unwrap();
    assert_eq!(count(pipeline.store(), WAITING).await, all, "nothing is marked that was not taken");
    assert_eq!(ear.received.lock().unwrap().len(), 0);
    // Another process continues: it knows which events a destination has accepted.
    let relay = self::relay(&pipeline, vec![Arc::clone(&ear) as _, Arc::clone(&other) as _]);
    *ear.deaf.lock().unwrap() = false;
    until("the events have rested", || async {
        relay.pass(true).await.unwrap();
        count(pipeline.store(), WAITING).await == 0
    })
    .await;
    for ear in [ear, other] {
        let received = ear.received.lock().unwrap();
        let ids: BTreeSet<_> = received.iter().map(|event| event.id).collect();
        assert_eq!((received.len() as i64, ids.len() as i64), (all, all), "each event went once");
    }
}

async fn an_event_that_was_committed_late_goes_out_too(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let ear = RecordingDestination::named("ear");
    let relay = relay(&pipeline, vec![Arc::clone(&ear) as _]);
    feed(&pipeline, &notes(1, 1), 1).await;
    relay.pass(true).await.unwrap();
    // A transaction that began before the published events and committed after them.
    clinic.time.set(support::NOW.parse::<chrono::DateTime<chrono::Utc>>().unwrap() - TimeDelta::hours(1));
    feed(&pipeline, &notes(2, 1), 1).await;
    relay.pass(true).await.unwrap();
    let received = ear.received.lock().unwrap().len() as i64;
    assert_eq!(received, count(pipeline.store(), ALL).await);
}

async fn two_relays_never_hold_one_event(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    feed(&pipeline, &notes(1, 40), 8).await;
    let ear = RecordingDestination::named("ear");
    let relays: Vec<OutboxRelay> = (0..4).map(|_| relay(&pipeline, vec![Arc::clone(&ear) as _])).collect();
    let passes = relays.iter().map(|relay| relay.pass(true));
    for passed in futures::future::join_all(passes).await {
        passed.unwrap();
    }
    let received = std::mem::take(&mut *ear.received.lock().unwrap());
    let ids: BTreeSet<_> = received.iter().map(|event| event.id).collect();
    assert_eq!(received.len(), ids.len());
    assert_eq!(received.len() as i64, count(pipeline.store(), ALL).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_no_queue_takes_stays_until_one_does() {
    let (corner, clinic) = (TestBroker::new().await, Clinic::new().await);
    let pipeline = clinic.pipeline().await;
    feed(&pipeline, &notes(1, 2), 2).await;
    let link = corner.link().await;
    let channel = link.channel().await.unwrap();
    let catch_all = corner.names.catch_all();
    channel.queue_delete(catch_all.as_str().into(), QueueDeleteOptions::default()).await.unwrap();
    let relay = relay(&pipeline, vec![exchange(&corner)]);
    relay.pass(true).await.unwrap();
    let all = count(pipeline.store(), ALL).await;
    assert_eq!(count(pipeline.store(), WAITING).await, all);
    anamnesis_rabbitmq::topology::apply(&corner.config).await.unwrap();
    until("the events are taken", || async {
        relay.pass(true).await.unwrap();
        count(pipeline.store(), WAITING).await == 0
    })
    .await;
    assert_eq!(corner.taken(&catch_all).await.len() as i64, all);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_a_subscriber_takes_is_not_in_the_catch_all_queue() {
    let (corner, clinic) = (TestBroker::new().await, Clinic::new().await);
    let pipeline = clinic.pipeline().await;
    feed(&pipeline, &notes(1, 2), 2).await;
    let link = corner.link().await;
    let channel = link.channel().await.unwrap();
    let subscriber = format!("{}.subscriber", corner.names.prefix());
    let options = QueueDeclareOptions { exclusive: true, ..QueueDeclareOptions::default() };
    channel.queue_declare(subscriber.as_str().into(), options, FieldTable::default()).await.unwrap();
    let (events, key) = (corner.names.events(), "anamnesis.document.#");
    let bound = channel.queue_bind(
        subscriber.as_str().into(),
        events.as_str().into(),
        key.into(),
        QueueBindOptions::default(),
        FieldTable::default(),
    );
    bound.await.unwrap();
    relay(&pipeline, vec![exchange(&corner)]).pass(true).await.unwrap();
    assert_eq!(count(pipeline.store(), WAITING).await, 0);
    let unrouted = corner.taken(&corner.names.catch_all()).await;
    let documents = "SELECT count(*) FROM outbox WHERE event_type LIKE 'anamnesis.document.%'";
    let documents = count(pipeline.store(), documents).await;
    assert!(documents > 0 && unrouted.iter().all(|(key, _)| !key.starts_with("anamnesis.document.")));
    assert_eq!(unrouted.len() as i64, count(pipeline.store(), ALL).await - documents);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_catch_all_queue_refuses_events_and_they_stay_until_there_is_room() {
    let broker = PrivateBroker::start("");
    let (corner, clinic) = (TestBroker::at(&broker.url), Clinic::new().await);
    anamnesis_rabbitmq::topology::apply(&corner.config).await.unwrap();
    let catch_all = corner.names.catch_all();
    // A policy may only lower the limit that is declared.
    let pattern = format!("^{}$", catch_all.replace('.', "[.]"));
    broker.script(&["ctl", "-q", "set_policy", "low", &pattern, r#"{"max-length":2}"#, "--apply-to", "queues"]);
    let pipeline = clinic.pipeline().await;
    let relay = relay(&pipeline, vec![exchange(&corner)]);
    feed(&pipeline, &notes(1, 3), 3).await;
    until("the queue is full", || async {
        relay.pass(true).await.unwrap();
        corner.ready(&catch_all).await > 2
    })
    .await;
    feed(&pipeline, &notes(10, 3), 3).await;
    relay.pass(true).await.unwrap();
    assert!(count(pipeline.store(), WAITING).await > 0, "a full queue dropped events");
    let link = corner.link().await;
    until("all have gone", || async {
        relay.pass(true).await.unwrap();
        count(pipeline.store(), WAITING).await == 0 || {
            let channel = link.channel().await.unwrap();
            channel.queue_purge(catch_all.as_str().into(), QueuePurgeOptions::default()).await.unwrap();
            false
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_worker_announces_stored_and_quarantined_messages_in_codes_only() {
    let (corner, program) = (TestBroker::new().await, Program::on(TestEngine::File).await);
    let data = document(1, 1, "2026-03-02T10:00:00Z", "Canario Zurriburri toma sertralina 50 mg.");
    let good = event("m-1", "anamnesis.document.submitted.v1", &data).to_string().into_bytes();
    corner.publish(&[good, b"{\"text\": Zurriburri".to_vec()]).await;
    let worker = BrokerWorker::start(&program, &corner.environment()).await;
    let store = program.store().await;
    until("everything is told", || async {
        let noticed = count(&store, "SELECT count(*) FROM quarantine WHERE noticed_at IS NOT NULL").await == 1;
        noticed && count(&store, WAITING).await == 0 && count(&store, ALL).await > 0
    })
    .await;
    // No one subscribes to events; notices have a separate queue.
    let events = corner.taken(&corner.names.catch_all()).await;
    assert_eq!(events.len() as i64, count(&store, ALL).await);
    assert!(events.iter().any(|(key, _)| key == "anamnesis.document.indexed.v1"));
    let notices = corner.taken(&corner.names.quarantine()).await;
    assert_eq!(notices.len(), 1);
    let notice: Value = serde_json::from_slice(&notices[0].1).unwrap();
    assert_eq!(notice["reason"], json!("malformed"));
    for (key, body) in events.iter().chain(&notices) {
        assert!(!String::from_utf8_lossy(body).contains("Zurriburri"), "{key}");
    }
    assert!(!worker.log().contains("Zurriburri"));
    until("the gauge is fresh", || async { worker.metric("anamnesis_outbox_pending").await.abs() < 0.5 }).await;
}

fn hook(server: &MockServer, path: &str) -> Webhook {
    let (url, secret) = (format!("{}/{path}", server.uri()), "0123456789abcdef".into());
    let events = vec!["document.indexed.v1".into()];
    Webhook { url, secret, events, ca_file: Default::default(), secret_file: Default::default() }
}

fn called(server: &MockServer, path: &str) -> Arc<dyn Destination> {
    Arc::new(WebhookDestination::new(&hook(server, path), Arc::new(SystemClock)).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_callback_is_signed_repeated_under_one_id_and_left_alone_once_it_said_410() {
    let clinic = Clinic::new().await;
    let pipeline = clinic.pipeline().await;
    feed(&pipeline, &notes(1, 1), 1).await;
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path("/down"))
        .respond_with(ResponseTemplate::new(503))
        .up_to_n_times(1)
        .mount(&server)
        .await;
    Mock::given(method("POST")).and(path("/down")).respond_with(ResponseTemplate::new(204)).mount(&server).await;
    Mock::given(method("POST")).and(path("/gone")).respond_with(ResponseTemplate::new(410)).mount(&server).await;
    let relay = relay(&pipeline, vec![called(&server, "down"), called(&server, "gone")]);
    until("everybody has answered for good", || async {
        relay.pass(true).await.unwrap();
        count(pipeline.store(), WAITING).await == 0
    })
    .await;
    let refused = "SELECT count(*) FROM outbox WHERE ended = 'refused' AND event_type LIKE '%document.indexed%'";
    assert_eq!(count(pipeline.store(), refused).await, 1, "a refusal counts as one and not as a delivery");
    assert_eq!(count(pipeline.store(), "SELECT count(*) FROM outbox WHERE ended = 'refused'").await, 1);
    let asked = server.received_requests().await.unwrap();
    let mut ids: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let key = hmac::Key::new(hmac::HMAC_SHA256, b"0123456789abcdef");
    for request in &asked {
        let header = |name: &str| request.headers[name].to_str().unwrap().to_owned();
        let at: i64 = header("webhook-timestamp").parse().unwrap();
        assert_eq!(header("webhook-signature"), signature(&key, &header("webhook-id"), at, &request.body));
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        assert_eq!(body["type"], json!("anamnesis.document.indexed.v1"));
        ids.entry(request.url.path().to_owned()).or_default().insert(header("webhook-id"));
        *times.entry(request.url.path().to_owned()).or_default() += 1;
    }
    assert_eq!((ids["/down"].len(), times["/down"]), (1, 2), "the same event twice");
    assert_eq!((ids["/gone"].len(), times["/gone"]), (1, 1));
}

const DELIVERED: &str = "SELECT count(*) FROM outbox WHERE ended = 'delivered'";

async fn an_event_that_a_callback_does_not_take_waits_until_it_does(engine: TestEngine) {
    for status in [302, 400, 401, 403, 404, 409, 422, 429, 500] {
        let clinic = Clinic::on(engine).await;
        let pipeline = clinic.pipeline().await;
        feed(&pipeline, &notes(1, 1), 1).await;
        let server = MockServer::start().await;
        Mock::given(path("/hook")).respond_with(ResponseTemplate::new(status)).mount(&server).await;
        let ear = RecordingDestination::named("ear");
        let all = count(pipeline.store(), ALL).await;
        relay(&pipeline, vec![called(&server, "hook"), Arc::clone(&ear) as _]).pass(true).await.unwrap();
        assert_eq!(count(pipeline.store(), WAITING).await, 1, "{status}: the event is kept");
        assert_eq!(count(pipeline.store(), DELIVERED).await, all - 1, "{status}");
        assert_eq!(ear.received.lock().unwrap().len() as i64, all, "{status}: nobody else waits for the callback");
        server.reset().await;
        Mock::given(path("/hook")).respond_with(ResponseTemplate::new(204)).mount(&server).await;
        // Another process, whose callback does not rest; the event itself rests for two seconds.
        let relay = relay(&pipeline, vec![called(&server, "hook"), Arc::clone(&ear) as _]);
        until("the event is delivered", || async {
            relay.pass(true).await.unwrap();
            count(pipeline.store(), WAITING).await == 0
        })
        .await;
        assert_eq!(count(pipeline.store(), DELIVERED).await, all, "{status}");
        assert_eq!(ear.received.lock().unwrap().len() as i64, all, "{status}: delivered once to the other");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_a_callback_cannot_take_holds_up_no_other() {
    let clinic = Clinic::new().await;
    let pipeline = clinic.pipeline().await;
    feed(&pipeline, &notes(1, 6), 6).await;
    let server = MockServer::start().await;
    let poison: Vec<Value> = rows(
        pipeline.store(),
        "SELECT id FROM outbox WHERE event_type LIKE '%indexed%' ORDER BY created_at, id LIMIT 1",
    )
    .await
    .iter()
    .map(|row| json!(row.uuid(0).unwrap()))
    .collect();
    let id = poison[0].as_str().unwrap().to_owned();
    let refused = Mock::given(wiremock::matchers::header("webhook-id", id.as_str()));
    refused.respond_with(ResponseTemplate::new(500)).mount(&server).await;
    Mock::given(path("/hook")).respond_with(ResponseTemplate::new(204)).mount(&server).await;
    let relay = relay(&pipeline, vec![called(&server, "hook")]);
    until("the others are delivered", || async {
        relay.pass(true).await.unwrap();
        count(pipeline.store(), WAITING).await <= 1
    })
    .await;
    assert_eq!(count(pipeline.store(), WAITING).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn events_that_wait_are_listed_replayed_and_dropped_by_a_verb_and_audited() {
    for engine in [TestEngine::File, TestEngine::Postgres] {
        let program = Program::on(engine).await;
        let server = MockServer::start().await;
        Mock::given(path("/hook")).respond_with(ResponseTemplate::new(404)).mount(&server).await;
        let webhook = format!("[{{url=\"{}/hook\",secret=\"0123456789abcdef\"}}]", server.uri());
        let environment = [("ANAMNESIS__BROKER__WEBHOOKS".to_owned(), webhook)];
        let verb = |arguments: &[&str], input: &str| {
            use std::io::Write as _;
            let mut command = program.command(&[]);
            command.args(arguments).args(["--output", "json"]).envs(environment.iter().cloned());
            let pipe = std::process::Stdio::piped;
            let mut child = command.stdin(pipe()).stdout(pipe()).stderr(pipe()).spawn().unwrap();
            child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
            child.wait_with_output().unwrap()
        };
        let note = document(1, 1, "2026-03-02T10:00:00Z", "Canario Zurriburri duerme mal.").to_string();
        assert!(verb(&["ingest", "-"], &note).status.success());
        let store = program.store().await;
        let worker = BrokerWorker::start(&program, &environment).await;
        until("the callback was asked", || async { server.received_requests().await.unwrap().len() > 1 }).await;
        drop(worker);
        let listed = verb(&["events", "list"], "");
        let lines = String::from_utf8(listed.stdout).unwrap();
        assert!(!lines.contains("Zurriburri"));
        let waiting: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(waiting.len() as i64, count(&store, ALL).await, "none was given up for a 404");
        assert!(waiting.iter().all(|event| event["state"] == json!("waiting") && event["taken"] == json!([])));
        let id = |at: usize| waiting[at]["id"].as_str().unwrap().to_owned();

        let dropped = json_output(&verb(&["events", "drop", &id(0), "--actor", "ana"], ""));
        assert_eq!((&dropped["dropped"], &dropped["not_done"]), (&json!(1), &json!(0)));
        assert_eq!(verb(&["events", "drop", &id(0)], "").status.code(), Some(1), "it does not wait any more");
        assert_eq!(json_output(&verb(&["events", "list", "--state", "dropped"], ""))["id"], json!(id(0)));

        server.reset().await;
        Mock::given(path("/hook")).respond_with(ResponseTemplate::new(204)).mount(&server).await;
        // A replay offers waiting events immediately, and restores dropped ones.
        let all = json_output(&verb(&["events", "replay", "--state", "all", "--actor", "ben"], ""));
        assert_eq!(all["replayed"], json!(waiting.len()));
        let worker = BrokerWorker::start(&program, &environment).await;
        until("all are delivered", || async { count(&store, WAITING).await == 0 }).await;
        drop(worker);
        let asked: BTreeSet<String> = server
            .received_requests()
            .await
            .unwrap()
            .iter()
            .map(|request| request.headers["webhook-id"].to_str().unwrap().to_owned())
            .collect();
        assert_eq!(asked.len(), waiting.len(), "each under its own id");
        let audit = rows(&store, "SELECT action, actor, count(*) FROM action_audit WHERE action LIKE 'event_%' GROUP BY action, actor ORDER BY action").await;
        let audit: Vec<(String, String, i64)> =
            audit.iter().map(|row| (row.text(0).unwrap(), row.text(1).unwrap(), row.i64(2).unwrap())).collect();
        let replayed = ("event_replayed".to_owned(), "ben".to_owned(), waiting.len() as i64);
        assert_eq!(audit, [("event_dropped".to_owned(), "ana".to_owned(), 1), replayed]);
        let wrong = verb(&["events", "replay", &id(1), "--only", "nobody"], "");
        assert_eq!(wrong.status.code(), Some(2));
        let name = json_output(&verb(&["events", "destinations"], ""))["name"].as_str().unwrap().to_owned();
        assert_eq!(json_output(&verb(&["events", "replay", &id(1), "--only", &name], ""))["replayed"], json!(1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn quarantined_messages_are_shown_retried_and_dropped_with_a_trace() {
    let (corner, program) = (TestBroker::new().await, Program::on(TestEngine::File).await);
    let data = document(1, 1, "2026-03-02T10:00:00Z", "Duerme mal.");
    // An organisation that is not registered where only registered ones may write.
    let message = event("m-1", "anamnesis.document.submitted.v1", &data).to_string().into_bytes();
    corner.publish(&[message, b"not json".to_vec()]).await;
    let mut closed = corner.environment();
    closed.push(("ANAMNESIS__INTAKE__UNKNOWN_ORGANIZATIONS".to_owned(), "refuse".to_owned()));
    let worker = BrokerWorker::start(&program, &closed).await;
    let store = program.store().await;
    until("two are quarantined", || async { count(&store, "SELECT count(*) FROM quarantine").await == 2 }).await;
    let (status, _) = worker.terminate();
    assert!(status.success());
    assert_eq!(corner.ready(&corner.names.queue(Queue::Bulk)).await, 0);
    let verb = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_anamnesis"));
        command.args(["quarantine", "--output", "json"]).args(arguments).envs(program.environment());
        command.current_dir(program.folder.path()).output().unwrap()
    };
    let listed = verb(&["list", "--reason", "unknown_organization"]);
    assert!(!String::from_utf8_lossy(&listed.stdout).contains("Duerme"));
    let id = json_output(&listed)["id"].as_str().unwrap().to_owned();
    let shown = json_output(&verb(&["show", &id, "--actor", "ana"]));
    assert_eq!(shown["message"]["reason"], json!("unknown_organization"));
    assert_eq!(shown.get("body"), None);
    let shown = json_output(&verb(&["show", &id, "--raw", "--actor", "ana"]));
    assert!(shown["body"].as_str().unwrap().contains("Duerme mal."));
    assert_eq!(shown["attributes"]["id"], json!("m-1"), "the attributes that travelled beside it are kept");
    let retried = json_output(&verb(&["retry", "--actor", "ben"]));
    assert_eq!((&retried["stored"], &retried["set_aside_again"]), (&json!(1), &json!(1)));
    assert_eq!(support::count(&store, "SELECT count(*) FROM inbox").await, 1);
    let left = json_output(&verb(&["list"]));
    assert_eq!(left["reason"], json!("malformed"));
    let id = left["id"].as_str().unwrap().to_owned();
    assert_eq!(json_output(&verb(&["drop", &id, "--actor", "cleo"]))["dropped"], json!(1));
    assert_eq!(json_output(&verb(&["drop", &id]))["not_there"], json!(1));
    let shown = json_output(&verb(&["show", &id, "--raw"]));
    assert_eq!((&shown["bytes"], &shown["body"]), (&Value::Null, &Value::Null));
    // The clock of a test stands still, so events of one instant have no order.
    let mut history: Vec<&str> =
        shown["history"].as_array().unwrap().iter().map(|h| h["action"].as_str().unwrap()).collect();
    history.sort_unstable();
    assert_eq!(history, ["dropped", "retried", "shown"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quarantine_that_cannot_be_written_is_a_retry() {
    let clinic = Clinic::on(TestEngine::File).await;
    let pipeline = clinic.pipeline().await;
    pipeline.store().close().await;
    let done = pipeline.run(vec![RawMessage::from_body(b"not json".to_vec())]).await;
    assert_eq!(done, [Disposition::Waits], "and not held against the message");
}
