//! The database abstraction below the store. A statement is written once ([`Sql`]) for both engines. Placeholders in
//! braces mark the differences, and only this crate knows their expansion for each engine.

pub mod copies;
mod engine_stats;
mod migrate;
mod options;
mod packed_rows;
mod postgres;
mod sqlite;
mod sqlite_aggregates;
mod sqlite_read_only;
mod sqlite_schema;
mod sqlite_similarity;
mod statement;
mod value;

use std::path::PathBuf;
use std::sync::Arc;

pub use migrate::{ROLES, SchemaState, approximate, found_schema, holds_rows, migrate, migrate_by, schema_state};
pub use options::PostgresOptions;
pub use packed_rows::PackedRows;
pub(crate) use postgres::ServerInfo;
pub use postgres::{LayoutResult, TempDatabase};
pub use statement::{Bulk, Column, ColumnType, Sql};
pub use value::{Arg, Row, SqlValue};

use anamnesis_core::ids::OrgId;

/// Errors of the database access. They contain no statement arguments and no database detail text, because both may
/// quote a row (docs/dependencies.md).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DbError {
    /// Connection lost, time-out, lock not obtained, disk full: try again.
    #[error("the database is currently unavailable ({0})")]
    Transient(&'static str),
    /// A constraint of the schema refused the rows: the same input will be refused again.
    #[error("a constraint of the database refuses the rows ({constraint})")]
    Constraint { constraint: String },
    /// The schema is not the one this version knows.
    #[error("the schema of the database differs from this version: run `anamnesis migrate`")]
    Schema,
    /// The schema was made by a newer version of the program.
    #[error("the database was migrated by a newer version of the program (migration {0}): use that version")]
    Newer(i64),
    /// A migration that was applied is not the one this version knows, or ended half-way.
    #[error("migration {0} of the database differs from the one in this program")]
    Changed(i64),
    /// Another program works on the file with an older schema.
    #[error(
        "another program has this store open with an older schema: stop it, then start this one again, which copies and \
         migrates the store"
    )]
    InUse,
    /// The database's administrator has not run `roles.sql` yet.
    #[error(
        "the database has no schema `anamnesis` yet: run `anamnesis migrate roles | psql` as its administrator first"
    )]
    Unprepared,
    /// The role is not bound by row-level security.
    #[error("the database role is {0}, which is not allowed for a worker: use a member of anamnesis_app")]
    Role(&'static str),
    /// Committed data may be lost when the server's machine stops.
    #[error(
        "the server runs with {0} = off: documents that it confirmed may be lost when its machine stops. Set {0} = on, or \
         allow it for tests with store.postgres.allow_not_durable = true"
    )]
    NotDurable(&'static str),
    /// The role may not do this.
    #[error("the database role lacks a privilege")]
    Denied,
    #[error("the database refuses the role or its password")]
    Login,
    /// A pooler between us and the server forgets prepared statements, or knows no transactions.
    #[error(
        "a connection pooler loses prepared statements or refuses transactions: see store.postgres.prepared_statements"
    )]
    Pooler,
    /// Unencrypted beyond this machine, or the server's certificate is not the host's.
    #[error("the connection lacks the encryption of store.postgres.tls, or the server certificate is not trusted")]
    Tls,
    /// No approximate index can be made: no statements for vectors of this dimension, or a pgvector before 0.8.
    #[error("there is no approximate index for vectors of this dimension, or pgvector is older than 0.8")]
    Approximate,
    #[error("store.url cannot be read as postgres://user:password@host/database")]
    Url,
    /// A transaction in which a statement failed cannot be committed.
    #[error("an earlier statement of the transaction failed")]
    Aborted,
    /// A transaction without an organisation.
    #[error("the transaction has no organisation")]
    Scope,
    /// A column holds something else than the program reads: a defect.
    #[error("column {index} of a row is not of the expected type")]
    Decode { index: usize },
    /// Anything else; the code is the engine's own (SQLSTATE or SQLite's).
    #[error("the database refused a statement (code {code})")]
    Other { code: String },
}

