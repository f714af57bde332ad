//! Counts over an organisation's patients, from columns in the clear alone, and what of them is kept.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{Store, StoreError};
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_sql::{Access, Arg, Bulk, ColumnType, DbError, Sql, Transaction};

macro_rules! counted {
    ($dimension:literal, $value:literal, $from:literal) => {
        LazyLock::new(|| {
            Sql::new(concat!(
                "SELECT '",
                $dimension,
                "', ",
                $value,
                ", count(DISTINCT patient_id) FROM ",
                $from,
                " GROUP BY ",
                $value
            ))
        })
    };
}

static SENTIMENT: LazyLock<Sql> = counted!(
    "sentiment",
    "sentiment",
    "documents WHERE org_id = $1 AND current = 1 AND document_type <> 'analysis' AND sentiment IS NOT NULL \
     AND occurred_at >= $2 AND occurred_at < $3 AND patient_id NOT IN {uuids $4}"
);
static RISK: LazyLock<Sql> = counted!(
    "risk",
    "class",
    "risk_flag WHERE org_id = $1 AND denied = 0 AND experiencer = 'patient' AND at >= $2 AND at < $3 \
     AND patient_id NOT IN {uuids $4}"
);
static ABOUT: LazyLock<Sql> = counted!(
    "about",
    "entity_type",
    "extracted_findings WHERE org_id = $1 AND live = 1 AND negated = 0 AND experiencer = 'patient' \
     AND document_type IS NOT NULL AND document_type <> 'analysis' AND asserted_at >= $2 AND asserted_at < $3 \
     AND patient_id NOT IN {uuids $4}"
);
static OUTCOME: LazyLock<Sql> = counted!(
    "outcome",
    "state",
    "memory WHERE org_id = $1 AND kind <> 'raw' AND state IN ('active', 'resolved', 'resolved_unconfirmed', 'superseded') \
     AND class IN ('time_bound_state', 'long_lived_fact') AND valid_from >= $2 AND valid_from < $3 \
     AND patient_id NOT IN {uuids $4}"
);
static TOLD: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("SELECT count(*) FROM cohort_pattern WHERE org_id = $1 AND month = $2"));
static KEEP: LazyLock<Bulk> = LazyLock::new(|| {
    let columns = [
        ("org_id", ColumnType::Uuid),
        ("month", ColumnType::Text),
        ("dimension", ColumnType::Text),
        ("value", ColumnType::Text),
        ("patients", ColumnType::Int),
        ("created_at", ColumnType::Int),
        ("updated_at", ColumnType::Int),
    ];
    Bulk::new("cohort_pattern", &columns, "ON CONFLICT (org_id, month, dimension, value) DO NOTHING")
});
static PATTERNS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT month, dimension, value, patients FROM cohort_pattern WHERE org_id = $1 \
         ORDER BY month, dimension, patients DESC, value",
    )
});

pub fn statements() -> Vec<&'static Sql> {
    vec![&SENTIMENT, &RISK, &ABOUT, &OUTCOME, &TOLD, KEEP.sql(), &PATTERNS]
}

/// One count that may be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pattern {
    /// `2026-06`.
    pub month: String,
    /// sentiment, risk, about, outcome.
    pub dimension: String,
    pub value: String,
    /// At least so many, in steps.
    pub patients: u64,
}

/// Distinct patients of a month but for those who are left out, by dimension and value; not to be published as they are.
///
/// # Errors
/// Of the database.
pub async fn counts(
    tx: &mut Transaction,
    org: OrgId,
    period: &Range<DateTime<Utc>>,
    left_out: &[PatientId],
) -> Result<BTreeMap<String, BTreeMap<String, u64>>, DbError> {
    let mut found: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    let left_out = || Arg::Uuids(left_out.iter().map(|patient| patient.0).collect());
    for sql in [&SENTIMENT, &RISK, &ABOUT, &OUTCOME] {
        for row in tx.fetch_all(sql, vec![org.0.into(), period.start.into(), period.end.into(), left_out()]).await? {
            let patients = u64::try_from(row.i64(2)?).unwrap_or(0);
            found.entry(row.text(0)?).or_default().insert(row.text(1)?, patients);
        }
    }
    Ok(found)
}

/// Whether a month was told before.
///
/// # Errors
/// Of the database.
pub async fn is_told(tx: &mut Transaction, org: OrgId, month: &str) -> Result<bool, DbError> {
    let row = tx.fetch_optional(&TOLD, vec![org.0.into(), Arg::from(month)]).await?;
    row.map_or(Ok(false), |row| Ok(row.i64(0)? > 0))
}

/// Keeps what may be told.
///
/// # Errors
/// Of the database.
pub async fn keep(tx: &mut Transaction, org: OrgId, patterns: &[Pattern], now: DateTime<Utc>) -> Result<u64, DbError> {
    let row = |one: &Pattern| {
        let patients = i64::try_from(one.patients).unwrap_or(i64::MAX);
        let (month, dimension, value) = (one.month.clone(), one.dimension.clone(), one.value.clone());
        vec![org.0.into(), month.into(), dimension.into(), value.into(), patients.into(), now.into(), now.into()]
    };
    tx.bulk(&KEEP, patterns.iter().map(row).collect()).await
}

impl Store {
    /// What was told of an organisation's patients, month by month.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn cohort_patterns(&self, org: OrgId) -> Result<Vec<Pattern>, StoreError> {
        let mut tx = self.db.read(Access::Organization(org)).await?;
        let rows = tx.fetch_all(&PATTERNS, vec![org.0.into()]).await?;
        let read = |row: &anamnesis_sql::Row| {
            let patients = u64::try_from(row.i64(3)?).unwrap_or(0);
            Ok(Pattern { month: row.text(0)?, dimension: row.text(1)?, value: row.text(2)?, patients })
        };
        rows.iter().map(read).collect()
    }
}
