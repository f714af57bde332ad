//! Publications in traces: each is a span within the trace of the message behind its event, and the event goes on with it.

use super::exchange_destination::EXCHANGE;
use super::{DeliveryOutcome, Destination, OutboxEvent, event};
use anamnesis_config::traces::Propagation;
use anamnesis_observability::metrics::Label as _;
use anamnesis_observability::traces::{Code, Name, Named, SpanKind, TraceContext, TraceSpan, Traces};

/// A span for each event that a destination is about to be sent. Where it is to know of the trace, the event carries the
/// span's context; elsewhere it carries none.
pub(super) fn begin(traces: &Traces, destination: &dyn Destination, events: &mut [OutboxEvent]) -> Vec<TraceSpan> {
    let is_exchange = destination.name() == EXCHANGE;
    let propagates = traces.propagates(if is_exchange { Propagation::Events } else { Propagation::Webhooks });
    let begin = |event: &mut OutboxEvent| {
        let mut span = TraceSpan::none();
        if destination.tries(event) {
            let parent = TraceContext::remote(event.traceparent.as_deref());
            span = traces.begin(Name::Publish(destination.name()), SpanKind::Producer, &parent);
        }
        if span.is_recorded() {
            span.code(Code::MessagingOperation, "publish");
            span.code(Code::MessagingOperationType, "send");
            if is_exchange {
                span.code(Code::MessagingSystem, "rabbitmq");
            }
            if let Some(kind) = event::label(&event.kind) {
                span.code(Code::Type, kind.code());
            }
            span.name(Named::Destination, &destination.address(event));
        }
        event.traceparent = span.context().traceparent().or(event.traceparent.take()).filter(|_| propagates);
        span
    };
    events.iter_mut().map(begin).collect()
}

/// Ends the spans of a delivery.
pub(super) fn end(spans: Vec<TraceSpan>, answers: &[DeliveryOutcome]) {
    for (mut span, taken) in spans.into_iter().zip(answers) {
        match taken {
            DeliveryOutcome::Accepted => {}
            DeliveryOutcome::Refused => span.fail("refused"),
            DeliveryOutcome::Failed => span.fail("failed"),
            DeliveryOutcome::Paused(_) => span.fail("resting"),
        }
    }
}
