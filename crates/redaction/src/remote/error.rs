//! Errors between redaction and a service.

use anamnesis_transport::{AddressError, ClientError};

/// Why a service gave no usable answer. Contains nothing of the text or the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RemoteError {
    #[error("the additional redaction service did not answer in time")]
    Timeout,
    #[error("the additional redaction service cannot be reached")]
    Unreachable,
    #[error("the additional redaction service refuses the credentials")]
    Denied,
    /// 404, a redirect, and other answers about the address or the service.
    #[error("the additional redaction service refuses the request")]
    Refused,
    /// 400, 413 or 422 for one text while the service accepts another.
    #[error("the additional redaction service refuses this text")]
    Document,
    #[error("the additional redaction service is overloaded or failing")]
    Overloaded,
    #[error("the response of the additional redaction service does not match the text")]
    InvalidResponse,
    #[error("the text is longer than the limit of the additional redaction service")]
    TooLarge,
    #[error("{0}")]
    Address(#[from] AddressError),
    #[error("{0}")]
    Client(#[from] ClientError),
    #[error("no thread could be started for additional redaction services")]
    Thread,
}

impl RemoteError {
    /// Whether the document may pass later: everything but what is about this text alone.
    pub fn is_retryable(self) -> bool {
        !matches!(self, Self::Document | Self::TooLarge)
    }

    /// For logs and metrics.
    pub fn code(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Unreachable => "unreachable",
            Self::Denied => "denied",
            Self::Refused => "refused",
            Self::Document => "document",
            Self::Overloaded => "overloaded",
            Self::InvalidResponse => "invalid_response",
            Self::TooLarge => "too_large",
            Self::Address(_) | Self::Client(_) | Self::Thread => "configuration",
        }
    }
}
