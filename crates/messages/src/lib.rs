#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! What producers send: bytes become an [`Envelope`] with a typed, checked message, or a [`Rejection`] that names the field
//! and never the value.
//!
//! [`contract`] holds the types of the wire and their JSON schemas, [`decode`] reads bytes, [`signature`] checks who sent
//! them.

mod canonical_json;
pub mod contract;
mod decode;
mod deserialize;
mod document_conversion;
mod envelope;
mod labelled_turns;
pub mod origin;
pub mod rejection;
pub mod signature;

pub use contract::{Message, MessageType};
pub use decode::Decoder;
pub use envelope::{Attributes, Envelope, EventForm};
pub use origin::MessageOrigin;
pub use rejection::{Problem, Rejection};
pub use signature::Signature;

/// How much one message may hold. What is beyond is refused at the first delivery: no retry makes it smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a body (contract.md: 1 MiB).
    pub max_body_bytes: usize,
    /// Levels of objects and arrays; the contract itself needs five.
    pub(crate) max_depth: usize,
    /// Turns of one dialogue: a session of hours has some thousands.
    pub(crate) max_turns: usize,
    /// People described for redaction.
    pub(crate) max_identities: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_body_bytes: 1024 * 1024, max_depth: 32, max_turns: 10_000, max_identities: 64 }
    }
}

impl Limits {
    /// The usual limits, with another one for bodies, in bytes.
    pub fn with_body(max_body_bytes: usize) -> Self {
        Self { max_body_bytes, ..Self::default() }
    }
}
