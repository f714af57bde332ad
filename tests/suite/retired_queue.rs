//! The poison queue of version 0.2: a worker of this version drains it and accepts the intake queues that name it.

use std::process::{Command, Output};

use anamnesis_core::clock::{Clock as _, SystemClock};
use anamnesis_rabbitmq::consumer::encode_message;
use anamnesis_rabbitmq::topology::{self, Topology};
use anamnesis_rabbitmq::{OutboundMessage, Queue};
use lapin::options::{BasicGetOptions, BasicRejectOptions, QueueDeleteOptions};
use serde_json::{Value, json};

use crate::broker::{BrokerWorker, TestBroker, json_output, until};
use crate::intake_amqp::{documents, everything_is_acknowledged, everything_is_stored};
use crate::support::{Program, TestEngine};

/// A document, sent straight to a queue through the default exchange.
fn directly(queue: &str, n: u128) -> OutboundMessage {
    let body = documents(n, 1).remove(0);
    let message = encode_message("", body, false, SystemClock.now());
    OutboundMessage { exchange: String::new(), routing_key: queue.to_owned(), ..message }
}

/// Rejects the first message of a queue, so that the broker dead-letters it.
async fn reject(corner: &TestBroker, queue: &str) {
    let link = corner.link().await;
    let channel = link.channel().await.unwrap();
    let got = channel.basic_get(queue.into(), BasicGetOptions { no_ack: false }).await.unwrap().unwrap();
    channel.basic_reject(got.delivery.delivery_tag, BasicRejectOptions { requeue: false }).await.unwrap();
    until("the message is dead-lettered", || async { corner.ready(&corner.names.retired_poison()).await == 2 }).await;
    link.close().await;
}

fn run(corner: &TestBroker, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_anamnesis")).args(arguments).envs(corner.environment()).output().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_empties_the_retired_queue_of_what_is_in_it_and_of_what_still_arrives() {
    let (corner, program) = (TestBroker::of_version_0_2().await, Program::on(TestEngine::File).await);
    let (retired, bulk) = (corner.names.retired_poison(), corner.names.queue(Queue::Bulk));
    corner.send(&[directly(&retired, 1), directly(&bulk, 2)]).await;
    reject(&corner, &bulk).await;
    let worker = BrokerWorker::start(&program, &corner.environment()).await;
    everything_is_stored(&program, 2).await;
    corner.publish(&documents(3, 1)).await;
    corner.send(&[directly(&retired, 4), directly(&corner.names.queue(Queue::Poison), 5)]).await;
    everything_is_stored(&program, 5).await;
    until("the retired queue is empty", || async { corner.ready(&retired).await == 0 }).await;
    let (status, _) = worker.terminate();
    assert!(status.success());
    // What was not acknowledged would be back now.
    everything_is_acknowledged(&corner).await;
    assert_eq!(corner.ready(&retired).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_may_not_declare_consumes_the_retired_queue_without_the_new_one() {
    let (corner, program) = (TestBroker::of_version_0_2().await, Program::on(TestEngine::File).await);
    topology::apply(&corner.config).await.unwrap();
    let link = corner.link().await;
    let channel = link.channel().await.unwrap();
    let poison = corner.names.queue(Queue::Poison);
    channel.queue_delete(poison.as_str().into(), QueueDeleteOptions::default()).await.unwrap();
    corner.send(&[directly(&corner.names.retired_poison(), 1)]).await;
    let mut environment = corner.environment();
    environment.push(("ANAMNESIS__BROKER__DECLARE".to_owned(), "false".to_owned()));
    let _worker = BrokerWorker::start(&program, &environment).await;
    everything_is_stored(&program, 1).await;
    assert_eq!(topology::counts(&link, &poison).await.unwrap(), None);
    link.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn check_and_apply_report_the_retired_queue_and_no_difference() {
    let corner = TestBroker::of_version_0_2().await;
    let applied = run(&corner, &["topology", "apply"]);
    assert!(applied.status.success() && applied.stdout.is_empty(), "{applied:?}");
    let said = String::from_utf8_lossy(&applied.stderr).into_owned();
    assert!(said.contains("retired, being drained"), "{said}");
    let link = corner.link().await;
    assert_eq!(Topology::new(&corner.names).differences(&link).await.unwrap(), []);
    let checked = json_output(&run(&corner, &["topology", "check", "--output", "json"]));
    let intake = [Queue::Realtime, Queue::Bulk].map(|queue| corner.names.queue(queue));
    assert_eq!(checked["differences"], json!([]), "{checked}");
    assert_eq!(checked["retired"]["name"], json!(corner.names.retired_poison()), "{checked}");
    assert_eq!(checked["retired"]["sources"], json!(intake), "{checked}");
    // Without it the dead letters of the intake would have no place.
    let channel = link.channel().await.unwrap();
    let retired = corner.names.retired_poison();
    channel.queue_delete(retired.as_str().into(), QueueDeleteOptions::default()).await.unwrap();
    let missing = Topology::new(&corner.names).differences(&link).await.unwrap();
    assert_eq!(missing.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), [retired.as_str()]);
    link.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_broker_has_no_retired_queue() {
    let corner = TestBroker::new().await;
    let checked = json_output(&run(&corner, &["topology", "check", "--output", "json"]));
    assert_eq!((&checked["differences"], &checked["retired"]), (&json!([]), &Value::Null), "{checked}");
}
