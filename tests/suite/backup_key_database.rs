//! Backups of a store whose keys are in a database: the same drills as with a key file, and the move from one key table
//! to the other.

use std::path::Path;
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anamnesis_config as config;
use anamnesis_core::clock::{SeededEntropy, SystemClock};
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{KeyDatabase, KeyStore as _, Keyring, LocalRoot, PostgresTable};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::backup::{note, torn};
use crate::key_services::tables::database;
use crate::server::TestDatabase;
use crate::support::{ORG, Program, TestEngine, bodies, on_every_program};

on_every_program!(
    store_and_keys_of_a_database_are_copied_under_load_and_put_back_elsewhere,
    keys_of_a_database_from_another_hour_of_another_store_or_torn_are_refused,
    who_was_erased_in_a_key_database_stays_erased,
    keys_move_from_a_database_to_a_file_and_back,
);

/// A host whose keys are in a separate database, or in a file.
struct Host {
    program: Program,
    keys: Option<(TestDatabase, String)>,
}

impl Host {
    async fn new(engine: TestEngine) -> Self {
        let host = Self {
            program: Program::without_keys(engine, Program::provider_options()).await,
            keys: Some(database().await),
        };
        host.done(&["keys", "init"]);
        host
    }

    /// An empty host with the same root key, which is in no backup.
    async fn elsewhere(&self, in_a_file: bool) -> Self {
        let engine = if self.program.server.is_some() { TestEngine::Postgres } else { TestEngine::File };
        let keys = if in_a_file { None } else { Some(database().await) };
        let host = Self { program: Program::without_keys(engine, Program::provider_options()).await, keys };
        let root = |host: &Self| host.program.folder.path().join("keys.master");
        std::fs::copy(root(self), root(&host)).unwrap();
        host
    }

    fn environment(&self) -> Vec<(&'static str, String)> {
        let owner = self.program.server.as_ref().map(|server| server.url(Some("test_owner"))).unwrap_or_default();
        let keys = self.keys.as_ref().map(|(_, url)| url.clone()).unwrap_or_default();
        vec![("ANAMNESIS__STORE__MIGRATE_URL", owner), ("ANAMNESIS__STORE__KEYS_URL", keys)]
    }

    fn ran(&self, arguments: &[&str]) -> Output {
        let own = self.environment();
        let more: Vec<(&str, &str)> = own.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.program.command(&more).args(arguments).args(["--output", "json"]).output().unwrap()
    }

    fn done(&self, arguments: &[&str]) -> Value {
        let output = self.ran(arguments);
        let reported = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {reported}");
        serde_json::from_slice(&output.stdout).unwrap()
    }

    fn refused(&self, arguments: &[&str], why: &str) {
        let output = self.ran(arguments);
        let reported = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_ne!(output.status.code(), Some(0), "{arguments:?} must be refused: {why}");
        assert!(reported.contains(why), "{arguments:?}: {reported}");
    }

