//! Backups made under load, put back elsewhere, and everything that must be refused: torn files, keys of another hour or
//! of another store. An erased patient stays erased.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anamnesis_core::clock::{SeededEntropy, SystemClock};
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{KeyStore as _, Keyring};
use serde_json::{Value, json};
use uuid::Uuid;

use super::support::{self, ORG, Program, TestEngine, bodies, count, rows};

mod on_a_file {
    #[tokio::test(flavor = "multi_thread")]
    async fn what_was_committed_when_a_backup_began_is_what_a_restore_brings_back() {
        super::what_was_committed_is_restored(super::TestEngine::File).await;
    }
    #[tokio::test(flavor = "multi_thread")]
    async fn a_pair_that_does_not_belong_together_and_a_torn_file_are_refused() {
        super::a_pair_that_does_not_belong_together_is_refused(super::TestEngine::File).await;
    }
    #[tokio::test(flavor = "multi_thread")]
    async fn an_erased_patient_stays_erased() {
        super::an_erased_patient_stays_erased(super::TestEngine::File).await;
    }
    #[tokio::test(flavor = "multi_thread")]
    async fn what_people_decided_since_a_backup_is_named() {
        super::what_people_decided_since_a_backup_is_named(super::TestEngine::File).await;
    }
}

mod on_postgres {
    #[tokio::test(flavor = "multi_thread")]
    async fn what_was_committed_when_a_backup_began_is_what_a_restore_brings_back() {
        super::what_was_committed_is_restored(super::TestEngine::Postgres).await;
    }
    #[tokio::test(flavor = "multi_thread")]
    async fn a_pair_that_does_not_belong_together_and_a_torn_file_are_refused() {
        super::a_pair_that_does_not_belong_together_is_refused(super::TestEngine::Postgres).await;
    }
    #[tokio::test(flavor = "multi_thread")]
    async fn an_erased_patient_stays_erased() {
        super::an_erased_patient_stays_erased(super::TestEngine::Postgres).await;
    }
    #[tokio::test(flavor = "multi_thread")]
    async fn what_people_decided_since_a_backup_is_named() {
        super::what_people_decided_since_a_backup_is_named(super::TestEngine::Postgres).await;
    }
}

/// Documents of four patients, each with a different text.
pub(crate) fn note(n: u128) -> Value {
    let day = 1 + n % 27;
    json!({"organization_id": ORG, "patient_id": Uuid::from_u128(0xb0 + n % 4), "document_id": Uuid::from_u128(n),
        "revision": 1, "document_type": "clinical_note", "occurred_at": format!("2026-05-{day:02}T10:00:00Z"),
        "text": format!("Toma sertralina {} mg al día. Refiere insomnio. Sesión {n}.", 25 * (1 + n % 8))})
}

fn notes(numbers: impl IntoIterator<Item = u128>) -> Vec<Vec<u8>> {
    bodies(&numbers.into_iter().map(note).collect::<Vec<_>>())
}

fn ran(program: &Program, arguments: &[&str]) -> Output {
    let owner = program.server.as_ref().map(|server| server.url(Some("test_owner"))).unwrap_or_default();
    let owner = [("ANAMNESIS__STORE__MIGRATE_URL", owner.as_str())];
    program.command(&owner).args(arguments).args(["--output", "json"]).output().unwrap()
}

