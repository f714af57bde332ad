//! Statements and schema: the same on both engines, and only ever forward.

use anamnesis::jobs::ledger::rows;
use anamnesis::store;
use anamnesis::store::engine::{self, Database, DbError, Location, SchemaState};

use crate::server::Server;
use crate::support::{Engine, Place, on_every_engine};

on_every_engine!(every_statement_is_prepared_by_the_engine);

/// What replaces compile-time checking of SQL.
async fn every_statement_is_prepared_by_the_engine(engine: Engine) {
    let place = Place::on(engine).await;
    let db = Database::open(&place.location()).await.unwrap();
    let (mut asked, mut wrong) = (0, Vec::new());
    for sql in store::statements().into_iter().chain(rows::statements()) {
        asked += 1;
        if let Err(error) = db.prepare(sql).await {
            wrong.push(format!("{error}: {sql:?}"));
        }
    }
    db.close().await;
    assert!(asked > 70, "{asked}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_server_is_migrated_once_and_a_worker_waits_for_nobody() {
    let server = Server::unmigrated().await;
    let (owner, app) = (server.location("test_owner"), server.location("test_app"));
    assert!(matches!(engine::schema_state(&app).await.unwrap(), SchemaState::Behind(missing) if missing[0] == 1));
    assert_eq!(Database::open(&app).await.unwrap_err(), DbError::Schema);
    assert!(engine::migrate(&owner).await.unwrap().starts_with(&[1]));
    assert_eq!(engine::migrate(&owner).await.unwrap(), Vec::<i64>::new());
    assert_eq!(engine::schema_state(&app).await.unwrap(), SchemaState::Current);
    Database::open(&app).await.unwrap().close().await;
}

async fn meddle(server: &Server, sql: &'static str) -> (DbError, DbError) {
    sqlx::raw_sql(sql).execute(&mut server.administrator().await).await.unwrap();
    let worker = Database::open(&server.location("test_app")).await.unwrap_err();
    (worker, engine::migrate(&server.location("test_owner")).await.unwrap_err())
}

#[tokio::test]
async fn a_schema_that_this_program_does_not_know_is_touched_by_nobody() {
    let server = Server::new().await;
    let newer = "INSERT INTO _sqlx_migrations VALUES (9000, 'of a newer program', to_timestamp(0), true, '\\x00', 1)";
    assert_eq!(meddle(&server, newer).await, (DbError::Newer(9000), DbError::Newer(9000)));
    let changed = "DELETE FROM _sqlx_migrations WHERE version = 9000; \
                   UPDATE _sqlx_migrations SET checksum = '\\x00' WHERE version = 1";
    assert_eq!(meddle(&server, changed).await, (DbError::Changed(1), DbError::Changed(1)));
}

#[tokio::test]
async fn an_embedded_store_of_a_newer_program_is_touched_by_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    Database::open(&Location::File(path.clone())).await.unwrap().close().await;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&path);
    let mut connection = sqlx::ConnectOptions::connect(&options).await.unwrap();
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
                 VALUES (9000, 'of a newer program', 1, x'00', 1)";
    sqlx::raw_sql(newer).execute(&mut connection).await.unwrap();
    sqlx::Connection::close(connection).await.unwrap();
    assert_eq!(Database::open(&Location::File(path)).await.unwrap_err(), DbError::Newer(9000));
}
