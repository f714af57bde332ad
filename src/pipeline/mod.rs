//! The one screen: Raw → Redacted → Extracted → Embedded → Stored.
//!
//! A batch of messages is admitted (seen before? allowed? erased?), redacted and read on all cores, embedded by one
//! round of calls, and written by one transaction per organisation. Each hand-off is a type; whoever fails leaves the
//! batch with a [`Disposition`] of its own and never takes a neighbour along.

mod admit;
mod disposition;
mod embed;
mod facts;
mod profile;
mod read;
mod store;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

pub use disposition::{Disposition, Tally};

use crate::config::PipelineConfig;
use crate::dlp::{Policy, Redactor};
use crate::domain::fold::KeyHash;
use crate::domain::ids::OrgId;
use crate::domain::reason::Reason;
use crate::domain::scope::Scope;
use crate::embed::{EmbedError, Embedder};
use crate::extract::Extractor;
use crate::intake::binding::Bindings;
use crate::intake::{Decoder, Envelope, Refusal};
use crate::metrics::Metrics;
use crate::metrics::labels::{MessageType, Queue, Stage};
use crate::store::{Store, StoreError};

/// What the stages need.
pub struct Pipeline {
    store: Store,
    embedder: Arc<dyn Embedder>,
    extractor: Extractor,
    redactors: BTreeMap<String, Arc<Redactor>>,
    bindings: Bindings,
    decoder: Decoder,
    config: PipelineConfig,
    metrics: Arc<Metrics>,
    queue: Queue,
}

/// A body as it came in.
pub struct Raw {
    pub body: Vec<u8>,
    /// What the door already knows to be wrong (a line beyond the limit).
    pub refused: Option<Refusal>,
}

/// An envelope on its way, with its place in the batch.
pub(crate) struct Admitted {
    pub place: usize,
    pub scope: Scope,
    pub message: KeyHash,
    pub body_hash: KeyHash,
    pub envelope: Envelope,
    pub policy: String,
    pub ephemeral: bool,
    pub cognitive_state: Option<f64>,
}

/// Why a whole batch could not be worked; nothing of it was lost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PipelineError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Embed(#[from] EmbedError),
}

impl Pipeline {
    /// # Errors
    /// When a policy of the built-in set cannot be read, which is a defect.
    pub fn new(
        store: Store,
        embedder: Arc<dyn Embedder>,
        settings: &crate::config::Settings,
        metrics: Arc<Metrics>,
    ) -> Result<Self, crate::dlp::RedactionError> {
        let mut redactors = BTreeMap::new();
        for name in ["safe_harbor", "gdpr_pseudonymise", "strict"] {
            redactors.insert(name.to_owned(), Arc::new(Redactor::builtin(Policy::named(name)?)));
        }
        Ok(Self {
            store,
            embedder,
            extractor: Extractor::builtin(),
            redactors,
            bindings: Bindings::new(&settings.intake),
            decoder: Decoder::new((&settings.intake).into()),
            config: settings.pipeline.clone(),
            metrics,
            queue: Queue::File,
        })
    }

