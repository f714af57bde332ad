//! Faults between a program and its database: slow statements, locked rows, cancelled requests, lost connections, an
//! unreachable server, many programs that start concurrently.

use std::process::Command;
use std::time::Duration;

use anamnesis_config as config;
use anamnesis_core::ids::OrgId;
use anamnesis_sql::{Access, Database, DbError, Location, PostgresOptions, SchemaState, Sql, schema_state};
use tokio::time::timeout;

use super::amount;
use crate::server::TestDatabase;
use crate::support::{Clinic, ORG, bodies, document, feed};

const OWN: Access = Access::Organization(OrgId(ORG));

/// With one connection, so that its user keeps all others waiting.
async fn narrow(url: &str) -> Database {
    let mut config = crate::server::trial();
    config.max_connections = 1;
    config.statement_timeout_ms = 300;
    config.lock_timeout_ms = 200;
    config.acquire_timeout_ms = 5_000;
    Database::open(&Location::Postgres(Box::new(PostgresOptions::new(url, &config).unwrap()))).await.unwrap()
}

async fn works(db: &Database) -> Result<(), DbError> {
    let mut tx = db.read(OWN).await?;
    tx.fetch_all(&Sql::new("SELECT count(*) FROM memory"), Vec::new()).await?;
    Ok(())
}

#[tokio::test]
async fn a_statement_ends_when_its_time_is_over() {
    let server = TestDatabase::new().await;
    let db = narrow(&server.url(Some("test_app"))).await;
    let mut tx = db.begin(OWN).await.unwrap();
    let slow = tx.fetch_all(&Sql::new("SELECT pg_sleep(60)"), Vec::new()).await;
    assert_eq!(slow.unwrap_err(), DbError::Transient("timeout"));
    drop(tx);
    works(&db).await.unwrap();
}

#[tokio::test]
async fn a_locked_row_is_waited_for_and_then_given_up() {
    let server = TestDatabase::new().await;
    let register =
        Sql::new("INSERT INTO organization (org_id, created_at, updated_at) VALUES ($1, 0, 0) ON CONFLICT DO NOTHING");
    let (one, other) = (narrow(&server.url(Some("test_app"))).await, narrow(&server.url(Some("test_app"))).await);
    let mut holder = one.begin(OWN).await.unwrap();
    holder.execute(&register, vec![ORG.into()]).await.unwrap();
    let mut waiter = other.begin(OWN).await.unwrap();
    let waited = waiter.execute(&register, vec![ORG.into()]).await;
    assert!(waited.unwrap_err().is_transient());
    drop(waiter);
    holder.commit().await.unwrap();
    let mut waiter = other.begin(OWN).await.unwrap();
    assert_eq!(waiter.execute(&register, vec![ORG.into()]).await.unwrap(), 0);
}

#[tokio::test]
async fn nothing_that_a_transaction_sets_is_left_on_its_connection() {
    let server = TestDatabase::new().await;
    let db = Database::open(&server.location("test_app")).await.unwrap();
    let mut tx = db.begin(OWN).await.unwrap();
    let scope = "SELECT coalesce(current_setting('anamnesis.org', true), ''), \
                 coalesce(current_setting('anamnesis.access', true), ''), current_setting('statement_timeout'), \
                 current_setting('lock_timeout'), current_setting('search_path')";
    let inside = tx.fetch_all(&Sql::new(scope), Vec::new()).await.unwrap();
    assert_eq!(inside[0].text(0).unwrap(), ORG.to_string());
    // Its COMMIT, without the program's knowledge, so that the same connection can be used once more.
    tx.execute(&Sql::new("COMMIT"), Vec::new()).await.unwrap();
    let after = tx.fetch_all(&Sql::new(scope), Vec::new()).await.unwrap();
    let left: Vec<String> = (0..5).map(|at| after[0].text(at).unwrap()).collect();
    assert_eq!(left, ["", "", "0", "0", "\"$user\", public"]);
}

#[tokio::test]
async fn a_cancelled_request_gives_its_connection_back_at_once() {
    let server = TestDatabase::new().await;
    let mut config = crate::server::trial();
    config.max_connections = 1;
    let url = server.url(Some("test_app"));
    let location = Location::Postgres(Box::new(PostgresOptions::new(&url, &config).unwrap()));
    let db = Database::open(&location).await.unwrap();
    for _ in 0..3 {
        let mut tx = db.begin(OWN).await.unwrap();
        let sleeping = Sql::new("SELECT pg_sleep(29)");
        let asleep = tx.fetch_all(&sleeping, Vec::new());
        assert!(
            timeout(Duration::from_millis(100), asleep).await.is_err(),
            "the request is cancelled in its statement"
        );
        drop(tx);
        // Well before the statement that was cancelled would have ended.
        timeout(Duration::from_secs(10), works(&db)).await.expect("the pool has a connection again").unwrap();
        // Cancelled between two statements: rolled back, and the connection is used again.
        let mut tx = db.begin(OWN).await.unwrap();
        let register = Sql::new("INSERT INTO organization (org_id, created_at, updated_at) VALUES ($1, 0, 0)");
        tx.execute(&register, vec![ORG.into()]).await.unwrap();
        drop(tx);
        let mut tx = db.read(Access::Platform).await.unwrap();
        let count = tx.fetch_all(&Sql::new("SELECT count(*) FROM organization"), Vec::new()).await.unwrap();
        assert_eq!(count[0].i64(0).unwrap(), 0);
    }
}

