//! Nightly accounts in a language model's words, on each engine: taken when they say what the fixed sentences say, and the
//! fixed sentences otherwise.

use std::sync::Arc;
use std::time::Duration;

use anamnesis_core::account::Stretch;
use anamnesis_core::memory::Class;
use anamnesis_extraction::Extractor;
use anamnesis_extraction::model::{ModelOptions, ModelReader, Writer};
use anamnesis_jobs::JobName;
use anamnesis_jobs::driver::Report;
use anamnesis_jobs::ledger::Asked;
use anamnesis_store::read::{Filter, When};
use serde_json::{Value, json};
use wiremock::matchers::{body_partial_json, method};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use super::ward::Ward;
use crate::support::{Engine, ORG, PATIENT, document, event, on_every_engine, scope};

on_every_engine!(
    an_account_is_told_in_a_models_words_where_they_say_the_same_and_once,
    a_model_that_invents_or_fails_leaves_the_fixed_sentences,
    what_is_forgotten_while_the_model_is_asked_is_told_no_more,
);

/// A model that answers after a while with what `sentence` makes of each part but the first.
async fn model(sentence: fn(&str) -> String, after: Duration) -> MockServer {
    let answer = move |request: &Request| {
        let asked: Value = serde_json::from_slice(&request.body).unwrap();
        let said: Value = serde_json::from_str(asked["messages"][1]["content"].as_str().unwrap()).unwrap();
        let parts = said["parts"].as_array().unwrap().iter().skip(1);
        let told = parts.map(|part| json!({"text": sentence(part["text"].as_str().unwrap()), "from": [part["part"]]}));
        let content = json!({"sentences": told.collect::<Vec<_>>()}).to_string();
        let body = json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"content": content}}]});
        ResponseTemplate::new(200).set_body_json(body).set_delay(after)
    };
    let server = MockServer::start().await;
    let strict = json!({"response_format": {"json_schema": {"name": "wording_v1", "strict": true}}});
    Mock::given(method("POST")).and(body_partial_json(strict)).respond_with(answer).mount(&server).await;
    server
}

async fn ward(engine: Engine, server: &MockServer) -> Ward {
    let mut ward = Ward::on(engine).await;
    let options = ModelOptions {
        url: format!("{}/v1", server.uri()),
        model: "writer".to_owned(),
        key: None,
        key_file: None,
        ca_file: std::path::PathBuf::new(),
        timeout: Duration::from_secs(5),
        most_characters: 2_000,
        most_tokens: 500,
        tokens_per_hour: 0,
    };
    let model = Arc::new(ModelReader::new(options, ward.clinic.time.clone()).unwrap());
    ward.night = ward.night.with_writer(Some(Writer { model, rules: Extractor::shared() }));
    let told = [
        document(1, 1, "2026-06-15T10:00:00Z", "Refiere insomnio y cefalea. Toma sertralina 50 mg al día."),
        document(2, 1, "2026-06-17T10:00:00Z", "Refiere insomnio. Niega fiebre."),
    ];
    ward.tell(&told).await;
    ward
}

async fn night(ward: &Ward) -> Report {
    ward.clinic.time.advance(chrono::TimeDelta::days(1));
    let due = ward.night.due().await.unwrap().into_iter().rfind(|due| due.key.job == JobName::Summaries).unwrap();
    let report = ward.night.offer(due, Asked::ByPerson).await.unwrap();
    assert_eq!(report.outcome.code(), "done", "{report:?}");
    report
}

fn count(report: &Report, name: &str) -> u64 {
    report.status[name].as_u64().unwrap()
}

async fn week(ward: &Ward) -> Option<String> {
    let filter = Filter { classes: vec![Class::Pattern], ..Filter::default() };
    let formed = ward.store().memories(scope(), &filter, When::Now).await.unwrap();
    let accounts = formed.into_iter().filter_map(|memory| memory.words?.account);
    accounts.into_iter().find(|account| account.stretch == Some(Stretch::Week)).map(|account| account.text)
}

async fn an_account_is_told_in_a_models_words_where_they_say_the_same_and_once(engine: Engine) {
    let server = model(|part| format!("También: {part}"), Duration::ZERO).await;
    let ward = ward(engine, &server).await;
    let report = night(&ward).await;
    // The week and the quarter; episodes have no text of their own.
    assert_eq!(
        (count(&report, "worded"), count(&report, "unworded"), count(&report, "weeks")),
        (2, 0, 1),
        "{report:?}"
    );
    let told = week(&ward).await.unwrap();
    assert!(told.starts_with("También: ") && told.contains("sertralina 50 mg"), "{told}");
    let asked = server.received_requests().await.unwrap().len();
    assert_eq!((asked, night(&ward).await.changed), (2, 0));
    assert_eq!(server.received_requests().await.unwrap().len(), asked, "what is told is not asked about again");
}

async fn a_model_that_invents_or_fails_leaves_the_fixed_sentences(engine: Engine) {
    let inventing = model(|part| format!("{part} Tiene asma."), Duration::ZERO).await;
    let dropping = model(|part| part.replace("50 mg", ""), Duration::ZERO).await;
    let failing = MockServer::start().await;
    Mock::given(method("POST")).respond_with(ResponseTemplate::new(500)).mount(&failing).await;
    for server in [inventing, dropping, failing] {
        let ward = ward(engine, &server).await;
        let report = night(&ward).await;
        assert_eq!((count(&report, "worded"), count(&report, "unworded")), (0, 2), "{report:?}");
        let told = week(&ward).await.unwrap();
        assert!(told.starts_with("Resumen de la semana.") && !told.contains("asma"), "{told}");
    }
}

async fn what_is_forgotten_while_the_model_is_asked_is_told_no_more(engine: Engine) {
    let server = model(|part| format!("También: {part}"), Duration::from_secs(2)).await;
    let ward = ward(engine, &server).await;
    let said = ward.store().memories(scope(), &Filter::default(), When::Now).await.unwrap();
    let is_headache =
        |m: &&anamnesis_store::read::Memory| m.words.as_ref().is_some_and(|words| words.concept == "headache");
    let headache = said.iter().find(is_headache).unwrap().id;
    ward.clinic.time.advance(chrono::TimeDelta::days(1));
    let now = anamnesis_core::clock::Clock::now(ward.clinic.time.as_ref());
    let forget = json!({"organization_id": ORG, "patient_id": PATIENT, "command": "forget", "memory_ids": [headache],
        "actor": {"id": PATIENT, "role": "patient"}, "issued_at": now});
    let due = ward.night.due().await.unwrap().into_iter().rfind(|due| due.key.job == JobName::Summaries).unwrap();
    let later = async {
        while server.received_requests().await.unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        ward.tell(&[event("f", "anamnesis.memory.command.v1", &forget)]).await;
    };
    let (report, ()) = tokio::join!(ward.night.offer(due, Asked::ByPerson), later);
    assert_eq!(report.unwrap().outcome.code(), "done");
    assert_eq!(week(&ward).await, None, "nothing is written of what was taken back meanwhile");
    night(&ward).await;
    let told = week(&ward).await.unwrap();
    assert!(told.contains("insomnio") && !told.contains("cefalea"), "{told}");
}
