//! Traces through the program. A collector receives the whole tree of a message, from its `traceparent` through the
//! stages to provider, store and events. It contains no word of a patient, and an unreachable collector changes
//! nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Output;
use std::time::{Duration, Instant};

use anamnesis_observability::traces::{RESOURCE_KEYS, attribute_keys};
use anamnesis_rabbitmq::Queue;
use anamnesis_test_servers::collector::{Collector, CollectorMode, ReceivedSpan, SpanKind};
use lapin::options::BasicGetOptions;
use lapin::types::AMQPValue;
use serde_json::{Value, json};

use crate::broker::{BrokerWorker, TestBroker, until};
use crate::canary;
use crate::support::{ORG, PATIENT, Program, TestEngine, counts, document, event, free_port, on_every_program};

on_every_program!(
    a_message_of_the_broker_is_one_tree_from_its_traceparent_to_its_events,
    messages_that_share_a_batch_have_each_their_stages_and_share_one_transaction,
);

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const OTHER: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "00f067aa0ba902b7";
const AT: &str = "2026-05-02T10:00:00Z";
const STAGES: [&str; 6] = ["admit", "decode", "embed", "extract", "redact", "store"];

/// Words of the texts, names and ids of these messages, which must be in no span.
const CANARIES: [&str; 4] = ["zqcanariotextowxkq", "Zqcanarionombrewxkq", "zqcanarioidwxkq", "zqcanariotemawxkq"];

/// A document of the broker or of a file, with canaries wherever a producer may write.
fn note(number: u128, trace: Option<(&str, &str)>) -> Value {
    let text = format!("Vino {}. Habló de {} y toma sertralina 50 mg al día.", CANARIES[1], CANARIES[0]);
    let mut data = document(number, 1, AT, &text);
    data["known_identities"] = json!([{"role": "patient", "names": [CANARIES[1]]}]);
    data["metadata"] = json!({"themes": [CANARIES[3]]});
    let mut note = event(&format!("{}-{number}", CANARIES[2]), "anamnesis.document.submitted.v1", &data);
    if let Some((trace, flags)) = trace {
        note["traceparent"] = json!(format!("00-{trace}-{PARENT}-{flags}"));
    }
    note
}

fn bytes(message: &Value) -> Vec<u8> {
    message.to_string().into_bytes()
}

/// The environment that sends spans to a collector without much delay.
fn sending(url: &str) -> Vec<(String, String)> {
    [("ENDPOINT", url), ("INTERVAL_MS", "20")]
        .map(|(key, value)| (format!("ANAMNESIS__TRACES__{key}"), value.to_owned()))
        .to_vec()
}

fn as_pairs(environment: &[(String, String)]) -> Vec<(&str, &str)> {
    environment.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect()
}

fn find_spans<'s>(spans: &'s [ReceivedSpan], trace: &str, name: &str) -> Vec<&'s ReceivedSpan> {
    spans.iter().filter(|span| span.trace == trace && span.name == name).collect()
}

/// The only span of this name in a trace.
fn one<'s>(spans: &'s [ReceivedSpan], trace: &str, name: &str) -> &'s ReceivedSpan {
    let found = find_spans(spans, trace, name);
    assert_eq!(found.len(), 1, "{name} in {spans:#?}");
    found[0]
}

fn children<'s>(spans: &'s [ReceivedSpan], of: &ReceivedSpan) -> Vec<&'s ReceivedSpan> {
    spans.iter().filter(|span| span.trace == of.trace && span.parent == of.id).collect()
}

fn names(spans: &[&ReceivedSpan]) -> Vec<String> {
    let mut names: Vec<String> = spans.iter().map(|span| span.name.clone()).collect();
    names.sort();
    names
}

/// Conditions for all spans of a collector: the closed list of attributes, and no content.
fn holds_no_content(collector: &Collector) {
    let known: BTreeSet<&str> = attribute_keys().collect();
    for span in collector.spans() {
        for key in span.attributes.keys() {
            assert!(known.contains(key.as_str()), "{key} of {}", span.name);
        }
    }
    for resource in collector.resources() {
        let keys: BTreeSet<&str> = resource.keys().map(String::as_str).collect();
        assert_eq!(keys, RESOURCE_KEYS.into_iter().collect());
    }
    let cage = CANARIES.map(str::to_owned);
    let words = [ORG.to_string(), PATIENT.to_string(), "sertralina".to_owned(), "urn:test".to_owned()];
    assert!(!collector.bodies().is_empty());
    for body in collector.bodies() {
        assert_eq!(canary::found(&cage, &body), Vec::<&str>::new());
        let text = String::from_utf8_lossy(&body).into_owned();
        for word in words.iter().chain([&ORG.simple().to_string(), &PATIENT.simple().to_string()]) {
            assert!(!text.contains(word.as_str()), "{word}");
        }
        for id in [ORG, PATIENT] {
            assert!(!body.windows(16).any(|window| window == id.as_bytes()), "an id, byte by byte");
        }
    }
}

