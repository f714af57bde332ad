//! The worker as a process: files in its spool become memory, its probes are right, and it ends on request.

use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;

use super::support::{self, Program, TestEngine, bodies, count, document, event, free_port, on_every_program};

on_every_program!(
    a_file_in_the_spool_becomes_memory_is_removed_and_is_counted,
    a_file_that_cannot_be_worked_now_stays_until_it_can,
    a_text_that_kills_its_worker_is_quarantined_and_its_neighbours_are_stored,
    the_lag_is_that_of_the_event_and_the_date_of_a_document_is_none,
    what_redaction_leaves_is_quarantined_and_counted,
    a_panic_in_a_task_is_counted_and_the_worker_goes_on,
);

/// Longer than anything that is waited for here should ever take.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) struct Running {
    pub(super) child: Child,
    pub(super) port: u16,
    pub(super) spool: PathBuf,
}

impl Running {
    pub(super) async fn start(program: &Program, more: &[(&str, &str)]) -> Self {
        let running = Self::begin(program, more);
        until("the worker is ready", async || running.get("/readyz").await.is_some_and(|(status, _)| status == 200))
            .await;
        running
    }

    /// The same in a process that a limit on the size of files does not end: writes beyond it fail.
    pub(super) async fn start_unstoppable(program: &Program) -> Self {
        let plain = program.command(&[]);
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "trap '' XFSZ; exec \"$0\" worker"]).arg(plain.get_program());
        command.envs(plain.get_envs().filter_map(|(key, value)| Some((key, value?))));
        command.current_dir(program.folder.path());
        let running = Self::spawn(program, &mut command);
        until("the worker is ready", async || running.get("/readyz").await.is_some_and(|(status, _)| status == 200))
            .await;
        running
    }

    /// The same without waiting until it is ready.
    pub(super) fn begin(program: &Program, more: &[(&str, &str)]) -> Self {
        Self::spawn(program, program.command(more).arg("worker"))
    }

    fn spawn(program: &Program, command: &mut std::process::Command) -> Self {
        let (port, spool) = (free_port(), program.folder.path().join("spool"));
        std::fs::create_dir_all(&spool).unwrap();
        let child = command
            .env("ANAMNESIS__HTTP__BIND", format!("127.0.0.1:{port}"))
            .env("ANAMNESIS__WORKER__SPOOL", &spool)
            .env("ANAMNESIS__WORKER__POLL_MS", "20")
            .env("ANAMNESIS__WORKER__STORE_STATS_INTERVAL_SECONDS", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self { child, port, spool }
    }

    pub(super) async fn get(&self, path: &str) -> Option<(u16, String)> {
        support::get(&format!("http://127.0.0.1:{}{path}", self.port)).await
    }

    /// Lays a file into the spool as a producer should: under a name with a dot, then renamed.
    pub(super) fn lay(&self, name: &str, lines: &[Vec<u8>]) {
        let hidden = self.spool.join(format!(".{name}"));
        std::fs::write(&hidden, lines.join(&b'\n')).unwrap();
        std::fs::rename(hidden, self.spool.join(name)).unwrap();
    }

    pub(super) async fn metric(&self, series: &str) -> f64 {
        let (_, page) = self.get("/metrics").await.unwrap();
        let line = page.lines().find(|line| line.starts_with(series)).unwrap_or_else(|| panic!("{series}"));
        line.rsplit(' ').next().unwrap().parse().unwrap()
    }

    /// SIGTERM, and the exit code.
    pub(super) fn end(mut self) -> Option<i32> {
        let id = self.child.id().to_string();
        assert!(std::process::Command::new("kill").arg(&id).status().unwrap().success());
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(begun.elapsed() < PATIENCE, "the worker does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let begun = Instant::now();
    while !holds().await {
        assert!(begun.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

pub(super) fn notes() -> Vec<Vec<u8>> {
    let note = |id: u128, text: &str| document(id, 1, "2026-05-02T10:00:00Z", text);
    bodies(&[note(1, "Toma sertralina 50 mg al día."), note(2, "Refiere insomnio desde hace una semana.")])
}

async fn a_file_in_the_spool_becomes_memory_is_removed_and_is_counted(engine: TestEngine) {
    let program = Program::on(engine).await;
    let worker = Running::start(&program, &[]).await;
    std::fs::write(worker.spool.join(".half-written.ndjson"), b"{\"organization_id\":").unwrap();
    worker.lay("notes.ndjson", &notes());
    until("the file is gone once all is stored", async || super::spool::originals(&worker.spool) == 0).await;
    assert!(worker.spool.join(".half-written.ndjson").exists(), "what is still being written is left alone");
    let stored = "anamnesis_messages_processed_total{outcome=\"stored\",queue=\"spool\",type=\"document_submitted\"}";
    assert_eq!(worker.metric(stored).await, 2.0);
    assert_eq!(worker.metric("anamnesis_messages_in_flight").await, 0.0);
    assert_eq!(worker.metric("anamnesis_redaction_residual_pii_total").await, 0.0);
    let raw = "anamnesis_memories{kind=\"raw\",state=\"active\"}";
    until("the store is counted", async || worker.metric(raw).await == 2.0).await;
    assert!(worker.metric("anamnesis_outbox_pending").await > 0.0);
    assert_eq!(worker.end(), Some(0));
    let store = program.store().await;
    assert_eq!(count(&store, "SELECT count(*) FROM documents").await, 2);
    assert_eq!(count(&store, "SELECT count(*) FROM attempt").await, 0);
}

async fn the_lag_is_that_of_the_event_and_the_date_of_a_document_is_none(engine: TestEngine) {
    let program = Program::on(engine).await;
    let worker = Running::start(&program, &[]).await;
    let sent = support::NOW.parse::<DateTime<Utc>>().unwrap() - TimeDelta::seconds(90);
    let mut dated =
        event("e-1", "anamnesis.document.submitted.v1", &document(1, 1, "2026-05-02T10:00:00Z", "Duerme mal."));
    dated["time"] = json!(sent.to_rfc3339());
    let undated =
        event("e-2", "anamnesis.document.submitted.v1", &document(2, 1, "2026-05-02T10:00:00Z", "Duerme bien."));
    let bare = document(3, 1, "2026-05-02T10:00:00Z", "Come mejor.");
    worker.lay("notes.ndjson", &bodies(&[dated, undated, bare]));
    until("all is stored", async || super::spool::originals(&worker.spool) == 0).await;
    assert_eq!(worker.metric("anamnesis_queue_lag_seconds_count{queue=\"spool\"}").await, 1.0);
    assert_eq!(worker.metric("anamnesis_queue_lag_seconds_sum{queue=\"spool\"}").await, 90.0);
    assert_eq!(worker.end(), Some(0));
}

async fn what_redaction_leaves_is_quarantined_and_counted(engine: TestEngine) {
    let program = Program::on(engine).await;
    let worker = Running::start(&program, &[("ANAMNESIS_LEAK_OF", "zqfuga")]).await;
    let note = document(1, 1, "2026-05-02T10:00:00Z", "zqfuga. DNI 12345678Z, toma sertralina.");
    worker.lay("notes.ndjson", &bodies(&[note, document(2, 1, "2026-05-02T10:00:00Z", "DNI 12345678Z, duerme mal.")]));
    until("both are worked", async || super::spool::originals(&worker.spool) == 0).await;
    assert_eq!(worker.metric("anamnesis_redaction_residual_pii_total").await, 1.0);
    assert_eq!(worker.metric("anamnesis_dlp_leak_guard_total").await, 1.0, "under its old name too");
    assert_eq!(worker.end(), Some(0));
    let store = program.store().await;
    assert_eq!(count(&store, "SELECT count(*) FROM documents").await, 1);
    assert_eq!(count(&store, "SELECT count(*) FROM quarantine WHERE reason = 'redaction_failed'").await, 1);
}

async fn a_panic_in_a_task_is_counted_and_the_worker_goes_on(engine: TestEngine) {
    let program = Program::on(engine).await;
    let worker = Running::start(&program, &[("ANAMNESIS_PANIC_OF", "/healthz")]).await;
    assert_eq!(worker.metric("anamnesis_panics_total").await, 0.0);
    assert_eq!(worker.get("/healthz").await, None, "the request ends without an answer");
    assert_eq!(worker.metric("anamnesis_panics_total").await, 1.0);
    worker.lay("notes.ndjson", &notes());
    until("the work goes on", async || super::spool::originals(&worker.spool) == 0).await;
    assert_eq!(worker.end(), Some(0));
}

async fn a_file_that_cannot_be_worked_now_stays_until_it_can(engine: TestEngine) {
    let program = Program::on(engine).await;
    let nowhere = format!("http://127.0.0.1:{}/v1", free_port());
    let worker = Running::start(&program, &[("ANAMNESIS__EMBEDDING__URL", nowhere.as_str())]).await;
    worker.lay("notes.ndjson", &notes());
    let retried = "anamnesis_messages_processed_total{outcome=\"retried\",queue=\"spool\",type=\"document_submitted\"}";
    until("the messages are to be tried again", async || worker.metric(retried).await >= 2.0).await;
    assert_eq!(super::spool::originals(&worker.spool), 1);
    assert!(worker.metric("anamnesis_stage_errors_total{class=\"retryable\",stage=\"embed\"}").await > 0.0);
    drop(worker);
    let worker = Running::start(&program, &[]).await;
    until("the file is done once the provider answers", async || super::spool::originals(&worker.spool) == 0).await;
    assert_eq!(worker.end(), Some(0));
    assert_eq!(count(&program.store().await, "SELECT count(*) FROM documents").await, 2);
}

async fn a_text_that_kills_its_worker_is_quarantined_and_its_neighbours_are_stored(engine: TestEngine) {
    let program = Program::on(engine).await;
    let deadly = [("ANAMNESIS_DIE_OF", "XYZZY")];
    let mut worker = Running::begin(&program, &deadly);
    let mut messages = notes();
    messages.insert(1, document(9, 1, "2026-05-02T10:00:00Z", "Palabra mortífera: XYZZY.").to_string().into_bytes());
    worker.lay("notes.ndjson", &messages);
    let mut deaths = 0;
    until("the file is gone", async || {
        if worker.child.try_wait().unwrap().is_some() {
            deaths += 1;
            assert!(deaths <= 2, "the text kills one worker after the other");
            worker = Running::begin(&program, &deadly);
        }
        super::spool::originals(&worker.spool) == 0
    })
    .await;
    assert_eq!(deaths, 2);
    let store = program.store().await;
    assert_eq!(count(&store, "SELECT count(*) FROM documents").await, 2);
    assert_eq!(count(&store, "SELECT count(*) FROM quarantine WHERE reason = 'crash_suspect'").await, 1);
    assert_eq!(count(&store, "SELECT count(*) FROM attempt").await, 0);
}

#[tokio::test]
async fn probes_answer_and_an_address_in_use_is_a_configuration_error_that_names_its_key() {
    let program = Program::on(TestEngine::File).await;
    let worker = Running::start(&program, &[]).await;
    assert_eq!(worker.get("/healthz").await.unwrap().0, 200);
    let (status, page) = worker.get("/readyz").await.unwrap();
    assert!(status == 200 && page.contains("store"), "{page}");
    let second = program
        .command(&[("ANAMNESIS__HTTP__BIND", &format!("127.0.0.1:{}", worker.port))])
        .arg("worker")
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&second.stderr).contains("http.bind"));
    assert_eq!(worker.end(), Some(0));
}
