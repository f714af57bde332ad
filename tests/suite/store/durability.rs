//! A server that may lose confirmed data is refused, unless it is marked as one for tests.

use anamnesis_sql::{self as engine, Database, DbError, Location, PostgresOptions};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};

use crate::server::{TestDatabase, trial};

/// Where a role finds the store, as a clinic is configured.
fn strict(server: &TestDatabase, role: &str) -> Location {
    let config = anamnesis_config::store::PostgresConfig { allow_not_durable: false, ..trial() };
    Location::Postgres(Box::new(PostgresOptions::new(&server.url(Some(role)), &config).unwrap()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_may_lose_what_it_confirmed_is_refused_by_name_of_its_setting() {
    let server = TestDatabase::new().await;
    let mut administrator = server.administrator().await;
    let fsync: String = sqlx::query_scalar("SHOW fsync").fetch_one(&mut administrator).await.unwrap();
    let name: String = sqlx::query_scalar("SELECT current_database()").fetch_one(&mut administrator).await.unwrap();
    // The setting of a database counts as much as the server's own.
    let set = format!("ALTER DATABASE {name} SET synchronous_commit = off");
    administrator.execute(AssertSqlSafe(set)).await.unwrap();
    let expected = DbError::NotDurable(if fsync == "off" { "fsync" } else { "synchronous_commit" });
    assert_eq!(Database::open(&strict(&server, "test_app")).await.unwrap_err(), expected);
    assert_eq!(engine::migrate(&strict(&server, "test_owner")).await.unwrap_err(), expected);
    assert!(expected.to_string().contains("store.postgres.allow_not_durable"), "{expected}");
    let allowed = Database::open(&server.location("test_app")).await.unwrap();
    assert_eq!(allowed.durable().await, Ok(()), "allowed for tests");
    allowed.close().await;
    administrator.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_transaction_reads_what_was_committed_whatever_the_defaults_of_the_server_are() {
    let server = TestDatabase::new().await;
    let mut administrator = server.administrator().await;
    let name: String = sqlx::query_scalar("SELECT current_database()").fetch_one(&mut administrator).await.unwrap();
    let set = format!("ALTER DATABASE {name} SET default_transaction_isolation = 'serializable'");
    administrator.execute(AssertSqlSafe(set)).await.unwrap();
    let db = Database::open(&server.location("test_app")).await.unwrap();
    let mut tx = db.begin(engine::Access::Platform).await.unwrap();
    let asked = engine::Sql::new("SELECT current_setting('transaction_isolation')");
    let level = tx.fetch_all(&asked, Vec::new()).await.unwrap()[0].text(0).unwrap();
    assert_eq!(level, "read committed");
    administrator.close().await.unwrap();
}