    /// Counts what comes in as of this queue.
    #[must_use]
    pub fn fed_by(self, queue: Queue) -> Self {
        Self { queue, ..self }
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// The redactor of a policy: `None` for a policy that does not exist, which redacts nothing and stores nothing.
    pub fn redactor(&self, policy: &str) -> Option<&Arc<Redactor>> {
        self.redactors.get(policy)
    }

    /// Works a batch. One disposition per body, in order. Transient failures come back as [`Disposition::Retry`].
    pub async fn run(&self, bodies: Vec<Raw>) -> Vec<Disposition> {
        let mut dispositions: Vec<Option<Disposition>> = vec![None; bodies.len()];
        let mut types = vec![MessageType::Unknown; bodies.len()];
        let (envelopes, refused) = self.decode(bodies);
        for (place, _, envelope) in &envelopes {
            types[*place] = disposition::label(envelope.kind());
        }
        let mut rejected = Vec::new();
        for (place, body, refusal) in refused {
            dispositions[place] = Some(Disposition::Quarantined(refusal.reason));
            rejected.push(self.rejected(None, &body, &refusal));
        }
        let outcome = self.work(envelopes, &mut dispositions, &mut rejected).await;
        let kept = self.store.quarantine(&rejected).await;
        let open = if outcome.is_err() || kept.is_err() { Disposition::Retry } else { Disposition::Stored };
        let done: Vec<Disposition> = dispositions
            .into_iter()
            .map(|d| match d {
                Some(Disposition::Quarantined(_)) if kept.is_err() => Disposition::Retry,
                other => other.unwrap_or(open),
            })
            .collect();
        disposition::count(&self.metrics, self.queue, &types, &done);
        done
    }

    /// Bytes to typed messages.
    #[allow(clippy::type_complexity)] // two lists of one split
    fn decode(&self, bodies: Vec<Raw>) -> (Vec<(usize, Vec<u8>, Envelope)>, Vec<(usize, Vec<u8>, Refusal)>) {
        let started = Instant::now();
        let (mut good, mut bad) = (Vec::new(), Vec::new());
        for (place, raw) in bodies.into_iter().enumerate() {
            match raw.refused.map_or_else(|| self.decoder.decode(&raw.body), Err) {
                Ok(envelope) => good.push((place, raw.body, envelope)),
                Err(refusal) => bad.push((place, raw.body, refusal)),
            }
        }
        self.observe(Stage::Decode, started);
        (good, bad)
    }

    async fn work(
        &self,
        envelopes: Vec<(usize, Vec<u8>, Envelope)>,
        dispositions: &mut [Option<Disposition>],
        rejected: &mut Vec<crate::store::admission::Rejected>,
    ) -> Result<(), PipelineError> {
        let mut by_org: BTreeMap<OrgId, Vec<(usize, Vec<u8>, Envelope)>> = BTreeMap::new();
        for entry in envelopes {
            by_org.entry(entry.2.organization()).or_default().push(entry);
        }
        for (org, entries) in by_org {
            let bodies: BTreeMap<usize, Vec<u8>> = entries.iter().map(|(p, body, _)| (*p, body.clone())).collect();
            let done = match self.organization(org, entries).await {
                Ok(done) => done,
                Err(error) => {
                    tracing::warn!(%error, "a batch could not be worked and will be tried again");
                    for place in bodies.keys() {
                        dispositions[*place] = Some(Disposition::Retry);
                    }
                    continue;
                }
            };
            for (place, disposition, field) in done {
                if let Disposition::Quarantined(reason) = disposition {
                    let refusal = Refusal { reason, problem: crate::intake::Problem::Conflict, field };
                    let body = bodies.get(&place).map_or(&[][..], Vec::as_slice);
                    rejected.push(self.rejected(Some(org), body, &refusal));
                }
                dispositions[place] = Some(disposition);
            }
        }
        Ok(())
    }

    fn rejected(&self, org: Option<OrgId>, body: &[u8], refusal: &Refusal) -> crate::store::admission::Rejected {
        let message = self.store.keys().platform().hash("body", &[body]);
        crate::store::admission::Rejected {
            org,
            message,
            reason: refusal.reason,
            field: refusal.field.clone(),
            body: Some(body.to_vec()),
        }
    }

    pub(crate) fn observe(&self, stage: Stage, started: Instant) {
        self.metrics.stages.seconds.of(stage).observe(started.elapsed().as_secs_f64());
    }

    /// The messages of one organisation, from admission to commit.
    async fn organization(
        &self,
        org: OrgId,
        entries: Vec<(usize, Vec<u8>, Envelope)>,
    ) -> Result<Vec<(usize, Disposition, Option<String>)>, PipelineError> {
        let (admitted, mut done) = self.admit(org, entries).await?;
        if admitted.is_empty() {
            return Ok(done);
        }
        let messages: Vec<KeyHash> = admitted.iter().map(|a| a.message).collect();
        self.store.begin_attempts(&messages).await?;
        crash_point("attempt_recorded");
        let scopes: Vec<Scope> = admitted.iter().map(|a| a.scope).collect();
        let keys = self.store.keys().ensure(&scopes).await.map_err(StoreError::from)?;
        let mut read = Vec::new();
        for outcome in self.read_all(admitted, &keys) {
            match outcome {
                Ok(work) => read.push(work),
                Err((place, reason)) => done.push((place, Disposition::Quarantined(reason), None)),
            }
        }
        crash_point("redacted_and_extracted");
        let (embedded, refused) = self.embed_all(read, &keys).await?;
        done.extend(refused.into_iter().map(|(place, reason)| (place, Disposition::Quarantined(reason), None)));
        crash_point("embedded");
        done.extend(self.store_all(org, embedded, &keys).await?);
        self.store.end_attempts(&messages).await?;
        crash_point("attempts_ended");
        Ok(done)
    }
}

/// Where a test may kill the process: `ANAMNESIS_CRASH_AT=name` in builds with debug assertions, nothing in others.
pub fn crash_point(name: &str) {
    if cfg!(debug_assertions) && std::env::var_os("ANAMNESIS_CRASH_AT").is_some_and(|at| at == name) {
        std::process::abort();
    }
}

/// The names of all crash points, in the order of the way of a message.
pub const CRASH_POINTS: [&str; 6] =
    ["attempt_recorded", "redacted_and_extracted", "embedded", "before_commit", "committed", "attempts_ended"];

fn reason_of(error: &EmbedError) -> Option<Reason> {
    match error {
        EmbedError::Dimension => Some(Reason::EmbeddingDimension),
        EmbedError::NotFinite => Some(Reason::EmbeddingNotFinite),
        EmbedError::Rejected => Some(Reason::TransientExhausted),
        _ => None,
    }
}
