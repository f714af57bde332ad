use serde_json::{Value, json};

use anamnesis_core::clock::{SeededEntropy, SystemClock};
use anamnesis_test_servers::collector::{Collector, CollectorMode};

use super::*;
use crate::metrics::{Identity, Metrics};
use crate::traces::StageSpans;

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const UNRECORDED: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00";

/// Metrics whose spans go to a collector, under these settings.
fn sending(collector: &Collector, more: &Value) -> Metrics {
    let mut settings = json!({"endpoint": collector.url(), "interval_ms": 10});
    settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let config = serde_json::from_value(settings).unwrap();
    let metrics = Metrics::new(&Identity::default()).unwrap();
    metrics.tracing(&config, Arc::new(SystemClock), Arc::new(SeededEntropy::new(5))).unwrap()
}

fn counted(metrics: &Metrics, outcome: SpanOutcome) -> u64 {
    metrics.spans.ended.with_labels(outcome).get()
}

async fn closed(metrics: &Metrics) {
    metrics.traces.close(Duration::from_secs(30)).await;
}

fn stage(traces: &Traces, parent: Option<&str>) -> TraceSpan {
    traces.begin(Name::Stage("embed"), SpanKind::Internal, &TraceContext::remote(parent))
}

#[tokio::test]
async fn who_begins_a_trace_decides_whether_it_is_recorded() {
    let collector = Collector::start().await.unwrap();
    let metrics = sending(&collector, &json!({"ratio": 0.0}));
    let traces = &metrics.traces;
    let (recorded, unrecorded, own) =
        (stage(traces, Some(PARENT)), stage(traces, Some(UNRECORDED)), stage(traces, None));
    assert!(recorded.is_recorded() && !unrecorded.is_recorded() && !own.is_recorded());
    // The decision goes on with the trace.
    let text = |span: &TraceSpan| span.context().traceparent().unwrap();
    assert!(text(&recorded).starts_with(&PARENT[..36]) && text(&recorded).ends_with("-01"));
    assert!(text(&unrecorded).starts_with(&PARENT[..36]) && text(&unrecorded).ends_with("-00"));
    assert!(text(&own).ends_with("-00") && !text(&own).starts_with(&PARENT[..36]));
    assert!(!traces.child(Name::JobBatch, SpanKind::Internal, &own.context()).is_recorded());
    drop((recorded, unrecorded, own));
    closed(&metrics).await;
    let spans = collector.spans();
    assert_eq!(spans.len(), 1);
    assert_eq!((spans[0].parent.as_str(), spans[0].name.as_str()), ("00f067aa0ba902b7", "embed"));
    assert!(spans[0].began > 0 && spans[0].began <= spans[0].ended);
}

#[tokio::test]
async fn without_a_collector_there_is_no_span_and_nothing_to_tell() {
    let metrics = Metrics::new(&Identity::default()).unwrap();
    let span = stage(&metrics.traces, Some(PARENT));
    assert!(!span.is_recorded() && span.context().traceparent().is_none());
    let group = StageSpans::begin(&metrics.traces, Name::Stage("store"), [span.context()].iter()).group();
    assert!(!metrics.traces.operation(Name::Transaction, SpanKind::Client, &group).is_recorded());
    closed(&metrics).await;
}

#[tokio::test]
async fn a_full_queue_drops_spans_and_counts_them_without_waiting() {
    let collector = Collector::start().await.unwrap();
    let metrics = sending(&collector, &json!({"queue_spans": 16}));
    // Nothing is awaited in between: the exporter cannot have taken any.
    (0..100).for_each(|_| drop(stage(&metrics.traces, Some(PARENT))));
    assert_eq!(counted(&metrics, SpanOutcome::Dropped), 84);
    closed(&metrics).await;
    assert_eq!((collector.spans().len(), counted(&metrics, SpanOutcome::Exported)), (16, 16));
    drop(stage(&metrics.traces, Some(PARENT)));
    assert_eq!(counted(&metrics, SpanOutcome::Dropped), 85, "after the end too");
}

