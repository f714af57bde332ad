//! The numbers of `[embedding]`: batches, rates, time limits, retries, circuit breaker. Defaults from docs/dependencies.md.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::embedding::{InvalidSetting, rule};

/// How much one request carries. What is left out comes from the server (`/info` of TEI), else from the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BatchSettings {
    /// Most texts of one request; 64 unless the server says otherwise. OpenAI allows 2048, Vertex 250.
    pub max_texts: Option<usize>,
    /// Most estimated tokens of one request; 16,000 unless the server says otherwise. Vertex allows 20,000.
    pub max_tokens: Option<usize>,
}

impl BatchSettings {
    pub(super) fn validate(&self) -> Result<(), InvalidSetting> {
        rule(self.max_texts.is_none_or(|n| (1..=2048).contains(&n)), "embedding.batch.max_texts", "must be 1–2048")?;
        rule(self.max_tokens.is_none_or(|n| n > 0), "embedding.batch.max_tokens", "must be positive")
    }
}

/// How fast requests leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitSettings {
    /// Requests in flight at once.
    pub concurrency: usize,
    /// None: no limit.
    pub requests_per_minute: Option<u32>,
    /// Estimated tokens; none: no limit.
    pub tokens_per_minute: Option<u32>,
}

impl Default for LimitSettings {
    fn default() -> Self {
        Self { concurrency: 8, requests_per_minute: None, tokens_per_minute: None }
    }
}

impl LimitSettings {
    pub(super) fn validate(&self) -> Result<(), InvalidSetting> {
        rule((1..=1024).contains(&self.concurrency), "embedding.limits.concurrency", "must be 1–1024")?;
        let positive = |n: Option<u32>| n.is_none_or(|n| n > 0);
        rule(positive(self.requests_per_minute), "embedding.limits.requests_per_minute", "must be positive")?;
        rule(positive(self.tokens_per_minute), "embedding.limits.tokens_per_minute", "must be positive")
    }
}

/// Time limits of one request, milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TimeoutSettings {
    pub connect_ms: u64,
    /// Longest silence while waiting for the answer or between two of its parts.
    pub read_ms: u64,
    pub total_ms: u64,
    /// How long an unused connection is kept: shorter than load balancers do.
    pub idle_ms: u64,
}

impl Default for TimeoutSettings {
    fn default() -> Self {
        Self { connect_ms: 3_000, read_ms: 10_000, total_ms: 30_000, idle_ms: 15_000 }
    }
}

impl TimeoutSettings {
    pub(super) fn validate(&self) -> Result<(), InvalidSetting> {
        rule(self.connect_ms > 0, "embedding.timeouts.connect_ms", "must be positive")?;
        rule(self.read_ms > 0, "embedding.timeouts.read_ms", "must be positive")?;
        rule(self.total_ms >= self.read_ms, "embedding.timeouts.total_ms", "must be at least read_ms")?;
        rule(self.idle_ms > 0, "embedding.timeouts.idle_ms", "must be positive")
    }
}

/// How often a request that may still succeed is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RetrySettings {
    /// Requests in all, the first one included.
    pub attempts: usize,
    /// First pause; doubled each time, with jitter.
    pub first_pause_ms: u64,
    /// Longest pause. A provider that asks for more gets it from the caller's own delays, not from a waiting request.
    pub longest_pause_ms: u64,
}

impl Default for RetrySettings {
    fn default() -> Self {
        Self { attempts: 4, first_pause_ms: 250, longest_pause_ms: 20_000 }
    }
}

impl RetrySettings {
    pub(super) fn validate(&self) -> Result<(), InvalidSetting> {
        rule((1..=20).contains(&self.attempts), "embedding.retry.attempts", "must be 1–20")?;
        rule(self.first_pause_ms > 0, "embedding.retry.first_pause_ms", "must be positive")?;
        rule(
            self.longest_pause_ms >= self.first_pause_ms,
            "embedding.retry.longest_pause_ms",
            "must be at least first_pause_ms",
        )
    }
}

/// When an ailing provider is left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BreakerSettings {
    /// Failed requests in a row that open the circuit.
    pub failures: u32,
    /// First rest; doubled while the probe after it fails.
    pub rest_ms: u64,
    pub longest_rest_ms: u64,
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self { failures: 8, rest_ms: 5_000, longest_rest_ms: 60_000 }
    }
}

impl BreakerSettings {
    pub(super) fn validate(&self) -> Result<(), InvalidSetting> {
        rule(self.failures > 0, "embedding.breaker.failures", "must be positive")?;
        rule(self.rest_ms > 0, "embedding.breaker.rest_ms", "must be positive")?;
        rule(
            (self.rest_ms..=86_400_000).contains(&self.longest_rest_ms),
            "embedding.breaker.longest_rest_ms",
            "must be at least rest_ms and at most a day",
        )
    }

    pub fn rest(&self) -> Duration {
        Duration::from_millis(self.rest_ms)
    }

    pub fn longest_rest(&self) -> Duration {
        Duration::from_millis(self.longest_rest_ms)
    }
}
