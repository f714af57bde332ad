//! What a changed policy of decay means for all memories of an organisation, set by set. The rule is the one of
//! `domain::confidence` and depends on few things of a memory: those that have them alike fade alike, so that one statement
//! moves thousands of rows and none of them travels.

use std::sync::LazyLock;

use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;

use super::engine::{Bulk, ColumnType, DbError, Row, Sql, Transaction};
use crate::domain::confidence::{self, DecayPolicy};
use crate::domain::ids::OrgId;
use crate::domain::memory::{Class, Kind};

static END: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT patient_id FROM memory WHERE org_id = $1 AND patient_id > $2 ORDER BY patient_id, id LIMIT 1 OFFSET $3",
    )
});
// As every writer of a patient's memories does, and in the same order.
static HOLD: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT patient_id FROM patient_profile WHERE org_id = $1 AND patient_id > $2 AND patient_id <= $3 \
         ORDER BY patient_id {for_update}",
    )
});
static ALIKE: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT kind, class, confidence, is_protected, uncertain_at - coalesce(last_verified, recorded_at), count(*) \
         FROM memory WHERE org_id = $1 AND patient_id > $2 AND patient_id <= $3 GROUP BY 1, 2, 3, 4, 5",
    )
});
// The stretch stands beside each row: as a value of its own it is what the primary key is asked for, once. A question that
// the new policy would not have asked is taken back.
static MOVE: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "UPDATE memory SET uncertain_at = coalesce(memory.last_verified, memory.recorded_at) + r.fades, \
         review_due_at = CASE WHEN r.fades IS NULL OR coalesce(memory.last_verified, memory.recorded_at) + r.fades > r.cutoff \
           THEN NULL ELSE memory.review_due_at END, \
         updated_at = r.now FROM {rows} AS r \
         WHERE memory.org_id = (SELECT s.org_id FROM {rows} AS s LIMIT 1) \
         AND memory.patient_id > (SELECT s.behind FROM {rows} AS s LIMIT 1) \
         AND memory.patient_id <= (SELECT s.last FROM {rows} AS s LIMIT 1) \
         AND memory.kind = r.kind AND memory.class = r.class AND memory.confidence = r.confidence \
         AND memory.is_protected = r.is_protected \
         AND memory.uncertain_at - coalesce(memory.last_verified, memory.recorded_at) IS NOT DISTINCT FROM r.faded",
        &[
            ("org_id", ColumnType::Uuid),
            ("behind", ColumnType::Uuid),
            ("last", ColumnType::Uuid),
            ("kind", ColumnType::Text),
            ("class", ColumnType::Text),
            ("confidence", ColumnType::Float),
            ("is_protected", ColumnType::Bool),
            ("faded", ColumnType::Int),
            ("fades", ColumnType::Int),
            ("cutoff", ColumnType::Int),
            ("now", ColumnType::Int),
        ],
    )
});

pub(super) fn statements() -> Vec<&'static Sql> {
    vec![&END, &HOLD, &ALIKE, MOVE.sql()]
}

/// Patients in the order of their ids: all of them after `behind`, up to `last`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    behind: Uuid,
    pub last: Uuid,
    /// Nobody comes after.
    pub is_last: bool,
}

/// Memories that fade alike.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alike {
    kind: Kind,
    class: Class,
    confidence: f64,
    is_protected: bool,
    /// Microseconds from the last reset of the clock to becoming uncertain, as stored.
    faded: Option<i64>,
    pub count: u64,
}

impl Alike {
    /// What the policy says instead, where it says something else. Microseconds as in [`Alike::faded`].
    pub fn moved_under(&self, policy: &DecayPolicy) -> Option<Moved> {
        let protected = confidence::is_protected(self.is_protected, self.class);
        let days = confidence::days_until_uncertain(policy, self.kind, self.confidence, protected);
        let fades = days.and_then(|days| TimeDelta::days(i64::from(days)).num_microseconds());
        (fades != self.faded).then_some(Moved { alike: *self, fades })
    }
}