fn done(program: &Program, arguments: &[&str]) -> Value {
    let output = ran(program, arguments);
    let reported = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {reported}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refused(program: &Program, arguments: &[&str], why: &str) {
    let output = ran(program, arguments);
    let reported = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_ne!(output.status.code(), Some(0), "{arguments:?} must be refused: {why}");
    assert!(reported.contains(why), "{arguments:?}: {reported}");
}

fn place(program: &Program, name: &str) -> String {
    program.folder.path().join(name).display().to_string()
}

/// A place without anything but the root key of another.
async fn elsewhere(like: &Program) -> Program {
    let engine = if like.server.is_some() { TestEngine::Postgres } else { TestEngine::File };
    let new = Program::without_keys(engine, Program::provider_options()).await;
    // Before its first start an embedded store is not there.
    let _ = std::fs::remove_file(new.folder.path().join("store.db"));
    std::fs::copy(like.folder.path().join("keys.master"), new.folder.path().join("keys.master")).unwrap();
    new
}

async fn digest(program: &Program) -> String {
    let store = program.store().await;
    let digest = store.read().digest(None).await.unwrap().without(&["outbox"]);
    store.close().await;
    digest
}

async fn what_was_committed_is_restored(engine: TestEngine) {
    let program = Arc::new(Program::on(engine).await);
    assert_eq!(support::counts(&program.ingest(&notes(1..9), &[]))["stored"], json!(8));
    let ended = Arc::new(AtomicBool::new(false));
    let load = std::thread::spawn({
        let (program, ended) = (Arc::clone(&program), Arc::clone(&ended));
        move || {
            let mut next = 9;
            while !ended.load(Ordering::SeqCst) || next == 9 {
                program.ingest(&notes(next..next + 6), &[("ANAMNESIS__PIPELINE__BATCH_DOCUMENTS", "2")]);
                next += 6;
            }
            program.ingest(&notes(next..next + 6), &[]);
            next + 6
        }
    });
    let path = place(&program, "backup");
    let made = done(&program, &["backup", &path]);
    ended.store(true, Ordering::SeqCst);
    let after = load.join().unwrap();
    assert_eq!(made["manifest"]["store"]["tables"]["organization"]["rows"], json!(1));
    let verified = done(&program, &["backup", "verify", &path, "--every", "1"]);
    assert_eq!((&verified["patients"], &verified["opened"]), (&json!(4), &json!(4)), "{verified}");
    let other = elsewhere(&program).await;
    done(&other, &["restore", &path]);
    let store = other.store().await;
    let restored = rows(&store, "SELECT document_id FROM documents").await;
    let restored: Vec<u128> = restored.iter().map(|row| row.uuid(0).unwrap().as_u128()).collect();
    assert_eq!(count(&store, "SELECT count(*) FROM attempt").await, 0, "nothing is counted against anybody");
    store.close().await;
    assert!(restored.len() >= 8 && (restored.len() as u128) < after - 1, "{} of {}", restored.len(), after - 1);
    assert!((1..9).all(|n| restored.contains(&n)), "what was committed before is there");
    let reference = Program::with_keys_of(&program).await;
    reference.ingest(&notes(restored), &[]);
    assert_eq!(digest(&other).await, digest(&reference).await);
    // The restored store can be used: documents from after the backup are ingested again.
    assert_eq!(ran(&other, &["backup", &place(&other, "again")]).status.code(), Some(0));
    other.ingest(&notes(1..after), &[]);
    assert_eq!(digest(&other).await, digest(&program).await);
    refused(&other, &["restore", &path], "--replace");
}

pub(crate) fn torn(folder: &str, to: &Path, name: &str) -> PathBuf {
    let copy = to.join(format!("torn-{name}"));
    std::fs::create_dir(&copy).unwrap();
    for entry in Path::new(folder).read_dir().unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), copy.join(entry.file_name())).unwrap();
    }
    let bytes = std::fs::read(copy.join(name)).unwrap();
    std::fs::write(copy.join(name), &bytes[..bytes.len() - bytes.len() / 3 - 1]).unwrap();
    copy
}

