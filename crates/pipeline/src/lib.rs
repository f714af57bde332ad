//! The one screen: Raw → Redacted → Extracted → Embedded → Stored.
//!
//! A batch of messages is admitted (seen before? allowed? erased?), redacted and read on all cores, embedded by one
//! round of calls, and written by one transaction per organisation. Each hand-off is a type; whoever fails leaves the
//! batch with a [`Disposition`] of its own and never takes a neighbour along.

mod admit;
mod aside;
mod counting;
mod disposition;
mod embed;
pub mod embedding_metrics;
mod extractors;
mod facts;
pub mod intake;
mod legacy;
mod lifelong;
mod made;
mod model;
mod origin;
mod pages;
mod profile;
mod read;
mod redactors;
mod relation;
mod spoken;
mod store;
mod terms;
mod topics;
mod unkept;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

pub use disposition::{Disposition, Tally};
pub use extractors::{Extractors, ExtractorsError};
pub use legacy::Imported;
use made::Grounds;
pub use model::writer;
pub use redactors::{Redactors, RedactorsError, stored_replacement};
use spoken::Spoken;

use crate::intake::binding::{Bindings, KeyDefect};
use crate::intake::grant::Grant;
use anamnesis_config::PipelineConfig;
use anamnesis_core::consent::Withdrawal;
use anamnesis_core::failpoints::{self, crash_at};
use anamnesis_core::fold::KeyHash;
use anamnesis_core::ids::OrgId;
use anamnesis_core::scope::Scope;
use anamnesis_embedding::{EmbedError, Models};
use anamnesis_extraction::Extractor;
use anamnesis_extraction::model::{ModelDefect, ModelReader};
use anamnesis_messages::decode::said_at;
use anamnesis_messages::{Attributes, Decoder, Envelope, Limits, Origin, Refusal};
use anamnesis_observability::metrics::Metrics;
use anamnesis_observability::metrics::labels::{MessageType, Queue, Stage};
use anamnesis_redaction::{RedactionError, Redactor};
use anamnesis_sql::Fault;
use anamnesis_store::admission::Begun;
use anamnesis_store::consents::Looked;
use anamnesis_store::{Keys, Store, StoreError};

/// What the stages need.
pub struct Pipeline {
    store: Store,
    models: Models,
    /// Off where nothing is extracted: measurements only.
    extracts: bool,
    extractors: Extractors,
    /// A language model beside the rules, and how many questions may be under way.
    model: Option<(ModelReader, usize)>,
    redactors: Redactors,
    bindings: Bindings,
    decoder: Decoder,
    config: PipelineConfig,
    /// Findings read with less confidence are not remembered.
    min_confidence: f64,
    metrics: Arc<Metrics>,
    queue: Queue,
    /// The threads of redaction and extraction: as many as are configured, whatever the number of batches in work.
    readers: Arc<rayon::ThreadPool>,
}

