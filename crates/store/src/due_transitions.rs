//! Memories whose time has come: found by index in the order of their instants, a bounded page at a time, and moved.
//! What time means is `core::lifecycle`'s; the selections here only narrow down which rows it is asked about.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::memory_history::HistoryLine;
use crate::PageRequest;
use crate::statements::due_transitions as sql;
use crate::write::clinical::status;
use anamnesis_core::clock::micros;
use anamnesis_core::finding::{EntityType, Polarity};
use anamnesis_core::ids::{MemoryId, OrgId, PatientId, derive};
use anamnesis_core::lifecycle::LifecycleTimes;
use anamnesis_core::memory::{Class, Kind, State};
use anamnesis_sql::{Arg, Bulk, DbError, Row, Sql, Transaction};

/// The clinical tables with a kind of entity in each, which decides the table's name for a state.
fn clinical_moves() -> [(EntityType, &'static Bulk); 6] {
    [
        (EntityType::Condition, &sql::MOVE_CONDITIONS),
        (EntityType::Allergy, &sql::MOVE_ALLERGIES),
        (EntityType::Medication, &sql::MOVE_MEDICATIONS),
        (EntityType::Symptom, &sql::MOVE_SYMPTOMS),
        (EntityType::Appointment, &sql::MOVE_APPOINTMENTS),
        (EntityType::HealthSignal, &sql::MOVE_SIGNALS),
    ]
}

/// A queue of rows, and the instant that orders it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransitionQueue {
    /// Active time-bound states by their last confirmation.
    TimeBound,
    /// Active health signals by their last synchronisation.
    Signals,
    /// Active rows of any class that carry an `expires_at`, by it.
    Expiring,
    /// Active time-bound states that no one was asked about in this cycle, by their last confirmation.
    Unasked,
}

/// The last row of the page before: its instant in microseconds, patient and id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransitionKey(pub i64, pub Uuid, pub Uuid);

impl TransitionKey {
    /// Before every row.
    pub const START: TransitionKey = TransitionKey(i64::MIN, Uuid::nil(), Uuid::nil());
}

/// A row as far as time matters to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DueMemory {
    pub place: TransitionKey,
    pub patient: PatientId,
    pub memory: MemoryId,
    pub kind: Kind,
    pub cycle: u32,
    pub(crate) confidence: f64,
    pub life: LifecycleTimes,
}

/// The next page of a queue: rows whose instant is at or before `until`, after `after`, at most `limit`. Rows that a
/// writer holds are left to it: it folds them as of now.
///
/// # Errors
/// Of the database.
pub async fn page(
    tx: &mut Transaction,
    org: OrgId,
    queue: TransitionQueue,
    until: DateTime<Utc>,
    PageRequest { after, limit }: PageRequest<TransitionKey>,
) -> Result<Vec<DueMemory>, DbError> {
    let sql: &Sql = match queue {
        TransitionQueue::TimeBound => &sql::TIME_BOUND,
        TransitionQueue::Signals => &sql::SIGNALS,
        TransitionQueue::Expiring => &sql::EXPIRING,
        TransitionQueue::Unasked => &sql::UNASKED,
    };
    let args = vec![org.0.into(), until.into(), after.0.into(), after.1.into(), after.2.into(), limit.into()];
    tx.fetch_all(sql, args).await?.iter().map(aging).collect()
}

/// A row of any queue: all have the same columns.
fn aging(row: &Row) -> Result<DueMemory, DbError> {
    use sql::time_bound as of;
    let decode = |index| DbError::Decode { index };
    let (patient, id) = (row.uuid(of::PATIENT_ID)?, row.uuid(of::ID)?);
    let class = Class::from_code(&row.text(of::CLASS)?).ok_or(decode(of::CLASS))?;
    let last_confirmed_at = row.opt_time(of::LAST_CONFIRMED_AT)?;
    let life = LifecycleTimes {
        class,
        state: State::from_code(&row.text(of::STATE)?).ok_or(decode(of::STATE))?,
        state_since: row.opt_time(of::STATE_AT)?,
        recorded_at: row.time(of::RECORDED_AT)?,
        last_confirmed_at,
        // A signal is confirmed by being synchronised.
        synced_at: last_confirmed_at.filter(|_| class == Class::HealthSignal),
        expires_at: row.opt_time(of::EXPIRES_AT)?,
        ends_at: row.opt_time(of::ENDS_AT)?,
    };
    Ok(DueMemory {
        place: TransitionKey(row.i64(of::INSTANT)?, patient, id),
        patient: PatientId(patient),
        memory: MemoryId(id),
        cycle: u32::try_from(row.i64(of::CYCLE)?).map_err(|_| decode(of::CYCLE))?,
        confidence: row.f64(of::CONFIDENCE)?,
        kind: Kind::from_code(&row.text(of::KIND)?).ok_or(decode(of::KIND))?,
        life,
    })
}

/// A memory that time moved to another state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryTransition {
    pub row: DueMemory,
    pub to: State,
    /// When it happened, which is not when a person looked.
    pub since: DateTime<Utc>,
}

