//! Traces with OpenTelemetry: spans are sampled by the SDK, where the message's own decision comes first, and handed over to
//! the exporter's queue when they end.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use opentelemetry::trace::{
    Link, Span as _, SpanBuilder, SpanContext, SpanId, SpanKind as SdkSpanKind, Status, TraceContextExt as _,
    TraceFlags, TraceId, TraceState, Tracer as _, TracerProvider as _,
};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{IdGenerator, Sampler, SdkTracer, SdkTracerProvider, SpanLimits};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::export::{Exporter, SpanQueue};
use super::{Code, Count, Name, Named, RESOURCE_KEYS, SpanKind, TracesError};
use crate::metrics::Counters;
use crate::metrics::labels::SpanOutcome;
use anamnesis_config::traces::{Propagation, TracesConfig};
use anamnesis_core::clock::{Clock, Entropy, ordered_id};

/// Most links of a span: the messages of a large batch.
const LINKS: u32 = 512;
/// Most attributes of a span: more than any has.
const ATTRIBUTES: u32 = 32;

/// Makes spans and sends them; nothing while no collector is configured. Cheap to clone.
#[derive(Clone, Default)]
pub struct Traces(Option<Arc<TracerState>>);

struct TracerState {
    tracer: SdkTracer,
    clock: Arc<dyn Clock>,
    propagate_to: Vec<Propagation>,
    closing: watch::Sender<bool>,
    sending: Mutex<Option<JoinHandle<()>>>,
}

impl fmt::Debug for Traces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Traces").field(&self.0.is_some()).finish()
    }
}

/// Ids from the program's own source of randomness.
struct RandomSpanIds(Arc<dyn Entropy>);

impl fmt::Debug for RandomSpanIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RandomSpanIds")
    }
}

impl IdGenerator for RandomSpanIds {
    fn new_trace_id(&self) -> TraceId {
        let mut bytes = [0; 16];
        self.0.fill(&mut bytes);
        TraceId::from_bytes(bytes)
    }

    fn new_span_id(&self) -> SpanId {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        SpanId::from_bytes(bytes)
    }
}

