//! The rows of a key store as a file of its own, whichever place they come from or go to: a copy of keys in a database is a
//! key file too, so that one check, one manifest and one restore serve both.

use std::path::{Path, PathBuf};

use futures::stream::BoxStream;
use futures::{StreamExt as _, TryStreamExt as _};
use sqlx::sqlite::{SqliteConnection, SqliteRow};
use sqlx::{Connection as _, Row as _};
use uuid::Uuid;

use super::opened;
use crate::KeyError;
use crate::table::{KeyStoreHeader, KeyTable as _, SqliteTable, TableState};

const FIRST: &str = "INSERT INTO data_key (org_id, patient_id, kek, wrapped, created_at, destroyed_at) \
     VALUES ($1, $2, $3, $4, $5, $6)";
const LATER: &str = "INSERT INTO later_key (org_id, patient_id, kek, wrapped, created_at, version) \
     VALUES ($1, $2, $3, $4, $5, $6)";
const KEK: &str = "INSERT INTO kek (version, wrapped, created_at) VALUES ($1, $2, $3)";
const KEKS: &str = "SELECT version, wrapped, created_at FROM kek ORDER BY version";
const ROWS: &str = "SELECT org_id, patient_id, 1, kek, wrapped, created_at, destroyed_at FROM data_key \
     UNION ALL SELECT org_id, patient_id, version, kek, wrapped, created_at, NULL FROM later_key ORDER BY 1, 2, 3";

/// One key of a patient, or that the patient was erased.
#[derive(Debug, Clone)]
pub(crate) struct KeyRow {
    pub(crate) org: Uuid,
    pub(crate) patient: Uuid,
    pub(crate) version: u32,
    pub(crate) kek: u32,
    /// `None` for an erased patient.
    pub(crate) wrapped: Option<Vec<u8>>,
    pub(crate) created_at: i64,
    pub(crate) destroyed_at: Option<i64>,
}

/// A key-encryption key of a version from 2.
#[derive(Debug, Clone)]
pub(crate) struct KekRow {
    pub(crate) version: u32,
    pub(crate) wrapped: Vec<u8>,
    pub(crate) created_at: i64,
}

/// A key file that is being written: complete and synced after [`KeyFileWriter::end`], else to be removed.
pub(crate) struct KeyFileWriter {
    connection: SqliteConnection,
    path: PathBuf,
}

impl KeyFileWriter {
    /// Makes a file that only its owner reads.
    ///
    /// # Errors
    /// [`KeyError::Exists`] where there is a key file already, [`KeyError::File`].
    pub(crate) async fn new(path: &Path, header: &KeyStoreHeader, keks: &[KekRow]) -> Result<Self, KeyError> {
        if path.exists() {
            return Err(KeyError::Exists { place: path.display().to_string() });
        }
        SqliteTable::at(path).create(header, false).await?;
        let mut writer = Self { connection: opened(path, true).await?, path: path.to_owned() };
        writer.execute("BEGIN").await?;
        for kek in keks {
            let query = sqlx::query(KEK).bind(i64::from(kek.version)).bind(kek.wrapped.clone()).bind(kek.created_at);
            query.execute(&mut writer.connection).await.map_err(|_| writer.failed())?;
        }
        Ok(writer)
    }

    /// # Errors
    /// [`KeyError::File`] when it cannot be written.
    pub(crate) async fn add(&mut self, row: KeyRow) -> Result<(), KeyError> {
        let first = row.version == 1;
        let query = sqlx::query(if first { FIRST } else { LATER });
        let query = query.bind(row.org.as_bytes().to_vec()).bind(row.patient.as_bytes().to_vec());
        let query = query.bind(i64::from(row.kek)).bind(row.wrapped).bind(row.created_at);
        let last = if first { row.destroyed_at } else { Some(i64::from(row.version)) };
        query.bind(last).execute(&mut self.connection).await.map(drop).map_err(|_| self.failed())
    }

    /// # Errors
    /// [`KeyError::File`] when it cannot be written.
    pub(crate) async fn end(mut self) -> Result<(), KeyError> {
        self.execute("COMMIT").await?;
        let failed = KeyError::File { place: self.path.display().to_string() };
        self.connection.close().await.map_err(|_| failed.clone())?;
        std::fs::File::open(&self.path).and_then(|file| file.sync_all()).map_err(|_| failed)
    }

    async fn execute(&mut self, statement: &'static str) -> Result<(), KeyError> {
        sqlx::query(statement).execute(&mut self.connection).await.map(drop).map_err(|_| self.failed())
    }

    fn failed(&self) -> KeyError {
        KeyError::File { place: self.path.display().to_string() }
    }
}

/// A key file that is read from its first to its last row.
pub(crate) struct KeyFileReader {
    pub(crate) header: KeyStoreHeader,
    pub(crate) keks: Vec<KekRow>,
    connection: SqliteConnection,
    place: String,
}

impl KeyFileReader {
    /// # Errors
    /// [`KeyError::Uninitialised`] for a file from before headers, [`KeyError::Damaged`].
    pub(crate) async fn new(path: &Path) -> Result<Self, KeyError> {
        let place = path.display().to_string();
        let TableState::Ready(header) = SqliteTable::at(path).state().await? else {
            return Err(KeyError::Uninitialised { place });
        };
        let damaged = || KeyError::Damaged { place: place.clone() };
        let mut connection = opened(path, false).await?;
        let rows: Vec<(i64, Vec<u8>, i64)> =
            sqlx::query_as(KEKS).fetch_all(&mut connection).await.map_err(|_| damaged())?;
        let kek = |(version, wrapped, created_at)| {
            Some(KekRow { version: u32::try_from(version).ok()?, wrapped, created_at })
        };
        let keks = rows.into_iter().map(kek).collect::<Option<_>>().ok_or_else(damaged)?;
        Ok(Self { header, keks, connection, place })
    }

    /// All rows, by patient and version.
    pub(crate) fn rows(&mut self) -> BoxStream<'_, Result<KeyRow, KeyError>> {
        let damaged = KeyError::Damaged { place: self.place.clone() };
        let again = damaged.clone();
        let rows = sqlx::query(ROWS).fetch(&mut self.connection).map_err(move |_| again.clone());
        rows.and_then(move |row| futures::future::ready(key_row(&row).ok_or_else(|| damaged.clone()))).boxed()
    }
}

fn key_row(row: &SqliteRow) -> Option<KeyRow> {
    let id = |at: usize| Uuid::from_slice(&row.try_get::<Vec<u8>, _>(at).ok()?).ok();
    let number = |at: usize| u32::try_from(row.try_get::<i64, _>(at).ok()?).ok();
    Some(KeyRow {
        org: id(0)?,
        patient: id(1)?,
        version: number(2)?,
        kek: number(3)?,
        wrapped: row.try_get(4).ok()?,
        created_at: row.try_get(5).ok()?,
        destroyed_at: row.try_get(6).ok()?,
    })
}
