//! An embedded store, read-only: nothing is created, migrated or written, and no log next to it either.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};
use sqlx::{ConnectOptions as _, Row as _};

use super::sqlite::{SqliteDatabase, error, with_functions};
use super::sqlite_schema::compared;
use super::{DbError, SchemaState};

/// Opens the file read-only. Without a write-ahead log next to it, no program has it open. It is then read as
/// immutable, because SQLite would otherwise create a log.
fn options(path: &Path) -> SqliteConnectOptions {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .read_only(true)
        .immutable(!Path::new(&log).exists())
        .busy_timeout(Duration::from_secs(5))
        .disable_statement_logging()
}

/// # Errors
/// When the file is not there or is no store.
pub(super) async fn open(path: &Path) -> Result<SqliteDatabase, DbError> {
    let pool = with_functions(SqlitePoolOptions::new().max_connections(2));
    let pool = pool.connect_with(options(path)).await.map_err(|e| error(&e))?;
    Ok(SqliteDatabase::reading(pool))
}

/// How the file's schema compares with this program.
///
/// # Errors
/// As [`open`].
pub(super) async fn state(path: &Path) -> Result<SchemaState, DbError> {
    let mut connection = options(path).connect().await.map_err(|e| error(&e))?;
    let there = sqlx::query("SELECT 1 FROM sqlite_master WHERE name = '_sqlx_migrations'");
    if there.fetch_optional(&mut connection).await.map_err(|e| error(&e))?.is_none() {
        return Ok(compared(&[]));
    }
    let sql = "SELECT version, success, checksum FROM _sqlx_migrations ORDER BY version";
    let rows = sqlx::query(sql).fetch_all(&mut connection).await.map_err(|e| error(&e))?;
    let version = |row: &sqlx::sqlite::SqliteRow| Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?));
    let applied: Result<Vec<(i64, bool, Vec<u8>)>, sqlx::Error> = rows.iter().map(version).collect();
    Ok(compared(&applied.map_err(|e| error(&e))?))
}
