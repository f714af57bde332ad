//! What surrounds a message: CloudEvents 1.0 attributes, and for bare data the ones derived from it.

use std::fmt;

use aws_lc_rs::digest::{Context, SHA256};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::contract::{Message, MessageType};
use super::origin::MessageOrigin;
use super::signature::Signature;
use anamnesis_core::ids::{OrgId, PatientId};

/// The source of data that came without an envelope. A producer binding may name it like any other.
pub(crate) const BARE_SOURCE: &str = "urn:anamnesis:bare";

/// CloudEvents attributes as a transport delivers them next to the body (binary mode): the headers of AMQP, or of HTTP.
/// In structured mode and in NDJSON they are read from the body itself.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attributes {
    pub specversion: Option<String>,
    pub id: Option<String>,
    pub source: Option<String>,
    /// The message type's name.
    pub kind: Option<String>,
    pub time: Option<DateTime<Utc>>,
    pub content_type: Option<String>,
    pub partition_key: Option<String>,
    pub traceparent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

impl fmt::Debug for Attributes {
    /// The producer's words do not show.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attributes").finish_non_exhaustive()
    }
}

/// How a message was wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventForm {
    /// A CloudEvent.
    Event,
    /// Data alone: id and source are derived.
    Bare,
}

/// A readable message with what identifies it. The idempotency key is (organisation, source, id).
#[derive(Clone, PartialEq)]
pub struct Envelope {
    pub source: String,
    pub id: String,
    /// When the producer sent it.
    pub time: Option<DateTime<Utc>>,
    pub partition_key: Option<String>,
    /// W3C trace context, only when well formed.
    pub traceparent: Option<String>,
    /// SHA-256 over the message type and the canonical data: equal for equal content, however it was serialised.
    pub body_hash: [u8; 32],
    pub form: EventForm,
    pub signature: Option<Signature>,
    /// The door that it came through.
    pub origin: MessageOrigin,
    pub message: Message,
    /// Paths of fields that the contract does not have (`metadata.mood`, `turns[].words`), for `doctor`.
    pub unknown_fields: Vec<String>,
}

impl Envelope {
    pub fn kind(&self) -> MessageType {
        self.message.kind()
    }

    pub fn organization(&self) -> OrgId {
        self.message.organization()
    }

    pub fn patient(&self) -> PatientId {
        self.message.patient()
    }
}

impl fmt::Debug for Envelope {
    /// Ids and sources are the producer's words: only what is ours shows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Envelope")
            .field("kind", &self.kind().name())
            .field("form", &self.form)
            .field("organization", &self.organization())
            .field("unknown_fields", &self.unknown_fields.len())
            .finish_non_exhaustive()
    }
}

/// The hash that tells a redelivery from another message under the same id.
pub(super) fn body_hash(kind: MessageType, canonical: &[u8]) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    context.update(kind.name().as_bytes());
    context.update(&[0]);
    context.update(canonical);
    let mut hash = [0; 32];
    hash.copy_from_slice(context.finish().as_ref());
    hash
}

/// The id of bare data: a document is itself in one revision; anything else is what it says.
pub(super) fn bare_id(message: &Message, body_hash: &[u8; 32]) -> String {
    match message {
        Message::DocumentSubmitted(data) => format!("{}:{}", data.document_id, data.revision),
        _ => hex::encode(body_hash),
    }
}

/// Keeps a W3C `traceparent` only when it is well formed: version, trace id, parent id, flags, in lower-case hex and
/// not zero. A broken one starts a new trace rather than costing a message.
pub(super) fn traceparent(text: Option<String>) -> Option<String> {
    let text = text?;
    let parts: Vec<&str> = text.split('-').collect();
    let [version, trace, parent, flags] = parts[..] else { return None };
    let hex = |part: &str, length: usize| {
        part.len() == length && part.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    let not_zero = |part: &str| part.bytes().any(|byte| byte != b'0');
    let formed = hex(version, 2) && version != "ff" && hex(trace, 32) && hex(parent, 16) && hex(flags, 2);
    (formed && not_zero(trace) && not_zero(parent)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_trace_context_is_dropped() {
        let kept = |text: &str| traceparent(Some(text.to_string())).is_some();
        assert!(kept("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
        assert!(!kept("00-00000000000000000000000000000000-00f067aa0ba902b7-01"));
        assert!(!kept("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"));
        assert!(!kept("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"));
        assert!(!kept("4bf92f3577b34da6a3ce929d0e0e4736"));
        assert!(!kept(""));
    }

    #[test]
    fn the_hash_depends_on_type_and_content() {
        let document = body_hash(MessageType::DocumentSubmitted, b"{}");
        assert_eq!(document, body_hash(MessageType::DocumentSubmitted, b"{}"));
        assert_ne!(document, body_hash(MessageType::DocumentSubmitted, b"{ }"));
        assert_ne!(document, body_hash(MessageType::ConsentRecorded, b"{}"));
    }
}