/// Which messages an error of the store concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The store rejects all writes now: unreachable, read-only, full, without rights, with another schema. No message
    /// is at fault.
    Store,
    /// A constraint or a type refuses these rows: the same rows are refused again, those of other messages are not.
    Rows,
    /// Neither is certain. Messages are committed one by one, and those that fail are tried again.
    Unclear,
}

impl DbError {
    /// Whether the same call may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Transient(_))
    }

    /// Whether the store or the rows are at fault. Only errors about values are attributed to rows.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Constraint { .. } => Fault::Rows,
            Self::Other { code } if is_about_values(code) => Fault::Rows,
            Self::Other { .. } | Self::Decode { .. } | Self::Aborted => Fault::Unclear,
            _ => Fault::Store,
        }
    }
}

/// SQLSTATE classes 22 (data exception) and 54 (program limit exceeded); SQLite's TOOBIG, MISMATCH and RANGE.
fn is_about_values(code: &str) -> bool {
    match code.len() {
        5 => code.starts_with("22") || code.starts_with("54"),
        _ => code.parse::<u32>().is_ok_and(|code| matches!(code & 0xff, 18 | 20 | 25)),
    }
}

/// Whose rows a transaction may touch. There is no third kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Rows of one organisation; on PostgreSQL row-level security sees this setting.
    Organization(OrgId),
    /// Tables that belong to no tenant: organisations, job ledger, quarantine of unreadable bodies, schema.
    Platform,
}

/// Where a store lives.
#[derive(Debug, Clone)]
pub enum Location {
    /// One file, made when it is not there.
    File(PathBuf),
    /// Vanishes with the process: tests, dry runs.
    Memory,
    /// A server, whose schema `anamnesis migrate` made.
    Postgres(Box<PostgresOptions>),
}

/// An open database. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Database {
    inner: Inner,
}

#[derive(Debug, Clone)]
enum Inner {
    Sqlite(sqlite::SqliteDatabase),
    Postgres(Arc<postgres::PostgresDatabase>),
}

impl Database {
    /// Opens a store. A missing embedded one is created, and an old one is migrated. A server must be up to date, and
    /// row-level security must bind the role.
    ///
    /// # Errors
    /// [`DbError::Schema`] and its neighbours when the schema is not the one that this version knows, [`DbError::Role`]
    /// for a role with too many rights.
    pub async fn open(location: &Location) -> Result<Self, DbError> {
        let inner = match location {
            Location::Postgres(options) => Inner::Postgres(Arc::new(postgres::PostgresDatabase::open(options).await?)),
            Location::File(path) => Inner::Sqlite(sqlite::SqliteDatabase::open(Some(path)).await?),
            Location::Memory => Inner::Sqlite(sqlite::SqliteDatabase::open(None).await?),
        };
        Ok(Self { inner })
    }

    /// Opens an existing store only for reading: nothing is created, migrated or written.
    ///
    /// # Errors
    /// As [`Database::open`]; [`DbError::Transient`] for a missing file.
    pub async fn open_for_reading(location: &Location) -> Result<Self, DbError> {
        match location {
            Location::File(path) => Ok(Self { inner: Inner::Sqlite(sqlite_read_only::open(path).await?) }),
            Location::Postgres(_) | Location::Memory => Self::open(location).await,
        }
    }

    /// Properties of the server and of our role; `None` for an embedded store.
    ///
    /// # Errors
    /// When the server cannot be queried.
    pub async fn server_info(&self) -> Result<Option<ServerInfo>, DbError> {
        match &self.inner {
            Inner::Sqlite(_) => Ok(None),
            Inner::Postgres(db) => db.server_info().await.map(Some),
        }
    }

    /// A transaction that writes. On SQLite it takes the write lock at its start (`BEGIN IMMEDIATE`), so that a read
    /// before a write never fails half-way.
    pub async fn begin(&self, access: Access) -> Result<Transaction, DbError> {
        self.open_transaction(true, access).await
    }

    /// A transaction that only reads: a consistent snapshot, concurrent with writers.
    pub async fn read(&self, access: Access) -> Result<Transaction, DbError> {
        self.open_transaction(false, access).await
    }

