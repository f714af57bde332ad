//! Copies of a whole store for backups: one consistent snapshot while others read and write, and the way back.
//!
//! An embedded store is copied by `VACUUM INTO`: one read transaction, no free pages (so nothing that was deleted), no
//! write-ahead log next to the copy. A server is copied by COPY in one REPEATABLE READ transaction and not by `pg_dump`:
//! the image holds no other program, any role that row-level security binds may do it, organisation by organisation, and
//! the schema comes from the migrations of this program, not from the copy.

mod copy_format;
mod postgres;
mod sqlite;

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{DbError, Location};
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;

/// Name of an embedded store's copy.
pub const STORE_FILE: &str = "store.db";

/// Why a copy cannot be made, read or put back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CopyError {
    #[error(transparent)]
    Database(#[from] DbError),
    #[error("a file cannot be read or written ({0})")]
    File(io::ErrorKind),
    /// Named file of a copy.
    #[error("{0} is damaged")]
    Damaged(String),
    #[error("the store is not empty: use --replace to overwrite it with the backup")]
    NotEmpty,
    #[error("the store is in use: stop the workers first")]
    InUse,
    #[error(
        "the database has migration {has}, the backup {wants}: restore into a database without tables, or run the version that made it"
    )]
    Schema { has: i64, wants: i64 },
}

impl From<io::Error> for CopyError {
    fn from(error: io::Error) -> Self {
        Self::File(error.kind())
    }
}

/// One table of a copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableCopy {
    pub rows: u64,
    /// For a server's table, which has a separate file: its columns in the file's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) columns: Vec<String>,
}

/// The contents of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// `sqlite` or `postgres`.
    pub engine: String,
    /// Newest migration of the schema.
    pub schema: i64,
    pub tables: BTreeMap<String, TableCopy>,
}

/// The identity of a copy's store: every patient, and sealed cells of some.
#[derive(Debug, Default)]
pub struct Patients {
    pub all: Vec<Scope>,
    /// At most one document of a patient, of every `every`th patient that has one.
    pub samples: Vec<Sample>,
    /// Id of the key store that the store is bound to, and the newest generation that it has seen.
    pub binding: Option<(Uuid, u64)>,
}

/// The sealed text of a document.
#[derive(Debug)]
pub struct Sample {
    pub scope: Scope,
    pub document: Uuid,
    pub revision: u32,
    pub sealed: Vec<u8>,
}

impl Snapshot {
    /// Files of the copy.
    pub fn files(&self) -> Vec<String> {
        if self.engine == "sqlite" {
            return vec![STORE_FILE.to_owned()];
        }
        self.tables.keys().map(|table| table_file(table)).collect()
    }
}

fn table_file(table: &str) -> String {
    format!("{table}.copy")
}

/// A file that only its owner reads and that is not there yet.
fn private(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Writes a snapshot of a store into a folder that is there.
///
/// # Errors
/// See [`CopyError`].
pub async fn copy_out(location: &Location, folder: &Path) -> Result<Snapshot, CopyError> {
    match location {
        Location::File(path) => sqlite::copy_out(path, &folder.join(STORE_FILE)).await,
        Location::Postgres(options) => postgres::copy_out(options, folder).await,
        Location::Memory => Err(CopyError::File(io::ErrorKind::Unsupported)),
    }
}

/// Looks whether a copy is whole, and whose it is.
///
/// # Errors
/// [`CopyError::Damaged`] names the file.
pub async fn verify(snapshot: &Snapshot, folder: &Path, every: usize) -> Result<Patients, CopyError> {
    if snapshot.engine == "sqlite" {
        return sqlite::verify(&folder.join(STORE_FILE), every).await;
    }
    copy_format::verify(snapshot, folder, every)
}

/// Patients of a store that is in its place.
///
/// # Errors
/// See [`CopyError`].
pub async fn patients(location: &Location, every: usize) -> Result<Patients, CopyError> {
    match location {
        Location::File(path) => sqlite::verify(path, every).await,
        Location::Postgres(options) => postgres::patients(options).await,
        Location::Memory => Ok(Patients::default()),
    }
}

/// Restores a server's copy by one transaction, and migrates its schema. `owner` runs the migrations.
///
/// # Errors
/// [`CopyError::NotEmpty`] unless `replace`, [`CopyError::InUse`] while others are connected.
pub async fn copy_in(owner: &Location, snapshot: &Snapshot, folder: &Path, replace: bool) -> Result<(), CopyError> {
    match owner {
        Location::Postgres(options) => postgres::copy_in(options, snapshot, folder, replace).await,
        Location::File(_) | Location::Memory => Err(CopyError::File(io::ErrorKind::Unsupported)),
    }
}

/// Whether an embedded store at this path contains anything, and that no other process has it open.
///
/// # Errors
/// [`CopyError::InUse`]; a file that cannot be read counts as content.
pub async fn holds_anything(path: &Path) -> Result<bool, CopyError> {
    sqlite::holds_anything(path).await
}

/// Newest migration that this program knows, of both engines.
pub fn newest_schema() -> i64 {
    super::sqlite::newest()
}

fn scope(org: &[u8], patient: &[u8]) -> Option<Scope> {
    let (org, patient) = (Uuid::from_slice(org).ok()?, Uuid::from_slice(patient).ok()?);
    Scope::new(OrgId(org), PatientId(patient)).ok()
}

#[cfg(test)]
#[path = "copies_tests.rs"]
mod tests;
