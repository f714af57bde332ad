//! SQLite: one file, write-ahead log, one writer and several readers.

use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{
    SqliteArguments, SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqlitePool, SqlitePoolOptions,
    SqliteRow, SqliteSynchronous,
};
use sqlx::{
    Column as _, ConnectOptions as _, Executor as _, Row as _, SqlSafeStr as _, Sqlite, Statement as _, TypeInfo as _,
    ValueRef as _,
};

use super::sqlite_schema::{self, SchemaLock};
use super::value::{list_as_json, pairs_as_json};
use super::{Arg, DbError, Row, SqlValue, sqlite_aggregates, sqlite_similarity};
use anamnesis_core::failpoints;

const READERS: u32 = 4;
/// Those that stay open: one search reads by two.
const READERS_OPEN: u32 = 2;
/// Pages that a reader keeps, KiB (negative, as SQLite counts them): ten thousand passages of a patient with their vectors.
/// With SQLite's two megabytes a search of a thousand read every page again from the file. Taken only as far as it is used.
const READER_CACHE: &str = "-32768";
/// How often, and after which pause, a file is opened that others are just making: half a minute in all, as long as the
/// busy handler waits elsewhere.
pub(super) const TRIES: u32 = 600;
pub(super) const PAUSE: Duration = Duration::from_millis(50);

#[derive(Debug, Clone)]
pub(super) struct SqliteDatabase {
    writer: SqlitePool,
    reader: SqlitePool,
    /// No newer program changes the schema while this is held.
    _lock: Option<SchemaLock>,
}

impl SqliteDatabase {
    /// The file, or a store in memory.
    pub(crate) async fn open(file: Option<&Path>) -> Result<Self, DbError> {
        let options = match file {
            Some(path) => SqliteConnectOptions::new().filename(path).create_if_missing(true),
            None => SqliteConnectOptions::new().in_memory(true),
        };
        let options = options
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(30))
            .pragma("secure_delete", "ON")
            .pragma("temp_store", "MEMORY")
            .statement_cache_capacity(256)
            .disable_statement_logging();
        let pool = || match file {
            Some(_) => SqlitePoolOptions::new().before_acquire(|connection, _| {
                // On a full disk SQLite ends a transaction without the library's knowledge, which would then refuse
                // every later one.
                let clean = !sqlx::Connection::is_in_transaction(connection);
                Box::pin(std::future::ready(Ok(clean)))
            }),
            // A store in memory is its connection.
            None => SqlitePoolOptions::new(),
        };
        let one = pool().max_connections(1).min_connections(1).idle_timeout(None).max_lifetime(None);
        let lock = match file {
            Some(path) => Some(sqlite_schema::share(path).await?),
            None => None,
        };
        let writer = connected(&one, &options).await?;
        sqlite_schema::migrate(&writer, file, lock.as_ref()).await?;
        let reader = match file {
            // A second connection to a memory store would be a second, empty store.
            None => writer.clone(),
            Some(_) => {
                let several = pool().max_connections(READERS).min_connections(READERS_OPEN);
                connected(&several, &options.create_if_missing(false).pragma("cache_size", READER_CACHE)).await?
            }
        };
        Ok(Self { writer, reader, _lock: lock })
    }

    /// Over a pool whose connections only read.
    pub(super) fn reading(pool: SqlitePool) -> Self {
        Self { writer: pool.clone(), reader: pool, _lock: None }
    }

    pub(crate) async fn begin(&self, write: bool) -> Result<SqliteTransaction, DbError> {
        let begin = if failpoints::is("deferred_begin") { "BEGIN" } else { "BEGIN IMMEDIATE" };
        let tx = if write { self.writer.begin_with(begin).await } else { self.reader.begin().await };
        Ok(SqliteTransaction { tx: tx.map_err(|e| error(&e))? })
    }

    /// See [`super::Database::try_second_read`].
    pub(crate) async fn try_second_read(&self) -> Option<SqliteTransaction> {
        let tx = self.reader.try_begin().await.ok()??;
        Some(SqliteTransaction { tx })
    }

    pub(crate) async fn checkpoint(&self) -> Result<(), DbError> {
        let mut connection = self.writer.acquire().await.map_err(|e| error(&e))?;
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").await.map_err(|e| error(&e))?;
        Ok(())
    }

    pub(crate) async fn copy_to(&self, path: &std::path::Path) -> Result<(), DbError> {
        let mut connection = self.writer.acquire().await.map_err(|e| error(&e))?;
        let copy = sqlx::query("VACUUM INTO ?").bind(path.to_string_lossy().into_owned());
        copy.execute(&mut *connection).await.map_err(|e| error(&e))?;
        Ok(())
    }

    pub(crate) async fn prepare(&self, sql: &'static str) -> Result<Vec<String>, DbError> {
        let mut connection = self.reader.acquire().await.map_err(|e| error(&e))?;
        let prepared = connection.prepare(sql.into_sql_str()).await.map_err(|e| error(&e))?;
        Ok(prepared.columns().iter().map(|column| column.name().to_owned()).collect())
    }

    pub(crate) fn connections(&self) -> (i64, i64) {
        let pools = [&self.writer, &self.reader];
        let idle: i64 = pools.iter().map(|pool| pool.num_idle() as i64).sum();
        let open: i64 = pools.iter().map(|pool| i64::from(pool.size())).sum();
        (idle, (open - idle).max(0))
    }

    pub(crate) fn connections_limit(&self) -> i64 {
        [&self.writer, &self.reader].iter().map(|pool| i64::from(pool.options().get_max_connections())).sum()
    }

    pub(crate) async fn close(&self) {
        self.reader.close().await;
        self.writer.close().await;
    }
}