    fn ingest(&self, numbers: impl IntoIterator<Item = u128>) {
        let own = self.environment();
        let more: Vec<(&str, &str)> = own.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let output = self.program.ingest(&bodies(&numbers.into_iter().map(note).collect::<Vec<_>>()), &more);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn place(&self, name: &str) -> String {
        self.program.folder.path().join(name).display().to_string()
    }

    /// The four patients, as a reader sees them.
    fn known(&self) -> Vec<(Option<i32>, Value)> {
        let of = |n: u128| {
            let (org, patient) = (ORG.to_string(), patient(n).to_string());
            let output = self.ran(&["context", "--org", &org, "--patient", &patient]);
            (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or_default())
        };
        (0..4).map(of).collect()
    }

    async fn open(&self) -> Keyring {
        let (entropy, limits) = (Arc::new(SeededEntropy::new(4)), config::load(None).unwrap().store.postgres);
        let root = LocalRoot::read(Path::new(&self.place("keys.master")), entropy.clone()).unwrap();
        let database = KeyDatabase::new(&self.keys.as_ref().unwrap().1, &[], &limits).unwrap();
        Keyring::open(&root, Arc::new(PostgresTable::new(database)), Arc::new(SystemClock), entropy).await.unwrap()
    }
}

fn patient(n: u128) -> Uuid {
    Uuid::from_u128(0xb0 + n)
}

async fn store_and_keys_of_a_database_are_copied_under_load_and_put_back_elsewhere(engine: TestEngine) {
    let host = Arc::new(Host::new(engine).await);
    host.ingest(1..5);
    host.done(&["keys", "rotate", "--master"]);
    host.done(&["keys", "rotate", "--data"]);
    host.ingest(5..9);
    let ended = Arc::new(AtomicBool::new(false));
    let load = std::thread::spawn({
        let (host, ended) = (Arc::clone(&host), Arc::clone(&ended));
        move || {
            let mut next = 9;
            // New patients all the time: a key that the copied store needs and the copied keys lack would show.
            while !ended.load(Ordering::SeqCst) || next == 9 {
                let fresh = (next..next + 6).map(|n| {
                    let mut fresh = note(n);
                    fresh["patient_id"] = json!(Uuid::from_u128(0xf000 + n));
                    fresh
                });
                let own = host.environment();
                let more: Vec<(&str, &str)> = own.iter().map(|(name, value)| (*name, value.as_str())).collect();
                host.program.ingest(&bodies(&fresh.collect::<Vec<_>>()), &more);
                next += 6;
            }
        }
    });
    let path = host.place("backup");
    let made = host.done(&["backup", &path]);
    ended.store(true, Ordering::SeqCst);
    load.join().unwrap();
    assert!(made["manifest"]["keys"]["generation"].as_u64().unwrap() > 3, "{made}");
    assert!(!Path::new(&host.place("keys")).exists(), "no key store on this host");
    let checked = host.done(&["backup", "verify", &path, "--every", "1"]);
    assert!(checked["patients"].as_u64().unwrap() >= 4, "{checked}");
    assert_eq!(checked["patients"], checked["opened"], "{checked}");

    let other = host.elsewhere(false).await;
    other.done(&["restore", &path]);
    assert_eq!(other.known(), host.known());
    let status = other.done(&["keys", "status", "--verify"]);
    assert_eq!((&status["master_version"], &status["keys_under_older_masters"]), (&json!(2), &json!(0)), "{status}");
    // The restored store can be used.
    other.ingest(100..104);
    other.refused(&["restore", &path], "--replace");
}

async fn keys_of_a_database_from_another_hour_of_another_store_or_torn_are_refused(engine: TestEngine) {
    let host = Host::new(engine).await;
    host.ingest([4]);
    let (early, pair, late) = (host.place("early"), host.place("pair"), host.place("late"));
    host.done(&["backup", &early, "--keys-only"]);
    host.ingest([5]);
    host.done(&["backup", &pair]);
    host.ingest([6]);
    host.done(&["backup", &late, "--keys-only"]);
    let foreign = host.elsewhere(false).await;
    foreign.done(&["keys", "init"]);
    foreign.ingest([4, 5]);
    let strange = foreign.place("strange");
    foreign.done(&["backup", &strange, "--keys-only"]);

    let other = host.elsewhere(false).await;
    other.refused(&["backup", &other.place("nothing"), "--keys-only"], "no key store found");
    other.refused(&["restore", &pair, "--store-only"], "restore the keys first");
    other.done(&["restore", &early, "--keys-only"]);
    other.refused(&["restore", &pair, "--store-only"], "older than the store");
    other.refused(&["restore", &strange, "--keys-only"], "--replace");
    other.done(&["restore", &strange, "--keys-only", "--replace"]);
    other.refused(&["restore", &pair, "--store-only"], "another store's");
    other.done(&["restore", &late, "--keys-only", "--replace"]);
    other.done(&["restore", &pair, "--store-only"]);
    other.refused(&["restore", &early, "--keys-only", "--replace"], "older than the store");
    let good = other.known();
    assert!(good[0].1["known"] == true && good[1].1["known"] == true, "keys newer than the store are fine: {good:?}");
    let cut = torn(&pair, host.program.folder.path(), "keys").display().to_string();
    other.refused(&["restore", &cut, "--replace"], "keys");
    assert_eq!(other.known(), good, "nothing was changed");
}

async fn who_was_erased_in_a_key_database_stays_erased(engine: TestEngine) {
    let host = Host::new(engine).await;
    host.ingest([4, 5]);
    let path = host.place("backup");
    host.done(&["backup", &path]);
    let scope = |n| Scope::new(OrgId(ORG), PatientId(patient(n))).unwrap();
    host.open().await.destroy(scope(0)).await.unwrap();
    let reported = host.done(&["restore", &path, "--replace"]);
    assert_eq!((&reported["kept_erased"], &reported["erased"]), (&json!(1), &json!(1)), "{reported}");
    let found = host.open().await.ensure(&[scope(0), scope(1)]).await.unwrap();
    assert!(found.known.contains_key(&scope(1)) && found.erased.contains(&scope(0)));
    let known = host.known();
    assert_eq!((known[0].0, known[1].1["known"].clone()), (Some(1), json!(true)), "{known:?}");
}

async fn keys_move_from_a_database_to_a_file_and_back(engine: TestEngine) {
    let host = Host::new(engine).await;
    host.ingest(4..8);
    host.done(&["keys", "rotate", "--data"]);
    let scope = Scope::new(OrgId(ORG), PatientId(patient(3))).unwrap();
    host.open().await.destroy(scope).await.unwrap();
    let (first, second) = (host.place("first"), host.place("second"));
    host.done(&["backup", &first]);
    let in_a_file = host.elsewhere(true).await;
    in_a_file.done(&["restore", &first]);
    assert!(Path::new(&in_a_file.place("keys")).exists());
    assert_eq!(in_a_file.known(), host.known());
    in_a_file.ingest(8..10);
    in_a_file.done(&["backup", &second]);
    let back = host.elsewhere(false).await;
    back.done(&["restore", &second]);
    assert_eq!(back.known(), in_a_file.known());
    assert!(back.open().await.find(&[scope]).await.unwrap().erased.contains(&scope), "erased in each of them");
}