#[tokio::test]
async fn work_goes_on_after_the_server_dropped_every_connection() {
    let server = TestDatabase::new().await;
    let db = Database::open(&server.location("test_app")).await.unwrap();
    works(&db).await.unwrap();
    let mut cut_off = db.begin(OWN).await.unwrap();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
    sqlx::raw_sql(end).execute(&mut server.administrator().await).await.unwrap();
    let lost = cut_off.fetch_all(&Sql::new("SELECT 1"), Vec::new()).await.unwrap_err();
    assert!(lost.is_transient(), "{lost:?}");
    drop(cut_off);
    let again = async {
        while let Err(error) = works(&db).await {
            assert!(error.is_transient(), "{error:?}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(Duration::from_secs(30), again).await.expect("it works again");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_a_passing_trouble_and_a_wrong_address_is_not() {
    let config = crate::server::trial();
    let at = |url: &str| PostgresOptions::new(url, &config).map(|options| Location::Postgres(Box::new(options)));
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let gone = at(&format!("postgres://test_app@{nobody}/x")).unwrap();
    assert!(Database::open(&gone).await.unwrap_err().is_transient());
    assert_eq!(at("not a url").unwrap_err(), DbError::Url);
    let server = TestDatabase::new().await;
    let stranger = server.location("test_nobody");
    assert_eq!(Database::open(&stranger).await.unwrap_err(), DbError::Login);
}

#[test]
fn beyond_this_machine_a_connection_is_encrypted_and_the_server_proves_its_name() {
    let mut config = crate::server::trial();
    let shown = |config: &_, url: &str| format!("{:?}", PostgresOptions::new(url, config).map_err(|e| e.to_string()));
    let far = "postgres://u:p@db.example:5432/clinic?sslmode=disable";
    assert!(shown(&config, far).contains("ssl_mode: VerifyFull"), "whatever the URL says");
    assert!(!shown(&config, "postgres://u@127.0.0.1/clinic").contains("VerifyFull"));
    config.tls = config::store::Tls::Off;
    assert_eq!(PostgresOptions::new(far, &config).unwrap_err(), DbError::Tls);
    config.tls = config::store::Tls::VerifyFull;
    assert!(shown(&config, "postgres://u@localhost/clinic").contains("ssl_mode: VerifyFull"));
}

#[tokio::test]
async fn a_server_that_cannot_encrypt_is_refused_rather_than_spoken_to_in_the_clear() {
    let server = TestDatabase::new().await;
    let mut config = crate::server::trial();
    config.tls = config::store::Tls::VerifyFull;
    let options = PostgresOptions::new(&server.url(Some("test_app")), &config).unwrap();
    assert_eq!(Database::open(&Location::Postgres(Box::new(options))).await.unwrap_err(), DbError::Tls);
}

#[tokio::test]
async fn statements_that_no_connection_keeps_do_the_same_work() {
    let server = TestDatabase::new().await;
    let mut config = crate::server::trial();
    config.prepared_statements = false;
    let options = PostgresOptions::new(&server.url(Some("test_app")), &config).unwrap();
    let clinic = Clinic::new().await;
    let pipeline = clinic.pipeline_at(&Location::Postgres(Box::new(options))).await;
    let plain = clinic.pipeline().await;
    for pipeline in [&pipeline, &plain] {
        feed(pipeline, &bodies(&[document(1, 1, "2026-05-04T10:00:00Z", "Toma litio 400 mg al día.")]), 1).await;
    }
    assert_eq!(pipeline.store().read().digest(None).await.unwrap(), plain.store().read().digest(None).await.unwrap());
    let kept = "SELECT count(*) FROM pg_prepared_statements";
    let mut tx = pipeline.store().db().read(OWN).await.unwrap();
    assert_eq!(tx.fetch_all(&Sql::new(kept), Vec::new()).await.unwrap()[0].i64(0).unwrap(), 0);
}

/// Fifty rounds by `make proofs`.
#[tokio::test(flavor = "multi_thread")]
async fn eight_programs_that_start_at_once_migrate_once_and_none_waits_for_ever() {
    for round in 0..amount(2, 50) {
        let server = TestDatabase::unmigrated().await;
        let start = |verb: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_anamnesis"));
            command
                .args(verb)
                .env("ANAMNESIS__STORE__URL", server.url(Some("test_app")))
                .env("ANAMNESIS__STORE__MIGRATE_URL", server.url(Some("test_owner")))
                .env("ANAMNESIS__STORE__POSTGRES__ALLOW_NOT_DURABLE", "true")
                .stdout(std::process::Stdio::piped());
            command.spawn().unwrap()
        };
        let waiting = start(&["migrate", "wait", "--timeout", "120"]);
        let programs: Vec<_> = (0..8).map(|_| start(&["migrate", "--output", "json"])).collect();
        let mut applied = 0;
        for program in programs {
            let done = program.wait_with_output().unwrap();
            assert!(done.status.success(), "round {round}");
            let reported: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
            applied += usize::from(!reported["applied"].as_array().unwrap().is_empty());
        }
        assert_eq!(applied, 1, "round {round}: one migrates");
        assert!(waiting.wait_with_output().unwrap().status.success());
        assert_eq!(schema_state(&server.location("test_app")).await.unwrap(), SchemaState::Current);
    }
}
