use super::*;
use crate::{ColumnRef, KeyLookup};
use anamnesis_core::clock::{SeededEntropy, SystemClock};
use anamnesis_core::ids::{OrgId, PatientId};

fn scope(patient: u128) -> Scope {
    Scope::new(OrgId(Uuid::from_u128(1)), PatientId(Uuid::from_u128(patient))).unwrap()
}

async fn local(path: &Path, seed: u64) -> Result<Keyring, KeyError> {
    Keyring::local(path, None, Arc::new(SystemClock), Arc::new(SeededEntropy::new(seed))).await
}

const CELL: ColumnRef = ColumnRef { table: "memory", row: Uuid::from_u128(5), column: "content" };

#[tokio::test]
async fn a_key_survives_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    let first = local(&path, 1).await.unwrap();
    let keys = first.ensure(&[scope(1), scope(2)]).await.unwrap();
    let sealed = keys.known[&scope(1)].seal(CELL, b"text", &SeededEntropy::new(3));
    let second = local(&path, 2).await.unwrap();
    assert_eq!((second.stamp(), second.check_value()), (first.stamp(), first.check_value()));
    let again = second.ensure(&[scope(1)]).await.unwrap();
    assert_eq!(again.known[&scope(1)].open(CELL, &sealed).unwrap(), b"text");
}

#[tokio::test]
async fn known_erased_and_unknown_are_three_answers_and_an_erased_key_never_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let store = local(&dir.path().join("keys"), 1).await.unwrap();
    store.ensure(&[scope(1), scope(2)]).await.unwrap();
    store.destroy(scope(1)).await.unwrap();
    let ensured = store.ensure(&[scope(1)]).await.unwrap();
    assert!(matches!(ensured.lookup(scope(1)), KeyLookup::Erased), "no new key for an erased patient");
    let found = store.find(&[scope(1), scope(2), scope(3)]).await.unwrap();
    assert!(matches!(found.lookup(scope(1)), KeyLookup::Erased));
    assert!(matches!(found.lookup(scope(2)), KeyLookup::Known(_)));
    assert!(matches!(found.lookup(scope(3)), KeyLookup::Unknown));
    assert_eq!(found.unknown(&[scope(3), scope(2), scope(3)]), [scope(3)]);
}

#[tokio::test]
async fn a_batch_of_new_keys_is_one_commit() {
    let dir = tempfile::tempdir().unwrap();
    let store = local(&dir.path().join("keys"), 1).await.unwrap();
    let before = store.stamp().generation;
    let scopes: Vec<Scope> = (1..=40).map(scope).collect();
    store.ensure(&scopes).await.unwrap();
    assert_eq!(store.stamp().generation, before + 1);
    store.ensure(&scopes).await.unwrap();
    assert_eq!(store.stamp().generation, before + 1, "nothing new, nothing written");
}

#[tokio::test]
async fn another_root_key_is_refused_before_any_patient_is_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    local(&path, 1).await.unwrap();
    let other = Keyring::local(&path, Some([7; 32]), Arc::new(SystemClock), Arc::new(SeededEntropy::new(1)));
    assert!(matches!(other.await.unwrap_err(), KeyError::WrongMaster { .. }));
}

#[tokio::test]
async fn a_key_store_from_before_headers_opens_what_was_written_under_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    let (entropy, root) = (SeededEntropy::new(1), [5u8; 32]);
    // As the version before wrote it: a table without header, data keys wrapped by a key derived from the master.
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
    let schema = "CREATE TABLE data_key (org_id BLOB NOT NULL, patient_id BLOB NOT NULL, wrapped BLOB, \
        created_at INTEGER NOT NULL, destroyed_at INTEGER, PRIMARY KEY (org_id, patient_id), \
        CHECK ((wrapped IS NULL) = (destroyed_at IS NOT NULL))) STRICT";
    sqlx::query(schema).execute(&pool).await.unwrap();
    let wrapped = seal(&aead(&derive(&root, "platform.wrap")), &data_key_aad(scope(1), 1), &[9; 32], &entropy);
    let row = "INSERT INTO data_key (org_id, patient_id, wrapped, created_at) VALUES ($1, $2, $3, 0)";
    let row = sqlx::query(row).bind(scope(1).org().0.as_bytes().to_vec());
    row.bind(scope(1).patient().0.as_bytes().to_vec()).bind(wrapped).execute(&pool).await.unwrap();
    pool.close().await;

    let (clock, entropy) = (Arc::new(SystemClock), Arc::new(SeededEntropy::new(2)));
    let plain = LocalRoot::new("given", Zeroizing::new(root), entropy.clone());
    let table = || Arc::new(SqliteTable::at(&path));
    let opened = Keyring::open(&plain, table(), clock.clone(), entropy.clone()).await.unwrap_err();
    assert!(matches!(opened, KeyError::Uninitialised { .. }), "no header is made by opening");
    let wrong = LocalRoot::new("given", Zeroizing::new([4; 32]), entropy.clone());
    let refused = Keyring::upgrade(&wrong, table(), clock.clone(), entropy.clone()).await.unwrap_err();
    assert!(matches!(refused, KeyError::WrongMaster { .. }), "a root key that opens nothing writes no header");
    let upgraded = Keyring::upgrade(&plain, table(), clock.clone(), entropy.clone()).await.unwrap();
    let sealed = PatientKeys::derive(scope(1), &[9; 32]).seal(CELL, b"text", entropy.as_ref());
    let found = upgraded.find(&[scope(1)]).await.unwrap();
    assert_eq!(found.known[&scope(1)].open(CELL, &sealed).unwrap(), b"text");
    let again = Keyring::open(&plain, table(), clock, entropy).await.unwrap();
    assert_eq!(again.stamp().id, upgraded.stamp().id);
}

