//! Reading for a purpose: what is known of one patient, found by meaning and by word, assembled with its source, its
//! use and its confidence (seed 002, sections 6 and 7; seed 003, "Explainability").

mod bm25;
mod context;
mod fusion;
mod guard;
mod query;
mod search;
mod trace;
mod wording;

use std::sync::Arc;

pub use context::{Context, ContextRequest, Opposed, PatientSummary, RecentDocument};
pub use search::{Found, Hit, SearchRequest};
pub use trace::{Node, trace};
pub use wording::{Item, Source};

use crate::dlp::{RedactionError, Redactor};
use crate::embed::Embedder;
use crate::store::{Store, StoreError};

/// Why nothing was told. Carries no text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecallError {
    /// Seed 002, section 9: everything at once is never handed out.
    #[error("requests for everything that is stored are refused: ask for something narrower")]
    DumpRefused,
    /// The query could not be redacted, so it goes nowhere.
    #[error("the query could not be redacted ({0})")]
    Redaction(#[from] RedactionError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl RecallError {
    /// Stable code for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::DumpRefused => "dump_refused",
            Self::Redaction(_) => "redaction_failed",
            Self::Store(error) if error.is_transient() => "store_unavailable",
            Self::Store(_) => "store_failed",
        }
    }
}

/// The reading side.
#[derive(Clone)]
pub struct Recall {
    pub store: Store,
    pub embedder: Arc<dyn Embedder>,
    /// The one that documents pass: a query's names become the same surrogates.
    pub redactor: Arc<Redactor>,
}

impl std::fmt::Debug for Recall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recall").finish_non_exhaustive()
    }
}
