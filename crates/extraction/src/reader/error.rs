//! Why a reader could not be loaded.

use anamnesis_neural::file::TensorError;

/// Permanent: the right file must be put in place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReaderError {
    #[error("the program was built without its reader: name a file")]
    Absent,
    #[error("the reader's file cannot be read: {0}")]
    Unreadable(std::io::ErrorKind),
    #[error("the reader's file does not fit: {0}")]
    Tensors(#[from] TensorError),
    /// Missing, not of its form, or at odds with another entry or with a tensor.
    #[error("the reader's file says nothing sound for {0} in its metadata")]
    Metadata(&'static str),
    #[error("the pieces of the reader's file are not distinct or do not fit their scores")]
    Vocabulary,
}
