//! The outcome of an event at a webhook, seen from outside: a final rejection is counted and listed, and events of an
//! erased patient are sent to no one.

use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;
use serde_json::{Value, json};
use uuid::Uuid;
use wiremock::matchers::path;
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::broker::{BrokerWorker, until};
use crate::support::{ORG, PATIENT, Program, TestEngine, bodies, count, counts, document, on_every_program};

on_every_program!(an_event_ends_as_refused_by_410_alone_and_as_gone_with_its_patients_key);

const WAITING: &str = "SELECT count(*) FROM outbox WHERE published_at IS NULL";

fn listed(program: &Program, state: &str) -> Vec<Value> {
    let output = program.command(&[]).args(["events", "list", "--state", state, "--output", "json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn an_event_ends_as_refused_by_410_alone_and_as_gone_with_its_patients_key(engine: TestEngine) {
    let (program, server) = (Program::on(engine).await, MockServer::start().await);
    Mock::given(path("/hook")).respond_with(ResponseTemplate::new(410)).mount(&server).await;
    let (erased, kept) = (Uuid::from_u128(PATIENT.as_u128() + 1), PATIENT);
    let note = |id: u128, patient: Uuid| {
        let mut note = document(id, 1, "2026-05-02T10:00:00Z", "Toma sertralina 50 mg al día.");
        note["patient_id"] = json!(patient);
        note
    };
    assert_eq!(counts(&program.ingest(&bodies(&[note(1, kept), note(2, erased)]), &[]))["stored"], 2);
    let store = program.store().await;
    store.keys().destroy(Scope::new(OrgId(ORG), PatientId(erased)).unwrap()).await.unwrap();
    store.key_binding().note_keys().await.unwrap();
    let all = listed(&program, "waiting");
    let of = |patient: Uuid| all.iter().filter(|event| event["patient_id"] == json!(patient)).count();
    assert!(of(kept) > 0 && of(erased) > 0, "{all:?}");
    let webhook = format!("[{{url=\"{}/hook\",secret=\"0123456789abcdef\"}}]", server.uri());
    let worker = BrokerWorker::start(&program, &[("ANAMNESIS__BROKER__WEBHOOKS".to_owned(), webhook)]).await;
    until("nothing waits", || async { count(&store, WAITING).await == 0 }).await;
    assert_eq!(listed(&program, "refused").len(), of(kept));
    assert_eq!(listed(&program, "gone").len(), of(erased));
    assert!(listed(&program, "delivered").is_empty(), "a refusal is no delivery");
    let (_, metrics) = worker.probe("/metrics").await.unwrap();
    let counted = |outcome: &str| -> f64 {
        let series = metrics.lines().filter(|line| line.starts_with("anamnesis_outbox_events_total{"));
        let own = series.filter(|line| line.contains(&format!("outcome=\"{outcome}\"")));
        own.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok()).sum()
    };
    assert_eq!((counted("refused"), counted("ok")), (of(kept) as f64, 0.0), "{metrics}");
    let asked = server.received_requests().await.unwrap();
    assert_eq!(asked.len(), of(kept), "nothing is sent about an erased patient");
}
