//! The spool under kills, replaced files, links and failures: nothing is lost, repeated or left lying in the clear.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

use anamnesis::bench::provider::FakeOptions;

use super::support::{Engine, Program, bodies, count, document, free_port, on_every_program};
use super::worker::{Running, notes, until};

on_every_program!(
    a_file_renamed_over_one_in_progress_is_stored_too,
    a_worker_killed_at_any_point_loses_and_repeats_nothing,
    what_fails_for_ever_is_set_aside_after_its_retries,
);

/// Where a worker may be killed on a file's way (`src/cli/worker/spool.rs`).
const CRASH_POINTS: [&str; 4] = ["spool_claimed", "spool_fed", "spool_sealed", "spool_removed"];

/// Files in the clear, waiting or claimed.
pub fn originals(spool: &Path) -> usize {
    let mut found = 0;
    let mut open = vec![spool.to_path_buf()];
    while let Some(folder) = open.pop() {
        // A claim folder may go while it is looked at.
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            let being_written = entry.file_name().to_string_lossy().starts_with('.');
            if kind.is_dir() {
                open.push(entry.path());
            } else if !being_written && entry.path().extension().is_some_and(|extension| extension == "ndjson") {
                found += 1;
            }
        }
    }
    found
}

fn note(id: u128, text: &str) -> Vec<u8> {
    bodies(&[document(id, 1, "2026-05-02T10:00:00Z", text)]).remove(0)
}

async fn a_file_renamed_over_one_in_progress_is_stored_too(engine: Engine) {
    let options = FakeOptions { latency: Duration::from_millis(1_500), ..Program::provider_options() };
    let program = Program::with_provider(engine, options).await;
    let worker = Running::start(&program, &[]).await;
    worker.lay("notes.ndjson", &[note(1, "Toma sertralina 50 mg al día.")]);
    until("the file is in progress", async || worker.metric("anamnesis_messages_in_flight").await > 0.0).await;
    worker.lay("notes.ndjson", &[note(2, "Refiere insomnio desde hace una semana.")]);
    until("both files are done", async || originals(&worker.spool) == 0).await;
    assert_eq!(worker.end(), Some(0));
    assert_eq!(count(&program.store().await, "SELECT count(*) FROM documents").await, 2);
}

async fn a_worker_killed_at_any_point_loses_and_repeats_nothing(engine: Engine) {
    for point in CRASH_POINTS {
        let program = Program::on(engine).await;
        let archive = ("ANAMNESIS__SPOOL__AFTER", "archive");
        let mut killed = Running::begin(&program, &[archive, ("ANAMNESIS_CRASH_AT", point)]);
        killed.lay("notes.ndjson", &notes());
        let begun = Instant::now();
        while killed.child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{point}: the worker was not killed");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let worker = Running::start(&program, &[archive]).await;
        until("the file is done", async || originals(&worker.spool) == 0).await;
        let archive = worker.spool.join(".archive");
        assert_eq!(worker.end(), Some(0));
        let store = program.store().await;
        assert_eq!(count(&store, "SELECT count(*) FROM documents").await, 2, "{point}");
        assert_eq!(count(&store, "SELECT count(*) FROM quarantine").await, 0, "{point}");
        store.close().await;
        let sealed: Vec<_> = fs::read_dir(archive).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(sealed.len(), 1, "{point}: {sealed:?}");
        assert_eq!(fs::metadata(&sealed[0]).unwrap().permissions().mode() & 0o777, 0o600);
        let bytes = fs::read(&sealed[0]).unwrap();
        assert!(!bytes.windows(10).any(|part| part == b"sertralina"), "{point}: it lies in the clear");
        let opened = program.command(&[]).args(["spool", "open"]).arg(&sealed[0]).output().unwrap();
        assert_eq!(opened.stdout, notes().join(&b'\n'), "{point}");
        fs::write(&sealed[0], &bytes[..bytes.len() - 1]).unwrap();
        let cut = program.command(&[]).args(["spool", "open"]).arg(&sealed[0]).output().unwrap();
        assert_eq!(cut.status.code(), Some(1), "a file that was cut off does not open");
    }
}

