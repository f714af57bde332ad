//! Memories that fade: found by the instant at which decay makes them uncertain, which is written with them. The decaying
//! confidence is never stored, so that a night touches what fell and nothing else.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::aging::Place;
use super::engine::{Bulk, ColumnType, DbError, Row, Sql, Transaction};
use crate::domain::confidence::{self, DecayPolicy};
use crate::domain::ids::{MemoryId, OrgId, PatientId};
use crate::domain::memory::{Class, Kind};

static FALLEN: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT uncertain_at, patient_id, id, kind, class, confidence, is_protected, recorded_at, last_verified, uncertain_at \
         FROM memory WHERE org_id = $1 AND state = 'active' AND uncertain_at IS NOT NULL AND review_due_at IS NULL \
         AND uncertain_at <= $2 AND (uncertain_at, patient_id, id) > ($3, $4, $5) \
         ORDER BY uncertain_at, patient_id, id LIMIT $6 {skip_locked}",
    )
});
static ASK: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "UPDATE memory SET review_due_at = r.due, updated_at = r.now FROM {rows} AS r \
         WHERE memory.org_id = r.org_id AND memory.patient_id = r.patient_id AND memory.id = r.id \
         AND memory.state = 'active' AND memory.review_due_at IS NULL",
        &[
            ("org_id", ColumnType::Uuid),
            ("patient_id", ColumnType::Uuid),
            ("id", ColumnType::Uuid),
            ("due", ColumnType::Int),
            ("now", ColumnType::Int),
        ],
    )
});
// A question that the new policy would not have asked is taken back.
static RESCHEDULE: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "UPDATE memory SET uncertain_at = r.at, \
         review_due_at = CASE WHEN r.at IS NULL OR r.at > r.cutoff THEN NULL ELSE memory.review_due_at END, \
         updated_at = r.now FROM {rows} AS r \
         WHERE memory.org_id = r.org_id AND memory.patient_id = r.patient_id AND memory.id = r.id",
        &[
            ("org_id", ColumnType::Uuid),
            ("patient_id", ColumnType::Uuid),
            ("id", ColumnType::Uuid),
            ("at", ColumnType::Int),
            ("cutoff", ColumnType::Int),
            ("now", ColumnType::Int),
        ],
    )
});
static MARK: LazyLock<Sql> = LazyLock::new(|| Sql::new("SELECT mark FROM job_mark WHERE org_id = $1 AND job = $2"));
static SET_MARK: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "INSERT INTO job_mark (org_id, job, mark, created_at, updated_at) VALUES ($1, $2, $3, $4, $4) \
         ON CONFLICT (org_id, job) DO UPDATE SET mark = excluded.mark, updated_at = excluded.updated_at",
    )
});

pub(super) fn statements() -> Vec<&'static Sql> {
    vec![&FALLEN, ASK.sql(), RESCHEDULE.sql(), &MARK, &SET_MARK]
}

/// A row as far as decay matters to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fading {
    pub place: Place,
    pub patient: PatientId,
    pub memory: MemoryId,
    pub kind: Kind,
    class: Class,
    confidence: f64,
    is_protected: bool,
    recorded_at: DateTime<Utc>,
    last_verified: Option<DateTime<Utc>>,
    /// As stored.
    pub uncertain_at: Option<DateTime<Utc>>,
}

impl Fading {
    /// What the policy says of it, whatever is stored.
    pub fn uncertain_under(&self, policy: &DecayPolicy) -> Option<DateTime<Utc>> {
        let protected = confidence::is_protected(self.is_protected, self.class);
        let since = self.last_verified.unwrap_or(self.recorded_at);
        confidence::uncertain_at(policy, self.kind, self.confidence, protected, since)
    }
}

