//! Detects a pooler between us and the server that loses session state. With transaction pooling each transaction uses
//! any free connection, with other prepared statements. With statement pooling transactions are refused.

use std::time::Duration;

use sqlx::postgres::PgPool;
use sqlx::{Executor as _, PgConnection};
use tokio::time::timeout;

use super::super::DbError;
use super::rows::error;

/// Two concurrent transactions hang if a pooler has one connection; then no state can be lost.
const PATIENCE: Duration = Duration::from_secs(2);
static ASKED: &str = "SELECT 'is this statement still known?'";

/// # Errors
/// [`DbError::Pooler`] when the configured kind of statements, or transactions at all, cannot be used.
pub(crate) async fn check(pool: &PgPool, named: bool) -> Result<(), DbError> {
    let mut one = pool.acquire().await.map_err(|e| error(&e))?;
    let mut found = alone(&mut one, named).await;
    if found.is_ok() && named && pool.options().get_max_connections() > 1 {
        let mut other = pool.acquire().await.map_err(|e| error(&e))?;
        let crossed = timeout(PATIENCE, crossed(&mut one, &mut other)).await;
        if !matches!(crossed, Ok(Ok(()))) {
            other.close_on_drop();
            one.close_on_drop();
        }
        found = crossed.unwrap_or(Ok(()));
    }
    if found.is_err() {
        one.close_on_drop();
    }
    found.map_err(|e| error(&e))
}

async fn asked(connection: &mut PgConnection, named: bool) -> Result<(), sqlx::Error> {
    connection.execute(sqlx::query(ASKED).persistent(named)).await.map(drop)
}

async fn say(connection: &mut PgConnection, what: &'static str) -> Result<(), sqlx::Error> {
    connection.execute(sqlx::raw_sql(what)).await.map(drop)
}

async fn alone(one: &mut PgConnection, named: bool) -> Result<(), sqlx::Error> {
    say(one, "BEGIN").await?;
    asked(one, named).await?;
    say(one, "COMMIT").await
}

/// The other's transaction takes the server's connection that ours had: ours finds another one.
async fn crossed(one: &mut PgConnection, other: &mut PgConnection) -> Result<(), sqlx::Error> {
    say(other, "BEGIN").await?;
    say(one, "BEGIN").await?;
    asked(one, true).await?;
    say(one, "COMMIT").await?;
    say(other, "COMMIT").await
}
