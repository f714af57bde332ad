//! The pipeline of a message: Raw → Redacted → Extracted → Embedded → Stored.
//!
//! A batch of messages is admitted (seen before? allowed? erased?), redacted and analyzed on all cores, embedded by one
//! round of calls, and written by one transaction per organisation. Each hand-off is a type. A message that fails
//! leaves the batch with its own [`Disposition`] and does not affect its neighbours.

mod admit;
mod analyze;
mod audit_action;
mod batch;
mod batch_log;
mod command_text;
mod consent;
mod disposition;
mod embed;
pub mod embedding_metrics;
pub mod erasure;
mod extractors;
mod findings;
mod forget_by_topic;
pub mod intake;
pub mod isolation;
mod kinship;
mod legacy_import;
mod lifelong_conditions;
mod llm;
mod manual_memory;
mod message;
mod metrics;
mod origin;
mod page_index;
mod profile;
mod quarantine;
mod redacted_view;
mod redactors;
pub mod rights;
mod search_terms;
mod spans;
mod store;
mod unkept_content;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use futures::FutureExt as _;

pub use batch_log::StoreOutage;
use batch_log::{BatchStep, TraceIds, add_duration};
pub use disposition::{Disposition, DispositionCounts};
pub use extractors::{Extractors, ExtractorsError};
pub use legacy_import::{ImportOutcome, Importer};
pub use llm::writer;
pub use message::RawMessage;
use message::{AdmittedMessage, BatchContext, BatchMessage, DecodedMessage, MessageOutcome};
pub(crate) use redactors::RedactorsError;
pub use redactors::{Redactors, stored_replacement};
use spans::ADMIT;

use crate::intake::producer_policy::{KeyDefect, ProducerPolicy};
use anamnesis_config::PipelineConfig;
use anamnesis_core::failpoints::{self, crash_at};
use anamnesis_core::ids::OrgId;
use anamnesis_core::projection::KeyHash;
use anamnesis_core::reason::Reason;
use anamnesis_embedding::{EmbedError, Models};
use anamnesis_extraction::Extractor;
use anamnesis_extraction::llm::{LlmExtractor, LlmOptionDefect};
use anamnesis_messages::{Decoder, Limits};
use anamnesis_observability::metrics::labels::{MessageType, Queue, Stage};
use anamnesis_observability::metrics::{Label as _, Metrics};
use anamnesis_observability::traces::TraceContext;
use anamnesis_redaction::{RedactionError, Redactor};
use anamnesis_sql::Fault;
use anamnesis_store::{Store, StoreError};

/// The dependencies of the stages.
pub struct Pipeline {
    store: Store,
    models: Models,
    /// Off where nothing is extracted: measurements only.
    extracts: bool,
    extractors: Extractors,
    /// A language model next to the rules, and how many of its requests may be in flight.
    model: Option<(LlmExtractor, usize)>,
    redactors: Redactors,
    bindings: ProducerPolicy,
    decoder: Decoder,
    config: PipelineConfig,
    /// Findings read with less confidence are not remembered.
    min_confidence: f64,
    metrics: Arc<Metrics>,
    /// First word of the broker's names.
    prefix: String,
    queue: Queue,
    outage: Arc<StoreOutage>,
    /// The threads of redaction and extraction: the configured number, for any number of concurrent batches.
    analysis_threads: Arc<rayon::ThreadPool>,
    /// The same for batches of short texts: a chat does not wait for the letters of a bulk batch, which are read at length.
    short_text_threads: Arc<rayon::ThreadPool>,
}

