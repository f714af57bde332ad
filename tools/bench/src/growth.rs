//! `anamnesis-bench growth`: what one more document costs a patient of whom much is known, over what it costs one of whom
//! little is known. Both records are filled and timed through the pipeline, from bytes to commit, by turns, so that both
//! share whatever else the machine does.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::corpus;
use anamnesis_core::ids::{OrgId, PatientId, derive};
use anamnesis_pipeline::{Disposition, Pipeline, RawMessage};
use anamnesis_sql::{Access, Arg, DbError, Sql};

/// Documents of one transaction while the record is filled.
const FILL: u64 = 32;
/// Documents that are timed in each record.
const TIMED: u64 = 60;
/// Documents of a patient of whom little is known, before the timed one.
const FEW: u64 = 2;

static MEMORIES: std::sync::LazyLock<Sql> =
    std::sync::LazyLock::new(|| Sql::new("SELECT count(*) FROM memory WHERE org_id = $1 AND patient_id = $2"));
static FINDINGS: std::sync::LazyLock<Sql> = std::sync::LazyLock::new(|| {
    Sql::new("SELECT count(*) FROM extracted_findings WHERE org_id = $1 AND patient_id = $2")
});

/// Why it could not be measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GrowthError {
    #[error(transparent)]
    Store(#[from] DbError),
    #[error("a document was not stored")]
    NotStored,
}

/// Medians in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct GrowthMeasurement {
    pub(crate) bench: &'static str,
    pub(crate) store: &'static str,
    /// `release` or `debug`.
    pub(crate) build: &'static str,
    /// Of the full record when timing began.
    pub(crate) documents: u64,
    pub(crate) memories: u64,
    pub(crate) findings: u64,
    /// A document into a record with few others.
    pub(crate) empty_ms: f64,
    /// The same document into the full record.
    pub(crate) full_ms: f64,
    /// `full_ms` over `empty_ms`.
    pub(crate) ratio: f64,
}

/// Fills one record until it holds so many memories, then times documents into it and into new ones by turns. `report` hears
/// how many memories are there.
///
/// # Errors
/// When the store refuses something, or a document is not stored.
pub(crate) async fn measure(
    pipeline: &Pipeline,
    memories: u64,
    report: &(dyn Fn(u64) + Sync),
) -> Result<GrowthMeasurement, GrowthError> {
    let store = pipeline.store();
    let org = OrgId(derive("bench.org", &[b"growth"]));
    let long = PatientId(derive("patient", &[b"growth"]));
    let mut documents = 0;
    let mut held = 0;
    while held < memories {
        let bodies = (documents..documents + FILL).map(|number| RawMessage::from_body(corpus::life(org, long, number)));
        stored(pipeline, bodies.collect()).await?;
        documents += FILL;
        held = count(pipeline, &MEMORIES, org, long).await?;
        report(held);
    }
    let (mut full, mut empty) = (Vec::new(), Vec::new());
    for n in 0..TIMED {
        let other = PatientId(derive("patient", &[b"growth", &n.to_be_bytes()]));
        let before = (0..FEW).map(|number| RawMessage::from_body(corpus::life(org, other, number)));
        stored(pipeline, before.collect()).await?;
        let number = documents + n;
        empty.push(stored(pipeline, vec![RawMessage::from_body(corpus::life(org, other, number))]).await?);
        full.push(stored(pipeline, vec![RawMessage::from_body(corpus::life(org, long, number))]).await?);
    }
    let (empty_ms, full_ms) = (median(&mut empty), median(&mut full));
    Ok(GrowthMeasurement {
        bench: "growth",
        store: store.db().engine(),
        build: if cfg!(debug_assertions) { "debug" } else { "release" },
        documents,
        memories: held,
        findings: count(pipeline, &FINDINGS, org, long).await?,
        empty_ms,
        full_ms,
        ratio: full_ms / empty_ms.max(1e-9),
    })
}

async fn stored(pipeline: &Pipeline, bodies: Vec<RawMessage>) -> Result<Duration, GrowthError> {
    let started = Instant::now();
    let done = pipeline.run(bodies).await;
    let took = started.elapsed();
    if done.iter().all(|one| *one == Disposition::Stored) { Ok(took) } else { Err(GrowthError::NotStored) }
}

async fn count(pipeline: &Pipeline, sql: &Sql, org: OrgId, patient: PatientId) -> Result<u64, DbError> {
    let mut tx = pipeline.store().db().read(Access::Organization(org)).await?;
    let rows = tx.fetch_all(sql, vec![Arg::from(org.0), patient.0.into()]).await?;
    rows.first().map_or(Ok(0), |row| Ok(u64::try_from(row.i64(0)?).unwrap_or(0)))
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, |took| took.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_one_whatever_the_order() {
        assert!((median(&mut [3, 1, 2].map(Duration::from_millis)) - 2.0).abs() < 1e-9);
        assert!(median(&mut []).abs() < 1e-9);
    }
}