/// Events without a subscriber: routing key, and `traceparent` as an attribute and under its own name.
async fn events(corner: &TestBroker) -> Vec<(String, Option<String>, Option<String>)> {
    let link = corner.link().await;
    let channel = link.channel().await.unwrap();
    let (mut events, queue) = (Vec::new(), corner.names.catch_all());
    while let Some(got) = channel.basic_get(queue.as_str().into(), BasicGetOptions { no_ack: true }).await.unwrap() {
        let headers = got.delivery.properties.headers().clone().unwrap_or_default();
        let text = |name: &str| match headers.inner().get(name) {
            Some(AMQPValue::LongString(text)) => Some(String::from_utf8(text.as_bytes().to_vec()).unwrap()),
            _ => None,
        };
        let key = got.delivery.routing_key.as_str().to_owned();
        events.push((key, text("cloudEvents_traceparent"), text("traceparent")));
    }
    link.close().await;
    events
}

async fn a_message_of_the_broker_is_one_tree_from_its_traceparent_to_its_events(engine: TestEngine) {
    let (collector, corner, program) =
        (Collector::start().await.unwrap(), TestBroker::new().await, Program::on(engine).await);
    let environment = [corner.environment(), sending(&collector.url())].concat();
    let worker = BrokerWorker::start(&program, &environment).await;
    let mut broken = note(2, Some((OTHER, "01")));
    broken["data"]["document_type"] = json!(CANARIES[3]);
    corner.publish(&[bytes(&note(1, Some((TRACE, "01")))), bytes(&broken)]).await;
    until("the events are published and both messages have ended", async || {
        let spans = collector.spans();
        let indexed = find_spans(&spans, TRACE, "publish exchange").into_iter();
        let mut indexed = indexed.filter(|span| span.get("anamnesis.message.type") == "document_indexed");
        indexed.next().is_some() && find_spans(&spans, OTHER, "process bulk").len() == 1
    })
    .await;
    let published = events(&corner).await;
    assert!(worker.terminate().0.success());
    let spans = collector.spans();

    let process = one(&spans, TRACE, "process bulk");
    assert_eq!((process.parent.as_str(), process.kind, &process.error), (PARENT, SpanKind::Consumer, &None));
    assert_eq!(process.get("messaging.system"), "rabbitmq");
    assert_eq!(process.get("messaging.destination.name"), corner.names.queue(Queue::Bulk));
    assert_eq!(process.get("messaging.operation.type"), "process");
    assert_eq!(process.get("anamnesis.message.type"), "document_submitted");
    assert_eq!(process.get("anamnesis.outcome"), "stored");
    let organization = process.get("anamnesis.organization");
    assert!(organization.len() == 8 && organization.chars().all(|c| c.is_ascii_hexdigit()), "{organization}");
    assert!(worker_said(&program, organization), "the log names the organisation by the same hash");

    let publications: Vec<&ReceivedSpan> = find_spans(&spans, TRACE, "publish exchange");
    let below = children(&spans, process);
    let stages: Vec<&ReceivedSpan> = below.iter().copied().filter(|span| span.name != "publish exchange").collect();
    assert_eq!(names(&stages), STAGES);
    for stage in stages {
        assert_eq!((stage.kind, &stage.error), (SpanKind::Internal, &None), "{}", stage.name);
        assert!(process.began <= stage.began && stage.ended <= process.ended, "{} is within its message", stage.name);
    }
    let call = one(&spans, TRACE, "embeddings fake");
    assert_eq!((&call.parent, call.kind), (&one(&spans, TRACE, "embed").id, SpanKind::Client));
    assert_eq!((call.get("gen_ai.provider.name"), call.get("gen_ai.request.model")), ("openai", "fake"));
    assert_eq!(
        (call.get("gen_ai.operation.name"), call.get("gen_ai.embeddings.dimension.count")),
        ("embeddings", "16")
    );
    assert!(call.get("gen_ai.usage.input_tokens").parse::<u64>().unwrap() > 0);
    let transaction = one(&spans, TRACE, "transaction");
    let (system, kind) = match engine {
        TestEngine::Postgres => ("postgresql", SpanKind::Client),
        _ => ("sqlite", SpanKind::Internal),
    };
    assert_eq!((&transaction.parent, transaction.kind), (&one(&spans, TRACE, "store").id, kind));
    assert_eq!(transaction.get("db.system.name"), system);

    assert!(!publications.is_empty());
    for publication in &publications {
        assert_eq!((&publication.parent, publication.kind), (&process.id, SpanKind::Producer));
        assert!(
            publication.get("messaging.destination.name").starts_with(&format!("{}:anamnesis.", corner.names.events()))
        );
    }
    // A subscriber's trace continues from the publication.
    let expected: BTreeSet<String> =
        publications.iter().map(|publication| format!("00-{TRACE}-{}-01", publication.id)).collect();
    let got: BTreeSet<String> = published.iter().filter_map(|(_, attribute, _)| attribute.clone()).collect();
    assert_eq!(got, expected);
    assert!(published.iter().any(|(key, ..)| key == "anamnesis.document.indexed.v1"));
    assert!(published.iter().all(|(_, attribute, plain)| attribute.is_some() && attribute == plain), "{published:?}");

    let refused = one(&spans, OTHER, "process bulk");
    assert_eq!((refused.parent.as_str(), refused.error.as_deref()), (PARENT, Some("malformed")));
    assert_eq!((refused.get("error.type"), refused.get("anamnesis.outcome")), ("malformed", "quarantined"));
    let decode = one(&spans, OTHER, "decode");
    assert_eq!((&decode.parent, decode.error.as_deref()), (&refused.id, Some("malformed")));
    assert_eq!(program.traceparents().iter().flatten().count(), 0, "the provider receives no trace");
    holds_no_content(&collector);
}