    /// A second reading transaction next to an open one, if a connection is free now. To wait for one while holding
    /// another could deadlock. It sees the same data as the first one, or newer.
    pub async fn try_second_read(&self, access: Access) -> Option<Transaction> {
        let inner = match &self.inner {
            Inner::Sqlite(db) => InnerTransaction::Sqlite(db.try_second_read().await?),
            Inner::Postgres(db) => InnerTransaction::Postgres(db.try_second_read(access).await?),
        };
        Some(Transaction { inner, access })
    }

    async fn open_transaction(&self, write: bool, access: Access) -> Result<Transaction, DbError> {
        if matches!(access, Access::Organization(org) if org.0.is_nil()) {
            return Err(DbError::Scope);
        }
        let inner = match &self.inner {
            Inner::Sqlite(db) => InnerTransaction::Sqlite(db.begin(write).await?),
            Inner::Postgres(db) => InnerTransaction::Postgres(db.begin(write, access).await?),
        };
        Ok(Transaction { inner, access })
    }

    /// Empties SQLite's write-ahead log into the main file, so that deleted rows are in no file (docs/dependencies.md,
    /// `secure_delete`). A server does so without a request.
    pub async fn checkpoint(&self) -> Result<(), DbError> {
        match &self.inner {
            Inner::Sqlite(db) => db.checkpoint().await,
            Inner::Postgres(_) => Ok(()),
        }
    }

    /// Writes a consistent copy of an embedded store to a new file, while others read and write.
    ///
    /// # Errors
    /// When the file cannot be written; of a server there is no copy.
    pub async fn copy_to(&self, path: &std::path::Path) -> Result<(), DbError> {
        match &self.inner {
            Inner::Sqlite(db) => db.copy_to(path).await,
            Inner::Postgres(_) => Err(DbError::Other { code: "no_copy".to_owned() }),
        }
    }

    /// Prepares a statement without running it: the test that replaces compile-time checking. Names of the columns of its
    /// answer, in their order.
    ///
    /// # Errors
    /// When the engine refuses it.
    pub async fn prepare(&self, sql: &Sql) -> Result<Vec<String>, DbError> {
        match &self.inner {
            Inner::Sqlite(db) => db.prepare(sql.sqlite()).await,
            Inner::Postgres(db) => db.prepare(sql).await,
        }
    }

    /// Whether committed data survive a stop of the machine. Checked again while running, because a server's settings
    /// may change. An embedded store always syncs.
    ///
    /// # Errors
    /// [`DbError::NotDurable`] with the setting's name, unless the configuration allows it.
    pub async fn durable(&self) -> Result<(), DbError> {
        match &self.inner {
            Inner::Sqlite(_) => Ok(()),
            Inner::Postgres(db) => db.durable().await,
        }
    }

    /// New statistics of the tables that have doubled since the last ones, where the engine plans by them.
    ///
    /// # Errors
    /// As any statement.
    pub async fn refresh_statistics(&self) -> Result<(), DbError> {
        match &self.inner {
            Inner::Sqlite(_) => Ok(()),
            Inner::Postgres(db) => db.refresh_statistics().await,
        }
    }

    /// The database system, by its OpenTelemetry name.
    pub fn system(&self) -> &'static str {
        match &self.inner {
            Inner::Sqlite(_) => "sqlite",
            Inner::Postgres(_) => "postgresql",
        }
    }

    /// Connections of the pool: idle, in use.
    pub fn connections(&self) -> (i64, i64) {
        match &self.inner {
            Inner::Sqlite(db) => db.connections(),
            Inner::Postgres(db) => db.connections(),
        }
    }

    /// Connections that the pool may open.
    pub fn connections_limit(&self) -> i64 {
        match &self.inner {
            Inner::Sqlite(db) => db.connections_limit(),
            Inner::Postgres(db) => db.connections_limit(),
        }
    }

    pub async fn close(&self) {
        match &self.inner {
            Inner::Sqlite(db) => db.close().await,
            Inner::Postgres(db) => db.close().await,
        }
    }
}

/// An open transaction; dropped without [`Transaction::commit`] it is rolled back.
#[derive(Debug)]
pub struct Transaction {
    inner: InnerTransaction,
    access: Access,
}

