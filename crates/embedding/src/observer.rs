//! What embedding reports to metrics and traces: numbers and names of closed sets, never a text.

use std::time::Duration;

use super::{EmbedError, ModelProfile, Purpose};
use anamnesis_config::embedding::Provider;

/// How one request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestOutcome {
    Ok,
    /// Connection, time-out, 408, 424, 5xx.
    Transient,
    /// 429.
    RateLimited,
    /// Not sent: the circuit breaker is open.
    CircuitOpen,
    /// 413 or too many tokens: sent again in halves.
    PayloadTooLarge,
    Rejected,
    Misconfigured,
    /// Wrong count, order, dimension, numbers, or not of the contract at all.
    InvalidResponse,
}

impl RequestOutcome {
    pub const ALL: &'static [RequestOutcome] = &[
        RequestOutcome::Ok,
        RequestOutcome::Transient,
        RequestOutcome::RateLimited,
        RequestOutcome::CircuitOpen,
        RequestOutcome::PayloadTooLarge,
        RequestOutcome::Rejected,
        RequestOutcome::Misconfigured,
        RequestOutcome::InvalidResponse,
    ];

    /// How a call that failed so ended.
    pub(crate) fn from_error(error: &EmbedError) -> Self {
        match error {
            EmbedError::Transient { .. } => Self::Transient,
            EmbedError::CircuitOpen { .. } => Self::CircuitOpen,
            EmbedError::Rejected => Self::Rejected,
            EmbedError::Misconfigured => Self::Misconfigured,
            EmbedError::Dimension | EmbedError::NotFinite | EmbedError::BadAnswer => Self::InvalidResponse,
        }
    }

    /// The value of a metric's label.
    pub fn code(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Transient => "transient",
            Self::RateLimited => "rate_limited",
            Self::CircuitOpen => "circuit_open",
            Self::PayloadTooLarge => "payload_too_large",
            Self::Rejected => "rejected",
            Self::Misconfigured => "misconfigured",
            Self::InvalidResponse => "invalid_response",
        }
    }
}

/// One request that was sent, or kept back by an open circuit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedRequest<'r> {
    pub provider: Provider,
    /// The model as configured.
    pub model: &'r str,
    pub purpose: Purpose,
    pub outcome: RequestOutcome,
    pub texts: usize,
    /// As the provider counted them, else estimated from the length.
    pub tokens: u64,
    /// Texts that the provider says it cut.
    pub truncated: usize,
    pub duration: Duration,
}

/// A request that was sent and has no answer yet.
pub trait InFlightRequest: Send {
    /// A `traceparent` for the provider, where it is to know of the trace.
    fn traceparent(&self) -> Option<String>;

    /// It has ended as `seen` says.
    fn ended(self: Box<Self>, seen: &EmbedRequest<'_>);
}

/// Receives each request; implemented where the metrics are. Must not block.
pub trait EmbedObserver: Send + Sync {
    fn request(&self, seen: &EmbedRequest<'_>);

    /// A request is about to be sent; what is returned sees its end. Not called for one that an open circuit keeps back.
    fn begins(&self, _provider: Provider, _profile: &ModelProfile) -> Option<Box<dyn InFlightRequest>> {
        None
    }

    /// A rate limit of ours held a request back.
    fn held_back(&self, _wait: Duration) {}

    /// The circuit opened (`true`) or closed.
    fn circuit(&self, _open: bool) {}
}

/// Ignores everything.
#[derive(Debug, Default, Clone, Copy)]
pub struct NoopObserver;

impl EmbedObserver for NoopObserver {
    fn request(&self, _seen: &EmbedRequest<'_>) {}
}
