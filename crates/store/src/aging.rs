//! Memories whose time has come: found by index in the order of their instants, a bounded page at a time, and moved.
//! What time means is `domain::lifecycle`'s; the selections here only narrow down which rows it is asked about.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::history::{self, Line};
use crate::Next;
use crate::write::clinical::status;
use anamnesis_core::clock::micros;
use anamnesis_core::finding::{EntityType, Polarity};
use anamnesis_core::ids::{MemoryId, OrgId, PatientId, derive};
use anamnesis_core::lifecycle::Life;
use anamnesis_core::memory::{Class, Kind, State};
use anamnesis_sql::{Arg, Bulk, ColumnType, DbError, Row, Sql, Transaction};

macro_rules! select {
    ($at:literal, $which:literal) => {
        LazyLock::new(|| {
            Sql::new(concat!(
                "SELECT ",
                $at,
                ", patient_id, id, class, state, state_at, recorded_at, last_confirmed_at, expires_at, cycle, confidence, kind, ends_at \
                 FROM memory WHERE org_id = $1 AND state = 'active' AND ",
                $which,
                " AND ",
                $at,
                " <= $2 AND (",
                $at,
                ", patient_id, id) > ($3, $4, $5) ORDER BY ",
                $at,
                ", patient_id, id LIMIT $6 {skip_locked}"
            ))
        })
    };
}

// The lists of classes repeat the conditions of the partial indexes: SQLite uses an index only for its own words.
static TIME_BOUND: LazyLock<Sql> =
    select!("last_confirmed_at", "class = 'time_bound_state' AND class IN ('time_bound_state', 'health_signal')");
static SIGNALS: LazyLock<Sql> =
    select!("last_confirmed_at", "class = 'health_signal' AND class IN ('time_bound_state', 'health_signal')");
static EXPIRING: LazyLock<Sql> = select!("expires_at", "expires_at IS NOT NULL");
static UNASKED: LazyLock<Sql> = select!("last_confirmed_at", "class = 'time_bound_state' AND reconfirm_due_at IS NULL");

static MOVE: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "UPDATE memory SET state = r.state, state_at = r.since, valid_to = r.since, updated_at = r.now FROM {rows} AS r \
         WHERE memory.org_id = r.org_id AND memory.patient_id = r.patient_id AND memory.id = r.id AND memory.state = 'active'",
        MOVED,
    )
});
static MOVE_CONDITIONS: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "UPDATE conditions SET status = r.state, updated_at = r.now FROM {rows} AS r \
         WHERE conditions.org_id = r.org_id AND conditions.patient_id = r.patient_id AND conditions.memory_id = r.id",
        MOVED,
    )
});
static MOVE_ALLERGIES: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "UPDATE allergies SET status = r.state, updated_at = r.now FROM {rows} AS r \
         WHERE allergies.org_id = r.org_id AND allergies.patient_id = r.patient_id AND allergies.memory_id = r.id",
        MOVED,
    )
});
static MOVE_MEDICATIONS: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "UPDATE medications SET status = r.state, updated_at = r.now FROM {rows} AS r \
         WHERE medications.org_id = r.org_id AND medications.patient_id = r.patient_id AND medications.memory_id = r.id",
        MOVED,
    )
});
static MOVE_SYMPTOMS: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "UPDATE symptom_states SET status = r.state, updated_at = r.now FROM {rows} AS r \
         WHERE symptom_states.org_id = r.org_id AND symptom_states.patient_id = r.patient_id AND symptom_states.memory_id = r.id",
        MOVED,
    )
});
static MOVE_APPOINTMENTS: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "UPDATE appointments SET status = r.state, updated_at = r.now FROM {rows} AS r \
         WHERE appointments.org_id = r.org_id AND appointments.patient_id = r.patient_id AND appointments.memory_id = r.id",
        MOVED,
    )
});
static MOVE_SIGNALS: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "UPDATE health_signals SET status = r.state, updated_at = r.now FROM {rows} AS r \
         WHERE health_signals.org_id = r.org_id AND health_signals.patient_id = r.patient_id AND health_signals.memory_id = r.id",
        MOVED,
    )
});

