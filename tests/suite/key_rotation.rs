//! Key changes during work: new keys by one durable change a batch, rotations next to a running worker, and a root key
//! that moves into a key service and back.

use std::process::Output;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use uuid::Uuid;

use super::key_services::fake::{FakeKeyService, ServiceFault};
use super::key_services::vault::Vault;
use super::support::{ORG, PATIENT, Program, TestEngine, bodies, count, counts, document, on_every_program};
use super::worker::{Running, until};

on_every_program!(
    a_batch_of_new_patients_is_one_durable_change_of_the_key_store_before_its_rows,
    master_and_data_keys_are_rotated_next_to_a_running_worker,
    a_root_key_moves_from_a_file_to_a_service_and_back_through_the_command_line,
);

fn patient(n: u128) -> Uuid {
    Uuid::from_u128(PATIENT.as_u128() + n)
}

fn note(id: u128, of: u128) -> Value {
    let mut note = document(id, 1, "2026-05-02T10:00:00Z", "Toma sertralina 50 mg al día. Alergia a penicilina.");
    note["patient_id"] = json!(patient(of));
    note
}

/// One document each of so many patients.
fn notes(patients: impl IntoIterator<Item = u128>) -> Vec<Vec<u8>> {
    bodies(&patients.into_iter().map(|n| note(n, n)).collect::<Vec<_>>())
}

fn verb(program: &Program, arguments: &[&str], more: &[(&str, &str)]) -> Output {
    program.command(more).args(arguments).args(["--output", "json"]).output().unwrap()
}

fn done(program: &Program, arguments: &[&str], more: &[(&str, &str)]) -> Value {
    let output = verb(program, arguments, more);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn number(status: &Value, name: &str) -> u64 {
    status[name].as_u64().unwrap_or_else(|| panic!("{name}: {status}"))
}

fn is_known(program: &Program, of: u128, more: &[(&str, &str)]) -> bool {
    let (org, patient) = (ORG.to_string(), patient(of).to_string());
    let reported = done(program, &["context", "--org", &org, "--patient", &patient], more);
    reported["known"] == true && reported.to_string().contains("enicil")
}

/// Each committed change of a key store raises its generation by one and is synced once: the generation counts the syncs.
async fn a_batch_of_new_patients_is_one_durable_change_of_the_key_store_before_its_rows(engine: TestEngine) {
    let program = Program::on(engine).await;
    let begun = number(&done(&program, &["keys", "init"], &[]), "generation");
    let whole = ("ANAMNESIS__PIPELINE__BATCH_DOCUMENTS", "40");
    // Killed when all is ready to be committed: the keys are there already, and nothing needs them yet.
    let killed = program.ingest(&notes(1..41), &[whole, ("ANAMNESIS_CRASH_AT", "before_commit")]);
    assert_eq!(killed.status.code(), None, "killed by a signal");
    let status = done(&program, &["keys", "status", "--verify"], &[]);
    assert_eq!((number(&status, "generation"), number(&status, "patients")), (begun + 1, 40), "{status}");
    let store = program.store().await;
    assert_eq!(count(&store, "SELECT count(*) FROM documents").await, 0);
    store.close().await;
    assert_eq!(counts(&program.ingest(&notes(1..41), &[whole]))["stored"], json!(40));
    assert_eq!(number(&done(&program, &["keys", "status"], &[]), "generation"), begun + 1, "known patients need none");
    let tens = ("ANAMNESIS__PIPELINE__BATCH_DOCUMENTS", "10");
    assert_eq!(counts(&program.ingest(&notes(100..140), &[tens]))["stored"], json!(40));
    let status = done(&program, &["keys", "status"], &[]);
    assert_eq!(number(&status, "generation"), begun + 5, "four batches, four changes: {status}");
}

/// Ends the load when a rotation fails too: a scope waits for its threads.
struct LoadEnd<'a>(&'a AtomicBool);

impl Drop for LoadEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

async fn master_and_data_keys_are_rotated_next_to_a_running_worker(engine: TestEngine) {
    let program = Program::on(engine).await;
    done(&program, &["keys", "init"], &[]);
    let worker = Running::start(&program, &[]).await;
    let ended = AtomicBool::new(false);
    let root = program.folder.path().join("new-root").display().to_string();
    let laid = std::thread::scope(|scope| {
        let load = scope.spawn(|| {
            let mut file = 0_u128;
            // Each file is of a patient who is known and of one who is new.
            while !ended.load(Ordering::SeqCst) || file < 20 {
                let id = 1_000 + file * 2;
                worker.lay(&format!("n{file:04}.ndjson"), &bodies(&[note(id, 0), note(id + 1, id)]));
                file += 1;
                std::thread::sleep(std::time::Duration::from_millis(60));
            }
            file
        });
        let ending = LoadEnd(&ended);
        for round in 2..5 {
            assert_eq!(number(&done(&program, &["keys", "rotate", "--master"], &[]), "master_version"), round);
            done(&program, &["keys", "rotate", "--data"], &[]);
        }
        done(&program, &["keys", "rewrap", "--to", &root], &[]);
        drop(ending);
        load.join().unwrap()
    });
    let all = i64::try_from(laid * 2).unwrap();
    let store = program_with(&program, &root).await;
    until("everything is stored", async || count(&store, "SELECT count(*) FROM documents").await == all).await;
    assert_eq!(count(&store, "SELECT count(*) FROM quarantine").await, 0);
    // The worker learned of the new master although nothing was restarted: a patient who comes now is under it.
    worker.lay("last.ndjson", &bodies(&[note(9_000, 9_000)]));
    until("the last is stored", async || count(&store, "SELECT count(*) FROM documents").await == all + 1).await;
    assert_eq!(worker.end(), Some(0));
    let rewrapped = [("ANAMNESIS__STORE__MASTER_KEY_FILE", root.as_str())];
    let status = done(&program, &["keys", "status", "--verify"], &rewrapped);
    assert_eq!((number(&status, "master_version"), number(&status, "keys_under_older_masters")), (4, 0), "{status}");
    assert_eq!(number(&status, "verified_patients"), u64::try_from(laid).unwrap() + 2);
    store.read().digest(None).await.expect("every sealed cell opens");
    store.close().await;
    assert!(is_known(&program, 0, &rewrapped) && is_known(&program, 9_000, &rewrapped));
    assert_eq!(verb(&program, &["keys", "status"], &[]).status.code(), Some(2), "the old root opens it no longer");
}

