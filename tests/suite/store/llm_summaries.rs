//! Summaries in a language model's words, on each engine: used when they state the same as the fixed sentences;
//! otherwise the fixed sentences are used.

use std::sync::Arc;
use std::time::Duration;

use anamnesis_core::memory::Class;
use anamnesis_core::summary::SummaryPeriod;
use anamnesis_extraction::Extractor;
use anamnesis_extraction::llm::{LlmExtractor, LlmOptions, SummaryParaphraser};
use anamnesis_jobs::JobName;
use anamnesis_jobs::driver::JobReport;
use anamnesis_jobs::ledger::Trigger;
use anamnesis_store::read::{MemoryFilter, ReadInstant};
use serde_json::{Value, json};
use wiremock::matchers::{body_partial_json, method};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use super::fixture::StoreFixture;
use crate::support::{ORG, PATIENT, TestEngine, document, event, on_every_engine, scope};

on_every_engine!(
    a_summary_has_a_models_words_once_where_they_state_the_same,
    a_model_that_invents_or_fails_leaves_the_fixed_sentences,
    statements_forgotten_during_the_models_call_are_not_summarised,
);

/// A model that answers after a while with what `sentence` makes of each part but the first.
async fn model(sentence: fn(&str) -> String, after: Duration) -> MockServer {
    let answer = move |request: &Request| {
        let asked: Value = serde_json::from_slice(&request.body).unwrap();
        let said: Value = serde_json::from_str(asked["messages"][1]["content"].as_str().unwrap()).unwrap();
        let parts = said["parts"].as_array().unwrap().iter().skip(1);
        let reported =
            parts.map(|part| json!({"text": sentence(part["text"].as_str().unwrap()), "from": [part["part"]]}));
        let content = json!({"sentences": reported.collect::<Vec<_>>()}).to_string();
        let body = json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": content}}]});
        ResponseTemplate::new(200).set_body_json(body).set_delay(after)
    };
    let server = MockServer::start().await;
    let strict = json!({"response_format": {"json_schema": {"name": "wording_v1", "strict": true}}});
    Mock::given(method("POST")).and(body_partial_json(strict)).respond_with(answer).mount(&server).await;
    server
}

async fn fixture(engine: TestEngine, server: &MockServer) -> StoreFixture {
    let mut fixture = StoreFixture::on(engine).await;
    let options = LlmOptions {
        url: format!("{}/v1", server.uri()),
        model: "writer".to_owned(),
        key: None,
        key_file: None,
        ca_file: std::path::PathBuf::new(),
        timeout: Duration::from_secs(5),
        max_input_chars: 2_000,
        max_output_tokens: 500,
        tokens_per_hour: 0,
    };
    let model = Arc::new(LlmExtractor::new(options, fixture.clinic.time.clone()).unwrap());
    fixture.scheduler = fixture.scheduler.with_writer(Some(SummaryParaphraser { model, rules: Extractor::shared() }));
    let reported = [
        document(1, 1, "2026-06-15T10:00:00Z", "Refiere insomnio y cefalea. Toma sertralina 50 mg al día."),
        document(2, 1, "2026-06-17T10:00:00Z", "Refiere insomnio. Niega fiebre."),
    ];
    fixture.ingest(&reported).await;
    fixture
}

async fn run_job(fixture: &StoreFixture) -> JobReport {
    fixture.clinic.time.advance(chrono::TimeDelta::days(1));
    let due =
        fixture.scheduler.due().await.unwrap().into_iter().rfind(|due| due.key.job == JobName::Summaries).unwrap();
    let report = fixture.scheduler.offer(due, Trigger::Manual).await.unwrap();
    assert_eq!(report.outcome.code(), "done", "{report:?}");
    report
}

fn count(report: &JobReport, name: &str) -> u64 {
    report.status[name].as_u64().unwrap()
}

async fn week(fixture: &StoreFixture) -> Option<String> {
    let filter = MemoryFilter { classes: vec![Class::Pattern], ..MemoryFilter::default() };
    let formed = fixture.store().read().memories(scope(), &filter, ReadInstant::Now).await.unwrap();
    let accounts = formed.into_iter().filter_map(|memory| memory.words?.account);
    accounts.into_iter().find(|account| account.period == Some(SummaryPeriod::Week)).map(|account| account.text)
}

async fn a_summary_has_a_models_words_once_where_they_state_the_same(engine: TestEngine) {
    let server = model(|part| format!("También: {part}"), Duration::ZERO).await;
    let fixture = fixture(engine, &server).await;
    let report = run_job(&fixture).await;
    // The week and the quarter; episodes have no text.
    assert_eq!(
        (count(&report, "worded"), count(&report, "unworded"), count(&report, "weeks")),
        (2, 0, 1),
        "{report:?}"
    );
    let reported = week(&fixture).await.unwrap();
    assert!(reported.starts_with("También: ") && reported.contains("sertralina 50 mg"), "{reported}");
    let asked = server.received_requests().await.unwrap().len();
    assert_eq!((asked, run_job(&fixture).await.changed), (2, 0));
    assert_eq!(server.received_requests().await.unwrap().len(), asked, "what is told is not asked about again");
}

async fn a_model_that_invents_or_fails_leaves_the_fixed_sentences(engine: TestEngine) {
    let inventing = model(|part| format!("{part} Tiene asma."), Duration::ZERO).await;
    let dropping = model(|part| part.replace("50 mg", ""), Duration::ZERO).await;
    let failing = MockServer::start().await;
    Mock::given(method("POST")).respond_with(ResponseTemplate::new(500)).mount(&failing).await;
    for server in [inventing, dropping, failing] {
        let fixture = fixture(engine, &server).await;
        let report = run_job(&fixture).await;
        assert_eq!((count(&report, "worded"), count(&report, "unworded")), (0, 2), "{report:?}");
        let reported = week(&fixture).await.unwrap();
        assert!(reported.starts_with("Resumen de la semana.") && !reported.contains("asma"), "{reported}");
    }
}

async fn statements_forgotten_during_the_models_call_are_not_summarised(engine: TestEngine) {
    let server = model(|part| format!("También: {part}"), Duration::from_secs(2)).await;
    let fixture = fixture(engine, &server).await;
    let said = fixture.store().read().memories(scope(), &MemoryFilter::default(), ReadInstant::Now).await.unwrap();
    let is_headache =
        |m: &&anamnesis_store::read::Memory| m.words.as_ref().is_some_and(|words| words.concept == "headache");
    let headache = said.iter().find(is_headache).unwrap().id;
    fixture.clinic.time.advance(chrono::TimeDelta::days(1));
    let now = anamnesis_core::clock::Clock::now(fixture.clinic.time.as_ref());
    let forget = json!({"organization_id": ORG, "patient_id": PATIENT, "command": "forget", "memory_ids": [headache],
        "actor": {"id": PATIENT, "role": "patient"}, "issued_at": now});
    let due =
        fixture.scheduler.due().await.unwrap().into_iter().rfind(|due| due.key.job == JobName::Summaries).unwrap();
    let later = async {
        while server.received_requests().await.unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        fixture.ingest(&[event("f", "anamnesis.memory.command.v1", &forget)]).await;
    };
    let (report, ()) = tokio::join!(fixture.scheduler.offer(due, Trigger::Manual), later);
    assert_eq!(report.unwrap().outcome.code(), "done");
    assert_eq!(week(&fixture).await, None, "nothing is written of what was taken back meanwhile");
    run_job(&fixture).await;
    let reported = week(&fixture).await.unwrap();
    assert!(reported.contains("insomnio") && !reported.contains("cefalea"), "{reported}");
}
