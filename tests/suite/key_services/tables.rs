//! The key tables, file and PostgreSQL: one suite for both, and tests of the server's only.

use std::collections::HashMap;
use std::sync::Arc;

use anamnesis_config as config;
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{
    DataKey, FORMAT, KeyDatabase, KeyEntry, KeyError, KeyStoreHeader, KeyStoreStamp, KeyTable, PostgresTable,
    SqliteTable, TableState,
};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};
use uuid::Uuid;

use crate::server::TestDatabase;

const ID: Uuid = Uuid::from_u128(7);
const SEEN: KeyStoreStamp = KeyStoreStamp { id: ID, generation: 0 };
const LOGIN: &str = "test_keys";

fn header() -> KeyStoreHeader {
    KeyStoreHeader {
        id: ID,
        format: FORMAT,
        root: "local:test".to_owned(),
        wrapped: vec![1, 2, 3],
        check: [9; 32],
        generation: 0,
    }
}

fn scope(patient: u128) -> Scope {
    Scope::new(OrgId(Uuid::from_u128(1)), PatientId(Uuid::from_u128(patient))).unwrap()
}

fn key(version: u32, kek: u32, byte: u8) -> DataKey {
    DataKey { version, kek, wrapped: vec![byte; 60] }
}

/// An empty database of a test, and the URL of a role that only has keys.
pub(crate) async fn database() -> (TestDatabase, String) {
    let server = TestDatabase::unmigrated().await;
    let mut admin = server.administrator().await;
    let sql = format!(
        "DROP SCHEMA IF EXISTS anamnesis CASCADE; \
         DO $$ BEGIN PERFORM pg_advisory_xact_lock(4712); IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{LOGIN}') THEN \
         CREATE ROLE {LOGIN} LOGIN; END IF; \
         EXECUTE format('GRANT CONNECT, CREATE ON DATABASE %I TO {LOGIN}', current_database()); END $$"
    );
    admin.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.unwrap();
    admin.close().await.unwrap();
    let url = server.url(Some(LOGIN));
    (server, url)
}

fn on_server(url: &str) -> Arc<dyn KeyTable> {
    let limits = config::load(None).unwrap().store.postgres;
    Arc::new(PostgresTable::new(KeyDatabase::new(url, &[], &limits).unwrap()))
}

