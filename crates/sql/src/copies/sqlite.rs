//! Copies and checks of an embedded store's file.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};
use uuid::Uuid;

use super::super::sqlite::{error, opened_for_copy};
use super::{CopyError, Patients, Sample, Snapshot, TableCopy, scope};

const TABLES: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' \
     AND name <> '_sqlx_migrations' ORDER BY name";
const SCHEMA: &str = "SELECT max(version) FROM _sqlx_migrations";
const PATIENTS: &str = "SELECT org_id, patient_id FROM patient_profile ORDER BY org_id, patient_id";
// Stores from before migration 22 are bound to none.
const BINDABLE: &str = "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'key_binding'";
const BINDING: &str = "SELECT key_store_id, generation FROM key_binding";
const SAMPLES: &str = "SELECT org_id, patient_id, document_id, revision, content_sealed FROM (\
     SELECT *, row_number() OVER (PARTITION BY org_id, patient_id ORDER BY document_id, revision) AS which FROM documents \
     WHERE length(content_sealed) > 0) WHERE which = 1 ORDER BY org_id, patient_id";

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .busy_timeout(Duration::from_secs(30))
        .disable_statement_logging()
}

fn failed(why: &sqlx::Error) -> CopyError {
    CopyError::Database(error(why))
}

pub(super) async fn copy_out(store: &Path, to: &Path) -> Result<Snapshot, CopyError> {
    // SQLite fills an existing empty file. Created here, so that only its owner can access it from the beginning.
    super::private(to)?;
    let mut source = opened_for_copy(options(store)).await?;
    let copied = sqlx::query("VACUUM INTO ?").bind(to.to_string_lossy().into_owned()).execute(&mut source).await;
    copied.map_err(|e| failed(&e))?;
    source.close().await.map_err(|e| failed(&e))?;
    std::fs::File::open(to)?.sync_all()?;
    let mut copy = options(to).read_only(true).connect().await.map_err(|e| failed(&e))?;
    let schema: i64 = sqlx::query_scalar(SCHEMA).fetch_one(&mut copy).await.map_err(|e| failed(&e))?;
    let tables = counted(&mut copy).await?;
    copy.close().await.map_err(|e| failed(&e))?;
    Ok(Snapshot { engine: "sqlite".to_owned(), schema, tables })
}

async fn counted(copy: &mut SqliteConnection) -> Result<BTreeMap<String, TableCopy>, CopyError> {
    let names: Vec<String> = sqlx::query_scalar(TABLES).fetch_all(&mut *copy).await.map_err(|e| failed(&e))?;
    let mut tables = BTreeMap::new();
    for name in names {
        // Names of the schema's own, which is ours.
        let count = AssertSqlSafe(["SELECT count(*) FROM \"", &name, "\""].concat());
        let rows: i64 = sqlx::query_scalar(count).fetch_one(&mut *copy).await.map_err(|e| failed(&e))?;
        tables.insert(name, TableCopy { rows: rows.unsigned_abs(), columns: Vec::new() });
    }
    Ok(tables)
}

pub(crate) async fn verify(store: &Path, every: usize) -> Result<Patients, CopyError> {
    let damaged = || CopyError::Damaged(store.display().to_string());
    let mut copy = options(store).read_only(true).connect().await.map_err(|_| damaged())?;
    let whole: String =
        sqlx::query_scalar("PRAGMA integrity_check(1)").fetch_one(&mut copy).await.map_err(|_| damaged())?;
    if whole != "ok" {
        return Err(damaged());
    }
    let rows: Vec<(Vec<u8>, Vec<u8>)> = sqlx::query_as(PATIENTS).fetch_all(&mut copy).await.map_err(|_| damaged())?;
    let all = rows.iter().map(|(org, patient)| scope(org, patient));
    let all = all.collect::<Option<Vec<_>>>().ok_or_else(damaged)?;
    let rows: Vec<(Vec<u8>, Vec<u8>, Vec<u8>, i64, Vec<u8>)> =
        sqlx::query_as(SAMPLES).fetch_all(&mut copy).await.map_err(|_| damaged())?;
    let sample = |(org, patient, document, revision, sealed): (Vec<u8>, Vec<u8>, Vec<u8>, i64, Vec<u8>)| {
        let document = Uuid::from_slice(&document).ok()?;
        Some(Sample { scope: scope(&org, &patient)?, document, revision: u32::try_from(revision).ok()?, sealed })
    };
    let samples = rows.into_iter().step_by(every.max(1)).map(sample);
    let samples = samples.collect::<Option<Vec<_>>>().ok_or_else(damaged)?;
    let bindable: i64 = sqlx::query_scalar(BINDABLE).fetch_one(&mut copy).await.map_err(|_| damaged())?;
    let mut binding = None;
    if bindable > 0 {
        let row: Option<(Vec<u8>, i64)> =
            sqlx::query_as(BINDING).fetch_optional(&mut copy).await.map_err(|_| damaged())?;
        binding = row.and_then(|(id, generation)| Some((Uuid::from_slice(&id).ok()?, generation.unsigned_abs())));
    }
    copy.close().await.map_err(|e| failed(&e))?;
    Ok(Patients { all, samples, binding })
}

pub(super) async fn holds_anything(path: &Path) -> Result<bool, CopyError> {
    if std::fs::metadata(path).map_or(0, |about| about.len()) == 0 {
        return Ok(false);
    }
    let alone = options(path).busy_timeout(Duration::from_millis(200)).pragma("locking_mode", "EXCLUSIVE");
    // A file that is no database counts as content: a torn store is replaced only on request.
    let Ok(mut store) = alone.connect().await else { return Ok(true) };
    let held = sqlx::query("BEGIN EXCLUSIVE").execute(&mut store).await;
    if let Err(why) = held {
        return match error(&why) {
            super::DbError::Transient("busy") => Err(CopyError::InUse),
            _ => Ok(true),
        };
    }
    let organizations = sqlx::query_scalar::<_, i64>("SELECT count(*) FROM organization").fetch_one(&mut store).await;
    let _ = store.close().await;
    Ok(organizations.map_or(true, |count| count > 0))
}
