//! Decaying memories. Nothing of the policy is stored with them: a row contains its confidence level (`decay_bucket`) and
//! the start of its decay, and an index leads from a level to its oldest rows. A policy is evaluated level by level. So
//! a run reads only rows whose confidence fell, and a changed policy rewrites no memory.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::StoreError;
use super::due_transitions::TransitionKey;
use crate::PageRequest;
use crate::statements::decay_index as sql;
use anamnesis_core::confidence::{self, DecayPolicy};
use anamnesis_core::ids::{MemoryId, OrgId, PatientId};
use anamnesis_core::memory::{Class, Kind};
use anamnesis_sql::{Arg, DbError, Row, Transaction};

/// Levels are a thousandth apart. A run reads only the surplus rows within one step of the rate, and at most a thousand
/// levels, whatever confidences exist.
const LEVELS_TO_ONE: f64 = 1_000.0;

/// The level of a stored confidence (0 to 1) in thousandths, truncated. `None` for memories that decay under no policy.
pub fn level(kind: Kind, confidence: f64, protected: bool) -> Option<i64> {
    (kind != Kind::Raw && !protected).then_some((confidence * LEVELS_TO_ONE) as i64)
}

/// Days after which the first memory of a level may have fallen. `None` when none ever does.
fn first_days(policy: &DecayPolicy, kind: Kind, level: i64) -> Option<u32> {
    let days = |level: i64| confidence::days_until_uncertain(policy, kind, level as f64 / LEVELS_TO_ONE, false);
    // The lower end of a level may be uncertain from the beginning while the upper end decays: then the answer is one
    // day.
    days(level).or_else(|| days(level + 1).map(|_| 1))
}

/// How far a run came: a level, and the last row of it that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecayPosition {
    kind: String,
    level: i64,
    place: TransitionKey,
}

impl DecayPosition {
    /// Before every level.
    pub fn nothing() -> Self {
        Self { kind: String::new(), level: i64::MIN, place: TransitionKey::START }
    }
}

/// A row as far as decay matters to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecayingMemory {
    pub(crate) place: TransitionKey,
    pub patient: PatientId,
    pub memory: MemoryId,
    pub kind: Kind,
    class: Class,
    confidence: f64,
    is_protected: bool,
    recorded_at: DateTime<Utc>,
    last_verified: Option<DateTime<Utc>>,
}

impl DecayingMemory {
    /// When it becomes uncertain under the policy.
    pub fn uncertain_under(&self, policy: &DecayPolicy) -> Option<DateTime<Utc>> {
        let protected = confidence::is_protected(self.is_protected, self.class);
        let since = self.last_verified.unwrap_or(self.recorded_at);
        confidence::uncertain_at(policy, self.kind, self.confidence, protected, since)
    }
}

/// Rows without a review request that may have become uncertain by `until`, after `after`, at most `limit`; the policy
/// decides each. Rows that a writer locks are left to the next run. Returns the position if there may be more.
///
/// # Errors
/// Of the database.
pub async fn fallen(
    tx: &mut Transaction,
    org: OrgId,
    policy: &DecayPolicy,
    until: DateTime<Utc>,
    PageRequest { after, limit }: PageRequest<&DecayPosition>,
) -> Result<(Vec<DecayingMemory>, Option<DecayPosition>), DbError> {
    let mut found: Vec<DecayingMemory> = Vec::new();
    for row in tx.fetch_all(&sql::LEVELS, vec![org.0.into()]).await? {
        let (code, level, oldest) =
            (row.text(sql::levels::KIND)?, row.i64(sql::levels::DECAY_BUCKET)?, row.time(sql::levels::OLDEST)?);
        if (code.as_str(), level) < (after.kind.as_str(), after.level) {
            continue;
        }
        let kind = Kind::from_code(&code).ok_or(DbError::Decode { index: sql::levels::KIND })?;
        let Some(days) = first_days(policy, kind, level) else { continue };
        let Some(since) = until.checked_sub_signed(TimeDelta::days(i64::from(days))) else { continue };
        if oldest > since {
            continue;
        }
        let within = code == after.kind && level == after.level;
        let TransitionKey(at, patient, id) = if within { after.place } else { TransitionKey::START };
        let left = limit.saturating_sub(u32::try_from(found.len()).unwrap_or(u32::MAX));
        let args =
            [org.0.into(), code.as_str().into(), level.into(), since.into(), at.into(), patient.into(), id.into()];
        let args = args.into_iter().chain([Arg::from(left)]).collect();
        for row in tx.fetch_all(&sql::OLDEST, args).await? {
            found.push(fading(&row, kind)?);
        }
        if let Some(last) = found.last().filter(|_| found.len() >= limit as usize) {
            let reached = DecayPosition { kind: code, level, place: last.place };
            return Ok((found, Some(reached)));
        }
    }
    Ok((found, None))
}

