//! What the two stores say of each other: passages against documents and vectors (seed 002, §2 and §12). The comparison of
//! memories with their log is the fold's own (`write::reconciling`).

use std::collections::BTreeSet;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::building::{self, Kept, Key};
use crate::Next;
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_sql::{Arg, DbError, Row, Sql, Transaction};

static PATIENTS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT patient_id FROM patient_profile WHERE org_id = $1 AND patient_id > $2 ORDER BY patient_id LIMIT $3",
    )
});
// They do not wait, and yet there is nothing to compare a question with.
static WITHOUT_VECTOR: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT p.patient_id, p.id FROM passage AS p WHERE p.org_id = $1 AND p.patient_id IN {uuids $2} AND p.waits = 0 \
         AND NOT EXISTS (SELECT 1 FROM embedding AS e WHERE e.org_id = p.org_id AND e.patient_id = p.patient_id \
           AND e.generation = $3 AND e.passage_id = p.id)",
    )
});
static STALE: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT p.patient_id, p.id FROM passage AS p JOIN documents AS d ON d.org_id = p.org_id \
           AND d.patient_id = p.patient_id AND d.document_id = p.document_id AND d.revision = p.revision \
         WHERE p.org_id = $1 AND p.patient_id IN {uuids $2} AND d.current = 0",
    )
});
static UNSEARCHABLE: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT count(*) FROM documents AS d WHERE d.org_id = $1 AND d.patient_id IN {uuids $2} AND d.current = 1 \
         AND d.fate IS NULL AND NOT EXISTS (SELECT 1 FROM passage AS p WHERE p.org_id = d.org_id \
           AND p.patient_id = d.patient_id AND p.document_id = d.document_id AND p.revision = d.revision)",
    )
});
static STRAY_VECTORS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT patient_id, generation, passage_id FROM embedding WHERE org_id = $1 AND patient_id IN {uuids $2} \
         AND generation <> $3 AND generation <> $4",
    )
});
static WAIT: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "UPDATE passage SET waits = 1, behind = 0, updated_at = $3 WHERE org_id = $1 AND waits = 0 \
         AND (patient_id, id) IN {pairs $2}",
    )
});
static FORGET: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("DELETE FROM passage WHERE org_id = $1 AND (patient_id, id) IN {pairs $2}"));

pub fn statements() -> Vec<&'static Sql> {
    vec![&PATIENTS, &WITHOUT_VECTOR, &STALE, &UNSEARCHABLE, &STRAY_VECTORS, &WAIT, &FORGET]
}

/// Patients after one, at most `limit`.
///
/// # Errors
/// Of the database.
pub async fn patients(
    tx: &mut Transaction,
    org: OrgId,
    Next { after, limit }: Next<Uuid>,
) -> Result<Vec<PatientId>, DbError> {
    let rows = tx.fetch_all(&PATIENTS, vec![org.0.into(), after.into(), limit.into()]).await?;
    rows.iter().map(|row| Ok(PatientId(row.uuid(0)?))).collect()
}

/// What is wrong with the passages and vectors of some patients.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Astray {
    /// Passages that do not wait and have no vector of the active generation.
    pub without_vector: Vec<Key>,
    /// Passages of documents that were replaced.
    pub stale: Vec<Key>,
    /// Vectors of generations that are neither active nor made.
    pub stray: Vec<Kept>,
    /// Current documents, not let go of, of which no passage can be found. Only their producer can send them again.
    pub unsearchable: u64,
}

impl Astray {
    /// What is wrong with those of other patients as well.
    pub fn merge(&mut self, other: Self) {
        self.without_vector.extend(other.without_vector);
        self.stale.extend(other.stale);
        self.stray.extend(other.stray);
        self.unsearchable += other.unsearchable;
    }
}

/// The generations in use.
#[derive(Debug, Clone, Copy)]
pub struct InUse {
    /// `None` where neither the organisation's row nor a model at hand tells it.
    pub active: Option<i64>,
    pub building: Option<i64>,
    /// Others are removed by whoever swapped them out, in its time.
    pub others_are_kept: bool,
}

/// # Errors
/// Of the database.
pub async fn astray(
    tx: &mut Transaction,
    org: OrgId,
    patients: &[PatientId],
    in_use: InUse,
) -> Result<Astray, DbError> {
    let of = || vec![org.0.into(), Arg::Uuids(patients.iter().map(|patient| patient.0).collect())];
    let mut found = Astray { stale: keys(&tx.fetch_all(&STALE, of()).await?)?, ..Astray::default() };
    let unsearchable = tx.fetch_optional(&UNSEARCHABLE, of()).await?;
    found.unsearchable = unsearchable.map(|row| row.i64(0)).transpose()?.map_or(0, i64::unsigned_abs);
    let Some(active) = in_use.active else { return Ok(found) };
    let with = |more: &[i64]| [of(), more.iter().map(|n| Arg::from(*n)).collect()].concat();
    found.without_vector = keys(&tx.fetch_all(&WITHOUT_VECTOR, with(&[active])).await?)?;
    let gone: BTreeSet<Key> = found.stale.iter().copied().collect();
    found.without_vector.retain(|key| !gone.contains(key));
    if !in_use.others_are_kept {
        let used = [active, in_use.building.unwrap_or(active)];
        let rows = tx.fetch_all(&STRAY_VECTORS, with(&used)).await?;
        found.stray = rows.iter().map(Kept::of).collect::<Result<_, _>>()?;
    }
    Ok(found)
}

fn keys(rows: &[Row]) -> Result<Vec<Key>, DbError> {
    rows.iter().map(|row| Ok((row.uuid(0)?, row.uuid(1)?))).collect()
}

/// Makes it right: stale passages and stray vectors go, what lacks a vector waits for the night's batch.
///
/// # Errors
/// Of the database.
pub async fn repair(tx: &mut Transaction, org: OrgId, astray: &Astray, now: DateTime<Utc>) -> Result<(), DbError> {
    tx.execute(&FORGET, vec![org.0.into(), pairs(&astray.stale)]).await?;
    wait(tx, org, &astray.without_vector, now).await?;
    building::forget(tx, org, astray.stray.iter()).await
}

/// These passages wait for a vector.
///
/// # Errors
/// Of the database.
pub async fn wait(tx: &mut Transaction, org: OrgId, passages: &[Key], now: DateTime<Utc>) -> Result<(), DbError> {
    if passages.is_empty() {
        return Ok(());
    }
    tx.execute(&WAIT, vec![org.0.into(), pairs(passages), now.into()]).await?;
    Ok(())
}

fn pairs(keys: &[Key]) -> Arg {
    Arg::Pairs(keys.iter().map(|(patient, id)| (*patient, id.as_bytes().to_vec())).collect())
}