#[tokio::test]
async fn a_replaced_removed_or_rolled_back_file_is_noticed_and_the_right_one_is_taken_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    let store = local(&path, 1).await.unwrap();
    store.ensure(&[scope(1)]).await.unwrap();
    let old = std::fs::read(&path).unwrap();
    store.ensure(&[scope(2)]).await.unwrap();
    let newest = std::fs::read(&path).unwrap();

    let replace = |bytes: &[u8]| {
        let replacement = dir.path().join("copy");
        std::fs::write(&replacement, bytes).unwrap();
        std::fs::rename(&replacement, &path).unwrap();
    };
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(store.find(&[scope(1)]).await.unwrap_err(), KeyError::Missing { .. }));
    assert!(matches!(store.ensure(&[scope(3)]).await.unwrap_err(), KeyError::Missing { .. }));
    assert!(!path.exists(), "nothing is made in its place");
    replace(&old);
    let rolled_back = store.find(&[scope(1)]).await.unwrap_err();
    assert!(matches!(rolled_back, KeyError::RolledBack { has: 2, seen: 3, .. }), "{rolled_back}");
    std::fs::write(&path, &old).unwrap();
    assert!(matches!(store.find(&[scope(1)]).await.unwrap_err(), KeyError::RolledBack { .. }), "in place");
    replace(&newest[..newest.len() / 2]);
    assert!(store.find(&[scope(1)]).await.is_err(), "truncated");
    let other = dir.path().join("other");
    local(&other, 8).await.unwrap().ensure(&[scope(1), scope(2), scope(3)]).await.unwrap();
    replace(&std::fs::read(&other).unwrap());
    assert!(matches!(store.find(&[scope(1)]).await.unwrap_err(), KeyError::Foreign { .. }));
    assert!(matches!(store.ensure(&[scope(9)]).await.unwrap_err(), KeyError::Foreign { .. }));
    replace(&newest);
    assert_eq!(store.find(&[scope(1), scope(2)]).await.unwrap().known.len(), 2, "the right one is back");
}

#[tokio::test]
async fn a_wrapped_key_in_which_a_bit_was_flipped_is_damage_and_no_erased_patient() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys");
    let store = local(&path, 1).await.unwrap();
    store.ensure(&[scope(1)]).await.unwrap();
    let pool = sqlx::SqlitePool::connect(&format!("sqlite://{}", path.display())).await.unwrap();
    let wrapped: Vec<u8> = sqlx::query_scalar("SELECT wrapped FROM data_key").fetch_one(&pool).await.unwrap();
    let mut flipped = wrapped.clone();
    flipped[20] ^= 1;
    sqlx::query("UPDATE data_key SET wrapped = $1").bind(flipped).execute(&pool).await.unwrap();
    pool.close().await;
    assert!(matches!(store.find(&[scope(1)]).await.unwrap_err(), KeyError::Damaged { .. }));
}

#[tokio::test]
async fn a_key_that_is_absent_for_a_patient_of_the_store_is_an_error_and_not_an_erased_patient() {
    let dir = tempfile::tempdir().unwrap();
    let store = local(&dir.path().join("keys"), 1).await.unwrap();
    store.ensure(&[scope(1), scope(2)]).await.unwrap();
    store.destroy(scope(2)).await.unwrap();
    assert_eq!(store.known(&[scope(1), scope(2)]).await.unwrap().len(), 1, "the erased one is absent");
    assert!(matches!(store.known(&[scope(1), scope(3)]).await.unwrap_err(), KeyError::Lost { .. }));
}
