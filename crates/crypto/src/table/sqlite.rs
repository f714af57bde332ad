//! The embedded key table: an SQLite file (mode 0600). No write-ahead log and no lasting journal, since a destroyed key
//! must not survive in a second file; deleted bytes are overwritten; every commit is synced.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteRow, SqliteSynchronous,
};
use sqlx::{Row as _, Sqlite, Transaction};
use tokio::sync::RwLock;
use uuid::Uuid;

use super::{DataKey, KeyCounts, KeyEntry, KeyStoreHeader, KeyStoreStamp, KeyTable, TableState};
use crate::KeyError;
use crate::files::{identity, private_options};
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;

// The first table is as old key stores have it.
const SCHEMA: [&str; 4] = [
    "CREATE TABLE IF NOT EXISTS data_key (org_id BLOB NOT NULL, patient_id BLOB NOT NULL, wrapped BLOB, \
     created_at INTEGER NOT NULL, destroyed_at INTEGER, PRIMARY KEY (org_id, patient_id), \
     CHECK ((wrapped IS NULL) = (destroyed_at IS NOT NULL))) STRICT",
    "ALTER TABLE data_key ADD COLUMN kek INTEGER NOT NULL DEFAULT 1",
    "CREATE TABLE later_key (org_id BLOB NOT NULL, patient_id BLOB NOT NULL, version INTEGER NOT NULL CHECK (version > 1), \
     kek INTEGER NOT NULL, wrapped BLOB NOT NULL, created_at INTEGER NOT NULL, \
     PRIMARY KEY (org_id, patient_id, version)) STRICT, WITHOUT ROWID",
    "CREATE TABLE kek (version INTEGER NOT NULL PRIMARY KEY CHECK (version > 1), wrapped BLOB NOT NULL, \
     created_at INTEGER NOT NULL) STRICT",
];
const HEADER_TABLE: &str = "CREATE TABLE key_store (one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1), id BLOB NOT NULL, \
     format INTEGER NOT NULL, root TEXT NOT NULL, wrapped BLOB NOT NULL, check_value BLOB NOT NULL, \
     generation INTEGER NOT NULL) STRICT";
const WRITE_HEADER: &str = "INSERT INTO key_store (one, id, format, root, wrapped, check_value, generation) \
     VALUES (1, $1, $2, $3, $4, $5, $6)";
const HEADER: &str = "SELECT id, format, root, wrapped, check_value, generation FROM key_store";
const TABLES: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN ('key_store', 'data_key')";
const LEGACY_SAMPLES: &str = "SELECT org_id, patient_id, wrapped FROM data_key WHERE wrapped IS NOT NULL LIMIT 16";
const STAMP: &str = "SELECT id, generation FROM key_store";
const NEXT: &str =
    "UPDATE key_store SET generation = generation + 1 WHERE id = $1 AND generation >= $2 RETURNING id, generation";
// Rows of the primary key: the number of other patients costs nothing.
const FIND: &str = "SELECT org_id, patient_id, wrapped, kek, 1 FROM data_key WHERE (org_id, patient_id) IN \
     (SELECT unhex(value->>0), unhex(value->>1) FROM json_each($1)) \
     UNION ALL SELECT org_id, patient_id, wrapped, kek, version FROM later_key WHERE (org_id, patient_id) IN \
     (SELECT unhex(value->>0), unhex(value->>1) FROM json_each($1)) ORDER BY 1, 2, 5";
const PAGE: &str = "SELECT org_id, patient_id, wrapped, kek, 1 FROM data_key WHERE (org_id, patient_id) > ($1, $2) \
     ORDER BY org_id, patient_id LIMIT $3";
const FIRST: &str = "INSERT INTO data_key (org_id, patient_id, wrapped, kek, created_at) VALUES ($1, $2, $3, $4, $5) \
     ON CONFLICT DO NOTHING";
const LATER: &str = "INSERT INTO later_key (org_id, patient_id, wrapped, kek, created_at, version) \
     SELECT $1, $2, $3, $4, $5, $6 WHERE EXISTS (SELECT 1 FROM data_key WHERE org_id = $1 AND patient_id = $2 \
     AND wrapped IS NOT NULL) ON CONFLICT DO NOTHING";
const DESTROY: &str = "INSERT INTO data_key (org_id, patient_id, wrapped, created_at, destroyed_at) VALUES ($1, $2, NULL, $3, $3) \
     ON CONFLICT (org_id, patient_id) DO UPDATE SET wrapped = NULL, destroyed_at = coalesce(destroyed_at, excluded.destroyed_at)";
