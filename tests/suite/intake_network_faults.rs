//! Network faults between the worker, its broker and its database: they are noticed, nothing is lost, and the worker
//! ends in time in spite of them.

use std::time::Duration;

use anamnesis_rabbitmq::{BrokerConnection, BrokerError, ConnectionRole};
use anamnesis_test_servers::fault_proxy::{FaultProfile, FaultProxy};

use crate::broker::{BrokerWorker, TestBroker, until};
use crate::intake_amqp::{documents, everything_is_acknowledged, everything_is_stored};
use crate::support::{Program, TestEngine, count, on_every_program};

on_every_program!(cuts_truncations_and_refusals_of_the_line_lose_nothing);

fn behind(relay: &FaultProxy) -> String {
    let user = crate::broker::url().split('@').next().unwrap();
    format!("{user}@{}/%2f", relay.address())
}

async fn relay() -> FaultProxy {
    let host = crate::broker::url().split('@').nth(1).unwrap().split('/').next().unwrap();
    FaultProxy::start(host.parse().unwrap()).await.unwrap()
}

async fn cuts_truncations_and_refusals_of_the_line_lose_nothing(engine: TestEngine) {
    let (corner, program, relay) = (TestBroker::new().await, Program::on(engine).await, relay().await);
    let mut environment = corner.environment();
    environment.push(("ANAMNESIS__BROKER__URL".to_owned(), behind(&relay)));
    environment.push(("ANAMNESIS__PIPELINE__BATCH_DOCUMENTS".to_owned(), "2".to_owned()));
    let worker = BrokerWorker::start(&program, &environment).await;
    for round in 0..6u128 {
        corner.publish(&documents(1 + round * 10, 10)).await;
        tokio::time::sleep(Duration::from_millis(150)).await;
        match round % 3 {
            0 => relay.cut(),
            1 => {
                relay.set(FaultProfile::Truncating);
                tokio::time::sleep(Duration::from_millis(100)).await;
                relay.set(FaultProfile::Clear);
            }
            _ => {
                relay.set(FaultProfile::Refusing);
                relay.cut();
                tokio::time::sleep(Duration::from_millis(400)).await;
                relay.set(FaultProfile::Clear);
            }
        }
    }
    everything_is_stored(&program, 60).await;
    everything_is_acknowledged(&corner).await;
    let store = program.store().await;
    assert_eq!(count(&store, "SELECT count(*) FROM quarantine").await, 0);
    let (status, _) = worker.terminate();
    assert!(status.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_ends_in_time_whatever_state_its_broker_is_in() {
    let (corner, relay) = (TestBroker::new().await, relay().await);
    for weather in [FaultProfile::Clear, FaultProfile::Refusing, FaultProfile::Stalled] {
        let program = Program::on(TestEngine::File).await;
        let mut environment = corner.environment();
        environment.push(("ANAMNESIS__BROKER__URL".to_owned(), behind(&relay)));
        corner.publish(&documents(1, 40)).await;
        relay.set(FaultProfile::Clear);
        let worker = BrokerWorker::start(&program, &environment).await;
        until("it consumes", || async { worker.probe("/readyz").await.is_some_and(|(status, _)| status == 200) }).await;
        relay.set(weather);
        if weather == FaultProfile::Refusing {
            relay.cut();
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
        let log = worker.log();
        let (status, took) = worker.terminate();
        assert!(took < Duration::from_secs(10), "{weather:?}: {took:?}\n{log}");
        // The store is healthy: all started work is committed, whatever the broker receives of it.
        ended_well(&program, status, weather == FaultProfile::Clear, true, &format!("{weather:?}: {log}")).await;
        relay.set(FaultProfile::Clear);
        relay.cut();
    }
}

/// The end of a worker after a request: by itself, with its work finished (0) or given up (3). Started work is
/// committed if the store could accept it.
async fn ended_well(program: &Program, status: std::process::ExitStatus, calm: bool, store_is_well: bool, what: &str) {
    let expected: &[i32] = if calm { &[0] } else { &[0, 3] };
    assert!(status.code().is_some_and(|code| expected.contains(&code)), "{status:?}, {what}");
    if store_is_well {
        let store = program.store().await;
        for begun in ["SELECT count(*) FROM attempt", "SELECT count(*) FROM attempt_batch"] {
            assert_eq!(count(&store, begun).await, 0, "work in progress was finished: {what}");
        }
        let (inbox, documents) = ("SELECT count(*) FROM inbox", "SELECT count(*) FROM documents");
        assert_eq!(count(&store, inbox).await, count(&store, documents).await, "{what}");
        store.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_ends_in_time_whatever_state_its_database_is_in() {
    for weather in [
        FaultProfile::Clear,
        FaultProfile::Refusing,
        FaultProfile::Stalled,
        FaultProfile::Delayed(Duration::from_millis(400)),
    ] {
        let (corner, program) = (TestBroker::new().await, Program::on(TestEngine::Postgres).await);
        let (relay, through) = program.store_behind_fault_proxy().await;
        let mut environment = corner.environment();
        environment.push(("ANAMNESIS__STORE__URL".to_owned(), through));
        environment.push(("ANAMNESIS__PIPELINE__BATCH_DOCUMENTS".to_owned(), "4".to_owned()));
        corner.publish(&documents(1, 60)).await;
        let worker = BrokerWorker::start(&program, &environment).await;
        until("it works", || async { worker.sum("anamnesis_messages_processed_total").await >= 4.0 }).await;
        relay.set(weather);
        if weather == FaultProfile::Refusing {
            relay.cut();
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
        let log = worker.log();
        let before = worker.sum("anamnesis_messages_processed_total").await;
        let (status, took) = worker.terminate();
        assert!(took < Duration::from_secs(10), "{weather:?}: {took:?}\n{log}");
        let calm = matches!(weather, FaultProfile::Clear);
        ended_well(&program, status, calm, calm, &format!("{weather:?}: {log}")).await;
        if calm {
            let store = program.store().await;
            assert!(count(&store, "SELECT count(*) FROM inbox").await as f64 >= before, "what was counted is stored");
            store.close().await;
        }
        relay.set(FaultProfile::Clear);
        relay.cut();
        // Work that was given up was only given up by that worker.
        let worker = BrokerWorker::start(&program, &corner.environment()).await;
        everything_is_stored(&program, 60).await;
        everything_is_acknowledged(&corner).await;
        drop(worker);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_silent_listener_and_a_line_that_died_are_noticed() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut corner = TestBroker::empty();
    corner.config.url = format!("amqp://guest:guest@{}/%2f", silent.local_addr().unwrap()).into();
    corner.config.connect_timeout_ms = 300;
    let met = BrokerConnection::open(&corner.config, ConnectionRole::Consume).await.err();
    assert_eq!(met, Some(BrokerError::Late { step: "connect" }));
    corner.config.url = crate::broker::url().into();
    let (program, relay) = (Program::on(TestEngine::File).await, relay().await);
    let mut environment = corner.environment();
    environment.push(("ANAMNESIS__BROKER__URL".to_owned(), behind(&relay)));
    environment.push(("ANAMNESIS__BROKER__HEARTBEAT_SECONDS".to_owned(), "1".to_owned()));
    let worker = BrokerWorker::start(&program, &environment).await;
    let ready = || async { worker.probe("/readyz").await.is_some_and(|(status, _)| status == 200) };
    until("it consumes", ready).await;
    relay.set(FaultProfile::Stalled);
    until("the silence is noticed", || async { !ready().await }).await;
    relay.set(FaultProfile::Clear);
    until("it consumes again", ready).await;
    corner.publish(&documents(1, 1)).await;
    everything_is_stored(&program, 1).await;
}