/// Opens a pool. The first process turns a new file to its write-ahead log. At that moment SQLite calls no busy
/// handler, so other processes try again.
async fn connected(pool: &SqlitePoolOptions, to: &SqliteConnectOptions) -> Result<SqlitePool, DbError> {
    for _ in 0..TRIES {
        match with_functions(pool.clone()).connect_with(to.clone()).await.map_err(|e| error(&e)) {
            Err(DbError::Transient("busy")) => tokio::time::sleep(PAUSE).await,
            done => return done,
        }
    }
    Err(DbError::Transient("busy"))
}

/// Connections know the functions of ours that statements use.
pub(super) fn with_functions(pool: SqlitePoolOptions) -> SqlitePoolOptions {
    pool.after_connect(|connection, _| {
        Box::pin(async move {
            sqlite_similarity::register(connection).await?;
            sqlite_aggregates::register_aggregates(connection).await
        })
    })
}

#[derive(Debug)]
pub(super) struct SqliteTransaction {
    tx: sqlx::Transaction<'static, Sqlite>,
}

impl SqliteTransaction {
    pub(crate) async fn execute(&mut self, sql: &'static str, args: Vec<Arg>) -> Result<u64, DbError> {
        let done = sqlx::query_with(sql, arguments(args)?).execute(&mut *self.tx).await.map_err(|e| error(&e))?;
        Ok(done.rows_affected())
    }

    pub(crate) async fn fetch_all(&mut self, sql: &'static str, args: Vec<Arg>) -> Result<Vec<Row>, DbError> {
        let rows = sqlx::query_with(sql, arguments(args)?).fetch_all(&mut *self.tx).await.map_err(|e| error(&e))?;
        rows.iter().map(row).collect()
    }

    pub(crate) async fn commit(self) -> Result<(), DbError> {
        self.tx.commit().await.map_err(|e| error(&e))
    }

    pub(crate) async fn rollback(self) -> Result<(), DbError> {
        self.tx.rollback().await.map_err(|e| error(&e))
    }
}