/// The store under a root key in this file.
async fn program_with(program: &Program, root: &str) -> anamnesis_store::Store {
    use std::sync::Arc;

    use anamnesis_core::clock::{ManualClock, SeededEntropy};
    use anamnesis_crypto::{Keyring, LocalRoot, SqliteTable};
    use anamnesis_sql::Database;
    let (clock, entropy) = (Arc::new(ManualClock::at(super::support::NOW.parse().unwrap())), SeededEntropy::new(3));
    let entropy = Arc::new(entropy);
    let root = LocalRoot::read(std::path::Path::new(root), entropy.clone()).unwrap();
    let table = Arc::new(SqliteTable::at(&program.folder.path().join("keys")));
    let keys = Keyring::open(&root, table, clock.clone(), entropy.clone()).await.unwrap();
    anamnesis_store::Store::new(Database::open(&program.location()).await.unwrap(), Arc::new(keys), clock, entropy)
}

async fn a_root_key_moves_from_a_file_to_a_service_and_back_through_the_command_line(engine: TestEngine) {
    let (program, fake) = (Program::on(engine).await, FakeKeyService::start(Vault::with_a_fixed_token()).await);
    let place = |name: &str| program.folder.path().join(name).display().to_string();
    let (config, token, local) = (place("vault.toml"), place("token"), place("keys.master"));
    std::fs::write(&token, "token-1").unwrap();
    let section = format!(
        "[keys]\nroot = \"vault\"\n[keys.vault]\nurl = \"{}\"\nmount = \"transit/clinics\"\nkey = \"anamnesis\"\n\
         namespace = \"clinic/a\"\ntoken_file = \"{token}\"\n[keys.limits]\nattempts = 2\ninitial_backoff_ms = 10\n",
        fake.server.uri()
    );
    std::fs::write(&config, section).unwrap();
    let service = [("ANAMNESIS_CONFIG", config.as_str())];
    assert_eq!(counts(&program.ingest(&notes([1]), &[]))["stored"], json!(1));

    // A service that does not take the key changes nothing.
    for fault in
        [ServiceFault::Status(503, u32::MAX), ServiceFault::Forbidden, ServiceFault::NoKey, ServiceFault::Flipped]
    {
        fake.fails(fault);
        let refused = verb(&program, &["keys", "rewrap", "--to-config", &config], &[]);
        let reported = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(matches!(refused.status.code(), Some(1 | 2)), "{fault:?}: {reported}");
        assert!(!reported.contains("canary") && !reported.contains("token-1"), "{reported}");
        assert!(is_known(&program, 1, &[]), "{fault:?}: the root key is still the file's");
    }
    fake.fails(ServiceFault::None);
    let nowhere = verb(&program, &["keys", "rewrap", "--to-config", &place("no-such.toml")], &[]);
    assert_eq!(nowhere.status.code(), Some(2));

    let reported = done(&program, &["keys", "rewrap", "--to-config", &config], &[]);
    assert!(reported["root"].as_str().unwrap().starts_with("vault:"), "{reported}");
    assert_eq!(verb(&program, &["keys", "status"], &[]).status.code(), Some(2), "the file opens it no longer");
    std::fs::remove_file(&local).unwrap();
    assert!(is_known(&program, 1, &service));
    assert_eq!(counts(&program.ingest(&notes([2]), &service))["stored"], json!(1));
    assert!(!std::path::Path::new(&local).exists(), "no root key is made on this host again");

    // A new version of the service's key: the old one opens what it wrapped, and another rewrap uses the new one.
    let status = |more: &[(&str, &str)]| done(&program, &["keys", "status", "--verify"], more);
    fake.state().version = 2;
    assert!(is_known(&program, 2, &service));
    let before = number(&status(&service), "generation");
    done(&program, &["keys", "rewrap", "--to-config", &config], &service);
    assert_eq!(number(&status(&service), "generation"), before + 1);

    done(&program, &["keys", "rewrap", "--to", &local], &service);
    assert_eq!(verb(&program, &["keys", "status"], &service).status.code(), Some(2), "the service opens it no longer");
    assert_eq!(number(&status(&[]), "verified_patients"), 2);
    assert!(is_known(&program, 2, &[]));
    assert_eq!(fake.state().problems, Vec::<String>::new());
}
