//! The spool under kills, replaced files, links and failures: nothing is lost, repeated or left lying in the clear.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anamnesis_test_servers::provider::FakeOptions;

use super::support::{Program, TestEngine, bodies, count, document, free_port, on_every_program, rows};
use super::worker::{Running, notes, until};

on_every_program!(
    a_file_renamed_over_one_in_progress_is_stored_too,
    a_worker_killed_at_any_point_loses_and_repeats_nothing,
    what_fails_for_ever_is_quarantined_after_its_retries,
    a_claimed_file_that_cannot_be_read_ends_in_quarantine_and_out_of_the_way,
);

/// Where a worker may be killed on a file's way (`src/cli/worker/spool.rs`).
const CRASH_POINTS: [&str; 4] = ["spool_claimed", "spool_fed", "spool_sealed", "spool_removed"];

/// Files in the clear, waiting or claimed.
pub(crate) fn originals(spool: &Path) -> usize {
    let mut found = 0;
    let mut open = vec![spool.to_path_buf()];
    while let Some(folder) = open.pop() {
        // A claim folder may disappear while it is listed.
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

async fn a_file_renamed_over_one_in_progress_is_stored_too(engine: TestEngine) {
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

async fn a_worker_killed_at_any_point_loses_and_repeats_nothing(engine: TestEngine) {
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

async fn what_fails_for_ever_is_quarantined_after_its_retries(engine: TestEngine) {
    let program = Program::on(engine).await;
    let nowhere = format!("http://127.0.0.1:{}/v1", free_port());
    let settings = [
        ("ANAMNESIS__EMBEDDING__URL", nowhere.as_str()),
        ("ANAMNESIS__SPOOL__MAX_RETRIES", "2"),
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

/// Everything below a folder, by name.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        found.push(entry.path());
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.extend(below(&entry.path()));
        }
    }
    found
}

async fn a_claimed_file_that_cannot_be_read_ends_in_quarantine_and_out_of_the_way(engine: TestEngine) {
    let program = Program::on(engine).await;
    let secret = program.folder.path().join("secret");
    fs::write(&secret, note(7, "Toma litio.")).unwrap();
    // Killed after the claim, so that the claimed file can be exchanged: for a link, a folder, a pipe.
    for name in ["link", "folder", "pipe"] {
        let mut killed = Running::begin(&program, &[("ANAMNESIS_CRASH_AT", "spool_claimed")]);
        killed.lay(&format!("{name}.ndjson"), &[note(1, "Toma sertralina.")]);
        until("the worker is killed", async || killed.child.try_wait().unwrap().is_some()).await;
        let ending = format!(".{name}.ndjson");
        let claims = below(&killed.spool.join(".claimed"));
        let claim = claims.iter().find(|path| path.to_string_lossy().ends_with(&ending)).expect("a claim");
        fs::remove_file(claim).unwrap();
        match name {
            "link" => symlink(&secret, claim).unwrap(),
            "folder" => fs::create_dir(claim).unwrap(),
            _ => assert!(std::process::Command::new("mkfifo").arg(claim).status().unwrap().success()),
        }
    }
    let settings = [("ANAMNESIS__SPOOL__MAX_RETRIES", "3"), ("ANAMNESIS__SPOOL__RETRY_MS", "50")];
    // Killed when the quarantine has the first one and the file is still there.
    let mut killed = Running::begin(&program, &[settings[0], settings[1], ("ANAMNESIS_CRASH_AT", "spool_given_up")]);
    until("the worker is killed", async || killed.child.try_wait().unwrap().is_some()).await;
    let worker = Running::start(&program, &settings).await;
    worker.lay("good.ndjson", &notes());
    let unreadable = worker.spool.join(".unreadable");
    until("all three are out of the way", async || below(&unreadable).len() == 3).await;
    let good = worker.spool.join("good.ndjson");
    until("the good one is done", async || !good.exists() && originals(&worker.spool.join(".claimed")) == 0).await;
    let left = worker.metric("anamnesis_messages_quarantined_total{reason=\"transient_exhausted\"}").await;
    assert!((2.0..=3.0).contains(&left), "{left}");
    assert!(!worker.spool.join("good.ndjson").exists());
    assert_eq!(worker.end(), Some(0));
    assert_eq!(fs::metadata(&unreadable).unwrap().mode() & 0o777, 0o700);
    let store = program.store().await;
    assert_eq!(count(&store, "SELECT count(*) FROM documents").await, 2, "nothing was read through the link");
    assert_eq!(count(&store, "SELECT count(*) FROM quarantine").await, 3);
    assert_eq!(count(&store, "SELECT count(*) FROM quarantine WHERE reason = 'transient_exhausted'").await, 3);
    store.close().await;
    let listed = program.command(&[]).args(["quarantine", "list", "--output", "json"]).output().unwrap();
    for line in String::from_utf8_lossy(&listed.stdout).lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let id = row["id"].as_str().unwrap();
        let shown = program.command(&[]).args(["quarantine", "show", id, "--raw"]).output().unwrap();
        let text = String::from_utf8_lossy(&shown.stdout).into_owned();
        assert!(text.contains(".unreadable/") && text.contains(".ndjson"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_no_worker_takes_is_left_counted_and_shown_and_a_link_is_not_followed() {
    let program = Program::on(TestEngine::File).await;
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
    let program = Program::on(TestEngine::Postgres).await;
    let (one, two) = (Running::start(&program, &[]).await, Running::start(&program, &[]).await);
    for id in 1..=20_u128 {
        one.lay(&format!("n{id}.ndjson"), &[note(id, "Toma sertralina 50 mg al día.")]);
    }
    until("all files are done", async || originals(&one.spool) == 0).await;
    let received = "anamnesis_messages_received_total{queue=\"spool\",type=\"document_submitted\"}";
    assert_eq!(one.metric(received).await + two.metric(received).await, 20.0);
    assert_eq!(count(&program.store().await, "SELECT count(*) FROM documents").await, 20);
}

/// Most memory that a process has held, in bytes.
fn peak(worker: &Running) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", worker.child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[tokio::test(flavor = "multi_thread")]
async fn an_over_long_line_is_stored_sealed_and_a_longer_one_in_the_archive_in_bounded_memory() {
    let program = Program::on(TestEngine::File).await;
    let worker = Running::start(&program, &[]).await;
    worker.lay("first.ndjson", &notes());
    until("the first file is done", async || originals(&worker.spool) == 0).await;
    let before = peak(&worker);
    let line = |letter: u8, mebibytes: usize| vec![letter; mebibytes << 20];
    worker.lay("long.ndjson", &[line(b'x', 2), note(11, "Toma sertralina.")]);
    // Consecutive lines that quarantine stores whole, and one far beyond its limit.
    let kept: Vec<Vec<u8>> = (b'a'..b'g').map(|letter| line(letter, 15)).collect();
    worker.lay("many.ndjson", &kept);
    worker.lay("beyond.ndjson", &[line(b'y', 400), note(12, "Toma sertralina.")]);
    until("the files are done", async || originals(&worker.spool) == 0).await;
    let grown = peak(&worker).saturating_sub(before);
    assert!(grown < 160 << 20, "{} MiB more than for an ordinary file", grown >> 20);
    let archived: Vec<PathBuf> = below(&worker.spool.join(".archive"));
    assert_eq!((worker.end(), archived.len()), (Some(0), 1));
    let store = program.store().await;
    assert_eq!(count(&store, "SELECT count(*) FROM documents").await, 4);
    let whole = "SELECT count(*) FROM quarantine WHERE reason = 'too_large' AND length(body_sealed) > 2097152";
    assert_eq!(count(&store, whole).await, 7);
    let place = "SELECT id FROM quarantine WHERE reason = 'too_large' AND length(body_sealed) < 1000";
    let ids = rows(&store, place).await;
    assert_eq!(ids.len(), 1);
    let id = ids[0].uuid(0).unwrap().to_string();
    store.close().await;
    // Quarantine names the sealed original.
    let shown = program.command(&[]).args(["quarantine", "show", &id, "--raw"]).output().unwrap();
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    let name = archived[0].file_name().unwrap().to_string_lossy().into_owned();
    assert!(text.contains(&name) && text.contains("beyond.ndjson"), "{text}");
    let opened = program.command(&[]).args(["spool", "open"]).arg(&archived[0]).output().unwrap();
    assert!(opened.stdout.len() > 400 << 20 && opened.stdout.starts_with(b"yyyy"));
}
