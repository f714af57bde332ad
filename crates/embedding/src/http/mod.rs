//! Embedding over HTTP: one way of batching, limiting, retrying and checking for every provider's wire shape.

pub(crate) mod classify;
pub(crate) mod client;
pub(crate) mod openai;
pub(crate) mod server_limits;
pub(crate) mod validate;
pub(crate) mod vertex;
pub(crate) mod wire_format;

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};
use tokio::sync::OnceCell;

use self::classify::ResponseFailure;
use self::client::ProviderClient;
use self::wire_format::{ParsedResponse, WireFormat};
use super::batching::{BatchLimits, batches, estimated_tokens};
use super::breaker::Breaker;
use super::limits::RateLimits;
use super::retry::retried;
use super::sleep::Sleep;
use super::{EmbedError, EmbedObserver, EmbedRequest, Embedder, ModelProfile, Purpose, RequestOutcome};
use anamnesis_config::embedding_limits::{BatchSettings, RetrySettings};
use anamnesis_core::clock::Entropy;

/// How often `/info` is asked again.
const ASKED_AGAIN: u8 = 2;

/// An embedder behind an HTTP API. Made by `embed::build`.
pub(crate) struct HttpEmbedder {
    pub(super) profile: ModelProfile,
    pub(super) shape: Box<dyn WireFormat>,
    pub(super) client: ProviderClient,
    pub(super) batch: BatchSettings,
    pub(super) ask_server: bool,
    pub(super) server: OnceCell<server_limits::ServerLimits>,
    /// How often the server was asked for its limits without an answer.
    pub(super) unanswered: AtomicU8,
    pub(super) limits: RateLimits,
    pub(super) concurrency: usize,
    pub(super) breaker: Breaker,
    pub(super) retry: RetrySettings,
    pub(super) sleep: Arc<dyn Sleep>,
    pub(super) entropy: Arc<dyn Entropy>,
    pub(super) observer: Arc<dyn EmbedObserver>,
}

#[async_trait]
impl Embedder for HttpEmbedder {
    fn profile(&self) -> &ModelProfile {
        &self.profile
    }

    async fn embed(&self, purpose: Purpose, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        if texts.iter().any(|text| text.trim().is_empty()) {
            return Err(EmbedError::Rejected); // every provider refuses the empty string, some with the whole batch
        }
        let ranges = batches(texts, self.batch_limits().await);
        let parts: Vec<_> = ranges.into_iter().map(|range| self.part(purpose, &texts[range]).boxed()).collect();
        let parts: Result<Vec<Vec<Vec<f32>>>, EmbedError> =
            stream::iter(parts).buffered(self.concurrency).try_collect().await;
        match parts {
            Ok(parts) => Ok(parts.into_iter().flatten().collect()),
            Err(EmbedError::Rejected) => Err(self.refusal(purpose).await),
            Err(error) => Err(error),
        }
    }
}

/// A text that every provider takes.
const PROBE: &str = "Hello.";

impl HttpEmbedder {
    /// What a refusal of a text means: a provider that refuses another text as well refuses everything, and no text is to
    /// blame.
    async fn refusal(&self, purpose: Purpose) -> EmbedError {
        match self.part(purpose, &[PROBE]).await {
            Ok(_) => EmbedError::Rejected,
            Err(EmbedError::Rejected) => EmbedError::Misconfigured,
            Err(error) => error,
        }
    }

    /// One batch; in halves when the provider says that it is too much.
    async fn part(&self, purpose: Purpose, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut vectors = Vec::with_capacity(texts.len());
        let mut pending = vec![texts];
        while let Some(part) = pending.pop() {
            match self.persistently(purpose, part).await {
                Ok(some) => vectors.extend(some),
                Err(ResponseFailure::TooMuch) if part.len() > 1 => {
                    let (first, second) = part.split_at(part.len() / 2);
                    pending.extend([second, first]);
                }
                Err(failure) => return Err(failure.into()),
            }
        }
        Ok(vectors)
    }

    /// Retries what may pass. An answer with wrong numbers may be a glitch of a moment or the text's own: it is asked
    /// for again at once, as often as a retry would be, before it is believed.
    async fn persistently(&self, purpose: Purpose, texts: &[&str]) -> Result<Vec<Vec<f32>>, ResponseFailure> {
        let mut left = self.retry.attempts;
        loop {
            let attempt = Box::new(move || self.attempt(purpose, texts).boxed());
            let result = retried(&self.retry, &self.sleep, self.entropy.as_ref(), attempt).await;
            left = left.saturating_sub(1);
            match result {
                Err(ResponseFailure::Embed(EmbedError::NotFinite | EmbedError::Dimension)) if left > 0 => {}
                result => return result,
            }
        }
    }

