//! A broker of this test: in alarm it accepts no publications, and its management API returns its policies.

use std::process::Command;

use anamnesis_rabbitmq::{Queue, definitions, topology};
use serde_json::{Value, json};

use crate::broker::{BrokerWorker, PrivateBroker, TestBroker, json_output, until};
use crate::intake_amqp::{documents, everything_is_acknowledged, everything_is_stored};
use crate::support::{Program, TestEngine, count};

const WAITING: &str = "SELECT count(*) FROM outbox WHERE published_at IS NULL";

#[tokio::test(flavor = "multi_thread")]
async fn an_alarm_of_the_broker_delays_events_and_neither_loses_nor_stops_anything() {
    let broker = PrivateBroker::start("");
    let (corner, program) = (TestBroker::at(&broker.url), Program::on(TestEngine::File).await);
    topology::apply(&corner.config).await.unwrap();
    corner.publish(&documents(1, 20)).await;
    broker.script(&["ctl", "-q", "set_vm_memory_high_watermark", "0"]);
    let worker = BrokerWorker::start(&program, &corner.environment()).await;
    everything_is_stored(&program, 20).await;
    until("all are acknowledged", || async { worker.sum("anamnesis_messages_processed_total").await >= 20.0 }).await;
    let store = program.store().await;
    until("the relay knows why", || async { worker.log().contains("broker_blocked") }).await;
    assert!(count(&store, WAITING).await > 0, "a broker in alarm took events");
    broker.script(&["ctl", "-q", "set_vm_memory_high_watermark", "0.4"]);
    until("the events go out", || async { count(&store, WAITING).await == 0 }).await;
    everything_is_acknowledged(&corner).await;
    // Events in flight at the alarm may be published twice, under one id; none is lost.
    let events = corner.taken(&corner.names.catch_all()).await.len() as i64;
    assert!(events >= count(&store, "SELECT count(*) FROM outbox").await);
    let (status, _) = worker.terminate();
    assert!(status.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_management_api_reports_what_amqp_does_not() {
    let broker = PrivateBroker::start("rabbitmq_management");
    let corner = TestBroker::at(&broker.url);
    topology::apply(&corner.config).await.unwrap();
    let management = broker.script(&["management"]);
    let check = || -> (Option<i32>, Value) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_anamnesis"));
        command.args(["topology", "check", "--output", "json"]).envs(corner.environment());
        let output = command.env("ANAMNESIS__BROKER__MANAGEMENT_URL", &management).output().unwrap();
        (output.status.code(), json_output(&output))
    };
    let (code, said) = check();
    assert_eq!(code, Some(1), "{said}");
    assert!(said.to_string().contains("policy"), "{said}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("definitions.json");
    std::fs::write(&file, definitions::shipped(&corner.names).to_string()).unwrap();
    broker.script(&["ctl", "-q", "import_definitions", file.to_str().unwrap()]);
    let (code, said) = check();
    assert_eq!(code, Some(0), "{said}");
    let queue = corner.names.queue(Queue::Bulk);
    broker.script(&["ctl", "-q", "delete_queue", &queue]);
    let (code, said) = check();
    assert_eq!((code, said.to_string().contains(&queue)), (Some(1), true), "{}", json!({ "said": said }));
}
