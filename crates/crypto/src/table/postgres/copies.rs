//! The key table of a database as a key file, and the way back: for backups, and for moving keys between a file and a
//! database. Nothing is opened: rows stay wrapped on their way.

use std::path::Path;

use futures::TryStreamExt as _;
use sqlx::postgres::PgRow;
use sqlx::{Executor as _, Postgres, Row as _, Transaction};
use uuid::Uuid;

use super::statements::{ALONE, HEADER, SCHEMA, TABLES, WRITE_HEADER};
use super::{KeyTable as _, PostgresTable};
use crate::KeyError;
use crate::copies::{KekRow, KeyFileReader, KeyFileWriter, KeyRow};
use crate::table::KeyStoreHeader;

/// Whole tables are read and written: as long as that takes.
const PATIENTLY: &str = "SELECT set_config('statement_timeout', '0', true), \
     set_config('idle_in_transaction_session_timeout', '0', true)";
/// One moment for all rows, before anything is read.
const SNAPSHOT: &str = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY";
const KEKS: &str = "SELECT version, wrapped, created_at FROM anamnesis_keys.kek ORDER BY version";
const ROWS: &str = "SELECT org_id, patient_id, version, kek, wrapped, created_at, destroyed_at \
     FROM anamnesis_keys.data_key ORDER BY org_id, patient_id, version";
const EMPTY: [&str; 3] =
    ["DELETE FROM anamnesis_keys.data_key", "DELETE FROM anamnesis_keys.kek", "DELETE FROM anamnesis_keys.key_store"];
const ADD_KEK: &str = "INSERT INTO anamnesis_keys.kek (version, wrapped, created_at) VALUES ($1, $2, $3)";
const ADD: &str = "INSERT INTO anamnesis_keys.data_key (org_id, patient_id, version, kek, wrapped, created_at, destroyed_at) \
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::int4[], $4::int4[], $5::bytea[], $6::int8[], $7::int8[])";
/// Rows of one statement.
const PAGE: usize = 2_000;

impl PostgresTable {
    /// Copies the table as it is at one moment into a key file that is not there yet, while others use it.
    ///
    /// # Errors
    /// [`KeyError::Missing`] where there is no key store; of the database and the file.
    pub async fn copy_out(&self, to: &Path) -> Result<(), KeyError> {
        let failed = |error: sqlx::Error| self.failed(&error);
        let pool = self.pool.get_or_try_init(|| self.database.connect()).await?;
        let mut tx = pool.begin().await.map_err(failed)?;
        tx.execute(SNAPSHOT).await.map_err(failed)?;
        tx.execute(PATIENTLY).await.map_err(failed)?;
        let tables = sqlx::query_scalar::<_, i64>(TABLES).persistent(false).fetch_one(&mut *tx).await;
        let missing = || KeyError::Missing { place: self.place() };
        if tables.map_err(failed)? == 0 {
            return Err(missing());
        }
        let row = sqlx::query(HEADER).persistent(false).fetch_optional(&mut *tx).await.map_err(failed)?;
        let header = self.header(&row.ok_or_else(missing)?)?;
        let keks: Vec<(i32, Vec<u8>, i64)> =
            sqlx::query_as(KEKS).persistent(false).fetch_all(&mut *tx).await.map_err(failed)?;
        let kek = |(version, wrapped, created_at)| {
            Ok(KekRow { version: u32::try_from(version).map_err(|_| self.damaged())?, wrapped, created_at })
        };
        let keks: Vec<KekRow> = keks.into_iter().map(kek).collect::<Result<_, KeyError>>()?;
        let mut file = KeyFileWriter::new(to, &header, &keks).await?;
        let mut rows = sqlx::query(ROWS).persistent(false).fetch(&mut *tx);
        while let Some(row) = rows.try_next().await.map_err(failed)? {
            file.add(key_row(&row).ok_or_else(|| self.damaged())?).await?;
        }
        file.end().await
    }

