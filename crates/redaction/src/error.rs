//! Why nothing leaves redaction.

use crate::remote::error::RemoteError;

/// Why nothing may be stored. Carries no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RedactionError {
    #[error("the redaction policy is not known")]
    UnknownPolicy,
    #[error("the policy seals tokens and there is no key for them")]
    NoTokenKey,
    #[error("a recogniser failed")]
    Failed,
    #[error("an additional redaction service gives no usable answer now")]
    ServiceAway(RemoteError),
    #[error("an additional redaction service refuses this text")]
    Service(RemoteError),
    #[error("redaction took longer than its limit")]
    Timeout,
    #[error("the text has a place that does not belong to it")]
    Offsets,
}
