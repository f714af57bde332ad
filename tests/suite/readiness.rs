//! `/readyz` in every state of a worker's dependencies: always JSON, always within two seconds, with the name of the
//! failing check. Keys, a full disk and a standby are in `endpoints`.

use std::time::{Duration, Instant};

use anamnesis_test_servers::fault_proxy::{FaultProfile, FaultProxy};
use serde_json::Value;
use sqlx::Executor as _;

use super::broker::TestBroker;
use super::support::{Program, TestEngine};
use super::worker::{Running, until};

const WITHIN: Duration = Duration::from_secs(2);

/// Status and body of `/readyz`, in time.
async fn readiness(worker: &Running) -> (u16, Value) {
    let begun = Instant::now();
    let (status, body) = worker.get("/readyz").await.expect("an answer");
    assert!(begun.elapsed() < WITHIN, "{:?}", begun.elapsed());
    (status, serde_json::from_str(&body).unwrap_or_else(|_| panic!("no JSON: {body:?}")))
}

fn code<'a>(answer: &'a Value, name: &str) -> Option<&'a str> {
    let checks = answer["checks"].as_array().expect("checks");
    checks.iter().find(|check| check["name"] == name).and_then(|check| check["code"].as_str())
}

async fn says(worker: &Running, name: &str, expected: &[&str]) {
    until(&format!("{name} says one of {expected:?}"), async || {
        let (status, answer) = readiness(worker).await;
        status == 503 && code(&answer, name).is_some_and(|code| expected.contains(&code))
    })
    .await;
    assert_eq!(worker.get("/healthz").await.unwrap().0, 200, "whoever restarts it mends nothing");
}

async fn is_ready(worker: &Running) {
    until("the worker is ready", async || readiness(worker).await.0 == 200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_hangs_refuses_or_comes_back_is_named_in_time() {
    let program = Program::on(TestEngine::Postgres).await;
    let (relay, through) = program.store_behind_fault_proxy().await;
    let worker = Running::start(&program, &[("ANAMNESIS__STORE__URL", &through)]).await;
    for weather in [FaultProfile::Stalled, FaultProfile::Refusing] {
        relay.set(weather);
        if weather == FaultProfile::Refusing {
            relay.cut();
        }
        for name in ["store", "schema"] {
            says(&worker, name, &["timeout", "store_unavailable"]).await;
        }
        // Many concurrent probes take no longer than one.
        let begun = Instant::now();
        let asked = futures::future::join_all((0..20).map(|_| worker.get("/readyz"))).await;
        assert!(begun.elapsed() < WITHIN && asked.iter().all(|answer| answer.as_ref().is_some_and(|a| a.0 == 503)));
        relay.set(FaultProfile::Clear);
        relay.cut();
        is_ready(&worker).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_that_another_program_changed_is_named() {
    let program = Program::on(TestEngine::Postgres).await;
    let mut administrator = program.server.as_ref().unwrap().administrator().await;
    let worker = Running::start(&program, &[]).await;
    let newer = "INSERT INTO anamnesis._sqlx_migrations (version, description, success, checksum, execution_time) \
        VALUES (9999, 'newer', true, 'x', 0)";
    let last = "WHERE version = (SELECT max(version) FROM anamnesis._sqlx_migrations)";
    let half = format!("UPDATE anamnesis._sqlx_migrations SET success = false {last}");
    let whole = format!("UPDATE anamnesis._sqlx_migrations SET success = true {last}");
    let older = format!("UPDATE anamnesis._sqlx_migrations SET version = version + 100000 {last}");
    administrator.execute(newer).await.unwrap();
    says(&worker, "schema", &["newer"]).await;
    administrator.execute("DELETE FROM anamnesis._sqlx_migrations WHERE version = 9999").await.unwrap();
    is_ready(&worker).await;
    administrator.execute(sqlx::AssertSqlSafe(half)).await.unwrap();
    says(&worker, "schema", &["changed"]).await;
    administrator.execute(sqlx::AssertSqlSafe(whole)).await.unwrap();
    is_ready(&worker).await;
    administrator.execute(sqlx::AssertSqlSafe(older)).await.unwrap();
    says(&worker, "schema", &["newer"]).await;
    let gone = format!("DELETE FROM anamnesis._sqlx_migrations {last}");
    administrator.execute(sqlx::AssertSqlSafe(gone)).await.unwrap();
    says(&worker, "schema", &["behind"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_or_hanging_broker_is_named_and_its_return_is_seen() {
    let (corner, program) = (TestBroker::new().await, Program::on(TestEngine::File).await);
    let (user, place) = super::broker::url().split_once('@').unwrap();
    let relay = FaultProxy::start(place.split('/').next().unwrap().parse().unwrap()).await.unwrap();
    let through = format!("{user}@{}/%2f", relay.address());
    let mut environment = corner.environment();
    environment.push(("ANAMNESIS__BROKER__URL".to_owned(), through));
    let more: Vec<(&str, &str)> = environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let worker = Running::start(&program, &more).await;
    let named = async || {
        until("the broker is named", async || {
            let (status, answer) = readiness(&worker).await;
            status == 503 && code(&answer, "broker").is_some_and(|code| !code.is_empty())
        })
        .await;
    };
    relay.set(FaultProfile::Refusing);
    relay.cut();
    named().await;
    relay.set(FaultProfile::Clear);
    is_ready(&worker).await;
    // Half-open: nothing is closed, nothing comes; heartbeats find out, and the page answers all the while.
    relay.set(FaultProfile::Stalled);
    named().await;
    relay.set(FaultProfile::Clear);
    relay.cut();
    is_ready(&worker).await;
}
