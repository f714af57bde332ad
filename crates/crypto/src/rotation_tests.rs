use std::path::Path;
use std::sync::Arc;

use uuid::Uuid;

use super::*;
use crate::{ColumnRef, KeyLookup, KeyStore as _};
use crate::{KeyTable, LocalRoot, SqliteTable};
use anamnesis_core::clock::{SeededEntropy, SystemClock};
use anamnesis_core::ids::{OrgId, PatientId};

const CELL: ColumnRef = ColumnRef { table: "memory", row: Uuid::from_u128(5), column: "content" };

fn scope(patient: u128) -> Scope {
    Scope::new(OrgId(Uuid::from_u128(1)), PatientId(Uuid::from_u128(patient))).unwrap()
}

fn all(patients: u128) -> Vec<Scope> {
    (1..=patients).map(scope).collect()
}

fn root(byte: u8) -> LocalRoot {
    LocalRoot::new("given", Zeroizing::new([byte; 32]), Arc::new(SeededEntropy::new(u64::from(byte))))
}

async fn open(path: &Path, byte: u8) -> Result<Keyring, KeyError> {
    let table: Arc<dyn KeyTable> = Arc::new(SqliteTable::at(path));
    Keyring::open(&root(byte), table, Arc::new(SystemClock), Arc::new(SeededEntropy::new(77))).await
}

async fn made(path: &Path, byte: u8) -> Keyring {
    let table: Arc<dyn KeyTable> = Arc::new(SqliteTable::at(path));
    Keyring::create(&root(byte), table, Arc::new(SystemClock), Arc::new(SeededEntropy::new(78))).await.unwrap()
}

async fn sealed(store: &Keyring, patient: u128) -> Vec<u8> {
    store.find(&[scope(patient)]).await.unwrap().known[&scope(patient)].seal(CELL, b"text", &SeededEntropy::new(3))
}

async fn opens(store: &Keyring, patient: u128, sealed: &[u8]) -> bool {
    store.find(&[scope(patient)]).await.unwrap().known[&scope(patient)].open(CELL, sealed).is_ok()
}

#[tokio::test]
async fn after_a_rewrap_the_new_root_opens_everything_and_the_old_one_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    let store = made(&path, 1).await;
    store.ensure(&all(3)).await.unwrap();
    let old = sealed(&store, 2).await;
    store.rewrap(&root(2)).await.unwrap();
    assert!(matches!(open(&path, 1).await.unwrap_err(), KeyError::WrongMaster { .. }));
    assert!(opens(&open(&path, 2).await.unwrap(), 2, &old).await);
    assert!(opens(&store, 2, &old).await, "a process that runs goes on");
}

#[tokio::test]
async fn a_rotated_master_wraps_every_key_while_another_process_works() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    let store = made(&path, 1).await;
    // More than a page.
    store.ensure(&all(1_203)).await.unwrap();
    store.destroy(scope(7)).await.unwrap();
    let (first, last) = (sealed(&store, 1).await, sealed(&store, 1_203).await);
    let worker = open(&path, 1).await.unwrap();
    let mut steps = Vec::new();
    assert_eq!(store.rotate_master(&mut |done| steps.push(done)).await.unwrap(), (2, 1_202));
    assert_eq!(steps, [499, 999, 1_202], "in bounded steps");
    assert_eq!(store.counts().await.unwrap(), KeyCounts { patients: 1_202, erased: 1, outdated: 0 });
    assert!(opens(&worker, 1, &first).await && opens(&worker, 1_203, &last).await, "an older process learns the key");
    worker.ensure(&[scope(2_000)]).await.unwrap();
    assert_eq!(store.counts().await.unwrap().outdated, 0, "and uses it");
    assert!(matches!(store.find(&[scope(7)]).await.unwrap().lookup(scope(7)), KeyLookup::Erased));
    assert_eq!(open(&path, 1).await.unwrap().verify().await.unwrap(), 1_203);
}

#[tokio::test]
async fn an_interrupted_rotation_of_the_master_goes_on_with_the_same_version() {
    let dir = tempfile::tempdir().unwrap();
    let store = made(&dir.path().join("keys"), 1).await;
    store.ensure(&all(3)).await.unwrap();
    assert_eq!(store.add_kek().await.unwrap(), 2, "begun, and killed before the first page");
    assert_eq!(store.counts().await.unwrap().outdated, 3);
    assert_eq!(store.rotate_master(&mut |_| ()).await.unwrap(), (2, 3));
    assert_eq!(store.rotate_master(&mut |_| ()).await.unwrap(), (3, 3), "the next one is a new rotation");
}

#[tokio::test]
async fn rotated_data_keys_seal_what_is_new_and_leave_terms_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let store = made(&dir.path().join("keys"), 1).await;
    store.ensure(&all(501)).await.unwrap();
    store.destroy(scope(3)).await.unwrap();
    let before = store.find(&[scope(1)]).await.unwrap().known.remove(&scope(1)).unwrap();
    let old = sealed(&store, 1).await;
    assert_eq!(store.rotate_data(Some(scope(1)), &mut |_| ()).await.unwrap(), 1);
    assert_eq!(store.rotate_data(None, &mut |_| ()).await.unwrap(), 499, "the others reach the same round");
    assert_eq!(store.rotate_data(Some(scope(3)), &mut |_| ()).await.unwrap(), 0, "nothing for the erased");
    let new = sealed(&store, 1).await;
    assert!(opens(&store, 1, &old).await && opens(&store, 1, &new).await);
    assert!(before.open(CELL, &new).is_err(), "the old key does not open what is new");
    let after = store.find(&[scope(1)]).await.unwrap().known.remove(&scope(1)).unwrap();
    assert_eq!(before.term("trabaj"), after.term("trabaj"));
    store.rotate_master(&mut |_| ()).await.unwrap();
    assert!(opens(&store, 1, &old).await && opens(&store, 1, &new).await, "later keys are wrapped anew too");
    assert_eq!(store.counts().await.unwrap().outdated, 0);
    store.destroy(scope(1)).await.unwrap();
    assert!(matches!(store.find(&[scope(1)]).await.unwrap().lookup(scope(1)), KeyLookup::Erased));
}
