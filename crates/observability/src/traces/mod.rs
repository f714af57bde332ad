//! Traces: what the program did for one message, from its `traceparent` through the stages to store, provider and events. The
//! one place that knows OpenTelemetry. With the cargo feature `otel` spans go to a collector (OTLP over HTTP); without it every
//! type here is empty and every call is nothing.
//!
//! Three rules, each with a test:
//! - no content: values are codes of the source, numbers, or names of the configuration and keyed hashes ([`Code`], [`Count`],
//!   [`Named`]); a span has no method that takes any other text;
//! - nothing waits: a finished span goes into a bounded queue or is dropped and counted, and another task sends;
//! - time and ids come from the caller's clock and entropy, and nothing is read from the environment.

mod keys;
mod stage_spans;

#[cfg(feature = "otel")]
mod export;
#[cfg(feature = "otel")]
mod live;
#[cfg(not(feature = "otel"))]
mod off;

pub use keys::{Code, Count, Name, Named, RESOURCE_KEYS, SpanKind, attribute_keys};
#[cfg(feature = "otel")]
pub use live::{SpanGroup, TraceContext, TraceInstant, TraceSpan, Traces, current, within};
#[cfg(not(feature = "otel"))]
pub use off::{SpanGroup, TraceContext, TraceInstant, TraceSpan, Traces, current, within};
pub use stage_spans::StageSpans;

use anamnesis_config::embedding::InvalidSetting;
use anamnesis_transport::ClientError;

/// Whether this program can send spans.
pub const BUILT: bool = cfg!(feature = "otel");

/// Why no spans can be sent. Names keys, never values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TracesError {
    #[error("configuration key `{}` {}", .0.key, .0.rule)]
    Setting(#[from] InvalidSetting),
    #[error("traces: {0}")]
    Client(#[from] ClientError),
    /// A header that HTTP does not allow.
    #[error("traces.headers contains an invalid header")]
    Header,
    /// Only where one asks for it, as `doctor` does.
    #[error("the collector does not accept spans ({0})")]
    Away(&'static str),
}
