//! Generations of vectors: which one an organisation is searched by, and which one is made meanwhile. One row says it, so
//! that a swap is one update; who writes passages holds that row until the commit (seed 002, §12).

use chrono::{DateTime, Utc};

use crate::statements::vectors::generation as sql;
use anamnesis_core::ids::OrgId;
use anamnesis_sql::{Arg, DbError, Row, Sql, Transaction};

/// The generations of an organisation's vectors.
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
    /// A note of the last re-embedding run for the next one. Only that job reads it.
    pub note: Option<String>,
}

impl Generations {
    /// Whether vectors of this generation are in use or coming into use.
    pub fn uses(&self, active: i64, generation: i64) -> bool {
        generation == active || self.building == Some(generation)
    }
}

/// Of a row of [`sql::READ`], [`sql::HOLD`] or [`sql::TAKE`].
fn generations(row: &Row) -> Result<Generations, DbError> {
    Ok(Generations {
        active: row.opt_i64(sql::read::VECTOR_GENERATION)?,
        model: row.opt_text(sql::read::VECTOR_MODEL)?,
        building: row.opt_i64(sql::read::BUILDING_GENERATION)?,
        building_model: row.opt_text(sql::read::BUILDING_MODEL)?,
        swapped_at: row.opt_time(sql::read::VECTORS_SWAPPED_AT)?,
        left: row.bool(sql::read::STALE_VECTORS)?,
        note: row.opt_text(sql::read::REEMBEDDING_STATE)?,
    })
}

async fn asked(tx: &mut Transaction, sql: &Sql, org: OrgId) -> Result<Generations, DbError> {
    let row = tx.fetch_optional(sql, vec![org.0.into()]).await?;
    Ok(row.as_ref().map(generations).transpose()?.unwrap_or_default())
}

/// The current generations.
///
/// # Errors
/// Of the database.
pub async fn read(tx: &mut Transaction, org: OrgId) -> Result<Generations, DbError> {
    asked(tx, &sql::READ, org).await
}

/// The current generations, locked until the transaction ends, for those who write passages or vectors. The lock is
/// shared.
///
/// # Errors
/// Of the database.
pub async fn hold(tx: &mut Transaction, org: OrgId) -> Result<Generations, DbError> {
    asked(tx, &sql::HOLD, org).await
}

/// To change them: no other transaction holds them then.
///
/// # Errors
/// Of the database.
pub async fn take(tx: &mut Transaction, org: OrgId) -> Result<Generations, DbError> {
    asked(tx, &sql::TAKE, org).await
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
    tx.execute(&sql::SET, args).await?;
    Ok(())
}