/// A row of `oldest` or `questions`: common columns have the same positions.
fn fading(row: &Row, kind: Kind) -> Result<DecayingMemory, DbError> {
    use sql::oldest as of;
    let (patient, id) = (row.uuid(of::PATIENT_ID)?, row.uuid(of::ID)?);
    Ok(DecayingMemory {
        place: TransitionKey(row.i64(of::SINCE)?, patient, id),
        patient: PatientId(patient),
        memory: MemoryId(id),
        kind,
        class: Class::from_code(&row.text(of::CLASS)?).ok_or(DbError::Decode { index: of::CLASS })?,
        confidence: row.f64(of::CONFIDENCE)?,
        is_protected: row.bool(of::IS_PROTECTED)?,
        recorded_at: row.time(of::RECORDED_AT)?,
        last_verified: row.opt_time(of::LAST_VERIFIED)?,
    })
}

/// Notes since when a review is due, once per reset of the clock.
///
/// # Errors
/// Of the database.
pub async fn ask(
    tx: &mut Transaction,
    org: OrgId,
    fell: &[(DecayingMemory, DateTime<Utc>)],
    now: DateTime<Utc>,
) -> Result<u64, DbError> {
    let row = |(f, at): &(DecayingMemory, DateTime<Utc>)| sql::ask::Row {
        org_id: org.0.into(),
        patient_id: f.patient.0.into(),
        id: f.memory.0.into(),
        due: (*at).into(),
        now: now.into(),
    };
    tx.bulk(&sql::ASK, fell.iter().map(|one| row(one).into()).collect()).await
}

/// Patients of whom something is asked, after `after`, at most `limit`.
///
/// # Errors
/// Of the database.
pub async fn patients_with_questions(
    tx: &mut Transaction,
    org: OrgId,
    PageRequest { after, limit }: PageRequest<Uuid>,
) -> Result<Vec<Uuid>, DbError> {
    let rows = tx.fetch_all(&sql::PATIENTS_WITH_QUESTIONS, vec![org.0.into(), after.into(), limit.into()]).await?;
    rows.iter().map(|row| row.uuid(sql::patients_with_questions::PATIENT_ID)).collect()
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
pub async fn questions(tx: &mut Transaction, org: OrgId, patients: &[Uuid]) -> Result<Vec<DecayingMemory>, DbError> {
    let rows = tx.fetch_all(&sql::QUESTIONS, vec![org.0.into(), Arg::Uuids(patients.to_vec())]).await?;
    let kind = |row: &Row| {
        Kind::from_code(&row.text(sql::questions::KIND)?).ok_or(DbError::Decode { index: sql::questions::KIND })
    };
    rows.iter().map(|row| fading(row, kind(row)?)).collect()
}

/// Withdraws the review request.
///
/// # Errors
/// Of the database.
pub async fn take_back(
    tx: &mut Transaction,
    org: OrgId,
    questions: &[DecayingMemory],
    now: DateTime<Utc>,
) -> Result<u64, DbError> {
    let pairs = questions.iter().map(|f| (f.patient.0, f.memory.0.as_bytes().to_vec())).collect();
    tx.execute(&sql::TAKE_BACK, vec![org.0.into(), Arg::Pairs(pairs), now.into()]).await
}

/// The policy that a job last applied to the rows of an organisation.
///
/// # Errors
/// Of the database.
pub async fn mark(tx: &mut Transaction, org: OrgId, job: &'static str) -> Result<Option<Uuid>, DbError> {
    tx.fetch_optional(&sql::MARK, vec![org.0.into(), job.into()])
        .await?
        .map(|row| row.uuid(sql::mark::MARK))
        .transpose()
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
    tx.execute(&sql::SET_MARK, vec![org.0.into(), job.into(), mark.into(), now.into()]).await?;
    Ok(())
}

#[cfg(test)]
#[path = "decay_index_tests.rs"]
mod tests;