const DESTROY_LATER: &str = "DELETE FROM later_key WHERE org_id = $1 AND patient_id = $2";
const KEKS: &str = "SELECT version, wrapped FROM kek ORDER BY version";
const ADD_KEK: &str = "INSERT INTO kek (version, wrapped, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
const SET_ROOT: &str = "UPDATE key_store SET root = $1, wrapped = $2";
const REWRAP_FIRST: &str =
    "UPDATE data_key SET wrapped = $3, kek = $4 WHERE org_id = $1 AND patient_id = $2 AND wrapped IS NOT NULL";
const REWRAP_LATER: &str =
    "UPDATE later_key SET wrapped = $3, kek = $4 WHERE org_id = $1 AND patient_id = $2 AND version = $5";
const COUNTS: &str = "SELECT count(*) FILTER (WHERE wrapped IS NOT NULL), count(*) FILTER (WHERE wrapped IS NULL), \
     count(*) FILTER (WHERE wrapped IS NOT NULL AND kek < $1) + (SELECT count(*) FROM later_key WHERE kek < $1) FROM data_key";

/// Keys in an SQLite file.
#[derive(Debug)]
pub struct SqliteTable {
    /// `None`: in memory.
    path: Option<PathBuf>,
    open: RwLock<Option<OpenSqliteTable>>,
}

#[derive(Debug, Clone)]
struct OpenSqliteTable {
    pool: SqlitePool,
    /// Device and inode of the file when it was opened.
    file: Option<(u64, u64)>,
}

impl SqliteTable {
    /// The table in this file. Nothing is opened or made yet.
    pub fn at(path: &Path) -> Self {
        Self { path: Some(path.to_owned()), open: RwLock::new(None) }
    }

    /// A table that vanishes with the process.
    pub(crate) fn in_memory() -> Self {
        Self { path: None, open: RwLock::new(None) }
    }

    /// The connection to the file that is at the path now: after a replacement, the new file's.
    async fn pool(&self) -> Result<SqlitePool, KeyError> {
        let file = self.path.as_deref().and_then(identity);
        if self.path.is_some() && file.is_none() {
            return Err(KeyError::Missing { place: self.place() });
        }
        let current = |opened: &OpenSqliteTable| (opened.file == file).then(|| opened.pool.clone());
        if let Some(pool) = self.open.read().await.as_ref().and_then(current) {
            return Ok(pool);
        }
        let mut open = self.open.write().await;
        if let Some(pool) = open.as_ref().and_then(current) {
            return Ok(pool);
        }
        let options = match &self.path {
            Some(path) => SqliteConnectOptions::new().filename(path),
            None => SqliteConnectOptions::new().in_memory(true),
        };
        let options = options
            .journal_mode(SqliteJournalMode::Delete)
            .synchronous(SqliteSynchronous::Full)
            .busy_timeout(Duration::from_secs(30))
            .pragma("secure_delete", "ON");
        let pool = SqlitePoolOptions::new().max_connections(1).idle_timeout(None).max_lifetime(None);
        let pool = pool.connect_with(options).await.map_err(|error| self.failed(&error))?;
        let whole: String =
            sqlx::query_scalar("PRAGMA quick_check(1)").fetch_one(&pool).await.map_err(|error| self.failed(&error))?;
        if whole != "ok" {
            return Err(KeyError::Damaged { place: self.place() });
        }
        *open = Some(OpenSqliteTable { pool: pool.clone(), file });
        Ok(pool)
    }

    fn failed(&self, error: &sqlx::Error) -> KeyError {
        let place = self.place();
        match error {
            sqlx::Error::Database(inner) => {
                match inner.code().and_then(|code| code.parse::<u32>().ok()).unwrap_or(0) & 0xff {
                    // A table that is not there (1), or a file that is no database (26) or a broken one (11).
                    1 | 11 | 26 => KeyError::Damaged { place },
                    // Not to be opened, or not to be written.
                    3 | 8 | 14 | 23 => KeyError::File { place },
                    _ => KeyError::Transient,
                }
            }
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::RowNotFound => KeyError::Damaged { place },
            _ => KeyError::Transient,
        }
    }