async fn what_fails_for_ever_is_set_aside_after_its_retries(engine: Engine) {
    let program = Program::on(engine).await;
    let nowhere = format!("http://127.0.0.1:{}/v1", free_port());
    let settings = [
        ("ANAMNESIS__EMBEDDING__URL", nowhere.as_str()),
        ("ANAMNESIS__SPOOL__RETRIES", "2"),
        ("ANAMNESIS__SPOOL__RETRY_MS", "100"),
    ];
    let worker = Running::start(&program, &settings).await;
    worker.lay("notes.ndjson", &notes());
    until("the file is done", async || originals(&worker.spool) == 0).await;
    assert_eq!(worker.end(), Some(0));
    let store = program.store().await;
    let spent = "SELECT count(*) FROM quarantine WHERE reason = 'transient_exhausted' AND body_sealed IS NOT NULL";
    assert_eq!(count(&store, spent).await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_worker_takes_is_left_counted_and_shown_and_a_link_is_not_followed() {
    let program = Program::on(Engine::File).await;
    let worker = Running::start(&program, &[]).await;
    let secret = program.folder.path().join("secret.ndjson");
    fs::write(&secret, note(7, "Toma litio.")).unwrap();
    symlink(&secret, worker.spool.join("link.ndjson")).unwrap();
    fs::write(worker.spool.join("scan.pdf"), b"%PDF").unwrap();
    worker.lay("notes.ndjson", &notes());
    until("the file is done", async || !worker.spool.join("notes.ndjson").exists()).await;
    until("what is unknown is counted", async || worker.metric("anamnesis_spool_unknown_entries").await == 2.0).await;
    let (status, page) = worker.get("/readyz").await.unwrap();
    assert!(status == 200 && page.contains("\"attention\":2"), "{page}");
    assert!(worker.spool.join("scan.pdf").exists() && secret.exists());
    assert!(worker.spool.join("link.ndjson").symlink_metadata().unwrap().is_symlink());
    let claims = worker.spool.join(".claimed");
    assert_eq!(fs::metadata(claims).unwrap().mode() & 0o777, 0o700);
    until("all is stored", async || originals(&worker.spool.join(".claimed")) == 0).await;
    assert_eq!(worker.end(), Some(0));
    assert_eq!(count(&program.store().await, "SELECT count(*) FROM documents").await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_workers_share_a_spool_and_no_file_is_worked_twice() {
    let program = Program::on(Engine::Postgres).await;
    let (one, two) = (Running::start(&program, &[]).await, Running::start(&program, &[]).await);
    for id in 1..=20_u128 {
        one.lay(&format!("n{id}.ndjson"), &[note(id, "Toma sertralina 50 mg al día.")]);
    }
    until("all files are done", async || originals(&one.spool) == 0).await;
    let received = "anamnesis_messages_received_total{queue=\"spool\",type=\"document_submitted\"}";
    assert_eq!(one.metric(received).await + two.metric(received).await, 20.0);
    assert_eq!(count(&program.store().await, "SELECT count(*) FROM documents").await, 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_over_long_line_is_kept_sealed_and_a_longer_one_in_the_archive() {
    let program = Program::on(Engine::File).await;
    let worker = Running::start(&program, &[]).await;
    worker.lay("long.ndjson", &[vec![b'x'; 2 << 20], note(1, "Toma sertralina.")]);
    worker.lay("beyond.ndjson", &[vec![b'y'; 17 << 20], note(2, "Toma sertralina.")]);
    until("the files are done", async || originals(&worker.spool) == 0).await;
    let archived = fs::read_dir(worker.spool.join(".archive")).unwrap().count();
    assert_eq!((worker.end(), archived), (Some(0), 1));
    let store = program.store().await;
    assert_eq!(count(&store, "SELECT count(*) FROM documents").await, 2);
    let whole = "SELECT count(*) FROM quarantine WHERE reason = 'too_large' AND length(body_sealed) > 2097152";
    assert_eq!(count(&store, whole).await, 1);
    assert_eq!(count(&store, "SELECT count(*) FROM quarantine WHERE reason = 'too_large'").await, 2);
}