impl Traces {
    /// Spans for the collector that a configuration names, if it names one. Must be called in a Tokio runtime.
    ///
    /// # Errors
    /// When address, headers or certificates cannot be used.
    pub(crate) fn start(
        config: &TracesConfig,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        ended: Counters<SpanOutcome>,
    ) -> Result<Self, TracesError> {
        if !config.is_set() {
            return Ok(Self(None));
        }
        let instance = ordered_id(clock.now(), entropy.as_ref()).to_string();
        let values = ["anamnesis".to_owned(), env!("CARGO_PKG_VERSION").to_owned(), instance];
        let about = RESOURCE_KEYS.into_iter().zip(values).map(|(key, value)| KeyValue::new(key, value));
        let resource = Resource::builder_empty().with_attributes(about).build();
        let exporter = Exporter::new(config, &resource, ended.clone())?;
        let (queue, spans) = SpanQueue::bounded(config.queue(), ended);
        let (closing, closed) = watch::channel(false);
        // Each choice is made here, so that none is taken from a variable of the environment.
        let limits = SpanLimits {
            max_events_per_span: 0,
            max_attributes_per_span: ATTRIBUTES,
            max_links_per_span: LINKS,
            max_attributes_per_event: 0,
            max_attributes_per_link: 0,
        };
        let provider = SdkTracerProvider::builder()
            .with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(config.ratio))))
            .with_id_generator(RandomSpanIds(entropy))
            .with_span_limits(limits)
            .with_resource(resource)
            .with_span_processor(queue)
            .build();
        let scope = InstrumentationScope::builder("anamnesis").with_version(env!("CARGO_PKG_VERSION")).build();
        let live = TracerState {
            tracer: provider.tracer_with_scope(scope),
            clock,
            propagate_to: config.propagate_to.clone(),
            closing,
            sending: Mutex::new(Some(tokio::spawn(exporter.run(spans, closed)))),
        };
        Ok(Self(Some(Arc::new(live))))
    }

    /// Asks the collector of a configuration whether it takes spans, by sending none.
    ///
    /// # Errors
    /// When it cannot be asked, or refuses.
    pub async fn probe(config: &TracesConfig) -> Result<(), TracesError> {
        if !config.is_set() {
            return Ok(());
        }
        let ended = crate::metrics::Metrics::new(&crate::metrics::Identity::default());
        let ended = ended.map_err(|_| TracesError::Away("metrics"))?.spans.ended;
        Exporter::new(config, &Resource::builder_empty().build(), ended)?.probe().await
    }

    /// The present, for a span that is known later than it began.
    pub fn now(&self) -> TraceInstant {
        TraceInstant(self.0.as_ref().map(|live| live.clock.now().into()))
    }

    /// A span that begins now: in the trace of `parent`, or in a new one where that is none.
    pub fn begin(&self, name: Name<'_>, kind: SpanKind, parent: &TraceContext) -> TraceSpan {
        self.begin_at(name, kind, parent, self.now())
    }

    /// The same for a span that began before.
    pub fn begin_at(&self, name: Name<'_>, kind: SpanKind, parent: &TraceContext, at: TraceInstant) -> TraceSpan {
        self.made(name, kind, (parent, Vec::new()), at)
    }

    /// A span within another; none where that is not recorded.
    pub fn child(&self, name: Name<'_>, kind: SpanKind, of: &TraceContext) -> TraceSpan {
        if of.is_recorded() { self.begin(name, kind, of) } else { TraceSpan(None) }
    }

    /// The same with a link to another span.
    pub(super) fn linked(
        &self,
        name: Name<'_>,
        kind: SpanKind,
        of: &TraceContext,
        link: Option<TraceContext>,
    ) -> TraceSpan {
        self.made(name, kind, (of, link.into_iter().collect()), self.now())
    }

    /// What is done once for all messages of a group: within the first one, linked to the others.
    pub fn operation(&self, name: Name<'_>, kind: SpanKind, group: &SpanGroup) -> TraceSpan {
        match &group.0 {
            Some(of) => self.made(name, kind, (&of.0, of.1.clone()), self.now()),
            None => TraceSpan(None),
        }
    }

    fn made(
        &self,
        name: Name<'_>,
        kind: SpanKind,
        (parent, links): (&TraceContext, Vec<TraceContext>),
        at: TraceInstant,
    ) -> TraceSpan {
        let Some(live) = &self.0 else { return TraceSpan(None) };
        let kind = match kind {
            SpanKind::Internal => SdkSpanKind::Internal,
            SpanKind::Client => SdkSpanKind::Client,
            SpanKind::Consumer => SdkSpanKind::Consumer,
            SpanKind::Producer => SdkSpanKind::Producer,
        };
        let link = |context: TraceContext| context.0.map(|ids| Link::new(ids.span_context(), Vec::new(), 0));
        let mut builder = SpanBuilder::from_name(Cow::Owned(name.to_string())).with_kind(kind);
        builder = builder.with_links(links.into_iter().filter_map(link).collect());
        if let Some(at) = at.0 {
            builder = builder.with_start_time(at);
        }
        let mut surroundings = opentelemetry::Context::new();
        if let Some(ids) = &parent.0 {
            surroundings = surroundings.with_remote_span_context(ids.span_context());
        }
        let span = live.tracer.build_with_context(builder, &surroundings);
        TraceSpan(Some(Box::new(OpenSpan { span, live: Arc::clone(live) })))
    }

    /// Whether such a destination is sent the id of the trace.
    pub fn propagates(&self, to: Propagation) -> bool {
        match &self.0 {
            Some(live) => live.propagate_to.contains(&to),
            // What came with an event goes on with it.
            None => to == Propagation::Events,
        }
    }

    /// Sends what waits, for no longer than `within`; later spans are dropped.
    pub async fn close(&self, within: Duration) {
        let Some(live) = &self.0 else { return };
        live.closing.send_replace(true);
        let sending = live.sending.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut sending) = sending
            && tokio::time::timeout(within, &mut sending).await.is_err()
        {
            sending.abort();
        }
    }
}

/// A span; it ends when it is dropped.
#[derive(Default)]
#[must_use]
pub struct TraceSpan(Option<Box<OpenSpan>>);

struct OpenSpan {
    span: opentelemetry_sdk::trace::Span,
    live: Arc<TracerState>,
}

impl fmt::Debug for TraceSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TraceSpan").field(&self.context()).finish()
    }
}

impl TraceSpan {
    /// No span.
    pub fn none() -> Self {
        Self(None)
    }

    /// Its place in its trace, for spans within it and for those who receive it.
    pub fn context(&self) -> TraceContext {
        TraceContext(
            self.0
                .as_ref()
                .map(|open| SpanIds::from_context(open.span.span_context()))
                .filter(|ids| ids.span != SpanId::INVALID),
        )
    }

