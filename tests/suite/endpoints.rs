//! The endpoints under hostile and bad conditions: requests that never finish, a store that rejects writes or is
//! unreachable.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::support::{Program, TestEngine, on_every_program};
use super::worker::{Running, notes, until};

on_every_program!(a_store_that_refuses_writes_makes_the_worker_unready_with_json_until_it_takes_them_again);

/// Longest answer time of `/readyz` in every state.
const WITHIN: Duration = Duration::from_secs(2);

/// The status and body of `/readyz`, which must be in time.
async fn readiness(worker: &Running) -> (u16, Value) {
    let begun = Instant::now();
    let (status, body) = worker.get("/readyz").await.expect("an answer");
    assert!(begun.elapsed() < WITHIN, "{:?}", begun.elapsed());
    (status, serde_json::from_str(&body).unwrap_or_else(|_| panic!("no JSON: {body:?}")))
}

/// The code of a check that failed.
fn code<'a>(answer: &'a Value, name: &str) -> Option<&'a str> {
    let checks = answer["checks"].as_array().expect("checks");
    checks.iter().find(|check| check["name"] == name).and_then(|check| check["code"].as_str())
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_are_never_finished_stop_neither_probes_nor_the_spool() {
    let program = Program::on(TestEngine::File).await;
    let worker = Running::start(&program, &[]).await;
    // The limit of descriptors that most systems give a process.
    let id = worker.child.id().to_string();
    let limited = Command::new("prlimit").args(["--nofile=1024:1024", "--pid", &id]).status().unwrap();
    assert!(limited.success());
    let port = worker.port;
    let half = tokio::task::spawn_blocking(move || {
        let mut open = Vec::new();
        for _ in 0..1_100 {
            let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { break };
            let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: ");
            open.push(stream);
        }
        open
    })
    .await
    .unwrap();
    for path in ["/healthz", "/readyz", "/metrics"] {
        let asked = tokio::time::timeout(Duration::from_secs(5), worker.get(path)).await;
        assert_eq!(asked.ok().flatten().map(|(status, _)| status), Some(200), "{path}");
    }
    worker.lay("notes.ndjson", &notes());
    until("the spool goes on", async || !worker.spool.join("notes.ndjson").exists()).await;
    assert!(half.len() > 1_000);
    // An unfinished head ends with its connection, even if no other request needs the place.
    let mut one = TcpStream::connect(("127.0.0.1", worker.port)).unwrap();
    one.write_all(b"GET /healthz HTTP/1.1\r\n").unwrap();
    one.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let ended = one.read_to_end(&mut Vec::new());
    assert!(ended.is_ok(), "the connection is still open after 20 s: {ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_with_a_large_body_is_refused() {
    let program = Program::on(TestEngine::File).await;
    let worker = Running::start(&program, &[]).await;
    let mut stream = TcpStream::connect(("127.0.0.1", worker.port)).unwrap();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n\r\n").unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut head = [0; 12];
    stream.read_exact(&mut head).unwrap();
    assert_eq!(&head, b"HTTP/1.1 413");
}

/// Makes the store reject writes, as a standby or a full disk does, or accept them again.
async fn refuse_writes(program: &Program, worker: &Running, refuse: bool) {
    match &program.server {
        Some(server) => {
            let word = if refuse { "on" } else { "off" };
            server.alter(&format!("SET default_transaction_read_only = {word}")).await;
        }
        None => {
            let limit = if refuse { "--fsize=1:" } else { "--fsize=unlimited:" };
            let id = worker.child.id().to_string();
            assert!(Command::new("prlimit").args([limit, "--pid", &id]).status().unwrap().success());
        }
    }
}

async fn a_store_that_refuses_writes_makes_the_worker_unready_with_json_until_it_takes_them_again(engine: TestEngine) {
    let program = Program::on(engine).await;
    let worker = Running::start_unstoppable(&program).await;
    refuse_writes(&program, &worker, true).await;
    until("the worker is not ready", async || {
        let (status, answer) = readiness(&worker).await;
        status == 503 && code(&answer, "write") == Some("not_writable")
    })
    .await;
    assert_eq!(worker.get("/healthz").await.unwrap().0, 200);
    refuse_writes(&program, &worker, false).await;
    until("the worker is ready again", async || readiness(&worker).await.0 == 200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreachable_database_is_named_in_json_in_time() {
    let program = Program::on(TestEngine::Postgres).await;
    let worker = Running::start(&program, &[]).await;
    let server = program.server.as_ref().unwrap();
    server.alter("ALLOW_CONNECTIONS false").await;
    until("the worker is not ready", async || {
        let (status, answer) = readiness(&worker).await;
        status == 503 && code(&answer, "store").is_some() && code(&answer, "schema").is_some()
    })
    .await;
    assert_eq!(worker.get("/healthz").await.unwrap().0, 200);
    server.alter("ALLOW_CONNECTIONS true").await;
    until("the worker is ready again", async || readiness(&worker).await.0 == 200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_keys_make_the_worker_unready() {
    let program = Program::on(TestEngine::File).await;
    let worker = Running::start(&program, &[]).await;
    let keys = program.folder.path().join("keys");
    std::fs::rename(&keys, program.folder.path().join("away")).unwrap();
    let (status, answer) = readiness(&worker).await;
    assert_eq!((status, code(&answer, "keys")), (503, Some("keys_unavailable")), "{answer}");
    std::fs::rename(program.folder.path().join("away"), &keys).unwrap();
    assert_eq!(readiness(&worker).await.0, 200);
}