    fn header(&self, row: &SqliteRow) -> Result<KeyStoreHeader, KeyError> {
        let damaged = || KeyError::Damaged { place: self.place() };
        let read = |error: sqlx::Error| self.failed(&error);
        let check: Vec<u8> = row.try_get(4).map_err(read)?;
        let format: i64 = row.try_get(1).map_err(read)?;
        Ok(KeyStoreHeader {
            id: self.stamp(row, 0, 5)?.id,
            format: u32::try_from(format).map_err(|_| damaged())?,
            root: row.try_get(2).map_err(read)?,
            wrapped: row.try_get(3).map_err(read)?,
            check: check.try_into().map_err(|_| damaged())?,
            generation: self.stamp(row, 0, 5)?.generation,
        })
    }

    fn stamp(&self, row: &SqliteRow, id: usize, generation: usize) -> Result<KeyStoreStamp, KeyError> {
        let damaged = || KeyError::Damaged { place: self.place() };
        let bytes: Vec<u8> = row.try_get(id).map_err(|error| self.failed(&error))?;
        let generation: i64 = row.try_get(generation).map_err(|error| self.failed(&error))?;
        Ok(KeyStoreStamp {
            id: Uuid::from_slice(&bytes).map_err(|_| damaged())?,
            generation: u64::try_from(generation).map_err(|_| damaged())?,
        })
    }

    /// Rows of (organisation, patient, wrapped, kek, version), in that order, as entries.
    fn entries(&self, rows: &[SqliteRow]) -> Result<Vec<(Scope, KeyEntry)>, KeyError> {
        let damaged = || KeyError::Damaged { place: self.place() };
        let read = |error: sqlx::Error| self.failed(&error);
        let mut entries: Vec<(Scope, KeyEntry)> = Vec::with_capacity(rows.len());
        for row in rows {
            let id = |at: usize| row.try_get::<Vec<u8>, _>(at).ok().and_then(|b| Uuid::from_slice(&b).ok());
            let (Some(org), Some(patient)) = (id(0), id(1)) else { return Err(damaged()) };
            let scope = Scope::new(OrgId(org), PatientId(patient)).map_err(|_| damaged())?;
            let number = |at: usize| row.try_get::<i64, _>(at).ok().and_then(|n| u32::try_from(n).ok());
            let (Some(kek), Some(version)) = (number(3), number(4)) else { return Err(damaged()) };
            let wrapped: Option<Vec<u8>> = row.try_get(2).map_err(read)?;
            let key = wrapped.map(|wrapped| DataKey { version, kek, wrapped });
            match (entries.last_mut(), key) {
                (Some((last, KeyEntry::Keys(keys))), Some(key)) if *last == scope => keys.push(key),
                (Some((last, KeyEntry::Destroyed)), _) if *last == scope => {}
                (_, Some(key)) => entries.push((scope, KeyEntry::Keys(vec![key]))),
                (_, None) => entries.push((scope, KeyEntry::Destroyed)),
            }
        }
        Ok(entries)
    }

    /// A transaction that changes the table, with the generation that it makes.
    async fn change(&self, seen: KeyStoreStamp) -> Result<(Transaction<'static, Sqlite>, KeyStoreStamp), KeyError> {
        let pool = self.pool().await?;
        let mut tx = pool.begin_with("BEGIN IMMEDIATE").await.map_err(|error| self.failed(&error))?;
        let next = sqlx::query(NEXT).bind(seen.id.as_bytes().to_vec()).bind(seen.generation.cast_signed());
        if let Some(row) = next.fetch_optional(&mut *tx).await.map_err(|error| self.failed(&error))? {
            let stamp = self.stamp(&row, 0, 1)?;
            return Ok((tx, stamp));
        }
        let row = sqlx::query(STAMP).fetch_one(&mut *tx).await.map_err(|error| self.failed(&error))?;
        Err(seen.refusing(self.stamp(&row, 0, 1)?, self.place()))
    }

    async fn commit(&self, tx: Transaction<'static, Sqlite>, stamp: KeyStoreStamp) -> Result<KeyStoreStamp, KeyError> {
        tx.commit().await.map_err(|error| self.failed(&error))?;
        Ok(stamp)
    }
}

fn org(scope: Scope) -> Vec<u8> {
    scope.org().0.as_bytes().to_vec()
}

fn patient(scope: Scope) -> Vec<u8> {
    scope.patient().0.as_bytes().to_vec()
}

fn list(scopes: &[Scope]) -> String {
    let pair = |s: &Scope| [s.org().0.simple().to_string(), s.patient().0.simple().to_string()];
    serde_json::json!(scopes.iter().map(pair).collect::<Vec<_>>()).to_string()
}