/// Moves memories, their clinical rows and their histories, by a constant number of statements.
///
/// # Errors
/// Of the database.
pub async fn apply_transitions(
    tx: &mut Transaction,
    org: OrgId,
    moved: &[MemoryTransition],
    now: DateTime<Utc>,
) -> Result<(), DbError> {
    tx.bulk(&sql::MOVE_MEMORIES, moved.iter().map(|m| moved_row(org, m, m.to.code(), now).into()).collect()).await?;
    for (entity, table) in clinical_moves() {
        let row = |m: &MemoryTransition| moved_row(org, m, status(entity, Polarity::Affirmed, m.to), now).into();
        tx.bulk(table, moved.iter().map(row).collect()).await?;
    }
    tx.bulk(&crate::statements::memory_history::INSERT, moved.iter().map(|m| history_row(org, m, now)).collect())
        .await?;
    Ok(())
}

/// The row by which a memory is moved, and its clinical row too: all of these statements have the same columns.
fn moved_row(org: OrgId, moved: &MemoryTransition, state: &str, now: DateTime<Utc>) -> sql::move_memories::Row {
    sql::move_memories::Row {
        org_id: org.0.into(),
        patient_id: moved.row.patient.0.into(),
        id: moved.row.memory.0.into(),
        state: state.into(),
        since: moved.since.into(),
        now: now.into(),
    }
}

fn history_row(org: OrgId, moved: &MemoryTransition, now: DateTime<Utc>) -> Vec<Arg> {
    let (patient, memory) = (moved.row.patient.0, moved.row.memory.0);
    let at = micros(moved.since).to_be_bytes();
    let parts: [&[u8]; 5] = [org.0.as_bytes(), patient.as_bytes(), memory.as_bytes(), moved.to.code().as_bytes(), &at];
    let line = HistoryLine {
        org: org.0,
        patient,
        id: derive("memory_event.time", &parts),
        memory,
        derived: true,
        at: moved.since,
        action: moved.to.code(),
        source: "time",
        old_confidence: Some(moved.row.confidence),
        new_confidence: Some(moved.row.confidence),
        cause: None,
    };
    line.row(now)
}

/// Notes since when a confirmation is due, once per cycle.
///
/// # Errors
/// Of the database.
pub async fn mark_asked(
    tx: &mut Transaction,
    org: OrgId,
    asked: &[(DueMemory, DateTime<Utc>)],
    now: DateTime<Utc>,
) -> Result<u64, DbError> {
    let row = |(row, due): &(DueMemory, DateTime<Utc>)| {
        let row = sql::ask::Row {
            org_id: org.0.into(),
            patient_id: row.patient.0.into(),
            id: row.memory.0.into(),
            due: (*due).into(),
            now: now.into(),
        };
        row.into()
    };
    tx.bulk(&sql::ASK, asked.iter().map(row).collect()).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_sql::{Access, Database, Location};

    /// The column of `EXPLAIN QUERY PLAN` that describes a step.
    const DETAIL: usize = 3;

    #[tokio::test]
    async fn what_is_due_is_found_by_index_in_order_without_sorting() {
        let db = Database::open(&Location::Memory).await.unwrap();
        let mut tx = db.begin(Access::Platform).await.unwrap();
        for (sql, index) in [
            (&*sql::TIME_BOUND, "memory_aging"),
            (&*sql::SIGNALS, "memory_aging"),
            (&*sql::EXPIRING, "memory_expiring"),
            (&*sql::UNASKED, "memory_reconfirm"),
        ] {
            let explain = Sql::new(Box::leak(format!("EXPLAIN QUERY PLAN {}", sql.sqlite()).into_boxed_str()));
            let args =
                vec![Uuid::nil().into(), 0i64.into(), 0i64.into(), Uuid::nil().into(), Uuid::nil().into(), 1i64.into()];
            let plan: Vec<String> =
                tx.fetch_all(&explain, args).await.unwrap().iter().map(|row| row.text(DETAIL).unwrap()).collect();
            assert_eq!(plan.len(), 1, "{plan:?}");
            assert!(plan[0].starts_with(&format!("SEARCH memory USING INDEX {index} (org_id=?")), "{plan:?}");
        }
    }

    #[test]
    fn all_queues_have_the_same_columns_and_so_do_all_moves() {
        let columns = |name: &str| {
            let all = crate::statements::all();
            all.iter().find(|one| one.name == format!("due_transitions/{name}")).unwrap().columns.to_vec()
        };
        for queue in ["signals", "expiring", "unasked"] {
            assert_eq!(columns(queue), columns("time_bound"), "{queue}");
        }
        let moves = [
            sql::move_conditions::COLUMNS,
            sql::move_allergies::COLUMNS,
            sql::move_medications::COLUMNS,
            sql::move_symptoms::COLUMNS,
            sql::move_appointments::COLUMNS,
            sql::move_signals::COLUMNS,
        ];
        for columns in moves {
            assert_eq!(columns, sql::move_memories::COLUMNS);
        }
    }

    #[tokio::test]
    async fn a_batch_of_changes_finds_its_rows_by_key() {
        let db = Database::open(&Location::Memory).await.unwrap();
        let mut tx = db.begin(Access::Platform).await.unwrap();
        let moves = clinical_moves().map(|(_, bulk)| bulk);
        for bulk in [&*sql::MOVE_MEMORIES, &*sql::ASK].into_iter().chain(moves) {
            let explain = format!("EXPLAIN QUERY PLAN {}", bulk.sql().sqlite());
            let explain = Sql::new(Box::leak(explain.into_boxed_str()));
            let plan: Vec<String> = tx
                .fetch_all(&explain, vec!["[]".into()])
                .await
                .unwrap()
                .iter()
                .map(|row| row.text(DETAIL).unwrap())
                .collect();
            assert!(!plan.iter().any(|step| step.starts_with("SCAN") && !step.contains("json_each")), "{plan:?}");
        }
    }
}
