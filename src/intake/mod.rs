//! The door: what producers send becomes an [`Envelope`] with a typed, checked message, or a [`Refusal`] that names the
//! field and never the value.
//!
//! `contract` holds the types of the wire, `decode` reads bytes, `binding` says which producer may say what for
//! which organisation, `spool` reads NDJSON from files, folders and standard input, `convert` hands a document to redaction.

pub mod amqp;
pub mod binding;
pub mod contract;
pub mod convert;
pub mod decode;
pub mod envelope;
pub mod grant;
mod guard;
pub mod origin;
pub mod refusal;
pub mod signature;
mod speakers;
pub mod spool;
pub mod spool_folder;
mod typed;

use crate::config::IntakeConfig;

pub use contract::{Message, MessageType};
pub use decode::Decoder;
pub use envelope::{Attributes, Envelope, Form};
pub use origin::Origin;
pub use refusal::{Problem, Refusal};
pub use signature::Signature;

/// How much one message may hold. What is beyond is refused at the first delivery: no retry makes it smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a body (contract.md: 1 MiB).
    pub max_body_bytes: usize,
    /// Levels of objects and arrays; the contract itself needs five.
    pub max_depth: usize,
    /// Turns of one dialogue: a session of hours has some thousands.
    pub max_turns: usize,
    /// People described for redaction.
    pub max_identities: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_body_bytes: 1024 * 1024, max_depth: 32, max_turns: 10_000, max_identities: 64 }
    }
}

impl From<&IntakeConfig> for Limits {
    fn from(config: &IntakeConfig) -> Self {
        Self { max_body_bytes: config.max_body_bytes, ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configured_limit_starts_where_the_contract_puts_it() {
        assert_eq!(Limits::from(&IntakeConfig::default()), Limits::default());
    }
}