/// The guarantees of both tables.
async fn holds(table: &dyn KeyTable) {
    assert!(matches!(table.state().await.unwrap(), TableState::Absent | TableState::Empty));
    table.create(&header(), false).await.unwrap();
    assert!(matches!(table.create(&header(), false).await, Err(KeyError::Exists { .. })), "made once");
    assert_eq!(table.state().await.unwrap(), TableState::Ready(header()));

    let (stamp, found) = table.find(&[scope(1)]).await.unwrap();
    assert_eq!((stamp.id, stamp.generation, found.len()), (ID, 0, 0));
    let first = [(scope(1), key(1, 1, 1)), (scope(2), key(1, 1, 2)), (scope(3), key(1, 1, 3))];
    assert_eq!(table.insert(SEEN, &first, 10).await.unwrap().generation, 1, "one change for a batch");
    // Another host's key of the same patient stays.
    table
        .insert(SEEN, &[(scope(1), key(1, 1, 99)), (scope(1), key(2, 1, 12)), (scope(4), key(2, 1, 4))], 11)
        .await
        .unwrap();
    let (stamp, found) = table.find(&[scope(1), scope(2), scope(4)]).await.unwrap();
    assert_eq!(stamp.generation, 2);
    let expected =
        [(scope(1), KeyEntry::Keys(vec![key(1, 1, 1), key(2, 1, 12)])), (scope(2), KeyEntry::Keys(vec![key(1, 1, 2)]))];
    assert_eq!(found, HashMap::from(expected), "no further key without a first one");

    // An older copy, or another key store, that was exchanged between a read and a change.
    let newer = KeyStoreStamp { generation: stamp.generation + 1, ..stamp };
    let foreign = KeyStoreStamp { id: Uuid::from_u128(8), generation: 0 };
    let fifth = [(scope(5), key(1, 1, 5))];
    let refused = table.insert(newer, &fifth, 12).await;
    assert!(matches!(refused, Err(KeyError::RolledBack { has: 2, seen: 3, .. })), "{refused:?}");
    assert!(matches!(table.insert(foreign, &fifth, 12).await, Err(KeyError::Foreign { .. })));
    assert!(matches!(table.destroy(newer, scope(1), 12).await, Err(KeyError::RolledBack { .. })));
    let (after, none) = table.find(&[scope(5)]).await.unwrap();
    assert_eq!((after, none.len()), (stamp, 0), "nothing was written");
    table.destroy(SEEN, scope(1), 20).await.unwrap();
    table.insert(SEEN, &[(scope(1), key(1, 1, 1)), (scope(1), key(2, 1, 1))], 21).await.unwrap();
    assert_eq!(table.find(&[scope(1)]).await.unwrap().1[&scope(1)], KeyEntry::Destroyed, "for good");
    table.destroy(SEEN, scope(9), 22).await.unwrap();
    assert_eq!(table.find(&[scope(9)]).await.unwrap().1[&scope(9)], KeyEntry::Destroyed, "without a key too");

    table.add_kek(SEEN, 2, b"kek two", 30).await.unwrap();
    table.add_kek(SEEN, 2, b"another host's", 31).await.unwrap();
    assert_eq!(table.kek_versions().await.unwrap(), vec![(2, b"kek two".to_vec())]);
    assert_eq!(table.counts(2).await.unwrap().outdated, 2);
    table.rewrap(SEEN, &[(scope(2), key(1, 2, 22)), (scope(1), key(1, 2, 11))]).await.unwrap();
    let counts = table.counts(2).await.unwrap();
    assert_eq!((counts.patients, counts.erased, counts.outdated), (2, 2, 1), "{counts:?}");
    assert_eq!(table.find(&[scope(1)]).await.unwrap().1[&scope(1)], KeyEntry::Destroyed, "not brought back");

    let page = |after| async move {
        let page = table.page(after, 2).await.unwrap();
        page.into_iter().map(|(scope, _)| scope).collect::<Vec<_>>()
    };
    assert_eq!(page(None).await, [scope(1), scope(2)]);
    assert_eq!(page(Some(scope(2))).await, [scope(3), scope(9)]);
    assert!(page(Some(scope(9))).await.is_empty());

    let before = table.set_root(SEEN, "vault:t/k", b"again").await.unwrap().generation;
    let other = Uuid::from_u128(8);
    let foreign = table.insert(KeyStoreStamp { id: other, ..SEEN }, &[(scope(5), key(1, 1, 5))], 40).await;
    assert!(matches!(foreign, Err(KeyError::Foreign { .. })), "{foreign:?}");
    let TableState::Ready(now) = table.state().await.unwrap() else { panic!("no header") };
    assert_eq!((now.root.as_str(), now.wrapped.as_slice(), now.generation), ("vault:t/k", &b"again"[..], before));
}

#[tokio::test]
async fn a_file_keeps_what_a_key_table_promises() {
    let folder = tempfile::tempdir().unwrap();
    holds(&SqliteTable::at(&folder.path().join("keys"))).await;
}

#[tokio::test]
async fn a_database_keeps_what_a_key_table_promises() {
    let (_server, url) = database().await;
    holds(on_server(&url).as_ref()).await;
}

