//! Why nothing leaves redaction.

use crate::remote::error::RemoteError;

/// Why nothing may be stored. Carries no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RedactionError {
    #[error("the redaction policy is not known")]
    UnknownPolicy,
    #[error("the policy creates reversible tokens, but no token key is configured")]
    NoTokenKey,
    #[error("a recogniser failed")]
    Failed,
    #[error("an additional redaction service gave no usable response")]
    ServiceAway(RemoteError),
    #[error("an additional redaction service refuses this text")]
    Service(RemoteError),
    #[error("redaction took longer than its limit")]
    Timeout,
    #[error("an offset lies outside the text")]
    Offsets,
}
