//! A key file for backups: copied while others use it, looked at without opening a key, and given the erasures that
//! another key file knows, so that no copy ever brings an erased patient's key back.

mod rows;

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Connection as _};
use uuid::Uuid;

use super::KeyError;
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;
pub(super) use rows::{KekRow, KeyFileReader, KeyFileWriter, KeyRow};

const ALL: &str = "SELECT org_id, patient_id, destroyed_at FROM data_key";
const LATER: &str = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'later_key'";
const HEADER: &str = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'key_store'";
const STAMP: &str = "SELECT id, generation FROM key_store";
const DESTROY: &str = "INSERT INTO data_key (org_id, patient_id, wrapped, created_at, destroyed_at) VALUES ($1, $2, NULL, $3, $3) \
     ON CONFLICT (org_id, patient_id) DO UPDATE SET wrapped = NULL, destroyed_at = coalesce(destroyed_at, excluded.destroyed_at) \
     WHERE wrapped IS NOT NULL";
const DESTROY_LATER: &str = "DELETE FROM later_key WHERE org_id = $1 AND patient_id = $2";
const NEXT: &str = "UPDATE key_store SET generation = max(generation, $1) + 1";

/// What a key file knows, without any key.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct KeyFileSummary {
    /// Id and generation, where the file has a header.
    pub stamp: Option<(Uuid, u64)>,
    /// When the key was destroyed (microseconds), for patients who were erased.
    pub patients: HashMap<Scope, Option<i64>>,
}

impl KeyFileSummary {
    /// Patients who were erased.
    pub fn erased(&self) -> usize {
        self.patients.values().filter(|destroyed| destroyed.is_some()).count()
    }
}

fn file(path: &Path) -> KeyError {
    KeyError::File { place: path.display().to_string() }
}

fn damaged(path: &Path) -> KeyError {
    KeyError::Damaged { place: path.display().to_string() }
}

async fn opened(path: &Path, write: bool) -> Result<SqliteConnection, KeyError> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .read_only(!write)
        .busy_timeout(Duration::from_secs(30))
        .disable_statement_logging();
    let options = if write {
        let options = options.journal_mode(SqliteJournalMode::Delete).synchronous(SqliteSynchronous::Full);
        options.pragma("secure_delete", "ON")
    } else {
        options
    };
    options.connect().await.map_err(|_| damaged(path))
}

/// Copies a key file into one that is not there yet, while others read and write. Nothing that was deleted is in it.
///
/// # Errors
/// [`KeyError::File`] when one of them cannot be read or made.
pub async fn copy(from: &Path, to: &Path) -> Result<(), KeyError> {
    let failed = |_| file(from);
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to);
    made.map_err(|_| file(to))?;
    let mut source = opened(from, false).await?;
    let copied = sqlx::query("VACUUM INTO ?").bind(to.to_string_lossy().into_owned()).execute(&mut source).await;
    copied.map_err(failed)?;
    source.close().await.map_err(failed)?;
    std::fs::File::open(to).and_then(|copy| copy.sync_all()).map_err(|_| file(to))
}

/// What a key file knows; the whole file is checked.
///
/// # Errors
/// [`KeyError::Damaged`] for one that is damaged or not there.
pub async fn known(path: &Path) -> Result<KeyFileSummary, KeyError> {
    let failed = |_| damaged(path);
    let mut table = opened(path, false).await?;
    let whole: String = sqlx::query_scalar("PRAGMA integrity_check(1)").fetch_one(&mut table).await.map_err(failed)?;
    if whole != "ok" {
        return Err(damaged(path));
    }
    let headed: i64 = sqlx::query_scalar(HEADER).fetch_one(&mut table).await.map_err(failed)?;
    let stamp = if headed > 0 {
        let (id, generation): (Vec<u8>, i64) = sqlx::query_as(STAMP).fetch_one(&mut table).await.map_err(failed)?;
        Some((Uuid::from_slice(&id).map_err(|_| damaged(path))?, generation.unsigned_abs()))
    } else {
        None
    };
    let rows: Vec<(Vec<u8>, Vec<u8>, Option<i64>)> = sqlx::query_as(ALL).fetch_all(&mut table).await.map_err(failed)?;
    let scope = |org: &[u8], patient: &[u8]| {
        Scope::new(OrgId(Uuid::from_slice(org).ok()?), PatientId(Uuid::from_slice(patient).ok()?)).ok()
    };
    let patients = rows.iter().map(|(org, patient, destroyed)| Some((scope(org, patient)?, *destroyed)));
    let patients = patients.collect::<Option<_>>().ok_or_else(|| damaged(path))?;
    table.close().await.map_err(failed)?;
    Ok(KeyFileSummary { stamp, patients })
}

/// Destroys in this file what another one knows to be destroyed; how many keys that were. The generation grows past the
/// other's, since the content is newer than either.
///
/// # Errors
/// [`KeyError::Damaged`] when the file cannot be read or written.
pub async fn inherit(path: &Path, other: &KeyFileSummary) -> Result<u64, KeyError> {
    let failed = |_| damaged(path);
    let mut table = opened(path, true).await?;
    let later: i64 = sqlx::query_scalar(LATER).fetch_one(&mut table).await.map_err(failed)?;
    let headed: i64 = sqlx::query_scalar(HEADER).fetch_one(&mut table).await.map_err(failed)?;
    let mut tx = table.begin().await.map_err(failed)?;
    let mut destroyed = 0;
    for (scope, at) in other.patients.iter().filter_map(|(scope, at)| Some((scope, (*at)?))) {
        let (org, patient) = (scope.org().0.as_bytes().to_vec(), scope.patient().0.as_bytes().to_vec());
        let done = sqlx::query(DESTROY).bind(org.clone()).bind(patient.clone()).bind(at).execute(&mut *tx).await;
        destroyed += done.map_err(failed)?.rows_affected();
        if later > 0 {
            sqlx::query(DESTROY_LATER).bind(org).bind(patient).execute(&mut *tx).await.map_err(failed)?;
        }
    }
    if headed > 0 && destroyed > 0 {
        let seen = other.stamp.map_or(0, |(_, generation)| generation.cast_signed());
        sqlx::query(NEXT).bind(seen).execute(&mut *tx).await.map_err(failed)?;
    }
    tx.commit().await.map_err(failed)?;
    table.close().await.map_err(failed)?;
    Ok(destroyed)
}

#[cfg(test)]
#[path = "copies_tests.rs"]
mod tests;
