//! `anamnesis-bench audit`: what it costs a read to wait for its entry in the audit trail, over the same read without one, and
//! how long the check of a chain takes. Reads with and without take turns, so that both share whatever else the machine does.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::corpus;
use anamnesis_core::audit::Actor;
use anamnesis_core::ids::{OrgId, PatientId, derive};
use anamnesis_core::scope::Scope;
use anamnesis_pipeline::{Disposition, Pipeline, RawMessage};
use anamnesis_search::context::clinical_profile;
use anamnesis_store::StoreError;
use anamnesis_store::audit_trail::AuditedAction;
use anamnesis_store::read::ReadInstant;

/// Why it could not be measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AuditBenchError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("a document was not stored, or a patient cannot be read")]
    Unreadable,
}

/// Medians in milliseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct AuditMeasurement {
    pub(crate) bench: &'static str,
    pub(crate) store: &'static str,
    /// `release` or `debug`.
    pub(crate) build: &'static str,
    pub(crate) reads: usize,
    /// A profile, without an entry.
    pub(crate) read_ms: f64,
    /// The same with its entry committed first.
    pub(crate) waits_ms: f64,
    /// `waits_ms` over `read_ms`.
    pub(crate) ratio: f64,
    pub(crate) entries: u64,
    /// Entries that the check of the chain takes in a second.
    pub(crate) checked_per_s: f64,
}

/// # Errors
/// When the store refuses something, or a document is not stored.
pub(crate) async fn measure(
    pipeline: &Pipeline,
    documents: u64,
    reads: usize,
) -> Result<AuditMeasurement, AuditBenchError> {
    let store = pipeline.store();
    let (org, patient) = (OrgId(derive("bench.org", &[b"audit"])), PatientId(derive("patient", &[b"audit"])));
    let scope = Scope::new(org, patient).map_err(|_| AuditBenchError::Unreadable)?;
    let bodies = (0..documents).map(|number| RawMessage::from_body(corpus::life(org, patient, number))).collect();
    if pipeline.run(bodies).await.iter().any(|done| *done != Disposition::Stored) {
        return Err(AuditBenchError::Unreadable);
    }
    let reader = Actor { id: "bench".to_owned(), ..Actor::default() };
    let (mut alone, mut waits) = (Vec::with_capacity(reads), Vec::with_capacity(reads));
    for _ in 0..reads {
        for (audited, times) in [(false, &mut alone), (true, &mut waits)] {
            let started = Instant::now();
            if audited {
                store.audit_trail().audit(&reader, AuditedAction::to(scope, "read_profile")).await?;
            }
            clinical_profile(store, scope, ReadInstant::Now).await.map_err(|_| AuditBenchError::Unreadable)?;
            times.push(started.elapsed());
        }
    }
    store.audit_trail().seal_audit(org).await?;
    let started = Instant::now();
    let report = store.audit_trail().check_audit(org, &[], chrono::DateTime::UNIX_EPOCH).await?;
    let took = started.elapsed().as_secs_f64().max(1e-9);
    let (read_ms, waits_ms) = (median(&mut alone), median(&mut waits));
    Ok(AuditMeasurement {
        bench: "audit",
        store: store.db().engine(),
        build: if cfg!(debug_assertions) { "debug" } else { "release" },
        reads,
        read_ms,
        waits_ms,
        ratio: waits_ms / read_ms.max(1e-9),
        entries: report.entries,
        checked_per_s: report.entries as f64 / took,
    })
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, |took| took.as_secs_f64() * 1e3)
}
