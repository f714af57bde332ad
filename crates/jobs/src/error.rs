//! Why an attempt at a run failed, and the code of it in the ledger.

use anamnesis_crypto::KeyError;
use anamnesis_embedding::EmbedError;
use anamnesis_sql::DbError;
use anamnesis_store::StoreError;

/// Why an attempt failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    #[error(transparent)]
    Database(#[from] DbError),
    #[error(transparent)]
    Keys(#[from] KeyError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An additional redaction service cannot be asked now.
    #[error("an additional redaction service is currently unavailable")]
    Service,
    #[error(transparent)]
    Embedding(#[from] EmbedError),
    /// A generation was begun by another model: a new model needs a new number.
    #[error("another model began the vector generation in progress: set a higher `generation` for the new model")]
    ModelChanged,
    /// The checkpoint is of a version with another division of the work: a manual run starts again.
    #[error("the checkpoint of the run cannot be read")]
    Cursor,
    /// Another owner took the run over; nothing of the batch was written.
    #[error("the run was taken over by another owner")]
    FenceLost,
}

impl JobError {
    /// The code that the ledger stores.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            JobError::Database(error) if error.is_transient() => "store_unavailable",
            JobError::Database(DbError::Schema) => "schema",
            JobError::Database(_) => "store_refused",
            JobError::Store(StoreError::Db(error)) => JobError::Database(error.clone()).code(),
            JobError::Store(StoreError::Key(error)) => JobError::Keys(error.clone()).code(),
            JobError::Store(error) if error.is_transient() => "store_unavailable",
            JobError::Store(_) => "store_refused",
            JobError::Keys(_) => "keys_unavailable",
            JobError::Service => "service_unavailable",
            JobError::Embedding(error) if error.is_retryable() => "embedding_unavailable",
            JobError::Embedding(_) => "embedding_refused",
            JobError::ModelChanged => "model_changed",
            JobError::Cursor => "cursor",
            JobError::FenceLost => "fence_lost",
        }
    }
}