/// The clinical tables with a kind of what stands in each: it decides how the table calls a state.
fn clinical_moves() -> [(EntityType, &'static Bulk); 6] {
    [
        (EntityType::Condition, &MOVE_CONDITIONS),
        (EntityType::Allergy, &MOVE_ALLERGIES),
        (EntityType::Medication, &MOVE_MEDICATIONS),
        (EntityType::Symptom, &MOVE_SYMPTOMS),
        (EntityType::Appointment, &MOVE_APPOINTMENTS),
        (EntityType::HealthSignal, &MOVE_SIGNALS),
    ]
}
const MOVED: &[(&str, ColumnType)] = &[
    ("org_id", ColumnType::Uuid),
    ("patient_id", ColumnType::Uuid),
    ("id", ColumnType::Uuid),
    ("state", ColumnType::Text),
    ("since", ColumnType::Int),
    ("now", ColumnType::Int),
];
static ASK: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "UPDATE memory SET reconfirm_due_at = r.due, updated_at = r.now FROM {rows} AS r \
         WHERE memory.org_id = r.org_id AND memory.patient_id = r.patient_id AND memory.id = r.id \
         AND memory.state = 'active' AND memory.reconfirm_due_at IS NULL",
        &[
            ("org_id", ColumnType::Uuid),
            ("patient_id", ColumnType::Uuid),
            ("id", ColumnType::Uuid),
            ("due", ColumnType::Int),
            ("now", ColumnType::Int),
        ],
    )
});

pub fn statements() -> Vec<&'static Sql> {
    let mut all: Vec<&'static Sql> = vec![&TIME_BOUND, &SIGNALS, &EXPIRING, &UNASKED];
    all.extend([&MOVE, &ASK].map(|bulk| bulk.sql()));
    all.extend(clinical_moves().map(|(_, bulk)| bulk.sql()));
    all
}

/// Which rows are looked at, and by which instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// Active time-bound states by their last confirmation.
    TimeBound,
    /// Active health signals by their last synchronisation.
    Signals,
    /// Active rows of any class that carry an `expires_at`, by it.
    Expiring,
    /// Active time-bound states that nobody was asked about in this cycle, by their last confirmation.
    Unasked,
}

/// The last row of the page before: its instant in microseconds, patient and id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place(pub i64, pub Uuid, pub Uuid);

impl Place {
    /// Before every row.
    pub const START: Place = Place(i64::MIN, Uuid::nil(), Uuid::nil());
}

/// A row as far as time matters to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aging {
    pub place: Place,
    pub patient: PatientId,
    pub memory: MemoryId,
    pub kind: Kind,
    pub cycle: u32,
    pub(crate) confidence: f64,
    pub life: Life,
}

/// The next page of a lane: rows whose instant is at or before `until`, after `after`, at most `limit`. Rows that a
/// writer holds are left to it: it folds them as of now.
///
/// # Errors
/// Of the database.
pub async fn page(
    tx: &mut Transaction,
    org: OrgId,
    lane: Lane,
    until: DateTime<Utc>,
    Next { after, limit }: Next<Place>,
) -> Result<Vec<Aging>, DbError> {
    let sql: &Sql = match lane {
        Lane::TimeBound => &TIME_BOUND,
        Lane::Signals => &SIGNALS,
        Lane::Expiring => &EXPIRING,
        Lane::Unasked => &UNASKED,
    };
    let args = vec![org.0.into(), until.into(), after.0.into(), after.1.into(), after.2.into(), limit.into()];
    tx.fetch_all(sql, args).await?.iter().map(aging).collect()
}

fn aging(row: &Row) -> Result<Aging, DbError> {
    let decode = |index| DbError::Decode { index };
    let (patient, id) = (row.uuid(1)?, row.uuid(2)?);
    let class = Class::from_code(&row.text(3)?).ok_or(decode(3))?;
    let last_confirmed_at = row.opt_time(7)?;
    let life = Life {
        class,
        state: State::from_code(&row.text(4)?).ok_or(decode(4))?,
        state_since: row.opt_time(5)?,
        recorded_at: row.time(6)?,
        last_confirmed_at,
        // A signal is confirmed by being synchronised.
        synced_at: last_confirmed_at.filter(|_| class == Class::HealthSignal),
        expires_at: row.opt_time(8)?,
        ends_at: row.opt_time(12)?,
    };
    Ok(Aging {
        place: Place(row.i64(0)?, patient, id),
        patient: PatientId(patient),
        memory: MemoryId(id),
        cycle: u32::try_from(row.i64(9)?).map_err(|_| decode(9))?,
        confidence: row.f64(10)?,
        kind: Kind::from_code(&row.text(11)?).ok_or(decode(11))?,
        life,
    })
}

