//! Compares the two stores: passages against documents and vectors (seed 002, §2 and §12). Memories are compared with
//! their log by the projection (`write::projections`).

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::PageRequest;
use crate::statements::reconciliation as sql;
use crate::vectors::rebuild::{self, PassageKey, StoredVectorKey};
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_sql::{Arg, DbError, Row, Transaction};

/// Patients after one, at most `limit`.
///
/// # Errors
/// Of the database.
pub async fn patients(
    tx: &mut Transaction,
    org: OrgId,
    PageRequest { after, limit }: PageRequest<Uuid>,
) -> Result<Vec<PatientId>, DbError> {
    let rows = tx.fetch_all(&sql::PATIENTS, vec![org.0.into(), after.into(), limit.into()]).await?;
    rows.iter().map(|row| Ok(PatientId(row.uuid(sql::patients::PATIENT_ID)?))).collect()
}

/// Faults of the passages and vectors of some patients.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PassageDifferences {
    /// Passages that do not wait and have no vector of the active generation.
    pub without_vector: Vec<PassageKey>,
    /// Passages of documents that were replaced.
    pub stale: Vec<PassageKey>,
    /// Vectors of generations that are neither active nor made.
    pub stray: Vec<StoredVectorKey>,
    /// Current documents, not dropped, of which no passage can be found. Only their producer can send them again.
    pub unsearchable: u64,
}

impl PassageDifferences {
    /// Adds the faults of other patients.
    pub fn merge(&mut self, other: Self) {
        self.without_vector.extend(other.without_vector);
        self.stale.extend(other.stale);
        self.stray.extend(other.stray);
        self.unsearchable += other.unsearchable;
    }
}

/// The generations in use.
#[derive(Debug, Clone, Copy)]
pub struct GenerationsInUse {
    /// `None` if neither the organisation's row nor an available model defines it.
    pub active: Option<i64>,
    pub building: Option<i64>,
    /// Others are removed by the run that swapped them out, in its time.
    pub others_are_kept: bool,
}

/// # Errors
/// Of the database.
pub async fn passage_differences(
    tx: &mut Transaction,
    org: OrgId,
    patients: &[PatientId],
    in_use: GenerationsInUse,
) -> Result<PassageDifferences, DbError> {
    let of = || vec![org.0.into(), Arg::Uuids(patients.iter().map(|patient| patient.0).collect())];
    let mut found =
        PassageDifferences { stale: keys(&tx.fetch_all(&sql::STALE, of()).await?)?, ..PassageDifferences::default() };
    let unsearchable = tx.fetch_optional(&sql::COUNT_UNSEARCHABLE, of()).await?;
    let unsearchable = unsearchable.map(|row| row.i64(sql::count_unsearchable::DOCUMENTS)).transpose()?;
    found.unsearchable = unsearchable.map_or(0, i64::unsigned_abs);
    let Some(active) = in_use.active else { return Ok(found) };
    let with = |more: &[i64]| [of(), more.iter().map(|n| Arg::from(*n)).collect()].concat();
    found.without_vector = keys(&tx.fetch_all(&sql::WITHOUT_VECTOR, with(&[active])).await?)?;
    let gone: BTreeSet<PassageKey> = found.stale.iter().copied().collect();
    found.without_vector.retain(|key| !gone.contains(key));
    if !in_use.others_are_kept {
        let used = [active, in_use.building.unwrap_or(active)];
        let rows = tx.fetch_all(&sql::STRAY_VECTORS, with(&used)).await?;
        found.stray = rows.iter().map(StoredVectorKey::from_row).collect::<Result<_, _>>()?;
    }
    Ok(found)
}

/// Of rows of [`sql::STALE`] or [`sql::WITHOUT_VECTOR`].
fn keys(rows: &[Row]) -> Result<Vec<PassageKey>, DbError> {
    rows.iter().map(|row| Ok((row.uuid(sql::stale::PATIENT_ID)?, row.uuid(sql::stale::ID)?))).collect()
}

/// Makes it right: stale passages and stray vectors go, what lacks a vector waits for the next batch.
///
/// # Errors
/// Of the database.
pub async fn repair(
    tx: &mut Transaction,
    org: OrgId,
    astray: &PassageDifferences,
    now: DateTime<Utc>,
) -> Result<(), DbError> {
    tx.execute(&sql::DELETE_PASSAGES, vec![org.0.into(), pairs(&astray.stale)]).await?;
    mark_pending(tx, org, &astray.without_vector, now).await?;
    rebuild::forget(tx, org, astray.stray.iter()).await
}

/// These passages wait for a vector.
///
/// # Errors
/// Of the database.
pub async fn mark_pending(
    tx: &mut Transaction,
    org: OrgId,
    passages: &[PassageKey],
    now: DateTime<Utc>,
) -> Result<(), DbError> {
    if passages.is_empty() {
        return Ok(());
    }
    tx.execute(&sql::MARK_WAITING, vec![org.0.into(), pairs(passages), now.into()]).await?;
    Ok(())
}

fn pairs(keys: &[PassageKey]) -> Arg {
    Arg::Pairs(keys.iter().map(|(patient, id)| (*patient, id.as_bytes().to_vec())).collect())
}
