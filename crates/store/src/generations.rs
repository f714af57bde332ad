//! Generations of vectors: which one an organisation is searched by, and which one is made beside it. One row says it, so
//! that a swap is one update; whoever writes passages holds that row until the commit (seed 002, §12).

use std::sync::LazyLock;

use chrono::{DateTime, Utc};

use anamnesis_core::ids::OrgId;
use anamnesis_sql::{Arg, DbError, Row, Sql, Transaction};

static READ: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT vector_generation, vector_model, building_generation, building_model, vectors_swapped_at, vectors_left, \
         building_left \
         FROM organization WHERE org_id = $1",
    )
});
static HOLD: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT vector_generation, vector_model, building_generation, building_model, vectors_swapped_at, vectors_left, \
         building_left \
         FROM organization WHERE org_id = $1 {for_share}",
    )
});
static TAKE: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT vector_generation, vector_model, building_generation, building_model, vectors_swapped_at, vectors_left, \
         building_left \
         FROM organization WHERE org_id = $1 {for_update}",
    )
});
static SET: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "UPDATE organization SET vector_generation = $2, vector_model = $3, building_generation = $4, building_model = $5, \
         vectors_swapped_at = $6, vectors_left = $7, building_left = $8, updated_at = $9 WHERE org_id = $1",
    )
});

pub fn statements() -> Vec<&'static Sql> {
    vec![&READ, &HOLD, &TAKE, &SET]
}

/// How the vectors of an organisation stand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Generations {
    /// The generation that is searched; `None`: the configured one.
    pub active: Option<i64>,
    /// The model that made it, as far as it is known.
    pub model: Option<String>,
    /// The generation that is being made.
    pub building: Option<i64>,
    pub building_model: Option<String>,
    pub swapped_at: Option<DateTime<Utc>>,
    /// Vectors of other generations are still there.
    pub left: bool,
    /// What the last night of re-embedding left for the next one: its own to read.
    pub note: Option<String>,
}

impl Generations {
    /// Whether vectors of this generation are in use or coming into use.
    pub fn uses(&self, active: i64, generation: i64) -> bool {
        generation == active || self.building == Some(generation)
    }
}

fn generations(row: &Row) -> Result<Generations, DbError> {
    Ok(Generations {
        active: row.opt_i64(0)?,
        model: row.opt_text(1)?,
        building: row.opt_i64(2)?,
        building_model: row.opt_text(3)?,
        swapped_at: row.opt_time(4)?,
        left: row.bool(5)?,
        note: row.opt_text(6)?,
    })
}

async fn asked(tx: &mut Transaction, sql: &Sql, org: OrgId) -> Result<Generations, DbError> {
    let row = tx.fetch_optional(sql, vec![org.0.into()]).await?;
    Ok(row.as_ref().map(generations).transpose()?.unwrap_or_default())
}

/// As they stand.
///
/// # Errors
/// Of the database.
pub async fn read(tx: &mut Transaction, org: OrgId) -> Result<Generations, DbError> {
    asked(tx, &READ, org).await
}

/// As they stand until the transaction ends: for whoever writes passages or vectors. Others may hold them, too.
///
/// # Errors
/// Of the database.
pub async fn hold(tx: &mut Transaction, org: OrgId) -> Result<Generations, DbError> {
    asked(tx, &HOLD, org).await
}

/// To change them: nobody holds them then.
///
/// # Errors
/// Of the database.
pub async fn take(tx: &mut Transaction, org: OrgId) -> Result<Generations, DbError> {
    asked(tx, &TAKE, org).await
}

/// Writes what [`take`] read and the caller changed.
///
/// # Errors
/// Of the database.
pub async fn set(tx: &mut Transaction, org: OrgId, to: &Generations, now: DateTime<Utc>) -> Result<(), DbError> {
    let args: Vec<Arg> = vec![
        org.0.into(),
        to.active.into(),
        to.model.clone().into(),
        to.building.into(),
        to.building_model.clone().into(),
        to.swapped_at.into(),
        to.left.into(),
        to.note.clone().into(),
        now.into(),
    ];
    tx.execute(&SET, args).await?;
    Ok(())
}