/// Whether a worker's log of this program holds a word.
fn worker_said(program: &Program, word: &str) -> bool {
    let mut logs = program.folder.path().read_dir().unwrap().map(|entry| entry.unwrap().path());
    logs.any(|path| {
        path.extension().is_some_and(|e| e == "log") && std::fs::read_to_string(path).unwrap().contains(word)
    })
}

async fn messages_that_share_a_batch_have_each_their_stages_and_share_one_transaction(engine: TestEngine) {
    let (collector, program) = (Collector::start().await.unwrap(), Program::on(engine).await);
    let lines = [
        note(1, Some((TRACE, "01"))),
        note(2, Some((OTHER, "01"))),
        // Recorded nowhere: the sender decided so.
        note(3, Some(("11111111111111111111111111111111", "00"))),
        note(4, None),
    ];
    let output = program.ingest(&lines.map(|line| bytes(&line)), &as_pairs(&sending(&collector.url())));
    assert_eq!(counts(&output)["stored"], json!(4));
    let spans = collector.spans();
    let roots: Vec<&ReceivedSpan> =
        spans.iter().filter(|span| span.name == "process file" && span.parent.is_empty()).collect();
    assert_eq!(roots.len(), 1, "a message without a trace begins one");
    let traces = [TRACE, OTHER, roots[0].trace.as_str()];
    assert!(spans.iter().all(|span| traces.contains(&span.trace.as_str())), "{spans:#?}");
    for trace in traces {
        let process = one(&spans, trace, "process file");
        assert_eq!(process.get("messaging.batch.message_count"), "4");
        assert_eq!(process.get("messaging.system"), "", "a file is no message of a broker");
        assert_eq!(names(&children(&spans, process)), STAGES, "{trace}");
    }
    // Done once for all: within the first, linked to the others, whose stages link to the first.
    for (name, stage) in [("transaction", "store"), ("embeddings fake", "embed")] {
        let shared: Vec<&ReceivedSpan> = spans.iter().filter(|span| span.name == name).collect();
        assert_eq!((shared.len(), shared[0].trace.as_str()), (1, TRACE), "{name}");
        assert_eq!(shared[0].parent, one(&spans, TRACE, stage).id);
        let place = |trace: &str| (trace.to_owned(), one(&spans, trace, stage).id.clone());
        let links: BTreeSet<(String, String)> = shared[0].links.iter().cloned().collect();
        assert_eq!(links, traces[1..].iter().map(|trace| place(trace)).collect());
        for trace in &traces[1..] {
            assert_eq!(one(&spans, trace, stage).links, [place(TRACE)]);
        }
    }
    holds_no_content(&collector);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_fails_ends_its_call_its_stage_and_its_messages_in_errors() {
    let (collector, program) = (Collector::start().await.unwrap(), Program::on(TestEngine::File).await);
    let mut environment = sending(&collector.url());
    environment.push(("ANAMNESIS__EMBEDDING__URL".to_owned(), format!("http://127.0.0.1:{}/v1", free_port())));
    environment.push(("ANAMNESIS__EMBEDDING__RETRY__ATTEMPTS".to_owned(), "1".to_owned()));
    let output = program.ingest(&[bytes(&note(1, Some((TRACE, "01"))))], &as_pairs(&environment));
    assert_eq!(counts(&output)["retry"], json!(1));
    let spans = collector.spans();
    let tries = find_spans(&spans, TRACE, "process file");
    assert!(!tries.is_empty());
    for process in tries {
        assert_eq!((process.error.as_deref(), process.get("anamnesis.outcome")), (Some("retry"), "retry"));
        let below = children(&spans, process);
        let stage = below.iter().find(|span| span.name == "embed").unwrap();
        assert!(stage.error.is_some(), "{stage:?}");
        assert!(below.iter().all(|span| span.name != "store"), "nothing was stored");
        for call in children(&spans, stage) {
            assert_eq!((call.name.as_str(), call.get("error.type")), ("embeddings fake", "transient"));
        }
    }
    assert!(!find_spans(&spans, TRACE, "embeddings fake").is_empty());
    holds_no_content(&collector);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_receives_a_trace_is_a_setting() {
    let (collector, corner, program) =
        (Collector::start().await.unwrap(), TestBroker::new().await, Program::on(TestEngine::File).await);
    let mut environment = [corner.environment(), sending(&collector.url())].concat();
    environment.push(("ANAMNESIS__TRACES__PROPAGATE_TO".to_owned(), "[\"embedding\"]".to_owned()));
    let worker = BrokerWorker::start(&program, &environment).await;
    corner.publish(&[bytes(&note(1, Some((TRACE, "01"))))]).await;
    until("the events are published", async || !find_spans(&collector.spans(), TRACE, "publish exchange").is_empty())
        .await;
    drop(worker);
    let received: BTreeSet<String> = program.traceparents().into_iter().flatten().collect();
    let calls = collector.spans();
    let calls = find_spans(&calls, TRACE, "embeddings fake");
    assert_eq!(received, calls.iter().map(|call| format!("00-{TRACE}-{}-01", call.id)).collect());
    let published = events(&corner).await;
    assert!(
        !published.is_empty() && published.iter().all(|(_, attribute, plain)| (attribute, plain) == (&None, &None))
    );
}

/// The output of `ingest`, and its duration.
fn ingested(program: &Program, environment: &[(String, String)]) -> (Value, Duration) {
    let began = Instant::now();
    let lines: Vec<Vec<u8>> = (1..=3).map(|number| bytes(&note(number, Some((TRACE, "01"))))).collect();
    let output: Output = program.ingest(&lines, &as_pairs(environment));
    (counts(&output), began.elapsed())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_is_unreachable_slow_or_refuses_changes_and_delays_nothing() {
    let expected = ingested(&Program::on(TestEngine::File).await, &[]).0;
    let collector = Collector::start().await.unwrap();
    // Longer than any patience of this test: waiting for an answer would fail it.
    let hour = ("ANAMNESIS__TRACES__TIMEOUT_MS".to_owned(), "60000".to_owned());
    for mood in [
        CollectorMode::Slow(Duration::from_secs(3_600)),
        CollectorMode::Refuses(503),
        CollectorMode::Refuses(400),
        CollectorMode::Rejects(2),
    ] {
        collector.set(mood);
        let environment = [sending(&collector.url()), vec![hour.clone()]].concat();
        let (received, took) = ingested(&Program::on(TestEngine::File).await, &environment);
        assert_eq!(received, expected, "{mood:?}");
        assert!(took < Duration::from_secs(50), "{mood:?} took {took:?}");
    }
    let away = sending(&format!("http://127.0.0.1:{}", free_port()));
    assert_eq!(ingested(&Program::on(TestEngine::File).await, &away).0, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_of_the_collector_is_said_once_spans_beyond_the_queue_are_counted_and_the_rest_arrives_later() {
    let (corner, program, port) = (TestBroker::new().await, Program::on(TestEngine::File).await, free_port());
    let mut environment = [corner.environment(), sending(&format!("http://127.0.0.1:{port}"))].concat();
    environment.push(("ANAMNESIS__TRACES__QUEUE_SPANS".to_owned(), "16".to_owned()));
    let worker = BrokerWorker::start(&program, &environment).await;
    let said = |code: &str| {
        let log = worker.log();
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.filter(|line| line["code"] == code).count()
    };
    let notes = (1..=20).map(|number| bytes(&note(number, Some((TRACE, "01")))));
    corner.publish(&notes.collect::<Vec<_>>()).await;
    until("all messages are stored", async || worker.sum("anamnesis_messages_processed_total").await >= 20.0).await;
    let dropped = r#"anamnesis_trace_spans_total{outcome="dropped"}"#;
    until("spans were dropped and the outage was said", async || {
        worker.metric(dropped).await > 0.0 && said("traces_unavailable") == 1
    })
    .await;
    // Several more attempts say nothing.
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!((said("traces_unavailable"), said("traces_recovered")), (1, 0));
    let collector = Collector::at(port).await.unwrap();
    until("what waited arrives", async || said("traces_recovered") == 1 && !collector.spans().is_empty()).await;
    assert!(worker.metric(r#"anamnesis_trace_spans_total{outcome="exported"}"#).await > 0.0);
    drop(collector);
    // The end of a worker does not wait for a collector.
    let (status, took) = worker.terminate();
    assert!(status.success() && took < Duration::from_secs(10), "{took:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_of_jobs_and_reads_are_separate_traces() {
    let (collector, program) = (Collector::start().await.unwrap(), Program::on(TestEngine::File).await);
    let stored = program.ingest(&[bytes(&note(1, None))], &[]);
    assert_eq!(counts(&stored)["stored"], json!(1));
    let environment = sending(&collector.url());
    let run = |arguments: &[&str]| {
        let output = program.command(&as_pairs(&environment)).args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    run(&["job", "run", "expiry"]);
    let (org, patient) = (ORG.to_string(), PATIENT.to_string());
    run(&["context", "--org", &org, "--patient", &patient, "--query", "¿qué toma?"]);
    let spans = collector.spans();
    let by_name: BTreeMap<&str, &ReceivedSpan> = spans.iter().map(|span| (span.name.as_str(), span)).collect();
    let job = by_name["job expiry"];
    assert_eq!((job.parent.as_str(), job.get("anamnesis.outcome")), ("", "succeeded"));
    assert_eq!((&by_name["batch"].parent, job.get("anamnesis.job.name")), (&job.id, "expiry"));
    let context = by_name["context"];
    assert_eq!((context.parent.as_str(), context.get("anamnesis.outcome")), ("", "hit"));
    let search = by_name["search_memory"];
    assert_eq!((&search.parent, search.get("gen_ai.operation.name")), (&context.id, "search_memory"));
    assert_eq!(by_name["embeddings fake"].parent, search.id);
    assert_eq!(by_name["embeddings fake"].get("anamnesis.embedding.purpose"), "query");
    let texts = collector.bodies().concat();
    assert!(!String::from_utf8_lossy(&texts).contains("toma"), "the question is in no span");
    holds_no_content(&collector);
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_for_the_collector_come_from_a_file_and_variables_of_others_count_for_nothing() {
    use std::os::unix::fs::PermissionsExt as _;
    let (collector, program) = (Collector::start().await.unwrap(), Program::on(TestEngine::File).await);
    let file = program.folder.path().join("headers");
    std::fs::write(&file, "x-key: hunter2\nauthorization: Bearer hunter3\n").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let mut environment = sending(&collector.url());
    environment.push(("ANAMNESIS__TRACES__HEADERS_FILE".to_owned(), file.display().to_string()));
    for (name, value) in [
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-other=1"),
        ("OTEL_TRACES_SAMPLER", "always_off"),
        ("OTEL_RESOURCE_ATTRIBUTES", "host.name=machine"),
        ("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "0"),
        ("OTEL_SPAN_LINK_COUNT_LIMIT", "0"),
    ] {
        environment.push((name.to_owned(), value.to_owned()));
    }
    let output = program.ingest(&[bytes(&note(1, None)), bytes(&note(2, None))], &as_pairs(&environment));
    assert_eq!(counts(&output)["stored"], json!(2));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("hunter"));
    let spans = collector.spans();
    assert_eq!(spans.iter().filter(|span| span.name == "process file").count(), 2);
    assert!(spans.iter().any(|span| !span.links.is_empty()) && spans.iter().any(|span| !span.attributes.is_empty()));
    let requests = collector.bodies().len();
    for (header, value) in
        [("x-key", "hunter2"), ("authorization", "Bearer hunter3"), ("content-type", "application/x-protobuf")]
    {
        assert_eq!(collector.header(header), vec![value; requests], "{header}");
    }
    assert!(collector.header("x-other").is_empty());
    holds_no_content(&collector);
}