/// Why a pipeline cannot be made. A person must repair the configuration or the machine.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error(transparent)]
    Redactors(#[from] RedactorsError),
    #[error(transparent)]
    Extractors(#[from] ExtractorsError),
    #[error("no threads can be started for redaction and extraction (pipeline.threads)")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    #[error(transparent)]
    Model(#[from] LlmOptionDefect),
    #[error(transparent)]
    Key(#[from] KeyDefect),
}

/// Why a whole batch could not be worked; nothing of it was lost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PipelineError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Embed(#[from] EmbedError),
}

impl PipelineError {
    /// The disposition of the messages of a failed batch: an outage of the store counts against no message.
    fn again(&self) -> Disposition {
        match self {
            Self::Store(error) if error.fault() == Fault::Store && !failpoints::is("waits_counted") => {
                Disposition::Waits
            }
            Self::Store(_) | Self::Embed(_) => Disposition::Retry,
        }
    }
}

impl Pipeline {
    /// # Errors
    /// When the configuration of redaction, lexicons or a language model is unusable, or threads cannot be started.
    pub fn new(
        store: Store,
        models: impl Into<Models>,
        settings: &anamnesis_config::Settings,
        metrics: Arc<Metrics>,
    ) -> Result<Self, SetupError> {
        let threads = |name: &'static str| {
            let threads = rayon::ThreadPoolBuilder::new().num_threads(settings.pipeline.threads);
            threads.thread_name(move |n| format!("{name}-{n}")).build().map(Arc::new)
        };
        let clock = Arc::clone(store.clock());
        Ok(Self {
            store,
            models: models.into(),
            extracts: true,
            extractors: Extractors::load(&settings.extraction)?,
            model: llm::reader(&settings.extraction.llm, clock)?,
            redactors: Redactors::load(&settings.redaction)?,
            bindings: ProducerPolicy::new(&settings.intake)?,
            decoder: Decoder::new(Limits::with_body(settings.intake.max_body_bytes)),
            config: settings.pipeline.clone(),
            min_confidence: settings.extraction.min_confidence,
            metrics,
            prefix: settings.broker.prefix.clone(),
            queue: Queue::File,
            outage: Arc::default(),
            analysis_threads: threads("read")?,
            short_text_threads: threads("brief")?,
        })
    }

    /// Counts incoming messages under this queue.
    #[must_use]
    pub fn with_source(self, queue: Queue) -> Self {
        Self { queue, ..self }
    }

    /// Finds patterns and the people of the message only, and extracts nothing: for comparisons with programs that do
    /// no more. Not for patients.
    ///
    /// # Errors
    /// As [`Pipeline::new`].
    pub fn with_patterns_only(self) -> Result<Self, RedactionError> {
        Ok(Self { redactors: Redactors::patterns_only()?, extracts: false, model: None, ..self })
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// A keyed hash over the counts of retries and store refusals of a body, which no producer can forge. Without refusals
    /// it is what older versions wrote.
    pub fn retry_proof(&self, retries: u32, waits: u32, body: &[u8]) -> [u8; 32] {
        let platform = self.store.keys().platform();
        match waits {
            0 => platform.hash("retries", &[&retries.to_be_bytes(), body]),
            waits => platform.hash("offers", &[&retries.to_be_bytes(), &waits.to_be_bytes(), body]),
        }
    }

    /// Whether the store is unreachable, for other components.
    pub fn outage(&self) -> &StoreOutage {
        &self.outage
    }

    /// The queue under which [`Pipeline::run`] counts messages.
    pub fn queue(&self) -> Queue {
        self.queue
    }

    /// The rules that an organisation's documents and questions are read with.
    pub fn extractor_of(&self, organization: OrgId) -> Arc<Extractor> {
        self.extractors.get(organization)
    }

    /// The redactor of an organisation whose row names this policy: `None` for a policy that does not exist, which redacts
    /// nothing and stores nothing.
    pub fn redactor(&self, organization: OrgId, policy: &str) -> Option<&Arc<Redactor>> {
        self.redactors.get(organization, policy)
    }

    /// Processes a batch. One disposition per body, in order. Transient failures become [`Disposition::Retry`], those
    /// of the store [`Disposition::Waits`].
    pub async fn run(&self, bodies: Vec<RawMessage>) -> Vec<Disposition> {
        let held = bodies.len() as i64;
        self.metrics.ingest.in_flight.add(held);
        let done = self.run_from(self.queue, bodies).await;
        self.metrics.ingest.in_flight.sub(held);
        done
    }

    /// Bytes to typed messages: the batch in its order, and what of it is worked, by organisation.
    fn decode(
        &self,
        queue: Queue,
        bodies: Vec<RawMessage>,
    ) -> (Vec<BatchMessage>, BTreeMap<OrgId, Vec<DecodedMessage>>) {
        let started = Instant::now();
        let mut batch = Vec::with_capacity(bodies.len());
        let mut by_organization: BTreeMap<OrgId, Vec<DecodedMessage>> = BTreeMap::new();
        for (place, raw) in bodies.into_iter().enumerate() {
            let began = self.traces().now();
            let decoded = self.read_envelope(&raw);
            let kind = decoded.as_ref().map_or(MessageType::Unknown, |envelope| disposition::label(envelope.kind()));
            let span = self.begin_span((queue, kind), &raw, decoded.as_ref(), began);
            let mut message = BatchMessage {
                raw,
                kind,
                sent_at: None,
                organization: None,
                patient: None,
                trace: TraceIds::default(),
                span,
                outcome: None,
            };
            match decoded {
                Ok(envelope) => {
                    self.count_unknown(&envelope);
                    message.sent_at = envelope.time.or(message.raw.sent_at);
                    message.trace = TraceIds::from_envelope(&envelope);
                    message.organization = Some(envelope.organization());
                    message.patient = quarantine::patient_of(&envelope);
                    let entry = DecodedMessage { place, span: message.span.context(), envelope: Box::new(envelope) };
                    by_organization.entry(entry.envelope.organization()).or_default().push(entry);
                }
                Err(refusal) => {
                    if failpoints::is("error_text_logged") {
                        tracing::error!(
                            code = "error_text_logged",
                            "refused: {}",
                            String::from_utf8_lossy(&message.raw.body)
                        );
                    }
                    message.outcome = Some(MessageOutcome::quarantined(place, refusal.reason, refusal.field));
                }
            }
            batch.push(message);
        }
        self.observe(Stage::Decode, started);
        add_duration(BatchStep::Decode, started);
        (batch, by_organization)
    }

    /// The messages of one organisation, from admission to commit.
    async fn process_organization(
        &self,
        org: OrgId,
        entries: Vec<DecodedMessage>,
    ) -> Result<Vec<MessageOutcome>, PipelineError> {
        let started = Instant::now();
        let spans: Vec<TraceContext> = entries.iter().map(|entry| entry.span).collect();
        let admitted = self.staged(ADMIT, &spans, self.admit(org, entries).boxed()).await;
        add_duration(BatchStep::Admit, started);
        let admit::Admission { mut admitted, mut done, unkept, mut shared } = admitted?;
        if !admitted.is_empty() {
            self.resolve_commands(&mut admitted).await?;
            let messages: BTreeMap<usize, KeyHash> = admitted.iter().map(|a| (a.place, a.message)).collect();
            if !failpoints::is("attempt_after_work") {
                shared.begun =
                    self.store.intake().begin_attempts(&messages.values().copied().collect::<Vec<_>>()).await?;
            }
            crash_at("attempt_recorded");
            // After the rest of the batch: answers include its effects, and erasures remove them.
            let (erasing, admitted): (Vec<AdmittedMessage>, Vec<AdmittedMessage>) =
                admitted.into_iter().partition(AdmittedMessage::erases);
            let (asking, admitted): (Vec<AdmittedMessage>, Vec<AdmittedMessage>) =
                admitted.into_iter().partition(AdmittedMessage::asks);
            let (by_topic, admitted) = admitted.into_iter().partition(AdmittedMessage::speaks_of_a_topic);
            let outcome = self.process_in_order(org, admitted, by_topic, &shared).await;
            // Every outcome ends an attempt: only a crash leaves one open. Those of stored messages ended in the
            // transaction of their effects. An end that cannot be written now is written with the next beginning, or when
            // the message is worked again.
            let still = still_begun(messages, outcome.as_deref().unwrap_or_default());
            let batch = shared.begun.batch.filter(|_| !still.is_empty());
            let ended = self.store.intake().end_attempts(batch, &still).await;
            done.extend(outcome?);
            ended?;
            for mut one in asking {
                self.find_topic(&mut one).await?;
                done.push(self.answer(one).await?);
            }
            for one in erasing {
                done.push(self.erase(one).await?);
            }
            crash_at("attempts_ended");
        }
        done.iter_mut().for_each(|outcome| outcome.unkept |= unkept.contains(&outcome.place));
        Ok(done)
    }

    /// Carries out the erasure of a command. A legal hold quarantines the command, so that it can be retried.
    async fn erase(&self, admitted: AdmittedMessage) -> Result<MessageOutcome, PipelineError> {
        let now = self.store.clock().now();
        let anamnesis_messages::Message::MemoryCommand(command) = &admitted.envelope.message else {
            return Ok(MessageOutcome::new(admitted.place, Disposition::Stored));
        };
        let at = admit::issued_at(command, &admitted.envelope, now);
        let mut disposition = Disposition::Duplicate;
        for request in erasure::requests(command, admitted.scope, &admitted.message, at) {
            match erasure::erase(&self.store, &request).await {
                Ok(erasure::ErasureOutcome::Erased(_)) => disposition = Disposition::Stored,
                Ok(erasure::ErasureOutcome::Before(_) | erasure::ErasureOutcome::Unknown) => {}
                Ok(erasure::ErasureOutcome::Derived) => {
                    let field = Some("document_ids".to_owned());
                    return Ok(MessageOutcome::quarantined(admitted.place, Reason::ConstraintViolation, field));
                }
                Ok(erasure::ErasureOutcome::Held) => {
                    return Ok(MessageOutcome::quarantined(admitted.place, Reason::LegalHold, None));
                }
                Err(erasure::ErasureError::Store(error)) => return Err(error.into()),
                Err(error @ erasure::ErasureError::Left(_)) => {
                    tracing::warn!(%error, code = "erasure_retried", "an erasure is not complete and will be retried");
                    disposition = Disposition::Retry;
                }
            }
        }
        Ok(MessageOutcome::new(admitted.place, disposition))
    }

    /// The work on admitted messages: Raw → Redacted → Extracted → Embedded → Stored.
    async fn process(
        &self,
        org: OrgId,
        admitted: Vec<AdmittedMessage>,
        shared: &BatchContext,
    ) -> Result<Vec<MessageOutcome>, PipelineError> {
        let mut done = Vec::new();
        self.metrics.ingest.batch.observe(admitted.len() as f64);
        let mut analyzed = Vec::new();
        let started = Instant::now();
        for outcome in run_blocking(|| self.analyze_all(admitted, &shared.keys)) {
            match outcome {
                Ok(work) => analyzed.push(work),
                Err(outcome) => done.push(outcome),
            }
        }
        self.ask_model(&mut analyzed).await;
        add_duration(BatchStep::Read, started);
        crash_at("redacted_and_extracted");
        let started = Instant::now();
        let spans: Vec<TraceContext> = analyzed.iter().map(|one| one.admitted.span).collect();
        let embedded =
            self.staged(Stage::Embed.code(), &spans, self.embed_all(analyzed, shared, &mut done).boxed()).await;
        add_duration(BatchStep::Embed, started);
        let embedded = embedded?;
        crash_at("embedded");
        let started = Instant::now();
        let spans: Vec<TraceContext> = embedded.iter().map(|one| one.analyzed.admitted.span).collect();
        let stored =
            self.staged(Stage::Store.code(), &spans, self.store_all(org, embedded, shared, &mut done).boxed()).await;
        add_duration(BatchStep::Store, started);
        stored?;
        Ok(done)
    }
}

/// Messages whose attempt did not end with their effects.
fn still_begun(mut messages: BTreeMap<usize, KeyHash>, done: &[MessageOutcome]) -> Vec<KeyHash> {
    for outcome in done.iter().filter(|outcome| outcome.disposition == Disposition::Stored) {
        messages.remove(&outcome.place);
    }
    messages.into_values().collect()
}

/// Compiles rules and lists, where that was not done yet. The first document waits for it; a worker connects meanwhile.
pub fn warm() {
    anamnesis_redaction::warm();
    Extractor::shared();
}

/// Runs long computations without blocking the runtime's other tasks: heartbeats, probes, other batches.
fn run_blocking<T>(work: impl FnOnce() -> T) -> T {
    match tokio::runtime::Handle::try_current() {
        Ok(handle) if handle.runtime_flavor() == tokio::runtime::RuntimeFlavor::MultiThread => {
            tokio::task::block_in_place(work)
        }
        _ => work(),
    }
}

/// The names of all crash points, in the order of the way of a message.
pub const CRASH_POINTS: [&str; 6] =
    ["attempt_recorded", "redacted_and_extracted", "embedded", "before_commit", "committed", "attempts_ended"];

#[cfg(test)]
#[path = "fixture_tests.rs"]
mod fixture;
#[cfg(test)]
#[path = "lib_tests.rs"]
mod tests;