#[tokio::test]
async fn what_the_collector_refuses_is_counted_as_such_and_not_sent_again() {
    for (mood, refused, exported) in
        [(CollectorMode::Rejects(2), 2, 3), (CollectorMode::Refuses(400), 5, 0), (CollectorMode::Refuses(401), 5, 0)]
    {
        let collector = Collector::start().await.unwrap();
        collector.set(mood);
        let metrics = sending(&collector, &json!({}));
        (0..5).for_each(|_| drop(stage(&metrics.traces, None)));
        closed(&metrics).await;
        let both = (counted(&metrics, SpanOutcome::Refused), counted(&metrics, SpanOutcome::Exported));
        assert_eq!(both, (refused, exported), "{mood:?}");
    }
}

#[tokio::test]
async fn what_the_collector_does_not_take_now_is_offered_again() {
    let collector = Collector::start().await.unwrap();
    collector.set(CollectorMode::Refuses(503));
    let metrics = sending(&collector, &json!({}));
    drop(stage(&metrics.traces, None));
    tokio::time::sleep(Duration::from_millis(100)).await;
    collector.set(CollectorMode::Takes);
    while counted(&metrics, SpanOutcome::Exported) == 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!((collector.spans().len(), counted(&metrics, SpanOutcome::Dropped)), (1, 0));
}

#[tokio::test]
async fn the_end_waits_for_a_silent_collector_no_longer_than_it_may() {
    let collector = Collector::start().await.unwrap();
    collector.set(CollectorMode::Slow(Duration::from_secs(3_600)));
    let metrics = sending(&collector, &json!({"timeout_ms": 60_000}));
    drop(stage(&metrics.traces, None));
    let ended = tokio::time::timeout(Duration::from_secs(30), metrics.traces.close(Duration::from_millis(100))).await;
    assert!(ended.is_ok());
}

#[tokio::test]
async fn an_operation_of_several_messages_is_within_the_first_and_linked_to_the_others() {
    let collector = Collector::start().await.unwrap();
    let metrics = sending(&collector, &json!({}));
    let messages = [Some(PARENT), Some(UNRECORDED), None].map(|parent| stage(&metrics.traces, parent));
    let contexts: Vec<TraceContext> = messages.iter().map(TraceSpan::context).collect();
    let mut together = StageSpans::begin(&metrics.traces, Name::Stage("store"), contexts.iter());
    let worked = within(together.group(), async {
        let mut span = metrics.traces.operation(Name::Transaction, SpanKind::Client, &current());
        span.fail("store");
    });
    worked.await;
    together.fail("store");
    drop((together, messages));
    closed(&metrics).await;
    let spans = collector.spans();
    let named = |name: &str| spans.iter().filter(|span| span.name == name).collect::<Vec<_>>();
    let (stages, operation) = (named("store"), named("transaction"));
    assert_eq!((stages.len(), operation.len()), (2, 1), "the unrecorded message has none");
    let operation = operation[0];
    let first = stages.iter().find(|stage| stage.id == operation.parent).unwrap();
    let other = stages.iter().find(|stage| stage.id != operation.parent).unwrap();
    assert_eq!(first.trace, PARENT[3..35]);
    assert_eq!(operation.links, [(other.trace.clone(), other.id.clone())]);
    assert_eq!(other.links, [(first.trace.clone(), first.id.clone())]);
    assert!(stages.iter().chain([&operation]).all(|span| span.error.as_deref() == Some("store")));
    assert_eq!(operation.get("error.type"), "store");
}

#[test]
fn a_broken_trace_context_begins_a_new_trace() {
    assert_eq!(TraceContext::remote(Some(PARENT)).traceparent().as_deref(), Some(PARENT));
    for broken in [
        "",
        "00",
        "00-4bf92f3577b34da6a3ce929d0e0e4736",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-zz",
        "Ana Pérez-de-la-Rosa",
    ] {
        assert_eq!(TraceContext::remote(Some(broken)), TraceContext::default(), "{broken}");
    }
    assert_eq!(TraceContext::remote(None), TraceContext::default());
}

#[tokio::test]
async fn a_header_that_http_does_not_allow_stops_the_start_and_is_not_quoted() {
    let config = serde_json::from_value(json!({"endpoint": "http://127.0.0.1:1", "headers": "x y: hunter2"})).unwrap();
    let metrics = Metrics::new(&Identity::default()).unwrap();
    let refused = metrics.tracing(&config, Arc::new(SystemClock), Arc::new(SeededEntropy::new(5)));
    let error = refused.err().unwrap();
    assert_eq!(error, TracesError::Header);
    assert!(!error.to_string().contains("hunter2"));
}
