//! The numbers of `[embedding]`: batches, rates, time limits, retries, circuit breaker. Defaults from docs/dependencies.md.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::Rules;

/// How much one request carries. What is left out comes from the server (`/info` of TEI), else from the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BatchSettings {
    /// Maximum texts of one request; without it the server's limit, else 64.
    #[schemars(range(min = 1, max = 2048))]
    pub max_texts: Option<usize>,
    /// Maximum estimated tokens of one request; without it the server's limit, else 16000.
    #[schemars(range(min = 1))]
    pub max_tokens: Option<usize>,
}

impl BatchSettings {
    pub(super) fn check(&self, rules: &mut Rules) {
        rules.rule(
            self.max_texts.is_none_or(|n| (1..=2048).contains(&n)),
            "embedding.batch.max_texts",
            "must be 1–2048",
        );
        rules.rule(self.max_tokens.is_none_or(|n| n > 0), "embedding.batch.max_tokens", "must be positive");
    }
}

/// How fast requests leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitSettings {
    /// Requests at once.
    #[schemars(range(min = 1, max = 1024))]
    pub concurrency: usize,
    /// Requests in a minute; without it no limit.
    #[schemars(range(min = 1))]
    pub requests_per_minute: Option<u32>,
    /// Estimated tokens in a minute; without it no limit.
    #[schemars(range(min = 1))]
    pub tokens_per_minute: Option<u32>,
}

impl Default for LimitSettings {
    fn default() -> Self {
        Self { concurrency: 8, requests_per_minute: None, tokens_per_minute: None }
    }
}

impl LimitSettings {
    pub(super) fn check(&self, rules: &mut Rules) {
        rules.rule((1..=1024).contains(&self.concurrency), "embedding.limits.concurrency", "must be 1–1024");
        let positive = |n: Option<u32>| n.is_none_or(|n| n > 0);
        rules.rule(positive(self.requests_per_minute), "embedding.limits.requests_per_minute", "must be positive");
        rules.rule(positive(self.tokens_per_minute), "embedding.limits.tokens_per_minute", "must be positive");
    }
}

/// Time limits of one request, milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TimeoutSettings {
    /// Longest connect.
    #[schemars(range(min = 1))]
    pub connect_ms: u64,
    /// Longest time without data.
    #[schemars(range(min = 1))]
    pub read_ms: u64,
    /// Longest request; at least `read_ms`.
    #[schemars(range(min = 1))]
    pub total_ms: u64,
    /// Time for which an unused connection stays open.
    #[schemars(range(min = 1))]
    pub idle_ms: u64,
}

impl Default for TimeoutSettings {
    fn default() -> Self {
        Self { connect_ms: 3_000, read_ms: 10_000, total_ms: 30_000, idle_ms: 15_000 }
    }
}

impl TimeoutSettings {
    pub(super) fn check(&self, rules: &mut Rules) {
        rules.rule(self.connect_ms > 0, "embedding.timeouts.connect_ms", "must be positive");
        rules.rule(self.read_ms > 0, "embedding.timeouts.read_ms", "must be positive");
        rules.rule(self.total_ms >= self.read_ms, "embedding.timeouts.total_ms", "must be at least read_ms");
        rules.rule(self.idle_ms > 0, "embedding.timeouts.idle_ms", "must be positive");
    }
}

/// How often a request that may still succeed is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RetrySettings {
    /// Requests in all for one batch.
    #[schemars(range(min = 1, max = 20))]
    pub attempts: usize,
    /// Pause before the first retry; doubled each time.
    #[schemars(range(min = 1))]
    pub initial_backoff_ms: u64,
    /// Longest pause; at least `initial_backoff_ms`.
    #[schemars(range(min = 1))]
    pub max_backoff_ms: u64,
}

impl Default for RetrySettings {
    fn default() -> Self {
        Self { attempts: 4, initial_backoff_ms: 250, max_backoff_ms: 20_000 }
    }
}

impl RetrySettings {
    pub(super) fn check(&self, rules: &mut Rules) {
        rules.rule((1..=20).contains(&self.attempts), "embedding.retry.attempts", "must be 1–20");
        rules.rule(self.initial_backoff_ms > 0, "embedding.retry.initial_backoff_ms", "must be positive");
        rules.rule(
            self.max_backoff_ms >= self.initial_backoff_ms,
            "embedding.retry.max_backoff_ms",
            "must be at least initial_backoff_ms",
        );
    }
}

/// When a failing provider gets no requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BreakerSettings {
    /// Consecutive failures that open the circuit.
    #[schemars(range(min = 1))]
    pub failures: u32,
    /// Time for which the open circuit sends nothing; doubled while the probe after it fails.
    #[schemars(range(min = 1))]
    pub open_ms: u64,
    /// Longest such time; at least `open_ms`.
    #[schemars(range(min = 1, max = 86400000))]
    pub max_open_ms: u64,
}

impl Default for BreakerSettings {
    fn default() -> Self {
        Self { failures: 8, open_ms: 5_000, max_open_ms: 60_000 }
    }
}

impl BreakerSettings {
    pub(super) fn check(&self, rules: &mut Rules) {
        rules.rule(self.failures > 0, "embedding.breaker.failures", "must be positive");
        rules.rule(self.open_ms > 0, "embedding.breaker.open_ms", "must be positive");
        rules.rule(
            (self.open_ms..=86_400_000).contains(&self.max_open_ms),
            "embedding.breaker.max_open_ms",
            "must be at least open_ms and at most a day",
        );
    }

    pub fn open_time(&self) -> Duration {
        Duration::from_millis(self.open_ms)
    }

    pub fn max_open_time(&self) -> Duration {
        Duration::from_millis(self.max_open_ms)
    }
}
