//! The messages between a worker and the process that handles one message in isolation.

use anamnesis_config::secrets::PassedSecrets;
use anamnesis_core::reason::Reason;
use anamnesis_messages::{Attributes, MessageOrigin, Problem, Rejection};
use anamnesis_observability::metrics::Label as _;
use anamnesis_observability::metrics::labels::Queue;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::{Disposition, RawMessage};

/// Sent by the worker.
#[derive(Serialize, Deserialize)]
pub struct IsolatedRequest {
    /// A code of [`Queue`].
    queue: String,
    attributes: Option<Attributes>,
    /// The endpoint at which it arrived.
    origin: MessageOrigin,
    /// Reason, problem and field of a rejection by the headers alone.
    refused: Option<(Reason, Problem, Option<String>)>,
    body: String,
    /// The worker's secret variables. They use this pipe, because other processes of the same user can read an
    /// environment.
    pub secrets: PassedSecrets,
}

/// Sent by the isolated process.
#[derive(Serialize, Deserialize)]
pub struct IsolatedResponse {
    /// A code of [`Disposition`], or `waits`.
    disposition: String,
    /// For a quarantined message.
    reason: Option<Reason>,
}

impl IsolatedResponse {
    pub fn from_disposition(disposition: Disposition) -> Self {
        let reason = match disposition {
            Disposition::Quarantined(reason) => Some(reason),
            _ => None,
        };
        Self { disposition: disposition_name(disposition).to_owned(), reason }
    }

    /// `None` for a word of another version.
    pub(crate) fn disposition(self) -> Option<Disposition> {
        let quarantined = self.reason.map(Disposition::Quarantined);
        let open = [Disposition::Retry, Disposition::Waits];
        let plain = [Disposition::Stored, Disposition::Duplicate, Disposition::Ephemeral].into_iter().chain(open);
        plain.chain(quarantined).find(|one| disposition_name(*one) == self.disposition)
    }
}

/// Distinguishes an attempt that counts from one that does not.
fn disposition_name(disposition: Disposition) -> &'static str {
    match disposition {
        Disposition::Waits => "waits",
        other => other.code(),
    }
}

/// Counts written bytes.
struct ByteCounter(usize);

impl std::io::Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl IsolatedRequest {
    pub(crate) fn new(queue: Queue, message: &RawMessage) -> Self {
        let refused = message.refused.as_ref().map(|r| (r.reason, r.problem, r.field.clone()));
        let body = STANDARD.encode(&message.body);
        Self {
            queue: queue.code().to_owned(),
            attributes: message.attributes.clone(),
            origin: message.origin.clone(),
            refused,
            body,
            secrets: PassedSecrets::of_this_process(),
        }
    }

    /// As it is written to the pipe; wiped when it is dropped.
    pub(crate) fn written(&self) -> Option<Zeroizing<Vec<u8>>> {
        // Measured first, because a growing buffer leaves copies that are never wiped.
        let mut length = ByteCounter(0);
        serde_json::to_writer(&mut length, self).ok()?;
        let mut bytes = Zeroizing::new(Vec::with_capacity(length.0));
        serde_json::to_writer(&mut *bytes, self).ok()?;
        Some(bytes)
    }

    /// The queue that it came from and the message; `None` for one of another version.
    pub fn read(self) -> Option<(Queue, RawMessage)> {
        let queue = Queue::from_code(&self.queue)?;
        let refused = self.refused.map(|(reason, problem, field)| Rejection { reason, problem, field });
        let body = STANDARD.decode(self.body).ok()?.into();
        Some((queue, RawMessage { body, attributes: self.attributes, refused, sent_at: None, origin: self.origin }))
    }
}

#[cfg(test)]
#[path = "protocol_tests.rs"]
mod tests;
