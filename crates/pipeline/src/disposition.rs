//! The dispositions of a message: one exhaustive table.

use std::collections::BTreeMap;

use anamnesis_core::reason::Reason;
use anamnesis_messages as intake;
use anamnesis_observability::metrics::Metrics;
use anamnesis_observability::metrics::labels::{self, MessageType, Queue};

/// The end of a message's way through the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Disposition {
    /// Its effects are committed.
    Stored,
    /// It was stored before; nothing changed.
    Duplicate,
    /// The patient is in ephemeral mode: counted, nothing stored.
    Ephemeral,
    /// Quarantined, encrypted, with a reason.
    Quarantined(Reason),
    /// Something outside failed: the same message may be offered again, so often.
    Retry,
    /// The store rejects every message, or the keys are missing: it is retried until it is stored. Such an attempt
    /// never counts against the message.
    Waits,
}

impl Disposition {
    /// For tables and counts.
    pub fn code(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Duplicate => "duplicate",
            Self::Ephemeral => "ephemeral",
            Self::Quarantined(_) => "quarantined",
            Self::Retry | Self::Waits => "retry",
        }
    }

    /// The code of the error where it is one: of a quarantined message its reason.
    pub(crate) fn error(self) -> Option<&'static str> {
        match self {
            Self::Quarantined(reason) => Some(reason.code()),
            Self::Retry | Self::Waits => Some(self.code()),
            Self::Stored | Self::Duplicate | Self::Ephemeral => None,
        }
    }

    /// Whether the message is to be offered again.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Retry | Self::Waits)
    }
}

/// Counts by disposition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DispositionCounts(BTreeMap<Disposition, u64>);

impl DispositionCounts {
    pub fn add(&mut self, disposition: Disposition) {
        *self.0.entry(disposition).or_default() += 1;
    }

    pub fn count(&self, code: &str) -> u64 {
        self.0.iter().filter(|(d, _)| d.code() == code).map(|(_, n)| n).sum()
    }

    /// All messages.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    pub fn iter(&self) -> impl Iterator<Item = (Disposition, u64)> + '_ {
        self.0.iter().map(|(d, n)| (*d, *n))
    }
}

pub(crate) fn count(metrics: &Metrics, queue: Queue, kind: MessageType, disposition: Disposition) {
    metrics.ingest.received.with_labels((queue, kind)).inc();
    let outcome = match disposition {
        Disposition::Stored => labels::Disposition::Stored,
        Disposition::Duplicate => labels::Disposition::Duplicate,
        Disposition::Ephemeral => labels::Disposition::Ephemeral,
        Disposition::Quarantined(reason) => {
            metrics.ingest.quarantined.with_labels(reason).inc();
            labels::Disposition::Quarantined
        }
        Disposition::Retry | Disposition::Waits => labels::Disposition::Retried,
    };
    metrics.ingest.processed.with_labels((queue, kind, outcome)).inc();
}

/// The metric's word for a type of message.
pub(super) fn label(kind: intake::MessageType) -> MessageType {
    match kind {
        intake::MessageType::DocumentSubmitted => MessageType::Document,
        intake::MessageType::HealthSignalRecorded => MessageType::HealthSignal,
        intake::MessageType::ProfileUpdated => MessageType::Profile,
        intake::MessageType::ConsentRecorded => MessageType::Consent,
        intake::MessageType::MemoryCommand => MessageType::Command,
    }
}

#[cfg(test)]
#[path = "disposition_tests.rs"]
mod tests;
