//! Applies migrations to a server during normal work: one by one, and none so that other sessions wait for long.
//!
//! | first lines of the file | how it runs |
//! |---|---|
//! | none | one transaction; waits two seconds for a table lock, then lets other sessions pass and tries again |
//! | `-- no-transaction` | one statement such as `CREATE INDEX CONCURRENTLY`, which blocks no session, for any time |
//! | `-- no-transaction` and `-- batched` | one `UPDATE` or `DELETE` with a `LIMIT`, repeated for each organisation until it finds no row, each time in a separate transaction |

use std::time::Duration;

use sqlx::migrate::{MigrateError, Migration, Migrator};
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, Row as _};

use super::super::DbError;
use super::rows::error;

/// Longest wait for a table lock during a migration, because other sessions queue up after it.
const LOCK_TIMEOUT: &str = "SET lock_timeout = '2s'";
/// A concurrent statement waits for transactions but blocks no other session.
const NO_LOCK_TIMEOUT: &str = "SET lock_timeout = 0";
const LOCK_TRIES: u32 = 150;
/// Longer than the wait, so that normal work has the table most of the time.
const LOCK_PAUSE: Duration = Duration::from_secs(4);
/// Pause between two batches of rows, so that normal work goes first.
const BATCH_PAUSE: Duration = Duration::from_millis(20);

const ORGANIZATIONS: &str = "SELECT org_id::text FROM anamnesis.organization ORDER BY org_id";
const SCOPE: &str = "SELECT set_config('anamnesis.access', 'platform', true), set_config('anamnesis.org', $1, true)";
/// Remains of an interrupted concurrent build, but not of one in progress.
const BROKEN: &str = "SELECT format('DROP INDEX CONCURRENTLY IF EXISTS %I.%I', n.nspname, c.relname) FROM pg_index AS i \
     JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace \
     WHERE n.nspname = 'anamnesis' AND NOT i.indisvalid \
     AND NOT EXISTS (SELECT 1 FROM pg_stat_progress_create_index AS p WHERE p.index_relid = i.indexrelid)";

/// Applies missing migrations, up to a given one.
pub(super) async fn apply(
    connection: &mut PgConnection,
    migrations: &Migrator,
    target: Option<i64>,
) -> Result<(), DbError> {
    // Refuses a schema that is newer or another's, and makes the table of migrations.
    step(connection, migrations, Some(0)).await?;
    let applied: Vec<i64> = sqlx::query_scalar("SELECT version FROM anamnesis._sqlx_migrations")
        .persistent(false)
        .fetch_all(&mut *connection)
        .await
        .map_err(|e| error(&e))?;
    let wanted = |migration: &&Migration| target.is_none_or(|target| migration.version <= target);
    for migration in migrations.iter().filter(wanted).filter(|m| !applied.contains(&m.version)) {
        let version = Some(migration.version);
        if !migration.no_tx {
            connection.execute(LOCK_TIMEOUT).await.map_err(|e| error(&e))?;
            patiently(connection, async |connection| step(connection, migrations, version).await).await?;
            continue;
        }
        if is_batched(migration) {
            in_batches(connection, migration).await?;
        }
        connection.execute(NO_LOCK_TIMEOUT).await.map_err(|e| error(&e))?;
        drop_broken_indexes(connection).await?;
        step(connection, migrations, version).await?;
    }
    Ok(())
}

fn is_batched(migration: &Migration) -> bool {
    migration.sql.as_str().lines().nth(1).is_some_and(|line| line.trim() == "-- batched")
}

async fn step(connection: &mut PgConnection, migrations: &Migrator, target: Option<i64>) -> Result<(), DbError> {
    migrations.run_direct(target, connection, false).await.map_err(|e| refused(&e))
}

/// Gives up soon if a table is locked, because all later sessions queue up after a waiting step. Lets the others through
/// and tries again. So does a batch that the server ended for a deadlock with a worker.
async fn patiently(
    connection: &mut PgConnection,
    mut work: impl AsyncFnMut(&mut PgConnection) -> Result<(), DbError>,
) -> Result<(), DbError> {
    for _ in 0..LOCK_TRIES {
        match work(connection).await {
            Err(DbError::Transient("lock" | "conflict")) => tokio::time::sleep(LOCK_PAUSE).await,
            done => return done,
        }
    }
    Err(DbError::Transient("lock"))
}

/// Changes rows of all organisations, a few at a time, during normal work. An interrupted run continues with the
/// remaining rows.
async fn in_batches(connection: &mut PgConnection, migration: &Migration) -> Result<(), DbError> {
    connection.execute(LOCK_TIMEOUT).await.map_err(|e| error(&e))?;
    let mut tx = connection.begin().await.map_err(|e| error(&e))?;
    let scope = sqlx::query(SCOPE).persistent(false).bind("");
    scope.execute(&mut *tx).await.map_err(|e| error(&e))?;
    let mut scopes: Vec<String> =
        sqlx::query_scalar(ORGANIZATIONS).persistent(false).fetch_all(&mut *tx).await.map_err(|e| error(&e))?;
    tx.rollback().await.map_err(|e| error(&e))?;
    // Rows that belong to no organisation.
    scopes.push(String::new());
    for org in &scopes {
        let mut left = true;
        while left {
            patiently(connection, async |connection| {
                left = batch(connection, org, migration).await? > 0;
                Ok(())
            })
            .await?;
            if left {
                tokio::time::sleep(BATCH_PAUSE).await;
            }
        }
    }
    Ok(())
}

async fn batch(connection: &mut PgConnection, org: &str, migration: &Migration) -> Result<u64, DbError> {
    let mut tx = connection.begin().await.map_err(|e| error(&e))?;
    sqlx::query(SCOPE).persistent(false).bind(org).execute(&mut *tx).await.map_err(|e| error(&e))?;
    let done = tx.execute(sqlx::raw_sql(AssertSqlSafe(migration.sql.as_str()))).await.map_err(|e| error(&e))?;
    tx.commit().await.map_err(|e| error(&e))?;
    Ok(done.rows_affected())
}

/// An interrupted `CREATE INDEX CONCURRENTLY` leaves an index that no query uses, and `IF NOT EXISTS` would take for done.
async fn drop_broken_indexes(connection: &mut PgConnection) -> Result<(), DbError> {
    let rows = sqlx::query(BROKEN).persistent(false).fetch_all(&mut *connection).await.map_err(|e| error(&e))?;
    for row in rows {
        let sql: String = row.try_get(0).map_err(|e| error(&e))?;
        connection.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await.map_err(|e| error(&e))?;
    }
    Ok(())
}

fn refused(why: &MigrateError) -> DbError {
    match why {
        MigrateError::VersionMissing(version) => DbError::Newer(*version),
        MigrateError::VersionMismatch(version) | MigrateError::Dirty(version) => DbError::Changed(*version),
        MigrateError::Execute(inner) | MigrateError::ExecuteMigration(inner, _) => error(inner),
        _ => DbError::Schema,
    }
}