fn arguments(args: Vec<Arg>) -> Result<SqliteArguments, DbError> {
    use sqlx::Arguments as _;
    let mut out = SqliteArguments::default();
    for arg in args {
        let added = match arg {
            Arg::Null => out.add(None::<i64>),
            Arg::I64(v) => out.add(v),
            Arg::F64(v) => out.add(v),
            Arg::Bool(v) => out.add(i64::from(v)),
            Arg::Text(v) => out.add(v),
            Arg::Blob(v) | Arg::Vector(v) => out.add(v),
            Arg::Uuid(v) => out.add(v.as_bytes().to_vec()),
            Arg::Uuids(v) => out.add(list_as_json(v.into_iter().map(Arg::Uuid))),
            Arg::Ints(v) => out.add(list_as_json(v.into_iter().map(Arg::I64))),
            Arg::Blobs(v) => out.add(list_as_json(v.into_iter().map(Arg::Blob))),
            Arg::Pairs(v) => out.add(pairs_as_json(v)),
            Arg::Texts(v) => out.add(list_as_json(v.into_iter().map(Arg::Text))),
        };
        added.map_err(|_| DbError::Other { code: "argument".to_owned() })?;
    }
    Ok(out)
}

fn row(row: &SqliteRow) -> Result<Row, DbError> {
    let mut cells = Vec::with_capacity(row.columns().len());
    for column in row.columns() {
        let index = column.ordinal();
        let decode = |_| DbError::Decode { index };
        let raw = row.try_get_raw(index).map_err(decode)?;
        let cell = if raw.is_null() {
            SqlValue::Null
        } else {
            match raw.type_info().name() {
                "INTEGER" | "BOOLEAN" => SqlValue::I64(row.try_get_unchecked(index).map_err(decode)?),
                "REAL" => SqlValue::F64(row.try_get_unchecked(index).map_err(decode)?),
                "BLOB" => SqlValue::Blob(row.try_get_unchecked(index).map_err(decode)?),
                _ => SqlValue::Text(row.try_get_unchecked(index).map_err(decode)?),
            }
        };
        cells.push(cell);
    }
    Ok(Row(cells))
}

/// A connection to a file as it is: nothing is migrated, and functions of ours are known to it.
pub(super) async fn opened_for_copy(options: SqliteConnectOptions) -> Result<SqliteConnection, DbError> {
    let mut connection = options.connect().await.map_err(|e| error(&e))?;
    sqlite_similarity::register(&mut connection).await.map_err(|e| error(&e))?;
    sqlite_aggregates::register_aggregates(&mut connection).await.map_err(|e| error(&e))?;
    Ok(connection)
}

/// Newest migration that this program knows.
pub(super) fn newest() -> i64 {
    sqlite_schema::newest()
}

/// SQLite's message may quote a value, so only the constraint's columns and the code are passed on.
pub(super) fn error(error: &sqlx::Error) -> DbError {
    match error {
        sqlx::Error::Database(inner) => {
            let code = inner.code().unwrap_or_default().into_owned();
            match (code.parse::<u32>().unwrap_or(0) & 0xff, inner.kind()) {
                (5 | 6, _) => DbError::Transient("busy"),
                (8, _) => DbError::Transient("read_only"),
                (10 | 13 | 14, _) => DbError::Transient("disk"),
                (19, _) => DbError::Constraint { constraint: constraint(inner.message()) },
                _ => DbError::Other { code },
            }
        }
        sqlx::Error::PoolTimedOut => DbError::Transient("pool"),
        sqlx::Error::Io(_) => DbError::Transient("io"),
        sqlx::Error::PoolClosed => DbError::Transient("closed"),
        _ => DbError::Other { code: "client".to_owned() },
    }
}

/// "UNIQUE constraint failed: memory.id": names of tables, columns and checks only. The text of a trigger is our own.
fn constraint(message: &str) -> String {
    let name = message.rsplit(": ").next().unwrap_or_default();
    name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ',' | ' ')).take(120).collect()
}

#[cfg(test)]
#[path = "sqlite_tests.rs"]
mod tests;