    /// Whether it will be sent: what costs something to say is said only then.
    pub fn is_recorded(&self) -> bool {
        self.0.as_ref().is_some_and(|open| open.span.is_recording())
    }

    /// Says a code.
    pub fn code(&mut self, key: Code, value: &'static str) {
        self.set(|| KeyValue::new(key.key(), value));
    }

    /// Says a number.
    pub fn count(&mut self, key: Count, value: u64) {
        self.set(|| KeyValue::new(key.key(), i64::try_from(value).unwrap_or(i64::MAX)));
    }

    /// Says a name of the configuration, or a keyed hash.
    pub fn name(&mut self, key: Named, value: &str) {
        self.set(|| KeyValue::new(key.key(), value.to_owned()));
    }

    fn set(&mut self, attribute: impl FnOnce() -> KeyValue) {
        if let Some(open) = self.0.as_mut().filter(|open| open.span.is_recording()) {
            open.span.set_attribute(attribute());
        }
    }

    /// It ended in an error with this code.
    pub fn fail(&mut self, code: &'static str) {
        self.code(Code::ErrorType, code);
        if let Some(open) = &mut self.0 {
            open.span.set_status(Status::error(code));
        }
    }

    /// Ends it now.
    pub fn end(self) {}
}

impl Drop for TraceSpan {
    fn drop(&mut self) {
        if let Some(open) = self.0.as_mut().filter(|open| open.span.is_recording()) {
            open.span.end_with_timestamp(open.live.clock.now().into());
        }
    }
}

/// The ids of a span, as they travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SpanIds {
    trace: TraceId,
    span: SpanId,
    flags: TraceFlags,
    remote: bool,
}

impl SpanIds {
    fn from_context(context: &SpanContext) -> Self {
        let (trace, span) = (context.trace_id(), context.span_id());
        Self { trace, span, flags: context.trace_flags(), remote: context.is_remote() }
    }

    fn span_context(self) -> SpanContext {
        SpanContext::new(self.trace, self.span, self.flags, self.remote, TraceState::default())
    }
}

/// A place in a trace: this span, or one of another program. Cheap to copy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TraceContext(Option<SpanIds>);

impl TraceContext {
    /// That of a W3C `traceparent`; none of one that is broken.
    pub fn remote(traceparent: Option<&str>) -> Self {
        let parsed = || {
            let mut parts = traceparent?.split('-');
            let (_, trace, span, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
            let (trace, span) = (TraceId::from_hex(trace).ok()?, SpanId::from_hex(span).ok()?);
            // Later versions may know more flags; the first says whether it is recorded.
            let flags = TraceFlags::new(u8::from_str_radix(flags, 16).ok()? & 1);
            let ids = SpanIds { trace, span, flags, remote: true };
            ids.span_context().is_valid().then_some(ids)
        };
        Self(parsed())
    }

    /// Whether spans of this trace are sent.
    pub(crate) fn is_recorded(&self) -> bool {
        self.0.is_some_and(|ids| ids.flags.is_sampled())
    }

    /// As W3C writes it, for those who go on with the trace.
    pub fn traceparent(&self) -> Option<String> {
        self.0.map(|ids| format!("00-{}-{}-{:02x}", ids.trace, ids.span, ids.flags.to_u8()))
    }
}

/// The messages that something is done for.
#[derive(Debug, Clone, Default)]
pub struct SpanGroup(Option<Arc<(TraceContext, Vec<TraceContext>)>>);

impl SpanGroup {
    pub(super) fn from_messages(mut messages: impl Iterator<Item = TraceContext>) -> Self {
        Self(messages.next().map(|first| Arc::new((first, messages.collect()))))
    }

    /// One alone; empty if that is not recorded.
    pub fn alone(message: TraceContext) -> Self {
        Self::from_messages(std::iter::once(message).filter(TraceContext::is_recorded))
    }
}

/// An instant of the program's clock; none while no spans are sent.
#[derive(Debug, Clone, Copy)]
pub struct TraceInstant(Option<SystemTime>);

tokio::task_local! {
    static CURRENT: SpanGroup;
}

/// Does work for a group: what is asked of a provider meanwhile is within its spans.
pub async fn within<T>(group: SpanGroup, work: impl Future<Output = T>) -> T {
    CURRENT.scope(group, work).await
}

/// The messages that this task works for.
pub fn current() -> SpanGroup {
    CURRENT.try_with(SpanGroup::clone).unwrap_or_default()
}

#[cfg(test)]
#[path = "live_tests.rs"]
mod tests;
