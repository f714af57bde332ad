//! What embedding costs. Provider, model and currency are fixed by configuration, so they cost one series each.

use super::labels::{CacheResult, EmbeddingOutcome, EmbeddingPurpose};
use super::registrar::area;

/// Buckets of `gen_ai.client.operation.duration` in OpenTelemetry's semantic conventions.
const REQUEST_SECONDS: &[f64] =
    &[0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

area! {
    /// Embedding.
    pub struct Embedding as "embedding" {
        /// Requests to the provider, retries included
        requests: Counters<EmbeddingOutcome> = "embedding_requests_total";
        /// Duration of a request, in seconds
        seconds: Histograms<()> = "embedding_request_duration_seconds" in REQUEST_SECONDS;
        /// Texts embedded, by purpose
        texts: Counters<EmbeddingPurpose> = "embedding_texts_total";
        /// Tokens as counted by the provider
        tokens: Counters<()> = "embedding_tokens_total";
        /// Texts that the provider truncated
        truncated: Counters<()> = "embedding_truncated_total";
        /// Texts to embed, by whether the patient already has an equal text with a vector
        cache: Counters<CacheResult> = "embedding_cache_total";
        /// Seconds spent waiting for the rate limit
        limited: Histograms<()> = "embedding_ratelimit_wait_seconds" in REQUEST_SECONDS;
        /// 1 while the circuit breaker is open
        circuit_open: Gauges<()> = "embedding_circuit_open";
    }
}

area! {
    /// What embedding costs.
    pub struct Spending as "embedding" {
        /// Cost, at the configured price per token
        cost: Amounts<()> = "embedding_cost_total";
    }
}
