//! The effects of profile events and commands, in any order of arrival: the speaker's state, acts on memories,
//! ephemeral mode.

use anamnesis_pipeline::{Disposition, Pipeline};
use serde_json::{Value, json};
use uuid::Uuid;

use super::support::{
    Clinic, ORG, PATIENT, TestEngine, bodies, count, document, event, feed, on_every_engine, rows, scope,
};

on_every_engine!(
    a_profile_that_arrives_late_weighs_what_was_said_after_it,
    of_two_profiles_each_field_is_the_later_ones_in_any_order,
    a_command_that_arrives_before_its_memory_acts_once_the_memory_comes,
    of_an_ephemeral_patient_nothing_is_stored_and_danger_is_still_announced,
    an_ephemeral_command_binds_the_documents_of_its_batch,
    a_message_that_fails_in_ephemeral_mode_is_quarantined_without_its_body,
);

const SAID: &str = "2026-05-10T10:00:00Z";

fn profile(at: &str, more: &Value) -> Value {
    let mut profile =
        json!({"organization_id": ORG, "patient_id": PATIENT, "actor": Uuid::from_u128(9), "recorded_at": at});
    profile.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    profile
}

fn command(id: &str, what: &str, at: &str, memories: &[Uuid]) -> Value {
    let data = json!({"organization_id": ORG, "patient_id": PATIENT, "command": what, "memory_ids": memories,
        "actor": {"id": Uuid::from_u128(7), "role": "patient"}, "issued_at": at});
    event(id, "anamnesis.memory.command.v1", &data)
}

async fn text(pipeline: &Pipeline, sql: &'static str) -> Vec<String> {
    rows(pipeline.store(), sql).await.iter().map(|row| row.text(0).unwrap()).collect()
}

async fn a_profile_that_arrives_late_weighs_what_was_said_after_it(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let [mut before, mut after] =
        [document(1, 1, "2026-05-01T10:00:00Z", "Tengo insomnio."), document(2, 1, SAID, "Tengo ansiedad.")];
    for said in [&mut before, &mut after] {
        said["document_type"] = json!("chat_message");
    }
    let clear = profile("2026-05-05T10:00:00Z", &json!({"cognitive_state": 25}));
    let messages = bodies(&[clear, before, after]);
    let calm = clinic.pipeline().await;
    feed(&calm, &messages, 1).await;
    let late = clinic.pipeline().await;
    for at in [1, 2, 0] {
        feed(&late, &messages[at..=at], 1).await;
    }
    let sql = "SELECT confidence_basis || ' ' || CAST(initial_confidence * 100 AS integer) FROM memory WHERE kind <> 'raw' ORDER BY valid_from";
    assert_eq!(text(&late, sql).await, ["default 100", "cognitive_state 25"]);
    let (calm, late) =
        (calm.store().read().digest(None).await.unwrap(), late.store().read().digest(None).await.unwrap());
    assert_eq!(calm.without(&["outbox"]), late.without(&["outbox"]));
}

async fn of_two_profiles_each_field_is_the_later_ones_in_any_order(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let one = json!({"region": "ES", "privacy_tier": "full", "preferences": {"idioma": "es"}});
    let two = json!({"region": "PE", "preferences": {"idioma": "en"}, "cognitive_state": 80});
    let messages = bodies(&[profile("2026-05-01T10:00:00Z", &one), profile("2026-05-02T10:00:00Z", &two)]);
    let mut digests = Vec::new();
    for order in [[0, 1], [1, 0]] {
        let pipeline = clinic.pipeline().await;
        for at in order {
            assert_eq!(feed(&pipeline, &messages[at..=at], 1).await, [Disposition::Stored]);
        }
        let known = pipeline.store().read().profile(scope()).await.unwrap().unwrap();
        assert_eq!((known.region.as_deref(), known.privacy_tier.as_deref()), (Some("PE"), Some("full")));
        assert_eq!(known.cognitive_state, Some(80.0));
        let reported =
            pipeline.store().read().preferences(scope(), anamnesis_store::read::ReadInstant::Now).await.unwrap();
        assert_eq!(reported.iter().map(|p| p.value.as_str()).collect::<Vec<_>>(), ["en"]);
        digests.push(pipeline.store().read().digest(None).await.unwrap());
    }
    assert_eq!(digests[0], digests[1]);
}

