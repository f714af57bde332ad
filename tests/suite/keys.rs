//! The store and its key store are bound: another, older, damaged or missing key store is refused, and none is created
//! in its place. Once the right one is back, work continues.

use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use uuid::Uuid;

use super::support::{
    self, ORG, PATIENT, Program, TestEngine, bodies, count, counts, document, free_port, on_every_program,
};

on_every_program!(
    a_key_store_that_is_not_the_right_one_stops_every_verb_and_the_right_one_is_taken_again,
    another_master_is_refused_for_a_new_patient_too,
    a_second_host_without_the_keys_makes_none,
    a_worker_without_its_key_file_takes_nothing_and_continues_when_it_is_back,
    keys_are_rotated_rewrapped_and_brought_back_from_an_escrow_through_the_command_line,
    a_store_from_before_bindings_is_bound_to_the_key_store_that_opens_it,
);

const PATIENCE: Duration = Duration::from_secs(60);

fn note(id: u128, patient: Uuid) -> Value {
    let mut note = document(id, 1, "2026-05-02T10:00:00Z", "Toma sertralina 50 mg al día. Alergia a penicilina.");
    note["patient_id"] = json!(patient);
    note
}

fn other(n: u128) -> Uuid {
    Uuid::from_u128(PATIENT.as_u128() + n)
}

fn ingest(program: &Program, id: u128, patient: Uuid, more: &[(&str, &str)]) -> Output {
    program.ingest(&bodies(&[note(id, patient)]), more)
}

fn context(program: &Program, patient: Uuid, more: &[(&str, &str)]) -> Output {
    let (org, patient) = (ORG.to_string(), patient.to_string());
    let verb = ["context", "--output", "json", "--org", org.as_str(), "--patient", patient.as_str()];
    program.command(more).args(verb).output().unwrap()
}

fn stored(output: &Output) -> bool {
    output.status.code() == Some(0) && counts(output)["stored"] == 1
}

/// Replaces a file as `mv` does.
fn replace(path: &Path, bytes: &[u8]) {
    let copy = path.with_extension("copy");
    std::fs::write(&copy, bytes).unwrap();
    std::fs::rename(copy, path).unwrap();
}

async fn another_ones(engine: TestEngine) -> Vec<u8> {
    let other = Program::on(engine).await;
    assert!(stored(&ingest(&other, 1, PATIENT, &[])));
    std::fs::read(other.folder.path().join("keys")).unwrap()
}

async fn a_key_store_that_is_not_the_right_one_stops_every_verb_and_the_right_one_is_taken_again(engine: TestEngine) {
    let program = Program::on(engine).await;
    let keys = program.folder.path().join("keys");
    assert!(stored(&ingest(&program, 1, PATIENT, &[])));
    let old = std::fs::read(&keys).unwrap();
    assert!(stored(&ingest(&program, 2, other(1), &[])));
    let right = std::fs::read(&keys).unwrap();
    let mut flipped = right.clone();
    flipped[40..200].fill(0xff);
    let wrong: [(&str, Option<Vec<u8>>); 6] = [
        ("missing", None),
        ("empty", Some(Vec::new())),
        ("truncated", Some(right[..right.len() / 2].to_vec())),
        ("bytes flipped", Some(flipped)),
        ("from before the second patient", Some(old)),
        ("of another store", Some(another_ones(TestEngine::File).await)),
    ];
    for (name, bytes) in wrong {
        match &bytes {
            Some(bytes) => replace(&keys, bytes),
            None => std::fs::remove_file(&keys).unwrap(),
        }
        let job = program.command(&[]).args(["job", "run", "expiry"]).output().unwrap();
        let worker = program.command(&[]).arg("worker").output().unwrap();
        for output in [
            ingest(&program, 3, PATIENT, &[]),
            ingest(&program, 4, other(2), &[]),
            context(&program, PATIENT, &[]),
            job,
            worker,
        ] {
            let reported = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{name}: {reported}");
            assert!(reported.contains(keys.to_str().unwrap()), "{name}: names no file: {reported}");
            assert!(
                output.stdout.is_empty() || !String::from_utf8_lossy(&output.stdout).contains("\"known\""),
                "{name}"
            );
        }
        match bytes {
            Some(bytes) => assert_eq!(std::fs::read(&keys).unwrap(), bytes, "{name}: left as it was"),
            None => assert!(!keys.exists(), "nothing is made"),
        }
        replace(&keys, &right);
    }
    let answer: Value = serde_json::from_slice(&context(&program, PATIENT, &[]).stdout).unwrap();
    assert!(answer["known"] == true && answer["profile"]["allergies"].as_array().is_none_or(|all| !all.is_empty()));
    assert!(stored(&ingest(&program, 3, PATIENT, &[])) && stored(&ingest(&program, 4, other(2), &[])));
    let store = program.store().await;
    assert_eq!(count(&store, "SELECT count(*) FROM documents").await, 4, "what was refused before is stored now");
    assert_eq!(count(&store, "SELECT count(*) FROM quarantine").await, 0);
    store.read().digest(None).await.expect("every sealed cell opens");
}

