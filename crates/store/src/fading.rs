//! Memories that fade. Nothing of the policy is stored with them: a row says how high its confidence stands (`fade_level`)
//! and since when its clock runs, and an index leads from a level to its oldest rows. What a policy makes of that is asked
//! level by level, so that a night touches what fell, and a changed policy rewrites no memory at all.

use std::sync::LazyLock;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::StoreError;
use super::aging::Place;
use crate::Next;
use anamnesis_core::confidence::{self, DecayPolicy};
use anamnesis_core::ids::{MemoryId, OrgId, PatientId};
use anamnesis_core::memory::{Class, Kind};
use anamnesis_sql::{Arg, Bulk, ColumnType, DbError, Row, Sql, Transaction};

// From one level of a kind to the next through the index: as many steps as there are levels, however many rows they have. The
// kinds are said: SQLite, asked for the next pair of kind and level, reads all rows of the kind.
static LEVELS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "WITH RECURSIVE kinds (kind) AS (SELECT 'belief' UNION ALL SELECT 'drive' UNION ALL SELECT 'episode' \
           UNION ALL SELECT 'goal' UNION ALL SELECT 'note' UNION ALL SELECT 'relationship' UNION ALL SELECT 'value'), \
         level (kind, fade_level) AS (\
           SELECT k.kind, (SELECT m.fade_level FROM memory AS m WHERE m.org_id = $1 AND m.state = 'active' \
             AND m.fade_level IS NOT NULL AND m.review_due_at IS NULL AND m.kind = k.kind ORDER BY m.fade_level LIMIT 1) \
           FROM kinds AS k \
           UNION ALL \
           SELECT l.kind, (SELECT m.fade_level FROM memory AS m WHERE m.org_id = $1 AND m.state = 'active' \
             AND m.fade_level IS NOT NULL AND m.review_due_at IS NULL AND m.kind = l.kind AND m.fade_level > l.fade_level \
             ORDER BY m.fade_level LIMIT 1) \
           FROM level AS l WHERE l.fade_level IS NOT NULL) \
         SELECT l.kind, l.fade_level, \
           (SELECT coalesce(m.last_verified, m.recorded_at) FROM memory AS m WHERE m.org_id = $1 AND m.state = 'active' \
             AND m.fade_level IS NOT NULL AND m.review_due_at IS NULL AND m.kind = l.kind AND m.fade_level = l.fade_level \
             ORDER BY coalesce(m.last_verified, m.recorded_at) LIMIT 1) \
         FROM level AS l WHERE l.fade_level IS NOT NULL ORDER BY l.kind, l.fade_level",
    )
});
static OLDEST: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT coalesce(last_verified, recorded_at), patient_id, id, class, confidence, is_protected, recorded_at, last_verified \
         FROM memory WHERE org_id = $1 AND state = 'active' AND fade_level IS NOT NULL AND review_due_at IS NULL \
         AND kind = $2 AND fade_level = $3 AND coalesce(last_verified, recorded_at) <= $4 \
         AND (coalesce(last_verified, recorded_at), patient_id, id) > ($5, $6, $7) \
         ORDER BY coalesce(last_verified, recorded_at), patient_id, id LIMIT $8 {skip_locked}",
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
static ASKED: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT DISTINCT patient_id FROM memory WHERE org_id = $1 AND review_due_at IS NOT NULL AND patient_id > $2 \
         ORDER BY patient_id LIMIT $3",
    )
});
static QUESTIONS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT coalesce(last_verified, recorded_at), patient_id, id, class, confidence, is_protected, recorded_at, last_verified, kind \
         FROM memory WHERE org_id = $1 AND patient_id IN {uuids $2} AND review_due_at IS NOT NULL ORDER BY patient_id, id",
    )
});
static TAKE_BACK: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "UPDATE memory SET review_due_at = NULL, updated_at = $3 WHERE org_id = $1 AND (patient_id, id) IN {pairs $2}",
    )
});
static MARK: LazyLock<Sql> = LazyLock::new(|| Sql::new("SELECT mark FROM job_mark WHERE org_id = $1 AND job = $2"));
static SET_MARK: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "INSERT INTO job_mark (org_id, job, mark, created_at, updated_at) VALUES ($1, $2, $3, $4, $4) \
         ON CONFLICT (org_id, job) DO UPDATE SET mark = excluded.mark, updated_at = excluded.updated_at",
    )
});

pub fn statements() -> Vec<&'static Sql> {
    vec![&LEVELS, &OLDEST, ASK.sql(), &ASKED, &QUESTIONS, &TAKE_BACK, &MARK, &SET_MARK]
}

/// Levels stand a thousandth apart: a night looks at as many rows too many as fall within one step of the rate, and at no
/// more levels than there are thousandths, whatever confidences were given.
const LEVELS_TO_ONE: f64 = 1_000.0;

/// The level of a stored confidence (0 to 1) in thousandths, cut. `None` for what does not fade under any policy.
pub fn level(kind: Kind, confidence: f64, protected: bool) -> Option<i64> {
    (kind != Kind::Raw && !protected).then_some((confidence * LEVELS_TO_ONE) as i64)
}

/// Days after which the first memory of a level may have fallen. `None` when none ever does.
fn first_days(policy: &DecayPolicy, kind: Kind, level: i64) -> Option<u32> {
    let days = |level: i64| confidence::days_until_uncertain(policy, kind, level as f64 / LEVELS_TO_ONE, false);
    // The lower end may have been uncertain from the beginning while the upper one falls: soon, then.
    days(level).or_else(|| days(level + 1).map(|_| 1))
}

