//! Reads for a purpose: the memories of one patient, found by meaning and by word, returned with source, permitted use
//! and confidence (seed 002, sections 6 and 7; seed 003, "Explainability").

mod as_said;
mod bm25;
mod bulk_request_check;
pub mod context;
pub mod emergency;
pub mod evaluation;
mod fusion;
mod lineage;
mod memory_item;
mod query;
mod recent_documents;
mod search;
mod thesaurus;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

pub use context::{ContextRequest, ContradictionView, PatientContext, PatientSummary};
pub use emergency::Emergency;
pub use lineage::{LineageNode, trace};
pub use memory_item::{ItemSource, MemoryItem};
pub use search::{Ranking, SearchHit, SearchRequest};

use anamnesis_core::ids::OrgId;
use anamnesis_embedding::Models;
use anamnesis_extraction::Extractor;
use anamnesis_observability::metrics::Metrics;
use anamnesis_observability::metrics::labels::{Endpoint, ErrorCode, Operation, ReadOutcome, Retriever};
use anamnesis_redaction::{RedactionError, Redactor};
use anamnesis_store::{Store, StoreError};

/// Why nothing was returned. Contains no text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecallError {
    /// Seed 002, section 9: a request for everything is refused.
    #[error("requests for all stored memories are refused: ask a narrower question")]
    DumpRefused,
    /// The query could not be redacted, so it goes nowhere.
    #[error("the query could not be redacted ({0})")]
    Redaction(#[from] RedactionError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RecallError {
    /// The word for it in spans.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::DumpRefused => "dump_refused",
            Self::Redaction(_) => "redaction",
            Self::Store(StoreError::NoConsent) => "no_consent",
            Self::Store(StoreError::Key(_) | StoreError::Open(_)) => "key",
            Self::Store(_) => "store",
        }
    }
}

/// The reading side.
#[derive(Clone)]
pub struct Recall {
    store: Store,
    models: Models,
    /// The generation of each organisation at its last search.
    seen: Arc<Mutex<HashMap<OrgId, Option<i64>>>>,
    /// The one that documents pass: a query's names become the same surrogates.
    redactor: Arc<Redactor>,
    /// The one that documents pass: a query names the same concepts.
    extractor: Arc<Extractor>,
    metrics: Arc<Metrics>,
}

impl std::fmt::Debug for Recall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recall").finish_non_exhaustive()
    }
}

impl Recall {
    pub fn new(store: Store, models: impl Into<Models>, redactor: Arc<Redactor>, metrics: Arc<Metrics>) -> Self {
        Self { store, models: models.into(), seen: Arc::default(), redactor, extractor: Extractor::shared(), metrics }
    }

    /// The generation of an organisation's last search; the store decides at the search.
    fn last_seen(&self, org: OrgId) -> Option<i64> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).get(&org).copied().flatten()
    }

    fn see(&self, org: OrgId, generation: Option<i64>) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(org, generation);
    }

    /// With the rules that the organisation's documents are read with.
    #[must_use]
    pub fn with_extractor(self, extractor: Arc<Extractor>) -> Self {
        Self { extractor, ..self }
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// # Errors
    /// When the query requests everything; counted.
    fn guard(&self, query: &str) -> Result<(), RecallError> {
        bulk_request_check::check(query).inspect_err(|_| self.metrics.recall.dumps_refused.inc())
    }

    /// Counts a read and its result.
    fn count_read(&self, read: &Result<PatientContext, RecallError>) -> ReadOutcome {
        let outcome = match read {
            Ok(context) if context.known => ReadOutcome::Hit,
            Ok(_) => ReadOutcome::Empty,
            Err(RecallError::DumpRefused | RecallError::Store(StoreError::NoConsent)) => ReadOutcome::Refused,
            Err(_) => ReadOutcome::Error,
        };
        self.metrics.recall.reads.with_labels((Endpoint::Context, outcome)).inc();
        let code = match read {
            Err(RecallError::Redaction(_)) => ErrorCode::Redaction,
            Err(RecallError::Store(StoreError::Key(_) | StoreError::Open(_))) => ErrorCode::Key,
            Ok(_) | Err(RecallError::DumpRefused | RecallError::Store(StoreError::NoConsent)) => return outcome,
            Err(RecallError::Store(_)) => ErrorCode::Store,
        };
        self.metrics.memory.errors.with_labels((Operation::Read, code)).inc();
        outcome
    }

    fn observe(&self, retriever: Retriever, started: Instant) {
        self.metrics.recall.seconds.with_labels(retriever).observe(started.elapsed().as_secs_f64());
    }
}

#[cfg(test)]
#[path = "fixture_tests.rs"]
mod fixture;
#[cfg(test)]
#[path = "lib_tests.rs"]
mod tests;
