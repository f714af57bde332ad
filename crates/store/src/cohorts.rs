//! Counts over an organisation's patients, computed only from unencrypted columns, and the published results.

use std::collections::BTreeMap;
use std::ops::Range;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{MemoryReader, StoreError};
use crate::statements::cohorts as sql;
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_sql::{Access, Arg, DbError, Row, Transaction};

/// One count that may be published.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CohortCount {
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
    for counted in [&sql::SENTIMENTS, &sql::RISKS, &sql::SUBJECTS, &sql::OUTCOMES] {
        for row in tx.fetch_all(counted, vec![org.0.into(), period.start.into(), period.end.into(), left_out()]).await?
        {
            let patients = u64::try_from(row.i64(sql::sentiments::PATIENTS)?).unwrap_or(0);
            let dimension = found.entry(row.text(sql::sentiments::DIMENSION)?).or_default();
            dimension.insert(row.text(sql::sentiments::VALUE)?, patients);
        }
    }
    Ok(found)
}

/// Whether a month was published before.
///
/// # Errors
/// Of the database.
pub async fn is_published(tx: &mut Transaction, org: OrgId, month: &str) -> Result<bool, DbError> {
    let row = tx.fetch_optional(&sql::COUNT_OF_MONTH, vec![org.0.into(), Arg::from(month)]).await?;
    row.map_or(Ok(false), |row| Ok(row.i64(sql::count_of_month::PATTERNS)? > 0))
}

/// Stores the results that may be published.
///
/// # Errors
/// Of the database.
pub async fn keep(
    tx: &mut Transaction,
    org: OrgId,
    patterns: &[CohortCount],
    now: DateTime<Utc>,
) -> Result<u64, DbError> {
    let row = |one: &CohortCount| sql::insert::Row {
        org_id: org.0.into(),
        month: one.month.clone().into(),
        dimension: one.dimension.clone().into(),
        value: one.value.clone().into(),
        patients: i64::try_from(one.patients).unwrap_or(i64::MAX).into(),
        created_at: now.into(),
        updated_at: now.into(),
    };
    tx.bulk(&sql::INSERT, patterns.iter().map(|one| row(one).into()).collect()).await
}

impl MemoryReader<'_> {
    /// The published results of an organisation, month by month.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn cohort_patterns(self, org: OrgId) -> Result<Vec<CohortCount>, StoreError> {
        let mut tx = self.db.read(Access::Organization(org)).await?;
        let rows = tx.fetch_all(&sql::OF_ORGANIZATION, vec![org.0.into()]).await?;
        let read = |row: &Row| {
            let patients = u64::try_from(row.i64(sql::of_organization::PATIENTS)?).unwrap_or(0);
            Ok(CohortCount {
                month: row.text(sql::of_organization::MONTH)?,
                dimension: row.text(sql::of_organization::DIMENSION)?,
                value: row.text(sql::of_organization::VALUE)?,
                patients,
            })
        };
        rows.iter().map(read).collect()
    }
}
