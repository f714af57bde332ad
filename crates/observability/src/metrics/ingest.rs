//! What came in and what became of it.

use super::labels::{Disposition, ErrorClass, MessageType, Queue, Stage};
use super::registrar::area;
use anamnesis_core::reason::Reason;

/// Seconds between an event's own time and its storage: from a chat message to a folder of last year's notes.
const LAG_SECONDS: &[f64] = &[0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3_600.0, 21_600.0, 86_400.0];
/// Documents that share one transaction.
const BATCH_DOCUMENTS: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
/// Seconds of one stage: from a microsecond of pattern matching to a slow provider.
pub(super) const STAGE_SECONDS: &[f64] =
    &[0.000_1, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

area! {
    /// Intake: what came in and what became of it.
    pub struct Ingest as "ingest" {
        /// Messages received
        received: Counters<(Queue, MessageType)> = "messages_received_total";
        /// Messages processed, by outcome
        processed: Counters<(Queue, MessageType, Disposition)> = "messages_processed_total";
        /// Messages quarantined, by reason code
        quarantined: Counters<Reason> = "messages_quarantined_total";
        /// Messages delivered again after an attempt
        redelivered: Counters<Queue> = "messages_redelivered_total";
        /// Messages ready in a queue of the broker, as its consumers last saw it
        backlog: Gauges<Queue> = "queue_ready_messages";
        /// Entries of the spool that no worker processes: other types of files, links, folders
        spool_unknown: Gauges<()> = "spool_unknown_entries";
        /// Messages in progress
        in_flight: Gauges<()> = "messages_in_flight";
        /// Seconds from a message's own time to the end of its processing
        lag: Histograms<Queue> = "queue_lag_seconds" in LAG_SECONDS;
        /// Documents that shared one transaction
        batch: Histograms<()> = "ingest_batch_documents" in BATCH_DOCUMENTS;
        /// Ignored fields of messages that the contract does not define
        unknown_fields: Counters<()> = "message_unknown_fields_total";
    }
}

area! {
    /// The stations of a message.
    pub struct Stages as "stages" {
        /// Duration of a stage for one document, in seconds (a shared call counts once per batch)
        seconds: Histograms<Stage> = "stage_duration_seconds" in STAGE_SECONDS;
        /// Failures of a stage, retryable or permanent
        errors: Counters<(Stage, ErrorClass)> = "stage_errors_total";
    }
}