async fn another_master_is_refused_for_a_new_patient_too(engine: TestEngine) {
    let program = Program::on(engine).await;
    assert!(stored(&ingest(&program, 1, PATIENT, &[])));
    let another = "7".repeat(64);
    let swapped = [("ANAMNESIS__STORE__MASTER_KEY", another.as_str())];
    for patient in [PATIENT, other(1)] {
        let refused = ingest(&program, 2, patient, &swapped);
        let reported = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{reported}");
        assert!(reported.contains("store.master_key") && !reported.contains(&another), "{reported}");
    }
    std::fs::remove_file(program.folder.path().join("keys.master")).unwrap();
    assert_eq!(ingest(&program, 2, other(1), &[]).status.code(), Some(2));
    assert!(!program.folder.path().join("keys.master").exists(), "no root key is made for a store that has one");
    assert_eq!(count(&program_store_count(&program).await, "SELECT count(*) FROM documents").await, 1);
}

/// The store's rows without its keys.
async fn program_store_count(program: &Program) -> anamnesis_store::Store {
    use std::sync::Arc;

    use anamnesis_core::clock::{SeededEntropy, SystemClock};
    let entropy = Arc::new(SeededEntropy::new(9));
    let keys = anamnesis_crypto::Keyring::in_memory(Arc::new(SystemClock), entropy.clone()).await.unwrap();
    let db = anamnesis_sql::Database::open(&program.location()).await.unwrap();
    anamnesis_store::Store::new(db, Arc::new(keys), Arc::new(SystemClock), entropy)
}

async fn a_second_host_without_the_keys_makes_none(engine: TestEngine) {
    let program = Program::on(engine).await;
    assert!(stored(&ingest(&program, 1, PATIENT, &[])));
    let elsewhere = program.folder.path().join("second-host-keys");
    let second = [("ANAMNESIS__STORE__KEYS", elsewhere.to_str().unwrap())];
    for patient in [PATIENT, other(1)] {
        let refused = ingest(&program, 2, patient, &second);
        assert_eq!(refused.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&refused.stderr).contains(elsewhere.to_str().unwrap()));
        assert!(!elsewhere.exists());
    }
    std::fs::copy(program.folder.path().join("keys"), &elsewhere).unwrap();
    std::fs::copy(program.folder.path().join("keys.master"), elsewhere.with_file_name("second-host-keys.master"))
        .unwrap();
    assert!(stored(&ingest(&program, 2, PATIENT, &second)), "with a copy of the keys it works");
}

struct KeysWorker {
    child: Child,
    port: u16,
    spool: PathBuf,
}

impl KeysWorker {
    fn start(program: &Program) -> Self {
        let (port, spool) = (free_port(), program.folder.path().join("spool"));
        std::fs::create_dir_all(&spool).unwrap();
        let mut command = program.command(&[]);
        command.arg("worker").env("ANAMNESIS__HTTP__BIND", format!("127.0.0.1:{port}"));
        command.env("ANAMNESIS__WORKER__SPOOL", &spool).env("ANAMNESIS__WORKER__POLL_MS", "20");
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Self { child, port, spool }
    }

    async fn ready(&self) -> Option<(u16, String)> {
        support::get(&format!("http://127.0.0.1:{}/readyz", self.port)).await
    }