#[derive(Debug)]
enum InnerTransaction {
    Sqlite(sqlite::SqliteTransaction),
    Postgres(postgres::PostgresTransaction),
}

impl Transaction {
    pub fn access(&self) -> Access {
        self.access
    }

    /// Runs a statement; the number of rows it changed.
    pub async fn execute(&mut self, sql: &Sql, args: Vec<Arg>) -> Result<u64, DbError> {
        match &mut self.inner {
            InnerTransaction::Sqlite(tx) => tx.execute(sql.sqlite(), args).await,
            InnerTransaction::Postgres(tx) => tx.execute(sql, args).await,
        }
    }

    pub async fn fetch_all(&mut self, sql: &Sql, args: Vec<Arg>) -> Result<Vec<Row>, DbError> {
        match &mut self.inner {
            InnerTransaction::Sqlite(tx) => tx.fetch_all(sql.sqlite(), args).await,
            InnerTransaction::Postgres(tx) => tx.fetch_all(sql, args).await,
        }
    }

    pub async fn fetch_optional(&mut self, sql: &Sql, args: Vec<Arg>) -> Result<Option<Row>, DbError> {
        Ok(self.fetch_all(sql, args).await?.into_iter().next())
    }

    /// A statement of `{all …}` columns: all its rows as one.
    pub async fn fetch_packed(&mut self, sql: &Sql, args: Vec<Arg>) -> Result<PackedRows, DbError> {
        Ok(PackedRows(self.fetch_optional(sql, args).await?))
    }

    /// Inserts or changes all rows by one statement. Rows are in the order of the statement's columns.
    pub async fn bulk(&mut self, bulk: &Bulk, rows: Vec<Vec<Arg>>) -> Result<u64, DbError> {
        self.bulk_sharing(bulk, Vec::new(), rows).await
    }

    /// As [`Transaction::bulk`], for a statement made by [`Bulk::sharing`]: `shared` is what all rows have, in the order of
    /// the statement's shared columns.
    ///
    /// # Errors
    /// Of the database.
    pub async fn bulk_sharing(&mut self, bulk: &Bulk, shared: Vec<Arg>, rows: Vec<Vec<Arg>>) -> Result<u64, DbError> {
        if rows.is_empty() {
            return Ok(0);
        }
        match &mut self.inner {
            InnerTransaction::Sqlite(tx) => {
                let packed = Arg::Text(value::rows_as_json(&rows));
                tx.execute(bulk.sql().sqlite(), std::iter::once(packed).chain(shared).collect()).await
            }
            InnerTransaction::Postgres(tx) => tx.bulk(bulk, shared, rows).await,
        }
    }

    /// Whether [`Transaction::nearest`] may find anything.
    pub fn asks_approximately(&self) -> bool {
        match &self.inner {
            InnerTransaction::Sqlite(_) => false,
            InnerTransaction::Postgres(tx) => tx.asks_approximately(),
        }
    }

    /// The `limit` nearest of a patient's vectors by the approximate index, with their dot product: where the patient has
    /// `own` of them, `store.postgres.ann_min_passages` says so and the index found as many as there must be. `None`
    /// means: compare all.
    ///
    /// # Errors
    /// Of the database.
    pub async fn nearest(
        &mut self,
        scope: &[Arg],
        query: &[u8],
        own: usize,
        limit: usize,
    ) -> Result<Option<Vec<Row>>, DbError> {
        match &mut self.inner {
            InnerTransaction::Sqlite(_) => Ok(None),
            InnerTransaction::Postgres(tx) => tx.nearest(scope, query, own, limit).await,
        }
    }

    pub async fn commit(self) -> Result<(), DbError> {
        match self.inner {
            InnerTransaction::Sqlite(tx) => tx.commit().await,
            InnerTransaction::Postgres(tx) => tx.commit().await,
        }
    }

    pub async fn rollback(self) -> Result<(), DbError> {
        match self.inner {
            InnerTransaction::Sqlite(tx) => tx.rollback().await,
            InnerTransaction::Postgres(tx) => tx.rollback().await,
        }
    }
}

#[cfg(test)]
mod fake_error_tests;
#[cfg(test)]
mod tests;