/// Why a pipeline cannot be made. A person must look at the configuration or the machine.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    #[error(transparent)]
    Redactors(#[from] RedactorsError),
    #[error(transparent)]
    Extractors(#[from] ExtractorsError),
    #[error("no threads can be started for redaction and extraction (pipeline.threads)")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    #[error(transparent)]
    Model(#[from] ModelDefect),
    #[error(transparent)]
    Key(#[from] KeyDefect),
}

/// A body as it came in.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Raw {
    pub body: Vec<u8>,
    /// CloudEvents attributes that travelled beside the body; `None` where the body tells them.
    pub attributes: Option<Attributes>,
    /// What the door already knows to be wrong (a line beyond the limit).
    pub refused: Option<Refusal>,
    /// The door that it came through.
    pub origin: Origin,
}

impl Raw {
    /// A body that describes itself, from somebody who has opened the store with its keys.
    pub fn of(body: Vec<u8>) -> Self {
        Self { body, ..Self::default() }
    }

    /// A body that describes itself, from a file.
    pub fn of_file(body: Vec<u8>) -> Self {
        Self { body, origin: Origin::Files, ..Self::default() }
    }
}

/// An envelope on its way, with its place in the batch.
pub(crate) struct Admitted {
    pub(crate) place: usize,
    pub(crate) scope: Scope,
    pub(crate) message: KeyHash,
    pub(crate) body_hash: KeyHash,
    /// In a place of its own: messages go from list to list, and an envelope is a kilobyte.
    pub(crate) envelope: Box<Envelope>,
    pub(crate) policy: String,
    /// What its producer may say.
    pub(crate) grant: Grant,
    /// What a withdrawal of consent does to memories.
    pub(crate) withdrawal: Withdrawal,
    /// Nothing of it may be kept.
    pub(crate) ephemeral: bool,
    /// A correction or an answer whose words travel as the envelope's document.
    pub(crate) spoken: Option<Spoken>,
    /// What a command names as what it comes from.
    pub(crate) grounds: Grounds,
}

/// A message with its place in the batch.
pub(crate) type Entry = (usize, Box<Envelope>);

/// What became of the message at a place of the batch, with the field that a refusal names.
pub(crate) type Verdict = (usize, Disposition, Option<String>);

/// Why a whole batch could not be worked; nothing of it was lost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PipelineError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Embed(#[from] EmbedError),
}

impl PipelineError {
    /// What becomes of the messages of a batch that failed with it: a store that refuses everybody blames nobody.
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
    /// When what the configuration gives for redaction, lexicons or a language model cannot be used, or threads cannot be
    /// started.
    pub fn new(
        store: Store,
        models: impl Into<Models>,
        settings: &anamnesis_config::Settings,
        metrics: Arc<Metrics>,
    ) -> Result<Self, SetupError> {
        let readers = rayon::ThreadPoolBuilder::new()
            .num_threads(settings.pipeline.threads)
            .thread_name(|n| format!("read-{n}"))
            .build()?;
        let clock = Arc::clone(store.clock());
        Ok(Self {
            store,
            models: models.into(),
            extracts: true,
            extractors: Extractors::load(&settings.extraction)?,
            model: model::reader(&settings.extraction.model, clock)?,
            redactors: Redactors::load(&settings.redaction)?,
            bindings: Bindings::new(&settings.intake)?,
            decoder: Decoder::new(Limits::with_body(settings.intake.max_body_bytes)),
            config: settings.pipeline.clone(),
            min_confidence: settings.extraction.min_confidence,
            metrics,
            queue: Queue::File,
            readers: Arc::new(readers),
        })
    }

    /// Counts what comes in as of this queue.
    #[must_use]
    pub fn fed_by(self, queue: Queue) -> Self {
        Self { queue, ..self }
    }

    /// Finds patterns and the people of the message only, and extracts nothing: for measurements beside programs that do
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

    /// Shows that this program counted so many retries and refusals of the store of a body; keyed, so that no producer can
    /// say it. Without refusals it is what older versions wrote.
    pub fn retry_proof(&self, (retries, waits): (u32, u32), body: &[u8]) -> [u8; 32] {
        let platform = self.store.keys().platform();
        match waits {
            0 => platform.hash("retries", &[&retries.to_be_bytes(), body]),
            waits => platform.hash("offers", &[&retries.to_be_bytes(), &waits.to_be_bytes(), body]),
        }
    }

    /// As whose messages are counted what [`Pipeline::run`] is given.
    pub fn queue(&self) -> Queue {
        self.queue
    }

    /// The rules that an organisation's documents and questions are read with.
    pub fn extractor_of(&self, organization: OrgId) -> Arc<Extractor> {
        self.extractors.of(organization)
    }

    /// The redactor of an organisation whose row names this policy: `None` for a policy that does not exist, which redacts
    /// nothing and stores nothing.
    pub fn redactor(&self, organization: OrgId, policy: &str) -> Option<&Arc<Redactor>> {
        self.redactors.of(organization, policy)
    }

    /// Works a batch. One disposition per body, in order. Transient failures come back as [`Disposition::Retry`], those
    /// of the store as [`Disposition::Waits`].
    pub async fn run(&self, bodies: Vec<Raw>) -> Vec<Disposition> {
        let held = bodies.len() as i64;
        self.metrics.ingest.in_flight.add(held);
        let done = self.run_from(self.queue, bodies).await;
        self.metrics.ingest.in_flight.sub(held);
        done
    }

    /// The same, counted as coming from this queue; who feeds it counts what is in flight.
    pub async fn run_from(&self, queue: Queue, bodies: Vec<Raw>) -> Vec<Disposition> {
        let mut dispositions: Vec<Option<Disposition>> = vec![None; bodies.len()];
        let mut types = vec![MessageType::Unknown; bodies.len()];
        let (envelopes, refused) = self.decode(bodies);
        let mut said = vec![None; types.len()];
        for (place, _, envelope) in &envelopes {
            types[*place] = disposition::label(envelope.kind());
            said[*place] = said_at(envelope);
            self.count_unknown(envelope);
        }
        for (place, raw, refusal) in &refused {
            dispositions[*place] = Some(Disposition::Quarantined(refusal.reason));
            if failpoints::is("error_text_logged") {
                tracing::error!("refused: {}", String::from_utf8_lossy(&raw.body));
            }
        }
        let mut rejected = Vec::new();
        let outcome = self.work(envelopes, &mut dispositions, &mut rejected).await;
        // After the others: a command of this batch may say that nothing is kept.
        let refused = self.refused(refused.into_iter().map(|(_, raw, refusal)| (raw, refusal)), &mut rejected).await;
        let kept = match refused {
            Ok(()) => self.store.quarantine(&rejected).await,
            failed => failed,
        };
        let open = if outcome.is_err() || (kept.is_err() && !failpoints::is("quarantine_unwritten")) {
            Disposition::Waits
        } else {
            Disposition::Stored
        };
        let done: Vec<Disposition> = dispositions
            .into_iter()
            .map(|d| match d {
                Some(Disposition::Quarantined(_)) if kept.is_err() && !failpoints::is("quarantine_unwritten") => {
                    Disposition::Waits
                }
                other => other.unwrap_or(open),
            })
            .collect();
        self.count_dispositions(queue, &types, &done);
        self.count_lag(queue, &said, &done);
        done
    }

    /// Bytes to typed messages.
    #[allow(clippy::type_complexity)] // two lists of one split
    fn decode(&self, bodies: Vec<Raw>) -> (Vec<(usize, Raw, Box<Envelope>)>, Vec<(usize, Raw, Refusal)>) {
        let started = Instant::now();
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        for (place, raw) in bodies.into_iter().enumerate() {
            match self.read_envelope(&raw) {
                Ok(envelope) => good.push((place, raw, Box::new(envelope))),
                Err(refusal) => bad.push((place, raw, refusal)),
            }
        }
        self.observe(Stage::Decode, started);
        (good, bad)
    }

    async fn work(
        &self,
        envelopes: Vec<(usize, Raw, Box<Envelope>)>,
        dispositions: &mut [Option<Disposition>],
        rejected: &mut Vec<anamnesis_store::admission::Rejected>,
    ) -> Result<(), PipelineError> {
        // Bodies wait here for those that are set aside; nothing behind this reads them.
        let mut by_org: BTreeMap<OrgId, (BTreeMap<usize, Raw>, Vec<Entry>)> = BTreeMap::new();
        for (place, raw, envelope) in envelopes {
            let (raws, entries) = by_org.entry(envelope.organization()).or_default();
            raws.insert(place, raw);
            entries.push((place, envelope));
        }
        for (org, (mut raws, entries)) in by_org {
            let (done, unkept) = match self.organization(org, entries).await {
                Ok(outcome) => outcome,
                Err(error) => {
                    self.count_failure(&error);
                    tracing::warn!(%error, "a batch could not be worked and will be tried again");
                    let again = error.again();
                    for place in raws.keys() {
                        dispositions[*place] = Some(again);
                    }
                    continue;
                }
            };
            for (place, disposition, field) in done {
                if let Disposition::Quarantined(reason) = disposition {
                    let refusal = Refusal { reason, problem: anamnesis_messages::Problem::Conflict, field };
                    if let Some(raw) = raws.remove(&place) {
                        let mut entry = self.rejected(Some(org), raw, &refusal);
                        if unkept.contains(&place) {
                            entry = entry.without_content();
                        }
                        rejected.push(entry);
                    }
                }
                dispositions[place] = Some(disposition);
            }
        }
        Ok(())
    }

    /// The messages of one organisation, from admission to commit; also the places of those of which nothing may be
    /// kept, not even in quarantine.
    async fn organization(
        &self,
        org: OrgId,
        entries: Vec<Entry>,
    ) -> Result<(Vec<Verdict>, BTreeSet<usize>), PipelineError> {
        let doorstep = self.admit(org, entries).await?;
        let admit::Doorstep { mut admitted, mut done, unkept, keys, generation, looked } = doorstep;
        if admitted.is_empty() {
            return Ok((done, unkept));
        }
        self.find_topics(&mut admitted).await?;
        self.give_words(&mut admitted).await?;
        let messages: BTreeMap<usize, KeyHash> = admitted.iter().map(|a| (a.place, a.message)).collect();
        let mut begun = Begun::default();
        if !failpoints::is("attempt_after_work") {
            begun = self.store.begin_attempts(&messages.values().copied().collect::<Vec<_>>()).await?;
        }
        crash_at("attempt_recorded");
        let outcome = self.attempt(org, admitted, (&keys, generation, &looked), &begun).await;
        // Whatever the end, it is one: only a death leaves an attempt behind. Those of stored messages ended in the
        // transaction of their effects. An end that cannot be written now is written with the next beginning, or when the
        // message is worked again.
        let still = still_begun(messages, outcome.as_deref().unwrap_or_default());
        let batch = begun.batch.filter(|_| !still.is_empty());
        let ended = self.store.end_attempts(batch, &still).await;
        done.extend(outcome?);
        ended?;
        crash_at("attempts_ended");
        Ok((done, unkept))
    }

    /// The work on admitted messages.
    async fn attempt(
        &self,
        org: OrgId,
        admitted: Vec<Admitted>,
        (keys, generation, looked): (&Keys, Option<i64>, &Arc<Looked>),
        begun: &Begun,
    ) -> Result<Vec<Verdict>, PipelineError> {
        let mut done = Vec::new();
        self.metrics.ingest.batch.observe(admitted.len() as f64);
        let mut read = Vec::new();
        for outcome in off_the_runtime(|| self.read_all(admitted, keys)) {
            match outcome {
                Ok(work) => read.push(work),
                Err((place, disposition)) => done.push((place, disposition, None)),
            }
        }
        self.ask_model(&mut read).await;
        crash_at("redacted_and_extracted");
        let (embedded, refused) = self.embed_all(read, keys, generation).await?;
        done.extend(refused.into_iter().map(|(place, reason)| (place, Disposition::Quarantined(reason), None)));
        crash_at("embedded");
        done.extend(self.store_all(org, embedded, (keys, looked), begun).await?);
        Ok(done)
    }
}

/// Messages whose attempt did not end with their effects.
fn still_begun(mut messages: BTreeMap<usize, KeyHash>, done: &[Verdict]) -> Vec<KeyHash> {
    for (place, _, _) in done.iter().filter(|(_, disposition, _)| *disposition == Disposition::Stored) {
        messages.remove(place);
    }
    messages.into_values().collect()
}

/// Compiles rules and lists, where that was not done yet. The first document waits for it; a worker connects meanwhile.
pub fn warm() {
    anamnesis_redaction::warm();
    Extractor::shared();
}

/// Runs what computes for long without holding up those who wait: heartbeats, probes, other batches.
fn off_the_runtime<T>(work: impl FnOnce() -> T) -> T {
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