    /// Puts the keys of a file into the table, all by one commit: who reads meanwhile sees all of the old ones or all of
    /// the new ones.
    ///
    /// # Errors
    /// [`KeyError::Exists`] where there are keys, unless `replace`; of the database and the file. Nothing is changed then.
    pub async fn copy_in(&self, from: &Path, replace: bool) -> Result<(), KeyError> {
        let failed = |error: sqlx::Error| self.failed(&error);
        let mut file = KeyFileReader::new(from).await?;
        let mut tx = self.begin().await?;
        tx.execute(PATIENTLY).await.map_err(failed)?;
        tx.execute(ALONE).await.map_err(failed)?;
        let tables = sqlx::query_scalar::<_, i64>(TABLES).persistent(false).fetch_one(&mut *tx).await;
        if tables.map_err(failed)? == 0 {
            tx.execute(sqlx::raw_sql(SCHEMA)).await.map_err(failed)?;
        }
        let there = sqlx::query(HEADER).persistent(false).fetch_optional(&mut *tx).await.map_err(failed)?;
        if there.is_some() && !replace {
            return Err(KeyError::Exists { place: self.place() });
        }
        for statement in EMPTY {
            sqlx::query(statement).persistent(false).execute(&mut *tx).await.map_err(failed)?;
        }
        self.write_header(&mut tx, &file.header).await?;
        for kek in &file.keks {
            let version = i32::try_from(kek.version).map_err(|_| self.damaged())?;
            let query = sqlx::query(ADD_KEK).persistent(false).bind(version).bind(&kek.wrapped).bind(kek.created_at);
            query.execute(&mut *tx).await.map_err(failed)?;
        }
        let mut rows = file.rows();
        let mut page = Vec::with_capacity(PAGE);
        while let Some(row) = rows.try_next().await? {
            page.push(row);
            if page.len() == PAGE {
                self.add_rows(&mut tx, &std::mem::take(&mut page)).await?;
            }
        }
        self.add_rows(&mut tx, &page).await?;
        tx.commit().await.map_err(failed)
    }

    /// Writes the header where there is none; whether it was written.
    pub(super) async fn write_header(
        &self,
        tx: &mut Transaction<'static, Postgres>,
        header: &KeyStoreHeader,
    ) -> Result<bool, KeyError> {
        let made = sqlx::query(WRITE_HEADER)
            .persistent(false)
            .bind(header.id)
            .bind(i32::try_from(header.format).map_err(|_| self.damaged())?)
            .bind(&header.root)
            .bind(&header.wrapped)
            .bind(header.check.as_slice())
            .bind(header.generation.cast_signed())
            .execute(&mut **tx)
            .await
            .map_err(|error| self.failed(&error))?;
        Ok(made.rows_affected() == 1)
    }

    async fn add_rows(&self, tx: &mut Transaction<'static, Postgres>, rows: &[KeyRow]) -> Result<(), KeyError> {
        let number = |n: u32| i32::try_from(n).map_err(|_| self.damaged());
        let query = sqlx::query(ADD)
            .persistent(false)
            .bind(rows.iter().map(|row| row.org).collect::<Vec<Uuid>>())
            .bind(rows.iter().map(|row| row.patient).collect::<Vec<Uuid>>())
            .bind(rows.iter().map(|row| number(row.version)).collect::<Result<Vec<i32>, _>>()?)
            .bind(rows.iter().map(|row| number(row.kek)).collect::<Result<Vec<i32>, _>>()?)
            .bind(rows.iter().map(|row| row.wrapped.as_deref()).collect::<Vec<Option<&[u8]>>>())
            .bind(rows.iter().map(|row| row.created_at).collect::<Vec<i64>>())
            .bind(rows.iter().map(|row| row.destroyed_at).collect::<Vec<Option<i64>>>());
        query.execute(&mut **tx).await.map(drop).map_err(|error| self.failed(&error))
    }
}

fn key_row(row: &PgRow) -> Option<KeyRow> {
    let number = |at: usize| u32::try_from(row.try_get::<i32, _>(at).ok()?).ok();
    Some(KeyRow {
        org: row.try_get(0).ok()?,
        patient: row.try_get(1).ok()?,
        version: number(2)?,
        kek: number(3)?,
        wrapped: row.try_get(4).ok()?,
        created_at: row.try_get(5).ok()?,
        destroyed_at: row.try_get(6).ok()?,
    })
}