/// A memory that time moved to another state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moved {
    pub row: Aging,
    pub to: State,
    /// When it happened, which is not when somebody looked.
    pub since: DateTime<Utc>,
}

/// Moves memories, their clinical rows and their histories, by a constant number of statements.
///
/// # Errors
/// Of the database.
pub async fn move_all(tx: &mut Transaction, org: OrgId, moved: &[Moved], now: DateTime<Utc>) -> Result<(), DbError> {
    tx.bulk(&MOVE, moved.iter().map(|m| moved_row(org, m, m.to.code(), now)).collect()).await?;
    for (entity, table) in clinical_moves() {
        let row = |m: &Moved| moved_row(org, m, status(entity, Polarity::Affirmed, m.to), now);
        tx.bulk(table, moved.iter().map(row).collect()).await?;
    }
    tx.bulk(&history::INSERT, moved.iter().map(|m| history_row(org, m, now)).collect()).await?;
    Ok(())
}

fn moved_row(org: OrgId, moved: &Moved, state: &str, now: DateTime<Utc>) -> Vec<Arg> {
    let (patient, memory) = (moved.row.patient.0, moved.row.memory.0);
    vec![org.0.into(), patient.into(), memory.into(), state.into(), moved.since.into(), now.into()]
}

fn history_row(org: OrgId, moved: &Moved, now: DateTime<Utc>) -> Vec<Arg> {
    let (patient, memory) = (moved.row.patient.0, moved.row.memory.0);
    let at = micros(moved.since).to_be_bytes();
    let parts: [&[u8]; 5] = [org.0.as_bytes(), patient.as_bytes(), memory.as_bytes(), moved.to.code().as_bytes(), &at];
    let line = Line {
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
    asked: &[(Aging, DateTime<Utc>)],
    now: DateTime<Utc>,
) -> Result<u64, DbError> {
    let rows = asked
        .iter()
        .map(|(row, due)| vec![org.0.into(), row.patient.0.into(), row.memory.0.into(), (*due).into(), now.into()])
        .collect();
    tx.bulk(&ASK, rows).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_sql::{Access, Database, Location};

    #[tokio::test]
    async fn what_is_due_is_found_by_index_in_order_without_sorting() {
        let db = Database::open(&Location::Memory).await.unwrap();
        let mut tx = db.begin(Access::Platform).await.unwrap();
        for (sql, index) in [
            (&*TIME_BOUND, "memory_aging"),
            (&*SIGNALS, "memory_aging"),
            (&*EXPIRING, "memory_expiring"),
            (&*UNASKED, "memory_reconfirm"),
        ] {
            let explain = Sql::new(Box::leak(format!("EXPLAIN QUERY PLAN {}", sql.sqlite()).into_boxed_str()));
            let args =
                vec![Uuid::nil().into(), 0i64.into(), 0i64.into(), Uuid::nil().into(), Uuid::nil().into(), 1i64.into()];
            let plan: Vec<String> =
                tx.fetch_all(&explain, args).await.unwrap().iter().map(|row| row.text(3).unwrap()).collect();
            assert_eq!(plan.len(), 1, "{plan:?}");
            assert!(plan[0].starts_with(&format!("SEARCH memory USING INDEX {index} (org_id=?")), "{plan:?}");
        }
    }

    #[tokio::test]
    async fn a_batch_of_changes_finds_its_rows_by_key() {
        let db = Database::open(&Location::Memory).await.unwrap();
        let mut tx = db.begin(Access::Platform).await.unwrap();
        let moves = clinical_moves().map(|(_, bulk)| bulk);
        for bulk in [&*MOVE, &*ASK].into_iter().chain(moves) {
            let explain = format!("EXPLAIN QUERY PLAN {}", bulk.sql().sqlite());
            let explain = Sql::new(Box::leak(explain.into_boxed_str()));
            let plan: Vec<String> = tx
                .fetch_all(&explain, vec!["[]".into()])
                .await
                .unwrap()
                .iter()
                .map(|row| row.text(3).unwrap())
                .collect();
            assert!(!plan.iter().any(|step| step.starts_with("SCAN") && !step.contains("json_each")), "{plan:?}");
        }
    }
}