/// Rows that fell by `until` and that nobody was asked about, after `after`, at most `limit`. Rows that a writer holds are
/// left to the next night.
///
/// # Errors
/// Of the database.
pub async fn fallen(
    tx: &mut Transaction,
    org: OrgId,
    until: DateTime<Utc>,
    (after, limit): (Place, u32),
) -> Result<Vec<Fading>, DbError> {
    let args = vec![org.0.into(), until.into(), after.0.into(), after.1.into(), after.2.into(), limit.into()];
    tx.fetch_all(&FALLEN, args).await?.iter().map(fading).collect()
}

fn fading(row: &Row) -> Result<Fading, DbError> {
    let decode = |index| DbError::Decode { index };
    let (patient, id) = (row.uuid(1)?, row.uuid(2)?);
    Ok(Fading {
        place: Place(row.i64(0)?, patient, id),
        patient: PatientId(patient),
        memory: MemoryId(id),
        kind: Kind::from_code(&row.text(3)?).ok_or(decode(3))?,
        class: Class::from_code(&row.text(4)?).ok_or(decode(4))?,
        confidence: row.f64(5)?,
        is_protected: row.bool(6)?,
        recorded_at: row.time(7)?,
        last_verified: row.opt_time(8)?,
        uncertain_at: row.opt_time(9)?,
    })
}

/// Notes since when a review is due, once per reset of the clock.
///
/// # Errors
/// Of the database.
pub async fn ask(
    tx: &mut Transaction,
    org: OrgId,
    fell: &[(Fading, DateTime<Utc>)],
    now: DateTime<Utc>,
) -> Result<u64, DbError> {
    let row = |(f, at): &(Fading, DateTime<Utc>)| {
        vec![org.0.into(), f.patient.0.into(), f.memory.0.into(), (*at).into(), now.into()]
    };
    tx.bulk(&ASK, fell.iter().map(row).collect()).await
}

/// Writes when rows become uncertain under another policy.
///
/// # Errors
/// Of the database.
pub async fn reschedule(
    tx: &mut Transaction,
    org: OrgId,
    moved: &[(Fading, Option<DateTime<Utc>>)],
    (cutoff, now): (DateTime<Utc>, DateTime<Utc>),
) -> Result<u64, DbError> {
    let row = |(f, at): &(Fading, Option<DateTime<Utc>>)| {
        vec![org.0.into(), f.patient.0.into(), f.memory.0.into(), (*at).into(), cutoff.into(), now.into()]
    };
    tx.bulk(&RESCHEDULE, moved.iter().map(row).collect()).await
}

/// What a job last brought the rows of an organisation into line with.
///
/// # Errors
/// Of the database.
pub async fn mark(tx: &mut Transaction, org: OrgId, job: &'static str) -> Result<Option<Uuid>, DbError> {
    tx.fetch_optional(&MARK, vec![org.0.into(), job.into()]).await?.map(|row| row.uuid(0)).transpose()
}

/// Notes that all rows are in line with it.
///
/// # Errors
/// Of the database.
pub async fn set_mark(
    tx: &mut Transaction,
    org: OrgId,
    job: &'static str,
    (mark, now): (Uuid, DateTime<Utc>),
) -> Result<(), DbError> {
    tx.execute(&SET_MARK, vec![org.0.into(), job.into(), mark.into(), now.into()]).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::engine::{Access, Database, Location};

    #[tokio::test]
    async fn what_fell_is_found_by_index_in_order_without_sorting() {
        let db = Database::open(&Location::Memory).await.unwrap();
        let mut tx = db.begin(Access::Platform).await.unwrap();
        let (nil, zero) = (Uuid::nil, 0i64);
        let args = vec![nil().into(), zero.into(), zero.into(), nil().into(), nil().into(), 1i64.into()];
        let explain = Sql::new(Box::leak(format!("EXPLAIN QUERY PLAN {}", FALLEN.sqlite()).into_boxed_str()));
        let plan: Vec<String> =
            tx.fetch_all(&explain, args).await.unwrap().iter().map(|row| row.text(3).unwrap()).collect();
        assert_eq!(plan.len(), 1, "{plan:?}");
        assert!(plan[0].starts_with("SEARCH memory USING INDEX memory_fading (org_id=?"), "{plan:?}");
    }
}
