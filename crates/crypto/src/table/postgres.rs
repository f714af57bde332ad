//! The key table in a PostgreSQL database that is not the store's, for several hosts. Every change locks the header's row
//! first, so that writers of all hosts take turns, none deadlocks, and a patient gets one key. One commit a change.

mod connect;
mod copies;
mod statements;

use std::collections::HashMap;

use async_trait::async_trait;
use sqlx::postgres::{PgPool, PgRow};
use sqlx::{Executor as _, Postgres, Row as _, Transaction};
use tokio::sync::OnceCell;
use uuid::Uuid;

use super::{DataKey, KeyCounts, KeyEntry, KeyStoreHeader, KeyStoreStamp, KeyTable, TableState};
use crate::KeyError;
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;
pub use connect::KeyDatabase;
use statements::{
    ADD_KEK, ALONE, COUNTS, DESTROY, DESTROY_LATER, FIND, FIRST, HEADER, KEKS, LATER, NEXT, PAGE, REWRAP, SCHEMA,
    SET_ROOT, STAMP, TABLES,
};

/// Keys in a database.
#[derive(Debug)]
pub struct PostgresTable {
    database: KeyDatabase,
    /// Connected, and found to be no place from which the store can be read.
    pool: OnceCell<PgPool>,
}

impl PostgresTable {
    /// The table of this database. Nothing is connected yet.
    pub fn new(database: KeyDatabase) -> Self {
        Self { database, pool: OnceCell::new() }
    }