/// How far a night came: a level, and the last row of it that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reached {
    kind: String,
    level: i64,
    place: Place,
}

impl Reached {
    /// Before every level.
    pub fn nothing() -> Self {
        Self { kind: String::new(), level: i64::MIN, place: Place::START }
    }
}

/// A row as far as decay matters to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fading {
    pub(crate) place: Place,
    pub patient: PatientId,
    pub memory: MemoryId,
    pub kind: Kind,
    class: Class,
    confidence: f64,
    is_protected: bool,
    recorded_at: DateTime<Utc>,
    last_verified: Option<DateTime<Utc>>,
}

impl Fading {
    /// When the policy says that it falls.
    pub fn uncertain_under(&self, policy: &DecayPolicy) -> Option<DateTime<Utc>> {
        let protected = confidence::is_protected(self.is_protected, self.class);
        let since = self.last_verified.unwrap_or(self.recorded_at);
        confidence::uncertain_at(policy, self.kind, self.confidence, protected, since)
    }
}

/// Rows that nobody was asked about and that may have fallen by `until`, behind `after`, at most `limit`: what the policy
/// says of each decides. Rows that a writer holds are left to the next night. Where there may be more, how far it came.
///
/// # Errors
/// Of the database.
pub async fn fallen(
    tx: &mut Transaction,
    org: OrgId,
    policy: &DecayPolicy,
    until: DateTime<Utc>,
    Next { after, limit }: Next<&Reached>,
) -> Result<(Vec<Fading>, Option<Reached>), DbError> {
    let mut found: Vec<Fading> = Vec::new();
    for row in tx.fetch_all(&LEVELS, vec![org.0.into()]).await? {
        let (code, level, oldest) = (row.text(0)?, row.i64(1)?, row.time(2)?);
        if (code.as_str(), level) < (after.kind.as_str(), after.level) {
            continue;
        }
        let kind = Kind::from_code(&code).ok_or(DbError::Decode { index: 0 })?;
        let Some(days) = first_days(policy, kind, level) else { continue };
        let Some(since) = until.checked_sub_signed(TimeDelta::days(i64::from(days))) else { continue };
        if oldest > since {
            continue;
        }
        let within = code == after.kind && level == after.level;
        let Place(at, patient, id) = if within { after.place } else { Place::START };
        let left = limit.saturating_sub(u32::try_from(found.len()).unwrap_or(u32::MAX));
        let args =
            [org.0.into(), code.as_str().into(), level.into(), since.into(), at.into(), patient.into(), id.into()];
        let args = args.into_iter().chain([Arg::from(left)]).collect();
        for row in tx.fetch_all(&OLDEST, args).await? {
            found.push(fading(&row, kind)?);
        }
        if let Some(last) = found.last().filter(|_| found.len() >= limit as usize) {
            let reached = Reached { kind: code, level, place: last.place };
            return Ok((found, Some(reached)));
        }
    }
    Ok((found, None))
}

fn fading(row: &Row, kind: Kind) -> Result<Fading, DbError> {
    let (patient, id) = (row.uuid(1)?, row.uuid(2)?);
    Ok(Fading {
        place: Place(row.i64(0)?, patient, id),
        patient: PatientId(patient),
        memory: MemoryId(id),
        kind,
        class: Class::from_code(&row.text(3)?).ok_or(DbError::Decode { index: 3 })?,
        confidence: row.f64(4)?,
        is_protected: row.bool(5)?,
        recorded_at: row.time(6)?,
        last_verified: row.opt_time(7)?,
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

/// Patients of whom something is asked, after `after`, at most `limit`.
///
/// # Errors
/// Of the database.
pub async fn asked(tx: &mut Transaction, org: OrgId, Next { after, limit }: Next<Uuid>) -> Result<Vec<Uuid>, DbError> {
    let rows = tx.fetch_all(&ASKED, vec![org.0.into(), after.into(), limit.into()]).await?;
    rows.iter().map(|row| row.uuid(0)).collect()
}

/// Holds patients as every writer of their memories does.
///
/// # Errors
/// Of the database.
pub async fn hold(tx: &mut Transaction, org: OrgId, patients: &[Uuid]) -> Result<(), StoreError> {
    super::write::patients::hold(tx, org, patients.to_vec()).await
}

/// All that is asked about these patients' memories.
///
/// # Errors
/// Of the database.
pub async fn questions(tx: &mut Transaction, org: OrgId, patients: &[Uuid]) -> Result<Vec<Fading>, DbError> {
    let rows = tx.fetch_all(&QUESTIONS, vec![org.0.into(), Arg::Uuids(patients.to_vec())]).await?;
    let kind = |row: &Row| Kind::from_code(&row.text(8)?).ok_or(DbError::Decode { index: 8 });
    rows.iter().map(|row| fading(row, kind(row)?)).collect()
}

/// Asks no longer.
///
/// # Errors
/// Of the database.
pub async fn take_back(
    tx: &mut Transaction,
    org: OrgId,
    questions: &[Fading],
    now: DateTime<Utc>,
) -> Result<u64, DbError> {
    let pairs = questions.iter().map(|f| (f.patient.0, f.memory.0.as_bytes().to_vec())).collect();
    tx.execute(&TAKE_BACK, vec![org.0.into(), Arg::Pairs(pairs), now.into()]).await
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
    mark: Uuid,
    now: DateTime<Utc>,
) -> Result<(), DbError> {
    tx.execute(&SET_MARK, vec![org.0.into(), job.into(), mark.into(), now.into()]).await?;
    Ok(())
}

#[cfg(test)]
#[path = "fading_tests.rs"]
mod tests;
