//! The hash of a row of the ledger of runs: who marks a run as done, or as running for ever, keeps it from being run.

use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;

use super::acts::TrailDifferences;
use crate::StoreError;
use crate::covered::{self, UncoveredRow};
use crate::statements::audit_trail::runs as sql;
use crate::statements::audit_trail::runs::of_organization as of;
use anamnesis_core::ids::OrgId;
use anamnesis_crypto::PlatformKey;
use anamnesis_sql::{Arg, DbError, Row, Transaction};

pub(super) const TABLE: &str = "job_run";

/// The keyed hash of a row with these values, in the order of the covered columns: organisation, job, day, cutoff, state, owner, fence,
/// attempts, end of the lease, cursor, status, error, begin and end. Under the platform's key: a run has no patient.
pub fn mac(key: &PlatformKey, columns: &[Arg]) -> [u8; 16] {
    hash(key, &covered::content_of(columns))
}

fn hash(key: &PlatformKey, content: &[u8]) -> [u8; 16] {
    anamnesis_crypto::first_half(key.hash(TABLE, &[content]))
}

/// Whether a row of `OF_ORGANIZATION`, or of another statement with the same columns, has its own hash; `None` where it has none.
fn has_own_hash(key: &PlatformKey, row: &Row) -> Result<Option<bool>, DbError> {
    Ok(row.opt_blob(of::MAC)?.map(|mac| mac == own(key, row)))
}

fn own(key: &PlatformKey, row: &Row) -> [u8; 16] {
    // All columns after the hash are covered.
    hash(key, &covered::content(row.0.get(of::MAC + 1..).unwrap_or_default()))
}

/// Compares the runs of an organisation with their hashes.
///
/// # Errors
/// Of the database.
pub(super) async fn compare(
    tx: &mut Transaction,
    org: OrgId,
    (key, now): (&PlatformKey, DateTime<Utc>),
    found: &mut TrailDifferences,
) -> Result<(), StoreError> {
    // A day ahead of every time zone: no version wrote a run of a later day.
    let latest = (now + TimeDelta::days(2)).date_naive().to_string();
    for row in tx.fetch_all(&sql::OF_ORGANIZATION, vec![org.0.into()]).await? {
        match has_own_hash(key, &row)? {
            Some(is_own) => found.forged += u64::from(!is_own),
            None if row.text(of::AS_OF)? > latest => found.forged += 1,
            None => found.uncovered.push(UncoveredRow::new(TABLE, covered::WITH_RUNS, (Uuid::nil(), org.0), [0; 16])),
        }
    }
    Ok(())
}

/// Gives runs of versions before they were covered their hash.
///
/// # Errors
/// Of the database.
pub(super) async fn cover(
    tx: &mut Transaction,
    org: OrgId,
    (key, now): (&PlatformKey, DateTime<Utc>),
) -> Result<(), StoreError> {
    let latest = (now + TimeDelta::days(2)).date_naive().to_string();
    let mut rows = Vec::new();
    for row in tx.fetch_all(&sql::OF_ORGANIZATION, vec![org.0.into()]).await? {
        if row.opt_blob(of::MAC)?.is_none() && row.text(of::AS_OF)? <= latest {
            let adopted = sql::adopt::Row {
                org_id: org.0.into(),
                job: row.text(of::JOB)?.into(),
                as_of: row.text(of::AS_OF)?.into(),
                mac: own(key, &row).to_vec().into(),
            };
            rows.push(adopted.into());
        }
    }
    tx.bulk(&sql::ADOPT, rows).await?;
    Ok(())
}

/// The newest runs of reconciliation.
#[derive(Default)]
pub(crate) struct LatestReconciliations {
    /// Those that were written or changed outside the program.
    pub(crate) forged: i64,
    /// Results of the newest runs that this program wrote, as JSON: the newest one, and the newest one that ended.
    pub(crate) statuses: Vec<String>,
    /// When the newest that this program wrote, and that compared everything, ended.
    pub(crate) compared_at: Option<DateTime<Utc>>,
}

/// # Errors
/// Of the database.
pub(crate) async fn latest(
    tx: &mut Transaction,
    org: OrgId,
    key: &PlatformKey,
    now: DateTime<Utc>,
) -> Result<LatestReconciliations, StoreError> {
    let is_covered = super::rows_are_covered(tx, org, now).await?.version >= covered::WITH_RUNS;
    let mut latest = LatestReconciliations::default();
    for row in tx.fetch_all(&sql::NEWEST_RECONCILIATIONS, vec![org.0.into()]).await? {
        if !has_own_hash(key, &row)?.unwrap_or(!is_covered) {
            latest.forged += 1;
            continue;
        }
        // A run that fails repeatedly has counted what it read.
        let is_done = row.text(of::STATE)? == "done" && latest.compared_at.is_none();
        if is_done || latest.statuses.is_empty() {
            latest.statuses.extend(row.opt_text(of::STATUS)?);
        }
        if is_done {
            latest.compared_at = row.opt_time(of::FINISHED_AT)?;
        }
    }
    Ok(latest)
}
