//! Spans by outcome. Without the cargo feature `otel`, or without a collector, all stays at zero.

use super::labels::SpanOutcome;
use super::registrar::area;

area! {
    /// Traces.
    pub(crate) struct Spans as "traces" {
        /// Finished spans: exported, dropped because the queue was full or the process ended, or refused by the collector
        ended: Counters<SpanOutcome> = "trace_spans_total";
    }
}
