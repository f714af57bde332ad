//! Traces of a program that was built without the cargo feature `otel`: empty types and calls that do nothing.

use std::sync::Arc;
use std::time::Duration;

use super::{Code, Count, Name, Named, SpanKind, TracesError};
use crate::metrics::Counters;
use crate::metrics::labels::SpanOutcome;
use anamnesis_config::traces::{Propagation, TracesConfig};
use anamnesis_core::clock::{Clock, Entropy};

/// Sends no spans.
#[derive(Debug, Clone, Default)]
pub struct Traces(());

impl Traces {
    /// # Errors
    /// Never.
    pub(crate) fn start(
        config: &TracesConfig,
        _: Arc<dyn Clock>,
        _: Arc<dyn Entropy>,
        _: Counters<SpanOutcome>,
    ) -> Result<Self, TracesError> {
        if config.is_set() {
            tracing::warn!(code = "traces_unbuilt", "traces.endpoint has no effect: the program has no feature otel");
        }
        Ok(Self(()))
    }

    /// # Errors
    /// Never.
    pub async fn probe(_: &TracesConfig) -> Result<(), TracesError> {
        Ok(())
    }

    pub fn now(&self) -> TraceInstant {
        TraceInstant
    }

    pub fn begin(&self, _: Name<'_>, _: SpanKind, _: &TraceContext) -> TraceSpan {
        TraceSpan
    }

    pub fn begin_at(&self, _: Name<'_>, _: SpanKind, _: &TraceContext, _: TraceInstant) -> TraceSpan {
        TraceSpan
    }

    pub fn child(&self, _: Name<'_>, _: SpanKind, _: &TraceContext) -> TraceSpan {
        TraceSpan
    }

    pub(super) fn linked(&self, _: Name<'_>, _: SpanKind, _: &TraceContext, _: Option<TraceContext>) -> TraceSpan {
        TraceSpan
    }

    pub fn operation(&self, _: Name<'_>, _: SpanKind, _: &SpanGroup) -> TraceSpan {
        TraceSpan
    }

    /// What came with an event goes on with it to those who subscribe for events.
    pub fn propagates(&self, to: Propagation) -> bool {
        to == Propagation::Events
    }

    pub async fn close(&self, _: Duration) {}
}

/// A span of nothing.
#[derive(Debug, Clone, Copy, Default)]
#[must_use]
pub struct TraceSpan;

impl TraceSpan {
    pub fn none() -> Self {
        Self
    }

    pub fn context(&self) -> TraceContext {
        TraceContext(())
    }

    pub fn is_recorded(&self) -> bool {
        false
    }

    pub fn code(&mut self, _: Code, _: &'static str) {}

    pub fn count(&mut self, _: Count, _: u64) {}

    pub fn name(&mut self, _: Named, _: &str) {}

    pub fn fail(&mut self, _: &'static str) {}

    pub fn end(self) {}
}

/// A place in no trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TraceContext(());

impl TraceContext {
    pub fn remote(_: Option<&str>) -> Self {
        Self(())
    }

    pub(crate) fn is_recorded(&self) -> bool {
        false
    }

    pub fn traceparent(&self) -> Option<String> {
        None
    }
}

/// No messages.
#[derive(Debug, Clone, Copy, Default)]
pub struct SpanGroup;

impl SpanGroup {
    pub(super) fn from_messages(_: impl Iterator<Item = TraceContext>) -> Self {
        Self
    }

    pub fn alone(_: TraceContext) -> Self {
        Self
    }
}

/// No instant.
#[derive(Debug, Clone, Copy)]
pub struct TraceInstant;

/// Does the work.
pub async fn within<T>(_: SpanGroup, work: impl Future<Output = T>) -> T {
    work.await
}

/// The work of no message.
pub fn current() -> SpanGroup {
    SpanGroup
}
