//! The log of a batch: one line with everything that is needed to find it again, and one for each quarantined message.
//! Counts, codes and durations; an organisation as a keyed hash; ids of messages at debug level only.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::message::BatchMessage;
use super::{Disposition, Pipeline};
use anamnesis_core::ids::OrgId;
use anamnesis_messages::Envelope;
use anamnesis_observability::metrics::Label as _;
use anamnesis_observability::metrics::labels::Queue;

tokio::task_local! {
    static SPENT: RefCell<StageDurations>;
}

/// The time of a batch by step.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StageDurations {
    decode: Duration,
    admit: Duration,
    read: Duration,
    embed: Duration,
    store: Duration,
}

/// A step of a batch, as the log names it.
#[derive(Debug, Clone, Copy)]
pub(super) enum BatchStep {
    Decode,
    Admit,
    /// Redaction and extraction.
    Read,
    Embed,
    Store,
}

/// Works a batch; also says where its time went.
pub(super) async fn measured<T>(batch: impl Future<Output = T>) -> (T, StageDurations) {
    let measured = async {
        let done = batch.await;
        (done, SPENT.with(|spent| *spent.borrow()))
    };
    SPENT.scope(RefCell::default(), measured).await
}

/// Adds the time since `started` to a step of the batch that this task works.
pub(super) fn add_duration(step: BatchStep, started: Instant) {
    let took = started.elapsed();
    // Outside a batch nothing is measured.
    let _ = SPENT.try_with(|spent| {
        let mut spent = spent.borrow_mut();
        match step {
            BatchStep::Decode => spent.decode += took,
            BatchStep::Admit => spent.admit += took,
            BatchStep::Read => spent.read += took,
            BatchStep::Embed => spent.embed += took,
            BatchStep::Store => spent.store += took,
        }
    });
}

/// The log fields of a readable message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TraceIds {
    /// Of its `traceparent`.
    trace: Option<String>,
    /// Its own id.
    id: Option<String>,
}

impl TraceIds {
    pub(super) fn from_envelope(envelope: &Envelope) -> Self {
        Self {
            trace: envelope.traceparent.as_deref().and_then(|text| text.split('-').nth(1)).map(str::to_owned),
            id: Some(envelope.id.clone()),
        }
    }
}

/// Whether the log has reported an outage of the store.
#[derive(Debug, Default)]
pub struct StoreOutage(AtomicBool);

impl StoreOutage {
    /// The store refuses; said once.
    pub fn began(&self, error: &dyn std::fmt::Display) {
        if !self.0.swap(true, Ordering::SeqCst) {
            tracing::warn!(code = "store_unavailable", %error, "the store is unavailable; messages wait until it is available again");
        }
    }

    /// The store took something; said where it was away.
    pub fn ended(&self) {
        if self.0.swap(false, Ordering::SeqCst) {
            tracing::info!(code = "store_recovered", "the store is available again; work continues");
        }
    }
}

impl Pipeline {
    /// A pseudonym of an organisation, the same in every line.
    pub(super) fn pseudonym(&self, org: OrgId) -> String {
        self.store.keys().platform().pseudonym(org.0.as_bytes())
    }

    /// The id of a message where it is a UUID. A producer may write anything there, also a name: then its keyed hash.
    pub(super) fn id_of(&self, message: &BatchMessage) -> String {
        let Some(id) = message.trace.id.as_deref() else { return String::new() };
        match id.parse::<uuid::Uuid>() {
            Ok(id) => id.to_string(),
            Err(_) => hex::encode(&self.store.keys().platform().hash("log", &[b"message", id.as_bytes()])[..8]),
        }
    }

    /// Logs the outcome of a batch. `open` is the disposition of messages without an outcome.
    pub(super) fn log_batch(
        &self,
        queue: Queue,
        batch: &[BatchMessage],
        open: Disposition,
        (spent, started): (StageDurations, Instant),
    ) {
        let of = |code: &str| batch.iter().filter(|message| message.disposition(open).code() == code).count();
        let organizations: BTreeSet<OrgId> = batch.iter().filter_map(|message| message.organization).collect();
        let organizations: Vec<String> = organizations.into_iter().take(8).map(|org| self.pseudonym(org)).collect();
        let traces: BTreeSet<&str> = batch.iter().filter_map(|message| message.trace.trace.as_deref()).collect();
        let traces: Vec<&str> = traces.into_iter().take(8).collect();
        let ms = |took: Duration| u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        tracing::info!(
            code = "batch",
            queue = queue.code(),
            messages = batch.len(),
            stored = of("stored"),
            duplicate = of("duplicate"),
            ephemeral = of("ephemeral"),
            quarantined = of("quarantined"),
            retried = of("retry"),
            organizations = organizations.join(","),
            traces = traces.join(","),
            decode_ms = ms(spent.decode),
            admit_ms = ms(spent.admit),
            read_ms = ms(spent.read),
            embed_ms = ms(spent.embed),
            store_ms = ms(spent.store),
            total_ms = ms(started.elapsed()),
            "a batch was processed"
        );
        for message in batch {
            let disposition = message.disposition(open);
            let organization = message.organization.map(|org| self.pseudonym(org)).unwrap_or_default();
            let trace = message.trace.trace.as_deref().unwrap_or_default();
            if let Disposition::Quarantined(reason) = disposition {
                let (queue, reason) = (queue.code(), reason.code());
                tracing::info!(
                    code = "message_quarantined",
                    reason,
                    queue,
                    organization,
                    trace,
                    "a message was quarantined"
                );
            }
            if !tracing::enabled!(tracing::Level::DEBUG) {
                continue;
            }
            let id = self.id_of(message);
            tracing::debug!(code = "message", id, disposition = disposition.code(), organization, trace, "a message");
        }
    }
}