/// Eight hosts make keys for the same patients concurrently, in different orders.
async fn one_key_each(tables: Vec<Arc<dyn KeyTable>>) {
    tables[0].create(&header(), false).await.unwrap();
    let hosts = tables.iter().cloned().zip(1u8..).map(|(table, host)| {
        tokio::spawn(async move {
            for round in 0..5u128 {
                let mut patients: Vec<u128> = (1..=20).map(|patient| patient + round * 20).collect();
                patients.rotate_left(usize::from(host) * 2);
                let keys: Vec<_> = patients.iter().map(|patient| (scope(*patient), key(1, 1, host))).collect();
                table.insert(SEEN, &keys, 1).await.unwrap();
            }
        })
    });
    for host in hosts.collect::<Vec<_>>() {
        host.await.unwrap();
    }
    let all: Vec<Scope> = (1..=100).map(scope).collect();
    let (stamp, found) = tables[0].find(&all).await.unwrap();
    assert_eq!((stamp.generation, found.len()), (40, 100));
    for table in &tables {
        assert_eq!(table.find(&all).await.unwrap().1, found, "every host has the same keys");
    }
    for entry in found.values() {
        assert!(matches!(entry, KeyEntry::Keys(keys) if keys.len() == 1), "{entry:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn eight_hosts_make_one_key_for_each_patient() {
    let (_server, url) = database().await;
    one_key_each((0..8).map(|_| on_server(&url)).collect()).await;
    let folder = tempfile::tempdir().unwrap();
    let file = |_| Arc::new(SqliteTable::at(&folder.path().join("keys"))) as Arc<dyn KeyTable>;
    one_key_each((0..8).map(file).collect()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_eight_hosts_that_initialise_at_once_one_makes_the_key_store() {
    let (_server, url) = database().await;
    let made = (0..8u128).map(|host| {
        let (table, mut header) = (on_server(&url), header());
        header.id = Uuid::from_u128(100 + host);
        tokio::spawn(async move { table.create(&header, false).await })
    });
    let mut won = 0;
    for one in made.collect::<Vec<_>>() {
        match one.await.unwrap() {
            Ok(()) => won += 1,
            Err(error) => assert!(matches!(error, KeyError::Exists { .. }), "{error:?}"),
        }
    }
    assert_eq!(won, 1);
}

#[tokio::test]
async fn keys_are_stored_apart_from_the_store() {
    let limits = config::load(None).unwrap().store.postgres;
    let refused = |url: &str, store: &str| match KeyDatabase::new(url, &[store, ""], &limits) {
        Err(KeyError::Denied { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    let store = "postgres://app:secret@db.example/memory";
    assert!(refused("postgres://keys:k@db.example/memory", store).contains("another database"));
    assert!(refused("postgres://keys:k@DB.example:5432/memory", store).contains("another database"));
    assert!(refused("postgres://app:k@db.example/keys", store).contains("another role"));
    assert!(refused("mysql://x", store).contains("postgres://") && !refused("nonsense", store).contains("nonsense"));
    assert!(KeyDatabase::new("postgres://keys:k@db.example/keys", &[store], &limits).is_ok());
    let mut plain = limits.clone();
    plain.tls = config::store::Tls::Off;
    assert!(
        KeyDatabase::new("postgres://keys:k@db.example/keys", &[store], &plain).is_err(),
        "in clear over a network"
    );

    // Facts that the URLs do not show: the store is in this database, or the role can read it.
    let denied = |url: String| async move {
        match on_server(&url).state().await {
            Err(KeyError::Denied { reason, .. }) => reason,
            other => panic!("{other:?}"),
        }
    };
    let (server, url) = database().await;
    assert_eq!(on_server(&url).state().await.unwrap(), TableState::Absent);
    for role in [None, Some("test_app"), Some("test_owner"), Some("test_read")] {
        assert!(denied(server.url(role)).await.contains("can read the store"), "{role:?}");
    }
    let mut admin = server.administrator().await;
    admin.execute("CREATE SCHEMA anamnesis").await.unwrap();
    assert!(denied(url).await.contains("the store lies in this database"));
}

#[tokio::test]
async fn an_unreachable_database_is_a_retry_and_one_that_refuses_is_not() {
    let mut limits = config::load(None).unwrap().store.postgres;
    limits.acquire_timeout_ms = 300;
    let table = |url: &str| PostgresTable::new(KeyDatabase::new(url, &[], &limits).unwrap());
    let away = table("postgres://keys:k@127.0.0.1:9/keys");
    assert_eq!(away.state().await.unwrap_err(), KeyError::Transient);
    let (server, url) = database().await;
    let missing = server.url(Some(LOGIN)).replace("/test_", "/none_");
    assert!(matches!(table(&missing).state().await, Err(KeyError::Denied { .. })));

    // A row that another host holds for longer than the lock limit: a retry, and nothing is written.
    limits.lock_timeout_ms = 200;
    let table = PostgresTable::new(KeyDatabase::new(&url, &[], &limits).unwrap());
    table.create(&header(), false).await.unwrap();
    let mut other = PgConnection::connect(&url).await.unwrap();
    other.execute(sqlx::raw_sql("BEGIN; UPDATE anamnesis_keys.key_store SET generation = generation")).await.unwrap();
    let held = table.insert(SEEN, &[(scope(1), key(1, 1, 1))], 1).await;
    assert_eq!(held.unwrap_err(), KeyError::Transient);
    other.execute("ROLLBACK").await.unwrap();
    assert!(table.find(&[scope(1)]).await.unwrap().1.is_empty());
    assert_eq!(table.insert(SEEN, &[(scope(1), key(1, 1, 1))], 1).await.unwrap().generation, 1);

    // Another role, even of the same server, reads nothing.
    let mut reader = PgConnection::connect(&server.url(Some("test_app"))).await.unwrap();
    assert!(reader.execute("SELECT * FROM anamnesis_keys.data_key").await.is_err());
}
