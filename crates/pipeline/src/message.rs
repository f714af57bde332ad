//! A message on its way through the pipeline: as it came, as it was admitted, and what became of it.

use std::sync::Arc;

use bytes::Bytes;
use chrono::{DateTime, Utc};

use crate::batch_log::TraceIds;
use crate::command_text::CommandText;
use crate::disposition::Disposition;
use crate::erasure::is_erasure;
use crate::intake::grant::Grant;
use crate::manual_memory::CommandReferences;
use crate::{forget_by_topic, rights};
use anamnesis_core::consent::Withdrawal;
use anamnesis_core::ids::OrgId;
use anamnesis_core::projection::KeyHash;
use anamnesis_core::reason::Reason;
use anamnesis_core::scope::Scope;
use anamnesis_messages::contract::DocumentSubmitted;
use anamnesis_messages::{Attributes, Envelope, MessageOrigin, Rejection};
use anamnesis_observability::metrics::labels::MessageType;
use anamnesis_observability::traces::{TraceContext, TraceSpan};
use anamnesis_store::Keys;
use anamnesis_store::admission::AttemptBatch;
use anamnesis_store::consents::CheckedConsents;

/// A message as it arrived. Its body is shared, so that it is never copied.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawMessage {
    pub body: Bytes,
    /// CloudEvents attributes outside the body; `None` if the body contains them.
    pub attributes: Option<Attributes>,
    /// A rejection that the transport decided (a line beyond the limit).
    pub refused: Option<Rejection>,
    /// When it was sent, of a message that its event does not date.
    pub sent_at: Option<DateTime<Utc>>,
    /// The endpoint at which it arrived.
    pub origin: MessageOrigin,
}

impl RawMessage {
    /// A self-describing body, from a caller who has opened the store with its keys.
    pub fn from_body(body: Vec<u8>) -> Self {
        Self { body: body.into(), ..Self::default() }
    }

    /// A body that describes itself, from a file.
    pub fn from_file(body: Vec<u8>) -> Self {
        Self { body: body.into(), origin: MessageOrigin::Files, ..Self::default() }
    }
}

/// An envelope on its way, with its place in the batch.
pub(crate) struct AdmittedMessage {
    pub(crate) place: usize,
    pub(crate) scope: Scope,
    pub(crate) message: KeyHash,
    pub(crate) body_hash: KeyHash,
    /// Boxed: messages move between lists, and an envelope has about a kilobyte.
    pub(crate) envelope: Box<Envelope>,
    pub(crate) policy: String,
    /// The permissions of its producer.
    pub(crate) grant: Grant,
    /// The effect of a withdrawal of consent on memories.
    pub(crate) withdrawal: Withdrawal,
    /// Nothing of it may be stored.
    pub(crate) ephemeral: bool,
    /// The words of a correction, an answer or a memory made by hand.
    pub(crate) words: Option<CommandText>,
    /// The sources that a command names.
    pub(crate) references: CommandReferences,
    /// The span of its work.
    pub(crate) span: TraceContext,
}

impl AdmittedMessage {
    /// Whether it requests an erasure, which has a separate transaction after the rest of its batch.
    pub(crate) fn erases(&self) -> bool {
        matches!(&self.envelope.message, anamnesis_messages::Message::MemoryCommand(command) if is_erasure(command))
    }

    /// Whether it requests an answer, which is written after the rest of its batch.
    pub(crate) fn asks(&self) -> bool {
        matches!(&self.envelope.message, anamnesis_messages::Message::MemoryCommand(command) if rights::asked(command).is_some())
    }

    /// Whether it names its target by words.
    pub(crate) fn speaks_of_a_topic(&self) -> bool {
        matches!(&self.envelope.message, anamnesis_messages::Message::MemoryCommand(command) if forget_by_topic::speaks_of_a_topic(command))
    }

    /// The document that is read: the message's own, or the words of a command, which pass redaction and are quoted like
    /// everything that is said.
    pub(crate) fn document(&self) -> Option<&DocumentSubmitted> {
        match (&self.envelope.message, &self.words) {
            (anamnesis_messages::Message::DocumentSubmitted(document), _) => Some(document),
            (_, Some(words)) => Some(&words.document),
            _ => None,
        }
    }
}

/// A decoded message of a batch. It moves from stage to stage until it has a [`MessageOutcome`].
pub(crate) struct DecodedMessage {
    /// Of its message in the batch.
    pub(crate) place: usize,
    /// The span of its work.
    pub(crate) span: TraceContext,
    pub(crate) envelope: Box<Envelope>,
}

/// How the way of one message ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MessageOutcome {
    /// Of its message in the batch.
    pub(crate) place: usize,
    pub(crate) disposition: Disposition,
    /// The field that a refusal names.
    pub(crate) field: Option<String>,
    /// Nothing of it may be stored, not even in quarantine.
    pub(crate) unkept: bool,
}

impl MessageOutcome {
    pub(crate) fn new(place: usize, disposition: Disposition) -> Self {
        Self { place, disposition, field: None, unkept: false }
    }

    pub(crate) fn quarantined(place: usize, reason: Reason, field: Option<String>) -> Self {
        Self { field, ..Self::new(place, Disposition::Quarantined(reason)) }
    }
}

/// One message of a batch, with what became of it.
pub(crate) struct BatchMessage {
    pub(crate) raw: RawMessage,
    pub(crate) kind: MessageType,
    /// The `time` of its event, where the producer set one.
    pub(crate) sent_at: Option<DateTime<Utc>>,
    pub(crate) organization: Option<OrgId>,
    /// The patient, if the message is readable.
    pub(crate) patient: Option<Scope>,
    /// The ids of the message for the log.
    pub(crate) trace: TraceIds,
    /// Of the work on it, from its arrival to its outcome.
    pub(crate) span: TraceSpan,
    pub(crate) outcome: Option<MessageOutcome>,
}

impl BatchMessage {
    /// Its outcome's disposition; `open` while it has none.
    pub(crate) fn disposition(&self, open: Disposition) -> Disposition {
        self.outcome.as_ref().map_or(open, |outcome| outcome.disposition)
    }
}

/// The common data of all messages of one organisation in a batch.
pub(crate) struct BatchContext {
    /// Of the patients that were not erased.
    pub(crate) keys: Keys,
    /// The generation of vectors that the organisation is searched by; `None`: the configured one.
    pub(crate) generation: Option<i64>,
    /// The consents that decided of whom something may be stored.
    pub(crate) looked: Arc<CheckedConsents>,
    /// The attempts that were recorded before the work.
    pub(crate) begun: AttemptBatch,
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