    async fn begin(&self) -> Result<Transaction<'static, Postgres>, KeyError> {
        let pool = self.pool.get_or_try_init(|| self.database.connect()).await?;
        let mut tx = pool.begin().await.map_err(|error| self.failed(&error))?;
        self.database.limit(&mut tx).await?;
        Ok(tx)
    }

    /// A transaction that changes the table, with the generation that it makes. It holds the header's row until it ends.
    async fn change(&self, seen: KeyStoreStamp) -> Result<(Transaction<'static, Postgres>, KeyStoreStamp), KeyError> {
        let mut tx = self.begin().await?;
        let next = sqlx::query(NEXT).persistent(false).bind(seen.id).bind(seen.generation.cast_signed());
        if let Some(row) = next.fetch_optional(&mut *tx).await.map_err(|error| self.failed(&error))? {
            let stamp = self.stamp(&row, 0, 1)?;
            return Ok((tx, stamp));
        }
        let row = sqlx::query(STAMP).persistent(false).fetch_one(&mut *tx).await;
        let row = row.map_err(|error| self.failed(&error))?;
        Err(seen.refusing(self.stamp(&row, 0, 1)?, self.place()))
    }

    async fn commit(
        &self,
        tx: Transaction<'static, Postgres>,
        stamp: KeyStoreStamp,
    ) -> Result<KeyStoreStamp, KeyError> {
        tx.commit().await.map_err(|error| self.failed(&error))?;
        Ok(stamp)
    }

    fn damaged(&self) -> KeyError {
        KeyError::Damaged { place: self.place() }
    }

    fn failed(&self, error: &sqlx::Error) -> KeyError {
        self.database.failed(error)
    }

    fn stamp(&self, row: &PgRow, id: usize, generation: usize) -> Result<KeyStoreStamp, KeyError> {
        let generation: i64 = row.try_get(generation).map_err(|error| self.failed(&error))?;
        let id = row.try_get(id).map_err(|error| self.failed(&error))?;
        Ok(KeyStoreStamp { id, generation: u64::try_from(generation).map_err(|_| self.damaged())? })
    }

    fn header(&self, row: &PgRow) -> Result<KeyStoreHeader, KeyError> {
        let read = |error: sqlx::Error| self.failed(&error);
        let stamp = self.stamp(row, 0, 5)?;
        let (format, check): (i32, Vec<u8>) = (row.try_get(1).map_err(read)?, row.try_get(4).map_err(read)?);
        Ok(KeyStoreHeader {
            id: stamp.id,
            format: u32::try_from(format).map_err(|_| self.damaged())?,
            root: row.try_get(2).map_err(read)?,
            wrapped: row.try_get(3).map_err(read)?,
            check: check.try_into().map_err(|_| self.damaged())?,
            generation: stamp.generation,
        })
    }

    /// Rows of (organisation, patient, version, kek, wrapped) from column `at`, in that order, as entries.
    fn entries(&self, rows: &[PgRow], at: usize) -> Result<Vec<(Scope, KeyEntry)>, KeyError> {
        let read = |error: sqlx::Error| self.failed(&error);
        let mut entries: Vec<(Scope, KeyEntry)> = Vec::with_capacity(rows.len());
        for row in rows {
            let (org, patient): (Option<Uuid>, Option<Uuid>) =
                (row.try_get(at).map_err(read)?, row.try_get(at + 1).map_err(read)?);
            // The stamp alone.
            let (Some(org), Some(patient)) = (org, patient) else { continue };
            let scope = Scope::new(OrgId(org), PatientId(patient)).map_err(|_| self.damaged())?;
            let number = |at: usize| row.try_get::<i32, _>(at).ok().and_then(|n| u32::try_from(n).ok());
            let (Some(version), Some(kek)) = (number(at + 2), number(at + 3)) else { return Err(self.damaged()) };
            let wrapped: Option<Vec<u8>> = row.try_get(at + 4).map_err(read)?;
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

    /// Runs statements over keys as columns, `at` being their sixth argument where there is one.
    async fn write(
        &self,
        seen: KeyStoreStamp,
        statements: &[&'static str],
        keys: &[(Scope, DataKey)],
        at: Option<i64>,
    ) -> Result<KeyStoreStamp, KeyError> {
        let (mut tx, stamp) = self.change(seen).await?;
        let number = |n: u32| i32::try_from(n).map_err(|_| self.damaged());
        let orgs: Vec<Uuid> = keys.iter().map(|(scope, _)| scope.org().0).collect();
        let patients: Vec<Uuid> = keys.iter().map(|(scope, _)| scope.patient().0).collect();
        let versions = keys.iter().map(|(_, key)| number(key.version)).collect::<Result<Vec<i32>, _>>()?;
        let keks = keys.iter().map(|(_, key)| number(key.kek)).collect::<Result<Vec<i32>, _>>()?;
        let wrapped: Vec<&[u8]> = keys.iter().map(|(_, key)| key.wrapped.as_slice()).collect();
        for statement in statements {
            let query = sqlx::query(*statement).persistent(false);
            let query = query.bind(&orgs).bind(&patients).bind(&versions).bind(&keks).bind(&wrapped);
            let query = match at {
                Some(at) => query.bind(at),
                None => query,
            };
            query.execute(&mut *tx).await.map_err(|error| self.failed(&error))?;
        }
        self.commit(tx, stamp).await
    }
}

#[async_trait]
impl KeyTable for PostgresTable {
    fn place(&self) -> String {
        self.database.place()
    }

    async fn state(&self) -> Result<TableState, KeyError> {
        let failed = |error: sqlx::Error| self.failed(&error);
        let mut tx = self.begin().await?;
        let tables = sqlx::query_scalar::<_, i64>(TABLES).persistent(false).fetch_one(&mut *tx).await;
        match tables.map_err(failed)? {
            0 => return Ok(TableState::Absent),
            3 => {}
            _ => return Err(self.damaged()),
        }
        let rows = sqlx::query(HEADER).persistent(false).fetch_all(&mut *tx).await.map_err(failed)?;
        rows.first().map_or(Ok(TableState::Empty), |row| self.header(row).map(TableState::Ready))
    }

    async fn create(&self, header: &KeyStoreHeader, _: bool) -> Result<(), KeyError> {
        let failed = |error: sqlx::Error| self.failed(&error);
        let mut tx = self.begin().await?;
        tx.execute(ALONE).await.map_err(failed)?;
        let tables = sqlx::query_scalar::<_, i64>(TABLES).persistent(false).fetch_one(&mut *tx).await;
        if tables.map_err(failed)? == 0 {
            tx.execute(sqlx::raw_sql(SCHEMA)).await.map_err(failed)?;
        }
        let made = self.write_header(&mut tx, header).await?;
        tx.commit().await.map_err(failed)?;
        if made { Ok(()) } else { Err(KeyError::Exists { place: self.place() }) }
    }

    async fn find(&self, scopes: &[Scope]) -> Result<(KeyStoreStamp, HashMap<Scope, KeyEntry>), KeyError> {
        let orgs: Vec<Uuid> = scopes.iter().map(|scope| scope.org().0).collect();
        let patients: Vec<Uuid> = scopes.iter().map(|scope| scope.patient().0).collect();
        let mut tx = self.begin().await?;
        let rows = sqlx::query(FIND).persistent(false).bind(&orgs).bind(&patients).fetch_all(&mut *tx).await;
        let rows = rows.map_err(|error| self.failed(&error))?;
        let stamp = self.stamp(rows.first().ok_or_else(|| self.damaged())?, 0, 1)?;
        Ok((stamp, self.entries(&rows, 2)?.into_iter().collect()))
    }

    async fn insert(&self, seen: KeyStoreStamp, keys: &[(Scope, DataKey)], at: i64) -> Result<KeyStoreStamp, KeyError> {
        self.write(seen, &[FIRST, LATER], keys, Some(at)).await
    }

    async fn destroy(&self, seen: KeyStoreStamp, scope: Scope, at: i64) -> Result<KeyStoreStamp, KeyError> {
        let (mut tx, stamp) = self.change(seen).await?;
        for (statement, at) in [(DESTROY, Some(at)), (DESTROY_LATER, None)] {
            let query = sqlx::query(statement).persistent(false).bind(scope.org().0).bind(scope.patient().0);
            let query = match at {
                Some(at) => query.bind(at),
                None => query,
            };
            query.execute(&mut *tx).await.map_err(|error| self.failed(&error))?;
        }
        self.commit(tx, stamp).await
    }

    async fn kek_versions(&self) -> Result<Vec<(u32, Vec<u8>)>, KeyError> {
        let mut tx = self.begin().await?;
        let rows = sqlx::query_as::<_, (i32, Vec<u8>)>(KEKS).persistent(false).fetch_all(&mut *tx).await;
        let number = |n| u32::try_from(n).map_err(|_| self.damaged());
        let rows = rows.map_err(|error| self.failed(&error))?;
        rows.into_iter().map(|(version, key)| Ok((number(version)?, key))).collect()
    }

    async fn add_kek(
        &self,
        seen: KeyStoreStamp,
        version: u32,
        wrapped: &[u8],
        at: i64,
    ) -> Result<KeyStoreStamp, KeyError> {
        let (mut tx, stamp) = self.change(seen).await?;
        let query = sqlx::query(ADD_KEK).persistent(false).bind(i32::try_from(version).map_err(|_| self.damaged())?);
        query.bind(wrapped).bind(at).execute(&mut *tx).await.map_err(|error| self.failed(&error))?;
        self.commit(tx, stamp).await
    }

    async fn set_root(&self, seen: KeyStoreStamp, root: &str, wrapped: &[u8]) -> Result<KeyStoreStamp, KeyError> {
        let (mut tx, stamp) = self.change(seen).await?;
        let query = sqlx::query(SET_ROOT).persistent(false).bind(root).bind(wrapped);
        query.execute(&mut *tx).await.map_err(|error| self.failed(&error))?;
        self.commit(tx, stamp).await
    }

    async fn page(&self, after: Option<Scope>, limit: u32) -> Result<Vec<(Scope, KeyEntry)>, KeyError> {
        let (org, patient) = after.map_or((Uuid::nil(), Uuid::nil()), |scope| (scope.org().0, scope.patient().0));
        let mut tx = self.begin().await?;
        let query = sqlx::query(PAGE).persistent(false).bind(org).bind(patient).bind(i64::from(limit));
        let rows = query.fetch_all(&mut *tx).await.map_err(|error| self.failed(&error))?;
        self.entries(&rows, 0)
    }

    async fn rewrap(&self, seen: KeyStoreStamp, keys: &[(Scope, DataKey)]) -> Result<KeyStoreStamp, KeyError> {
        self.write(seen, &[REWRAP], keys, None).await
    }

    async fn counts(&self, newest: u32) -> Result<KeyCounts, KeyError> {
        let mut tx = self.begin().await?;
        let newest = i32::try_from(newest).map_err(|_| self.damaged())?;
        let row = sqlx::query_as::<_, (i64, i64, i64)>(COUNTS).persistent(false).bind(newest).fetch_one(&mut *tx).await;
        let (patients, erased, outdated) = row.map_err(|error| self.failed(&error))?;
        let [patients, erased, outdated] = [patients, erased, outdated].map(i64::cast_unsigned);
        Ok(KeyCounts { patients, erased, outdated })
    }
}
