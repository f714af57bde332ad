//! The seam between the store's statements and the two engines. A statement is written once ([`Sql`]); what really
//! differs between the engines is a placeholder in braces, and only this folder knows what it means on which engine.

mod sqlite;
mod statement;
mod value;

use std::path::PathBuf;

pub use statement::{Bulk, ColumnType, Sql};
pub use value::{Arg, Cell, Row};

use crate::domain::ids::OrgId;

/// What may go wrong between us and the database. Carries no statement arguments and no database detail text, since
/// both may quote a row (traps.md).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DbError {
    /// Connection lost, time-out, lock not obtained, disk full: try again.
    #[error("the database is not available for now ({0})")]
    Transient(&'static str),
    /// A constraint of the schema refused the rows: the same input will be refused again.
    #[error("a constraint of the database refuses the rows ({constraint})")]
    Constraint { constraint: String },
    /// The schema is not the one this version knows.
    #[error("the database has another schema: run `anamnesis migrate`")]
    Schema,
    /// A column holds something else than the program reads: a defect.
    #[error("column {index} of a row is not of the expected type")]
    Decode { index: usize },
    /// Anything else; the code is the engine's own (SQLSTATE or SQLite's).
    #[error("the database refused a statement (code {code})")]
    Other { code: String },
}

impl DbError {
    /// Whether the same call may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Transient(_))
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

/// Where an embedded store lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    File(PathBuf),
    /// Vanishes with the process: tests, dry runs.
    Memory,
}

/// An open database. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Database {
    inner: sqlite::SqliteDatabase,
}

impl Database {
    /// Opens or creates the embedded store and brings its schema up to date.
    ///
    /// # Errors
    /// [`DbError::Schema`] when the file was made by a version that this one does not know.
    pub async fn open(location: &Location) -> Result<Self, DbError> {
        Ok(Self { inner: sqlite::SqliteDatabase::open(location).await? })
    }

    /// A transaction that writes. On SQLite it takes the write lock at once (`BEGIN IMMEDIATE`), so that a read that is
    /// followed by a write never fails half-way.
    pub async fn begin(&self, access: Access) -> Result<Transaction, DbError> {
        Ok(Transaction { inner: self.inner.begin(true).await?, access })
    }

    /// A transaction that only reads: a consistent snapshot, beside writers.
    pub async fn read(&self, access: Access) -> Result<Transaction, DbError> {
        Ok(Transaction { inner: self.inner.begin(false).await?, access })
    }

    /// Empties the write-ahead log into the main file, so that deleted rows are in no file (traps.md, `secure_delete`).
    pub async fn checkpoint(&self) -> Result<(), DbError> {
        self.inner.checkpoint().await
    }

    /// Prepares a statement without running it: the test that replaces compile-time checking.
    pub async fn prepare(&self, sql: &Sql) -> Result<(), DbError> {
        self.inner.prepare(sql.sqlite()).await
    }

    pub async fn close(&self) {
        self.inner.close().await;
    }
}

/// An open transaction; dropped without [`Transaction::commit`] it is rolled back.
#[derive(Debug)]
pub struct Transaction {
    inner: sqlite::SqliteTransaction,
    access: Access,
}

impl Transaction {
    pub fn access(&self) -> Access {
        self.access
    }

    /// Runs a statement; the number of rows it changed.
    pub async fn execute(&mut self, sql: &Sql, args: Vec<Arg>) -> Result<u64, DbError> {
        self.inner.execute(sql.sqlite(), args).await
    }

    pub async fn fetch_all(&mut self, sql: &Sql, args: Vec<Arg>) -> Result<Vec<Row>, DbError> {
        self.inner.fetch_all(sql.sqlite(), args).await
    }

    pub async fn fetch_optional(&mut self, sql: &Sql, args: Vec<Arg>) -> Result<Option<Row>, DbError> {
        Ok(self.fetch_all(sql, args).await?.into_iter().next())
    }

    /// Inserts all rows by one statement. Rows are in the order of the statement's columns.
    pub async fn bulk(&mut self, bulk: &Bulk, rows: Vec<Vec<Arg>>) -> Result<u64, DbError> {
        if rows.is_empty() {
            return Ok(0);
        }
        let packed = Arg::Text(value::rows_as_json(&rows));
        self.execute(bulk.sql(), vec![packed]).await
    }

    pub async fn commit(self) -> Result<(), DbError> {
        self.inner.commit().await
    }

    pub async fn rollback(self) -> Result<(), DbError> {
        self.inner.rollback().await
    }
}

#[cfg(test)]
mod tests;