/// Memories that fade at another pace from now on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moved {
    pub alike: Alike,
    fades: Option<i64>,
}

/// The patients behind this one who have about `rows` memories together; a patient's own are never divided.
///
/// # Errors
/// Of the database.
pub async fn stretch(tx: &mut Transaction, org: OrgId, behind: Uuid, rows: u32) -> Result<Stretch, DbError> {
    let args = vec![org.0.into(), behind.into(), rows.into()];
    let end = tx.fetch_optional(&END, args).await?.map(|row| row.uuid(0)).transpose()?;
    Ok(Stretch { behind, last: end.unwrap_or(Uuid::max()), is_last: end.is_none() })
}

/// Holds the patients of a stretch until the end of the transaction: what is counted now is what will be moved.
///
/// # Errors
/// Of the database.
pub async fn hold(tx: &mut Transaction, org: OrgId, stretch: &Stretch) -> Result<(), DbError> {
    tx.fetch_all(&HOLD, vec![org.0.into(), stretch.behind.into(), stretch.last.into()]).await?;
    Ok(())
}

/// The memories of a stretch by what decay asks of them.
///
/// # Errors
/// Of the database.
pub async fn alike(tx: &mut Transaction, org: OrgId, stretch: &Stretch) -> Result<Vec<Alike>, DbError> {
    let args = vec![org.0.into(), stretch.behind.into(), stretch.last.into()];
    tx.fetch_all(&ALIKE, args).await?.iter().map(read).collect()
}

fn read(row: &Row) -> Result<Alike, DbError> {
    let decode = |index| DbError::Decode { index };
    Ok(Alike {
        kind: Kind::from_code(&row.text(0)?).ok_or(decode(0))?,
        class: Class::from_code(&row.text(1)?).ok_or(decode(1))?,
        confidence: row.f64(2)?,
        is_protected: row.bool(3)?,
        faded: row.opt_i64(4)?,
        count: row.i64(5)?.unsigned_abs(),
    })
}

/// Writes when they become uncertain from now on.
///
/// # Errors
/// Of the database.
pub async fn set(
    tx: &mut Transaction,
    org: OrgId,
    (stretch, moved): (&Stretch, &[Moved]),
    (cutoff, now): (DateTime<Utc>, DateTime<Utc>),
) -> Result<u64, DbError> {
    let row = |m: &Moved| {
        vec![
            org.0.into(),
            stretch.behind.into(),
            stretch.last.into(),
            m.alike.kind.code().into(),
            m.alike.class.code().into(),
            m.alike.confidence.into(),
            m.alike.is_protected.into(),
            m.alike.faded.into(),
            m.fades.into(),
            cutoff.into(),
            now.into(),
        ]
    };
    tx.bulk(&MOVE, moved.iter().map(row).collect()).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::engine::{Access, Database, Location};

    #[tokio::test]
    async fn a_stretch_is_found_by_its_patients_and_no_table_is_read_whole() {
        let db = Database::open(&Location::Memory).await.unwrap();
        let mut tx = db.begin(Access::Platform).await.unwrap();
        let nil = || Uuid::nil().into();
        for (sql, args) in [
            (ALIKE.sqlite(), vec![nil(), nil(), nil()]),
            (MOVE.sql().sqlite(), vec!["[]".into()]),
            (END.sqlite(), vec![nil(), nil(), 1i64.into()]),
        ] {
            let explain = Sql::new(Box::leak(format!("EXPLAIN QUERY PLAN {sql}").into_boxed_str()));
            let plan: Vec<String> =
                tx.fetch_all(&explain, args).await.unwrap().iter().map(|row| row.text(3).unwrap()).collect();
            let is_range = |line: &String| line.contains("INDEX") && line.contains("(org_id=? AND patient_id>?");
            assert!(plan.iter().any(is_range), "{plan:?}");
            assert!(!plan.iter().any(|line| line.starts_with("SCAN memory")), "{plan:?}");
        }
    }
}