async fn a_pair_that_does_not_belong_together_is_refused(engine: TestEngine) {
    let program = Program::on(engine).await;
    program.ingest(&notes([4]), &[]);
    let (early, pair, late) = (place(&program, "early"), place(&program, "pair"), place(&program, "late"));
    done(&program, &["backup", &early, "--keys-only"]);
    program.ingest(&notes([5]), &[]);
    done(&program, &["backup", &pair]);
    program.ingest(&notes([6]), &[]);
    done(&program, &["backup", &late, "--keys-only"]);
    // The same patients and the same root key, but another key store.
    let foreign = elsewhere(&program).await;
    done(&foreign, &["keys", "init"]);
    foreign.ingest(&notes([4, 5]), &[]);
    let strange = place(&foreign, "strange");
    done(&foreign, &["backup", &strange, "--keys-only"]);

    let other = elsewhere(&program).await;
    refused(&other, &["restore", &pair, "--store-only"], "restore the keys first");
    done(&other, &["restore", &early, "--keys-only"]);
    refused(&other, &["restore", &pair, "--store-only"], "older than the store");
    refused(&other, &["restore", &strange, "--keys-only"], "--replace");
    done(&other, &["restore", &strange, "--keys-only", "--replace"]);
    refused(&other, &["restore", &pair, "--store-only"], "another store's");
    done(&other, &["restore", &late, "--keys-only", "--replace"]);
    done(&other, &["restore", &pair, "--store-only"]);
    refused(&other, &["restore", &early, "--keys-only", "--replace"], "older than the store");
    let expected = Program::with_keys_of(&program).await;
    expected.ingest(&notes([4, 5]), &[]);
    assert_eq!(digest(&other).await, digest(&expected).await, "keys that are newer than the store are fine");

    let store = if engine == TestEngine::File { "store.db" } else { "documents.copy" };
    for name in [store, "keys", "manifest.json"] {
        let folder = torn(&pair, program.folder.path(), name).display().to_string();
        let before = digest(&other).await;
        refused(&other, &["restore", &folder, "--replace"], name);
        refused(&other, &["backup", "verify", &folder], name);
        assert_eq!(digest(&other).await, before, "nothing was changed");
    }
    let bare = place(&program, "bare");
    std::fs::create_dir(&bare).unwrap();
    refused(&other, &["restore", &bare], "no backup");
}

async fn what_people_decided_since_a_backup_is_named(engine: TestEngine) {
    let program = Program::on(engine).await;
    program.ingest(&notes([4, 5]), &[]);
    let path = place(&program, "backup");
    done(&program, &["backup", &path]);
    let (org, patient) = (ORG.to_string(), Uuid::from_u128(0xb0).to_string());
    let of = ["--org", &org, "--patient", &patient, "--by", &patient];
    for decided in [&["hold", "set"][..], &["consent", "record", "--scope", "memory", "--provision", "deny"]] {
        let output = ran(&program, &[decided, &of].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let output = ran(&program, &["restore", &path, "--replace"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("2 legal holds, consents and switches"), "{said}");
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed["decisions_lost"], json!(2), "{printed}");
}

async fn an_erased_patient_stays_erased(engine: TestEngine) {
    let program = Program::on(engine).await;
    program.ingest(&notes([4, 5]), &[]);
    let path = place(&program, "backup");
    done(&program, &["backup", &path]);
    let erased = Scope::new(OrgId(ORG), PatientId(Uuid::from_u128(0xb0))).unwrap();
    let open = async || {
        let keys = program.folder.path().join("keys");
        Keyring::local(&keys, None, Arc::new(SystemClock), Arc::new(SeededEntropy::new(4))).await.unwrap()
    };
    open().await.destroy(erased).await.unwrap();
    let reported = done(&program, &["restore", &path, "--replace"]);
    assert_eq!((&reported["kept_erased"], &reported["erased"]), (&json!(1), &json!(1)), "{reported}");
    let living = Scope::new(OrgId(ORG), PatientId(Uuid::from_u128(0xb1))).unwrap();
    let found = open().await.find(&[erased, living]).await.unwrap();
    assert!(found.known.contains_key(&living) && found.erased.contains(&erased));
    // Not created again either: the patient is known as erased.
    let ensured = open().await.ensure(&[erased]).await.unwrap();
    assert!(ensured.known.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_copied_by_hand_without_its_log_is_an_older_state_that_the_same_messages_complete() {
    let program = Program::on(TestEngine::File).await;
    program.ingest(&notes(1..5), &[]);
    // While another process has it open, committed data stay in the log.
    let open = program.store().await;
    program.ingest(&notes(5..11), &[]);
    let copy = Program::with_keys_of(&program).await;
    std::fs::copy(program.folder.path().join("store.db"), copy.folder.path().join("store.db")).unwrap();
    open.close().await;
    let found = copy.store().await;
    let there = count(&found, "SELECT count(*) FROM documents").await;
    found.close().await;
    assert!((4..10).contains(&there), "{there}: without the log something is missing");
    copy.ingest(&notes(1..11), &[]);
    assert_eq!(digest(&copy).await, digest(&program).await);
    let by_hand = copy.folder.path().display().to_string();
    refused(&copy, &["restore", &by_hand], "no backup");
}
