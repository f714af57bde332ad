//! The detector of a risk, rules or classifier, and its probability: stored with the flag, shown in the profile,
//! announced in events.

use anamnesis_pipeline::{Disposition, Pipeline};
use anamnesis_store::outbox;
use anamnesis_store::read::ReadInstant;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{Clinic, ORG, PATIENT, TestEngine, bodies, document, event, feed, on_every_engine, rows, scope};

on_every_engine!(
    the_detector_of_a_risk_is_stored_shown_and_announced,
    the_detector_of_a_risk_is_announced_for_an_ephemeral_patient,
);

const SAID: &str = "2026-05-10T10:00:00Z";
/// A sentence that the rules detect, and one that only the classifier does.
const RULED: &str = "I want to kill myself.";
const HINTED: &str = "I have sorted my papers and nobody will have to look after me once I am under the train.";

fn note(id: u128, text: &str) -> Value {
    let mut note = document(id, 1, SAID, text);
    note["language"] = json!("en");
    note
}

/// The announced detector of each risk, and whether with a probability.
async fn announced_risks(clinic: &Clinic, pipeline: &Pipeline) -> Vec<(String, bool)> {
    let keys = clinic.keys.known(&[scope()]).await.unwrap();
    let keys = keys.values().next().unwrap();
    let sql = "SELECT id, body_sealed FROM outbox WHERE event_type = 'anamnesis.risk.flagged.v1'";
    let mut reported = Vec::new();
    for row in rows(pipeline.store(), sql).await {
        let (id, sealed) = (row.uuid(0).unwrap(), row.blob(1).unwrap());
        let body: Value = serde_json::from_slice(&keys.open(outbox::body_cell(id), &sealed).unwrap()).unwrap();
        let sure = body.get("confidence").map(|sure| sure.as_f64().unwrap());
        assert!(sure.is_none_or(|sure| sure > 0.5 && sure < 1.0), "{body}");
        reported.push((body["by"].as_str().unwrap().to_owned(), sure.is_some()));
    }
    reported.sort();
    reported
}

/// A risk that only the classifier detects has a low level: it is stored and shown, and raises no alarm.
fn the_rules_alone() -> Vec<(String, bool)> {
    vec![("rules".to_owned(), false)]
}

async fn the_detector_of_a_risk_is_stored_shown_and_announced(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let done = feed(&pipeline, &bodies(&[note(1, RULED), note(2, HINTED)]), 2).await;
    assert_eq!(done, [Disposition::Stored, Disposition::Stored]);
    let flags = pipeline.store().read().risks(scope(), ReadInstant::Now).await.unwrap();
    let shown = |quote: &str| {
        let flag = flags.iter().find(|flag| flag.quote.starts_with(quote)).unwrap();
        let shown = serde_json::to_value(flag).unwrap();
        (shown["by"].clone(), shown["confidence"].clone())
    };
    assert_eq!(shown("I want to kill"), (json!("rules"), Value::Null));
    let (by, sure) = shown("I have sorted");
    assert_eq!(by, "learned");
    assert!(sure.as_f64().is_some_and(|sure| sure > 0.5 && sure < 1.0), "{sure}");
    assert_eq!(announced_risks(&clinic, &pipeline).await, the_rules_alone());
}

async fn the_detector_of_a_risk_is_announced_for_an_ephemeral_patient(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let on = json!({"organization_id": ORG, "patient_id": PATIENT, "command": "ephemeral_on", "memory_ids": [],
        "actor": {"id": Uuid::from_u128(7), "role": "patient"}, "issued_at": "2026-05-05T00:00:00Z"});
    feed(&pipeline, &bodies(&[event("on", "anamnesis.memory.command.v1", &on)]), 1).await;
    feed(&pipeline, &bodies(&[note(1, RULED), note(2, HINTED)]), 2).await;
    assert!(pipeline.store().read().risks(scope(), ReadInstant::Now).await.unwrap().is_empty());
    assert_eq!(announced_risks(&clinic, &pipeline).await, the_rules_alone());
}