#[async_trait]
impl KeyTable for SqliteTable {
    fn place(&self) -> String {
        self.path.as_ref().map_or_else(|| "memory".to_owned(), |path| path.display().to_string())
    }

    async fn state(&self) -> Result<TableState, KeyError> {
        if let Some(path) = &self.path {
            match std::fs::metadata(path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(TableState::Absent),
                Err(_) => return Err(KeyError::File { place: self.place() }),
                Ok(file) if file.len() == 0 => return Ok(TableState::Empty),
                Ok(_) => {}
            }
        }
        let pool = self.pool().await?;
        let tables: Vec<String> =
            sqlx::query_scalar(TABLES).fetch_all(&pool).await.map_err(|error| self.failed(&error))?;
        if tables.iter().any(|name| name == "key_store") {
            let row = sqlx::query(HEADER).fetch_one(&pool).await.map_err(|error| self.failed(&error))?;
            return Ok(TableState::Ready(self.header(&row)?));
        }
        Ok(if tables.is_empty() { TableState::Empty } else { TableState::Legacy })
    }

    async fn create(&self, header: &KeyStoreHeader, legacy: bool) -> Result<(), KeyError> {
        if let Some(path) = &self.path {
            // For its owner only, before SQLite would make it for everybody.
            let made = private_options().create(true).truncate(false).open(path);
            made.map_err(|_| KeyError::File { place: self.place() })?;
        }
        let failed = |error: sqlx::Error| self.failed(&error);
        let pool = self.pool().await?;
        let mut tx = pool.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
        let tables: Vec<String> = sqlx::query_scalar(TABLES).fetch_all(&mut *tx).await.map_err(failed)?;
        if tables.iter().any(|name| name == "key_store") || (!tables.is_empty() && !legacy) {
            return Err(KeyError::Exists { place: self.place() });
        }
        for statement in SCHEMA.into_iter().chain([HEADER_TABLE]) {
            sqlx::query(statement).execute(&mut *tx).await.map_err(failed)?;
        }
        sqlx::query(WRITE_HEADER)
            .bind(header.id.as_bytes().to_vec())
            .bind(i64::from(header.format))
            .bind(header.root.clone())
            .bind(header.wrapped.clone())
            .bind(header.check.to_vec())
            .bind(header.generation.cast_signed())
            .execute(&mut *tx)
            .await
            .map_err(failed)?;
        tx.commit().await.map_err(failed)
    }

    async fn legacy_samples(&self) -> Result<Vec<(Scope, Vec<u8>)>, KeyError> {
        let pool = self.pool().await?;
        let rows = sqlx::query(LEGACY_SAMPLES).fetch_all(&pool).await.map_err(|error| self.failed(&error))?;
        let damaged = || KeyError::Damaged { place: self.place() };
        let sample = |row: &SqliteRow| {
            let id = |at: usize| row.try_get::<Vec<u8>, _>(at).ok().and_then(|bytes| Uuid::from_slice(&bytes).ok());
            let scope = id(0).zip(id(1)).and_then(|(org, patient)| Scope::new(OrgId(org), PatientId(patient)).ok());
            scope.zip(row.try_get(2).ok()).ok_or_else(damaged)
        };
        rows.iter().map(sample).collect()
    }

    async fn find(&self, scopes: &[Scope]) -> Result<(KeyStoreStamp, HashMap<Scope, KeyEntry>), KeyError> {
        let failed = |error: sqlx::Error| self.failed(&error);
        let pool = self.pool().await?;
        let mut tx = pool.begin().await.map_err(failed)?;
        let stamp = sqlx::query(STAMP).fetch_one(&mut *tx).await.map_err(failed)?;
        let rows = sqlx::query(FIND).bind(list(scopes)).fetch_all(&mut *tx).await.map_err(failed)?;
        Ok((self.stamp(&stamp, 0, 1)?, self.entries(&rows)?.into_iter().collect()))
    }

    async fn insert(&self, seen: KeyStoreStamp, keys: &[(Scope, DataKey)], at: i64) -> Result<KeyStoreStamp, KeyError> {
        let (mut tx, stamp) = self.change(seen).await?;
        for (scope, key) in keys {
            let statement = if key.version == 1 { FIRST } else { LATER };
            let query = sqlx::query(statement).bind(org(*scope)).bind(patient(*scope)).bind(key.wrapped.clone());
            let query = query.bind(i64::from(key.kek)).bind(at);
            let query = if key.version == 1 { query } else { query.bind(i64::from(key.version)) };
            query.execute(&mut *tx).await.map_err(|error| self.failed(&error))?;
        }
        self.commit(tx, stamp).await
    }

