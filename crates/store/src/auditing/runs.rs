//! The hash of a row of the ledger of runs: who marks a run as done, or as running for ever, keeps it from being run.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::acts::Unfounded;
use crate::StoreError;
use crate::covered::{self, Uncovered};
use anamnesis_core::ids::OrgId;
use anamnesis_crypto::PlatformKey;
use anamnesis_sql::{Arg, Bulk, ColumnType, DbError, Row, Sql, Transaction};

/// The columns that are covered, in the order in which they are hashed.
macro_rules! covered_columns {
    () => {
        "org_id, job, as_of, cutoff_at, state, owner, fence, attempts, wake_at, cursor, status, error, started_at, finished_at"
    };
}

static RUNS: LazyLock<Sql> =
    LazyLock::new(|| Sql::new(concat!("SELECT mac, ", covered_columns!(), " FROM job_run WHERE org_id = $1")));
// The newest runs of reconciliation, ended or not: one that was made up behind the program keeps it from being run.
static NEWEST: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(concat!(
        "SELECT mac, ",
        covered_columns!(),
        " FROM job_run WHERE org_id = $1 AND job = 'reconciliation' ORDER BY as_of DESC LIMIT 16"
    ))
});
static ADOPT: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "UPDATE job_run SET mac = r.mac FROM {rows} AS r WHERE job_run.org_id = r.org_id \
         AND job_run.job = r.job AND job_run.as_of = r.as_of AND job_run.mac IS NULL",
        &[
            ("org_id", ColumnType::Uuid),
            ("job", ColumnType::Text),
            ("as_of", ColumnType::Text),
            ("mac", ColumnType::Bytes),
        ],
    )
});

pub(super) fn statements() -> Vec<&'static Sql> {
    vec![&RUNS, &NEWEST, ADOPT.sql()]
}

pub(super) const TABLE: &str = "job_run";

/// The keyed hash of a row with these values, in the order of the covered columns: organisation, job, day, cutoff, state, owner, fence,
/// attempts, end of the lease, cursor, status, error, begin and end. Under the platform's key: a run has no patient.
pub fn mac(key: &PlatformKey, columns: &[Arg]) -> [u8; 16] {
    hash(key, &covered::content_of(columns))
}

fn hash(key: &PlatformKey, content: &[u8]) -> [u8; 16] {
    anamnesis_crypto::first_half(key.hash(TABLE, &[content]))
}

/// Whether a row has its own hash; `None` where it has none. The hash comes first, then the covered columns.
fn has_own_hash(key: &PlatformKey, row: &Row) -> Result<Option<bool>, DbError> {
    Ok(row.opt_blob(0)?.map(|mac| mac == own(key, row)))
}

fn own(key: &PlatformKey, row: &Row) -> [u8; 16] {
    hash(key, &covered::content(row.0.get(1..).unwrap_or_default()))
}

/// Compares the runs of an organisation with their hashes.
///
/// # Errors
/// Of the database.
pub(super) async fn compare(
    tx: &mut Transaction,
    org: OrgId,
    key: &PlatformKey,
    found: &mut Unfounded,
) -> Result<(), StoreError> {
    for row in tx.fetch_all(&RUNS, vec![org.0.into()]).await? {
        match has_own_hash(key, &row)? {
            Some(is_own) => found.forged += u64::from(!is_own),
            None => found.uncovered.push(Uncovered::new(TABLE, covered::WITH_RUNS, (Uuid::nil(), org.0), [0; 16])),
        }
    }
    Ok(())
}

/// Gives runs of versions before they were covered their hash.
///
/// # Errors
/// Of the database.
pub(super) async fn cover(tx: &mut Transaction, org: OrgId, key: &PlatformKey) -> Result<(), StoreError> {
    let mut rows = Vec::new();
    for row in tx.fetch_all(&RUNS, vec![org.0.into()]).await? {
        if row.opt_blob(0)?.is_none() {
            rows.push(vec![org.0.into(), row.text(2)?.into(), row.text(3)?.into(), own(key, &row).to_vec().into()]);
        }
    }
    tx.bulk(&ADOPT, rows).await?;
    Ok(())
}

/// The newest runs of reconciliation.
pub(crate) struct Latest {
    /// Those that were written or changed behind the program.
    pub(crate) forged: i64,
    /// What the newest that ended found, as JSON.
    pub(crate) status: Option<String>,
}

/// # Errors
/// Of the database.
pub(crate) async fn latest(
    tx: &mut Transaction,
    org: OrgId,
    key: &PlatformKey,
    now: DateTime<Utc>,
) -> Result<Latest, StoreError> {
    let is_covered = super::rows_are_covered(tx, org, now).await?.version >= covered::WITH_RUNS;
    let mut latest = Latest { forged: 0, status: None };
    for row in tx.fetch_all(&NEWEST, vec![org.0.into()]).await? {
        latest.forged += i64::from(!has_own_hash(key, &row)?.unwrap_or(!is_covered));
        if latest.status.is_none() && row.text(5)? == "done" {
            latest.status = row.opt_text(11)?;
        }
    }
    Ok(latest)
}