    /// One request, when breaker and limits let it.
    async fn attempt(&self, purpose: Purpose, texts: &[&str]) -> Result<Vec<Vec<f32>>, ResponseFailure> {
        let tokens: usize = texts.iter().map(|text| estimated_tokens(text)).sum();
        let mut seen = EmbedRequest {
            provider: self.shape.provider(),
            model: &self.profile.model,
            purpose,
            outcome: RequestOutcome::Ok,
            texts: texts.len(),
            tokens: tokens as u64,
            truncated: 0,
            duration: Duration::ZERO,
        };
        let was_open = self.breaker.is_open();
        let result = self.admitted(purpose, texts, &mut seen).await;
        if let Err(failure) = &result {
            seen.outcome = failure.outcome();
            tracing::debug!(outcome = seen.outcome.code(), texts = seen.texts, "embedding request failed");
        }
        self.observer.request(&seen);
        let is_open = self.breaker.is_open();
        if was_open != is_open {
            self.observer.circuit(is_open);
        }
        result
    }

    /// Waits for the limits, sends, and tells the breaker how the provider is.
    async fn admitted(
        &self,
        purpose: Purpose,
        texts: &[&str],
        seen: &mut EmbedRequest<'_>,
    ) -> Result<Vec<Vec<f32>>, ResponseFailure> {
        self.breaker.check()?;
        let admission = self.limits.admit(usize::try_from(seen.tokens).unwrap_or(usize::MAX)).await;
        if !admission.waited.is_zero() {
            self.observer.held_back(admission.waited);
        }
        let pass = self.breaker.admit()?;
        let underway = self.observer.begins(seen.provider, &self.profile);
        let traceparent = underway.as_ref().and_then(|underway| underway.traceparent());
        let started = Instant::now();
        let result = self.exchange(purpose, texts, traceparent.as_deref(), seen).await;
        seen.duration = started.elapsed();
        if let Some(underway) = underway {
            seen.outcome = result.as_ref().err().map_or(RequestOutcome::Ok, ResponseFailure::outcome);
            underway.ended(seen);
        }
        match result.as_ref().err().and_then(ResponseFailure::ailing) {
            Some(after) => pass.failed(after),
            None => pass.answered(),
        }
        result
    }

    /// Sends and checks. A server that refuses base64 is asked again without.
    async fn exchange(
        &self,
        purpose: Purpose,
        texts: &[&str],
        traceparent: Option<&str>,
        seen: &mut EmbedRequest<'_>,
    ) -> Result<Vec<Vec<f32>>, ResponseFailure> {
        let mut answer = self.send(purpose, texts, false, traceparent).await;
        if answer == Err(EmbedError::Rejected.into()) && self.shape.may_try_plain() {
            answer = self.send(purpose, texts, true, traceparent).await;
            if answer.is_ok() {
                self.shape.stay_plain();
            }
        }
        let ParsedResponse { vectors, tokens, truncated } = answer?;
        seen.tokens = tokens.unwrap_or(seen.tokens);
        seen.truncated = truncated;
        if truncated > 0 {
            return Err(EmbedError::Rejected.into()); // half a statement has another meaning
        }
        Ok(validate::checked(vectors, texts.len(), self.profile.dimension)?)
    }

    async fn send(
        &self,
        purpose: Purpose,
        texts: &[&str],
        plain: bool,
        traceparent: Option<&str>,
    ) -> Result<ParsedResponse, ResponseFailure> {
        let body = self.shape.body(purpose, texts, plain);
        let cap = self.answer_cap(texts.len());
        let reply = self.client.post(self.shape.url(), body, traceparent, cap).await?;
        if !reply.status.is_success() {
            return Err(classify::failure(reply.status, reply.after, &reply.body));
        }
        Ok(self.shape.answer(&reply.body)?)
    }

    /// The largest answer believed: 64 bytes a number (a double written out with its white space), 1 MiB for the rest.
    fn answer_cap(&self, texts: usize) -> usize {
        (1 << 20) + texts.saturating_mul(self.profile.dimension).saturating_mul(64)
    }

    /// Limits of a batch; the server is asked at the first use, so that starting needs no server, and not for ever: one
    /// that leaves `/info` without an answer must not slow each batch down.
    async fn batch_limits(&self) -> BatchLimits {
        let url = if self.ask_server { self.shape.info_url() } else { None };
        let Some(url) = url else {
            return server_limits::limits(&self.batch, server_limits::ServerLimits::default());
        };
        let asked = self.server.get_or_try_init(|| async {
            self.breaker.check().map_err(drop)?;
            let Some(server) = server_limits::ask(&self.client, &url).await else {
                let times = self.unanswered.fetch_add(1, Ordering::Relaxed);
                return if times < ASKED_AGAIN { Err(()) } else { Ok(server_limits::ServerLimits::default()) };
            };
            if server.max_input_length.is_some_and(|longest| longest < self.profile.max_tokens) {
                tracing::warn!(
                    code = "embedding_max_tokens_too_large",
                    server = server.max_input_length,
                    "the input limit of the server is lower than embedding.profile.max_tokens"
                );
            }
            Ok::<_, ()>(server)
        });
        server_limits::limits(&self.batch, asked.await.copied().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