    async fn destroy(&self, seen: KeyStoreStamp, scope: Scope, at: i64) -> Result<KeyStoreStamp, KeyError> {
        let (mut tx, stamp) = self.change(seen).await?;
        for statement in [DESTROY, DESTROY_LATER] {
            let query = sqlx::query(statement).bind(org(scope)).bind(patient(scope));
            let query = if statement == DESTROY { query.bind(at) } else { query };
            query.execute(&mut *tx).await.map_err(|error| self.failed(&error))?;
        }
        self.commit(tx, stamp).await
    }

    async fn kek_versions(&self) -> Result<Vec<(u32, Vec<u8>)>, KeyError> {
        let pool = self.pool().await?;
        let rows: Vec<(i64, Vec<u8>)> =
            sqlx::query_as(KEKS).fetch_all(&pool).await.map_err(|error| self.failed(&error))?;
        let damaged = |_| KeyError::Damaged { place: self.place() };
        rows.into_iter().map(|(version, key)| Ok((u32::try_from(version).map_err(damaged)?, key))).collect()
    }

    async fn add_kek(
        &self,
        seen: KeyStoreStamp,
        version: u32,
        wrapped: &[u8],
        at: i64,
    ) -> Result<KeyStoreStamp, KeyError> {
        let (mut tx, stamp) = self.change(seen).await?;
        let query = sqlx::query(ADD_KEK).bind(i64::from(version)).bind(wrapped.to_vec()).bind(at);
        query.execute(&mut *tx).await.map_err(|error| self.failed(&error))?;
        self.commit(tx, stamp).await
    }

    async fn set_root(&self, seen: KeyStoreStamp, root: &str, wrapped: &[u8]) -> Result<KeyStoreStamp, KeyError> {
        let (mut tx, stamp) = self.change(seen).await?;
        let query = sqlx::query(SET_ROOT).bind(root.to_owned()).bind(wrapped.to_vec());
        query.execute(&mut *tx).await.map_err(|error| self.failed(&error))?;
        self.commit(tx, stamp).await
    }

    async fn page(&self, after: Option<Scope>, limit: u32) -> Result<Vec<(Scope, KeyEntry)>, KeyError> {
        let pool = self.pool().await?;
        let query = sqlx::query(PAGE).bind(after.map_or_else(Vec::new, org)).bind(after.map_or_else(Vec::new, patient));
        let rows = query.bind(i64::from(limit)).fetch_all(&pool).await.map_err(|error| self.failed(&error))?;
        let order: Vec<Scope> = self.entries(&rows)?.into_iter().map(|(scope, _)| scope).collect();
        let mut found = self.find(&order).await?.1;
        Ok(order.into_iter().filter_map(|scope| Some((scope, found.remove(&scope)?))).collect())
    }

    async fn rewrap(&self, seen: KeyStoreStamp, keys: &[(Scope, DataKey)]) -> Result<KeyStoreStamp, KeyError> {
        let (mut tx, stamp) = self.change(seen).await?;
        for (scope, key) in keys {
            let statement = if key.version == 1 { REWRAP_FIRST } else { REWRAP_LATER };
            let query = sqlx::query(statement).bind(org(*scope)).bind(patient(*scope)).bind(key.wrapped.clone());
            let query = query.bind(i64::from(key.kek));
            let query = if key.version == 1 { query } else { query.bind(i64::from(key.version)) };
            query.execute(&mut *tx).await.map_err(|error| self.failed(&error))?;
        }
        self.commit(tx, stamp).await
    }

    async fn counts(&self, newest: u32) -> Result<KeyCounts, KeyError> {
        let pool = self.pool().await?;
        let (patients, erased, outdated): (i64, i64, i64) = sqlx::query_as(COUNTS)
            .bind(i64::from(newest))
            .fetch_one(&pool)
            .await
            .map_err(|error| self.failed(&error))?;
        let [patients, erased, outdated] = [patients, erased, outdated].map(i64::cast_unsigned);
        Ok(KeyCounts { patients, erased, outdated })
    }
}

#[cfg(test)]
#[path = "sqlite_tests.rs"]
mod tests;
