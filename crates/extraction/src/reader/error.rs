//! Why a reader could not be loaded.

use anamnesis_neural::file::TensorError;

/// Permanent: the right file must be put in place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReaderError {
    #[error("the program was built without the learned reader: set extraction.reader_file")]
    Absent,
    #[error("the reader's file cannot be read: {0}")]
    Unreadable(std::io::ErrorKind),
    #[error("the reader file is incompatible: {0}")]
    Tensors(#[from] TensorError),
    /// Missing, not of its form, or at odds with another entry or with a tensor.
    #[error("the metadata of the reader file has an invalid value for {0}")]
    Metadata(&'static str),
    #[error("the vocabulary of the reader file has duplicates or a wrong number of scores")]
    Vocabulary,
}
