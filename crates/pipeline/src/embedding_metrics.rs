//! Maps the events of an embedder to the declared metrics and to spans.

use std::sync::Arc;

use anamnesis_config::embedding::Provider;
use anamnesis_config::traces::Propagation;
use anamnesis_embedding::{EmbedObserver, EmbedRequest, InFlightRequest, ModelProfile, Purpose, RequestOutcome};
use anamnesis_observability::metrics::labels::{EmbeddingOutcome, EmbeddingPurpose};
use anamnesis_observability::metrics::{Label as _, Metrics};
use anamnesis_observability::traces::{Code, Count, Name, Named, SpanKind, TraceSpan, current};

/// Counts requests, texts, tokens and money.
pub struct EmbeddingMetrics {
    metrics: Arc<Metrics>,
    price_per_token: f64,
}

impl EmbeddingMetrics {
    /// `price_per_million_tokens` in the currency of the metrics' identity.
    pub fn new(metrics: Arc<Metrics>, price_per_million_tokens: f64) -> Self {
        Self { metrics, price_per_token: price_per_million_tokens / 1e6 }
    }
}

fn label(outcome: RequestOutcome) -> EmbeddingOutcome {
    match outcome {
        RequestOutcome::Ok => EmbeddingOutcome::Ok,
        RequestOutcome::Transient => EmbeddingOutcome::Transient,
        RequestOutcome::RateLimited => EmbeddingOutcome::RateLimited,
        RequestOutcome::CircuitOpen => EmbeddingOutcome::CircuitOpen,
        RequestOutcome::PayloadTooLarge => EmbeddingOutcome::PayloadTooLarge,
        RequestOutcome::Rejected => EmbeddingOutcome::Rejected,
        RequestOutcome::Misconfigured => EmbeddingOutcome::Misconfigured,
        RequestOutcome::InvalidResponse => EmbeddingOutcome::InvalidResponse,
    }
}

/// A call of the model as a span: the provider's answer ends it.
struct EmbedCallSpan {
    span: TraceSpan,
    /// The trace is sent to the provider.
    propagated: bool,
}

impl InFlightRequest for EmbedCallSpan {
    fn traceparent(&self) -> Option<String> {
        self.span.context().traceparent().filter(|_| self.propagated)
    }

    fn ended(mut self: Box<Self>, seen: &EmbedRequest<'_>) {
        let purpose = match seen.purpose {
            Purpose::Document => EmbeddingPurpose::Document,
            Purpose::Query => EmbeddingPurpose::Query,
        };
        self.span.code(Code::Purpose, purpose.code());
        self.span.count(Count::Texts, seen.texts as u64);
        self.span.count(Count::Tokens, seen.tokens);
        if seen.outcome != RequestOutcome::Ok {
            self.span.fail(seen.outcome.code());
        }
    }
}

impl EmbedObserver for EmbeddingMetrics {
    fn begins(&self, provider: Provider, profile: &ModelProfile) -> Option<Box<dyn InFlightRequest>> {
        let traces = &self.metrics.traces;
        let kind = if provider == Provider::Builtin { SpanKind::Internal } else { SpanKind::Client };
        let mut span = traces.operation(Name::Embeddings(&profile.model), kind, &current());
        if !span.is_recorded() {
            return None;
        }
        span.code(Code::GenAiOperation, "embeddings");
        span.code(Code::GenAiProvider, provider.gen_ai());
        span.name(Named::Model, &profile.model);
        span.count(Count::Dimension, profile.dimension as u64);
        Some(Box::new(EmbedCallSpan { span, propagated: traces.propagates(Propagation::Embedding) }))
    }

    fn request(&self, seen: &EmbedRequest<'_>) {
        let metrics = &self.metrics.embedding;
        metrics.requests.with_labels(label(seen.outcome)).inc();
        metrics.truncated.inc_by(seen.truncated as u64);
        if seen.outcome != RequestOutcome::CircuitOpen {
            metrics.seconds.observe(seen.duration.as_secs_f64());
        }
        if seen.outcome == RequestOutcome::Ok {
            let purpose = match seen.purpose {
                Purpose::Document => EmbeddingPurpose::Document,
                Purpose::Query => EmbeddingPurpose::Query,
            };
            metrics.texts.with_labels(purpose).inc_by(seen.texts as u64);
            metrics.tokens.inc_by(seen.tokens);
            self.metrics.spending.cost.inc_by(seen.tokens as f64 * self.price_per_token);
        }
    }

    fn held_back(&self, wait: std::time::Duration) {
        self.metrics.embedding.limited.observe(wait.as_secs_f64());
    }

    fn circuit(&self, open: bool) {
        self.metrics.embedding.circuit_open.set(i64::from(open));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use anamnesis_observability::metrics::Identity;

    #[test]
    fn each_request_is_counted_and_only_an_answered_one_is_paid() {
        let metrics = Arc::new(Metrics::new(&Identity::default()).unwrap());
        let metered = EmbeddingMetrics::new(Arc::clone(&metrics), 0.02);
        for outcome in RequestOutcome::ALL {
            metered.request(&EmbedRequest {
                provider: Provider::OpenAi,
                model: "m",
                purpose: Purpose::Query,
                outcome: *outcome,
                texts: 3,
                tokens: 500_000,
                truncated: 1,
                duration: Duration::from_millis(20),
            });
            assert_eq!(metrics.embedding.requests.with_labels(label(*outcome)).get(), 1, "{outcome:?}");
        }
        metered.held_back(Duration::from_secs(1));
        metered.circuit(true);
        let embedding = &metrics.embedding;
        assert_eq!(embedding.texts.with_labels(EmbeddingPurpose::Query).get(), 3);
        assert_eq!((embedding.tokens.get(), embedding.truncated.get()), (500_000, RequestOutcome::ALL.len() as u64));
        assert!((metrics.spending.cost.get() - 0.01).abs() < 1e-12);
        assert_eq!(embedding.seconds.get_sample_count(), RequestOutcome::ALL.len() as u64 - 1);
        assert_eq!((embedding.limited.get_sample_count(), embedding.circuit_open.get()), (1, 1));
    }
}