    /// Waits until `/readyz` answers with this status.
    async fn answers(&self, wanted: u16) -> String {
        let begun = Instant::now();
        loop {
            if let Some((status, body)) = self.ready().await
                && status == wanted
            {
                return body;
            }
            assert!(begun.elapsed() < PATIENCE, "/readyz does not say {wanted}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn lay(&self, name: &str, lines: &[Vec<u8>]) -> PathBuf {
        let hidden = self.spool.join(format!(".{name}"));
        std::fs::write(&hidden, lines.join(&b'\n')).unwrap();
        std::fs::rename(hidden, self.spool.join(name)).unwrap();
        self.spool.join(name)
    }
}

impl Drop for KeysWorker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn a_worker_without_its_key_file_takes_nothing_and_continues_when_it_is_back(engine: TestEngine) {
    let program = Program::on(engine).await;
    let keys = program.folder.path().join("keys");
    assert!(stored(&ingest(&program, 1, PATIENT, &[])));
    let old = std::fs::read(&keys).unwrap();
    assert!(stored(&ingest(&program, 2, other(1), &[])));
    let right = std::fs::read(&keys).unwrap();
    let foreign = another_ones(TestEngine::File).await;
    let worker = KeysWorker::start(&program);
    worker.answers(200).await;
    for (n, wrong) in [None, Some(foreign), Some(old), Some(Vec::new())].into_iter().enumerate() {
        match &wrong {
            Some(bytes) => replace(&keys, bytes),
            None => std::fs::remove_file(&keys).unwrap(),
        }
        let body = worker.answers(503).await;
        assert!(body.contains("keys_unavailable"), "{body}");
        let id = 10 + n as u128 * 2;
        let lines = bodies(&[note(id, PATIENT), note(id + 1, other(id))]);
        let waiting = worker.lay(&format!("{n}.ndjson"), &lines);
        tokio::time::sleep(Duration::from_millis(500)).await;
        assert!(waiting.exists(), "nothing is taken in");
        let plain = program_store_count(&program).await;
        assert_eq!(count(&plain, "SELECT count(*) FROM quarantine").await, 0, "and nothing quarantined");
        assert_eq!(count(&plain, "SELECT count(*) FROM documents").await, 2 + 2 * n as i64);
        replace(&keys, &newest(&keys, &right, n));
        worker.answers(200).await;
        let begun = Instant::now();
        while waiting.exists() || count(&plain, "SELECT count(*) FROM documents").await < 4 + 2 * n as i64 {
            assert!(begun.elapsed() < PATIENCE, "it does not go on");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        std::fs::copy(&keys, program.folder.path().join(format!("keys-{n}"))).unwrap();
    }
    drop(worker);
    let store = program.store().await;
    assert_eq!(count(&store, "SELECT count(*) FROM documents").await, 10, "0 lost");
    store.read().digest(None).await.expect("every sealed cell opens");
}

/// The right key file before round `n`: as it was after the last one.
fn newest(keys: &Path, right: &[u8], n: usize) -> Vec<u8> {
    match n.checked_sub(1) {
        Some(before) => std::fs::read(keys.with_file_name(format!("keys-{before}"))).unwrap(),
        None => right.to_vec(),
    }
}

async fn a_store_from_before_bindings_is_bound_to_the_key_store_that_opens_it(engine: TestEngine) {
    let program = Program::on(engine).await;
    let keys = program.folder.path().join("keys");
    assert!(stored(&ingest(&program, 1, PATIENT, &[])));
    let right = std::fs::read(&keys).unwrap();
    unbind(&program).await;
    let (foreign, master) = {
        let another = Program::on(TestEngine::File).await;
        assert!(stored(&ingest(&another, 1, PATIENT, &[])));
        let read = |name: &str| std::fs::read(another.folder.path().join(name)).unwrap();
        (read("keys"), read("keys.master"))
    };
    let own_master = std::fs::read(program.folder.path().join("keys.master")).unwrap();
    replace(&keys, &foreign);
    std::fs::write(program.folder.path().join("keys.master"), &master).unwrap();
    let refused = context(&program, PATIENT, &[]);
    let reported = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "a key store that knows the patient but opens nothing: {reported}");
    std::fs::remove_file(&keys).unwrap();
    std::fs::write(program.folder.path().join("keys.master"), &own_master).unwrap();
    assert_eq!(context(&program, PATIENT, &[]).status.code(), Some(2), "and none is made");
    replace(&keys, &right);
    assert_eq!(context(&program, PATIENT, &[]).status.code(), Some(0));
    let bound = count(&program.store().await, "SELECT count(*) FROM key_binding").await;
    assert_eq!(bound, 1);
}

async fn unbind(program: &Program) {
    use anamnesis_sql::{Access, Sql};
    if let Some(server) = &program.server {
        let mut connection = server.administrator().await;
        sqlx::raw_sql("DELETE FROM anamnesis.key_binding").execute(&mut connection).await.unwrap();
        return;
    }
    let store = program_store_count(program).await;
    let mut tx = store.db().begin(Access::Platform).await.unwrap();
    tx.execute(&Sql::new("DELETE FROM key_binding"), Vec::new()).await.unwrap();
    tx.commit().await.unwrap();
}

fn keys_verb(program: &Program, arguments: &[&str], more: &[(&str, &str)]) -> (Option<i32>, Value, String) {
    let output = program.command(more).arg("keys").args(arguments).args(["--output", "json"]).output().unwrap();
    let reported = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_default(), reported)
}

fn escrow_key(program: &Program, name: &str, digit: &str) -> String {
    let path = program.folder.path().join(name);
    std::fs::write(&path, digit.repeat(64)).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    path.display().to_string()
}

async fn keys_are_rotated_rewrapped_and_brought_back_from_an_escrow_through_the_command_line(engine: TestEngine) {
    let program = Program::on(engine).await;
    let (code, made, reported) = keys_verb(&program, &["init"], &[]);
    assert_eq!((code, &made["patients"]), (Some(0), &json!(0)), "{reported}");
    assert!(stored(&ingest(&program, 1, PATIENT, &[])) && stored(&ingest(&program, 2, other(1), &[])));
    assert_eq!(keys_verb(&program, &["rotate", "--master"], &[]).1["rewrapped_patients"], 2);
    assert_eq!(keys_verb(&program, &["rotate", "--data"], &[]).1["rotated_patients"], 2);
    assert!(stored(&ingest(&program, 3, PATIENT, &[])));
    let (_, status, _) = keys_verb(&program, &["status", "--verify"], &[]);
    assert_eq!((&status["verified_patients"], &status["master_version"]), (&json!(2), &json!(2)));
    assert_eq!(status["keys_under_older_masters"], 0);
    assert_eq!(status["generation"], status["generation_seen_by_store"], "the store knows how new its keys are");

    let root = program.folder.path().join("new-root").display().to_string();
    assert_eq!(keys_verb(&program, &["rewrap", "--to", &root], &[]).0, Some(0));
    assert_eq!(context(&program, PATIENT, &[]).status.code(), Some(2), "the old root opens it no longer");
    let rewrapped = [("ANAMNESIS__STORE__MASTER_KEY_FILE", root.as_str())];
    assert_eq!(context(&program, PATIENT, &rewrapped).status.code(), Some(0));

    let (first, second) = (escrow_key(&program, "first", "1"), escrow_key(&program, "second", "2"));
    let escrow = program.folder.path().join("escrow").display().to_string();
    let by = ["--first", first.as_str(), "--second", second.as_str()];
    let (code, _, reported) = keys_verb(&program, &[&["export", escrow.as_str()], by.as_slice()].concat(), &rewrapped);
    assert_eq!(code, Some(0), "{reported}");
    let swapped = ["import-escrow", escrow.as_str(), "--first", second.as_str(), "--second", first.as_str()];
    assert_eq!(keys_verb(&program, &swapped, &[]).0, Some(2), "both, in their order");
    for one in [&["--first", first.as_str()][..], &["--first", first.as_str(), "--second", first.as_str()]] {
        let (alone, again) = (program.folder.path().join("alone").display().to_string(), escrow.as_str());
        for arguments in [["export", alone.as_str()], ["import-escrow", again]] {
            let (code, _, reported) = keys_verb(&program, &[&arguments[..], one].concat(), &rewrapped);
            assert_eq!(code, Some(2), "one escrow key is not enough: {reported}");
        }
        assert!(!std::path::Path::new(&alone).exists());
    }
    let keys = program.folder.path().join("keys");
    std::fs::remove_file(&keys).unwrap();
    std::fs::remove_file(&root).unwrap();
    let place = keys.display().to_string();
    let fresh = program.folder.path().join("fresh-root").display().to_string();
    let import =
        [&["import-escrow", escrow.as_str()], by.as_slice(), &["--keys", place.as_str(), "--root", fresh.as_str()]];
    let (code, _, reported) = keys_verb(&program, &import.concat(), &[]);
    assert_eq!(code, Some(0), "{reported}");
    let restored = [("ANAMNESIS__STORE__MASTER_KEY_FILE", fresh.as_str())];
    let answer: Value = serde_json::from_slice(&context(&program, PATIENT, &restored).stdout).unwrap();
    assert_eq!(answer["known"], true);
    assert!(stored(&ingest(&program, 4, other(1), &restored)));
}