async fn a_command_that_arrives_before_its_memory_acts_once_the_memory_comes(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let said = bodies(&[document(1, 1, SAID, "Refiere insomnio desde hace una semana.")]);
    let calm = clinic.pipeline().await;
    feed(&calm, &said, 1).await;
    let id = rows(calm.store(), "SELECT id FROM memory WHERE kind <> 'raw'").await[0].uuid(0).unwrap();
    // A clinician ends a clinician's statement: a patient's word would be a contradiction.
    let mut end = command("v", "end", "2026-05-12T10:00:00Z", &[id]);
    end["data"]["actor"]["role"] = json!("clinician");
    let verify = bodies(&[end]);
    feed(&calm, &verify, 1).await;
    let early = clinic.pipeline().await;
    feed(&early, &verify, 1).await;
    feed(&early, &said, 1).await;
    assert_eq!(text(&early, "SELECT state FROM memory WHERE kind <> 'raw'").await, ["resolved"]);
    let (calm, early) =
        (calm.store().read().digest(None).await.unwrap(), early.store().read().digest(None).await.unwrap());
    assert_eq!(calm.without(&["outbox"]), early.without(&["outbox"]));
}

/// Rows with any of a patient's statements.
async fn kept(pipeline: &Pipeline) -> i64 {
    let store = pipeline.store();
    let mut all = 0;
    for sql in [
        "SELECT count(*) FROM documents",
        "SELECT count(*) FROM passage",
        "SELECT count(*) FROM embedding",
        "SELECT count(*) FROM extracted_findings",
        "SELECT count(*) FROM memory",
        "SELECT count(*) FROM memory_event",
        "SELECT count(*) FROM risk_flag",
        "SELECT count(*) FROM attempt",
    ] {
        all += count(store, sql).await;
    }
    all
}

async fn of_an_ephemeral_patient_nothing_is_stored_and_danger_is_still_announced(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let on = bodies(&[command("on", "ephemeral_on", "2026-05-05T00:00:00Z", &[])]);
    assert_eq!(feed(&pipeline, &on, 1).await, [Disposition::Stored]);
    let inside = document(1, 1, SAID, "Toma sertralina 50 mg. Dice que quiere suicidarse esta noche.");
    let done = feed(&pipeline, &bodies(&[inside]), 1).await;
    assert_eq!(done, [Disposition::Ephemeral]);
    assert_eq!(kept(&pipeline).await, 0);
    assert_eq!(count(pipeline.store(), "SELECT count(*) FROM inbox").await, 1, "the command alone");
    let events = "SELECT event_type FROM outbox WHERE event_type <> 'anamnesis.rights.answered.v1'";
    assert_eq!(text(&pipeline, events).await, ["anamnesis.risk.flagged.v1"], "but for the answer to the command");
    let off = command("off", "ephemeral_off", "2026-05-20T00:00:00Z", &[]);
    let [late, outside] = [(2, "2026-05-19T10:00:00Z"), (3, "2026-05-21T10:00:00Z")];
    let late = document(late.0, 1, late.1, "Refiere insomnio.");
    let outside = document(outside.0, 1, outside.1, "Refiere ansiedad.");
    let done = feed(&pipeline, &bodies(&[off, late, outside]), 1).await;
    assert_eq!(done, [Disposition::Stored, Disposition::Ephemeral, Disposition::Stored]);
    assert_eq!(count(pipeline.store(), "SELECT count(*) FROM documents").await, 1);
}

async fn an_ephemeral_command_binds_the_documents_of_its_batch(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let inside = document(1, 1, SAID, "Refiere insomnio.");
    let before = document(2, 1, "2026-05-01T10:00:00Z", "Refiere ansiedad.");
    let on = command("on", "ephemeral_on", "2026-05-05T00:00:00Z", &[]);
    let done = feed(&pipeline, &bodies(&[inside, on, before]), 3).await;
    assert_eq!(done, [Disposition::Ephemeral, Disposition::Stored, Disposition::Stored]);
    assert_eq!(count(pipeline.store(), "SELECT count(*) FROM documents").await, 1);
}

async fn a_message_that_fails_in_ephemeral_mode_is_quarantined_without_its_body(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let on = bodies(&[command("on", "ephemeral_on", "2026-05-05T00:00:00Z", &[])]);
    feed(&pipeline, &on, 1).await;
    let seen = document(1, 1, SAID, "Refiere insomnio.");
    let reused =
        [event("same", "anamnesis.document.submitted.v1", &document(2, 1, "2026-05-01T10:00:00Z", "Ansiedad."))];
    feed(&pipeline, &bodies(&reused), 1).await;
    let again = event("same", "anamnesis.document.submitted.v1", &seen);
    let done = feed(&pipeline, &bodies(&[again]), 1).await;
    assert!(matches!(done[..], [Disposition::Quarantined(_)]), "{done:?}");
    let sealed = "SELECT count(*) FROM quarantine WHERE body_sealed IS NOT NULL";
    assert_eq!(count(pipeline.store(), sealed).await, 0);
}
