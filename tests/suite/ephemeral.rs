//! Ephemeral mode leaves nothing, in any order of messages.

use anamnesis_crypto::ColumnRef;
use anamnesis_pipeline::{Disposition, Pipeline};
use anamnesis_store::digest::StoreDigest;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{
    Clinic, ORG, PATIENT, Program, TestEngine, bodies, count, counts, document, event, feed, on_every_engine,
    on_every_program, rows, scope,
};

on_every_engine!(
    a_command_that_comes_late_leaves_what_one_in_time_leaves,
    unsent_events_are_withdrawn_and_danger_stays_announced_without_content,
    an_older_revision_from_outside_is_current_again,
    what_a_correction_did_is_undone_with_its_words,
    what_a_legal_hold_keeps_stays,
    a_broken_message_of_an_ephemeral_patient_is_dropped_and_others_are_stored,
);
on_every_program!(no_canary_of_an_ephemeral_patient_is_left_when_the_command_comes_late);

const ON: &str = "2026-05-05T00:00:00Z";
const INSIDE: &str = "2026-05-10T10:00:00Z";
const BEFORE: &str = "2026-05-01T10:00:00Z";
const OFF: &str = "2026-05-20T00:00:00Z";
const AFTER: &str = "2026-05-21T10:00:00Z";
/// The audit trail records acts without content; events depend on the order of arrival.
const STEPS: [&str; 2] = ["action_audit", "outbox"];

fn command(what: &str, at: &str, more: &Value) -> Value {
    let mut data = json!({"organization_id": ORG, "patient_id": PATIENT, "command": what, "issued_at": at,
        "actor": {"id": Uuid::from_u128(7), "role": "clinician"}});
    data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event(&format!("{what} {at}"), "anamnesis.memory.command.v1", &data)
}

fn switch(on: bool, at: &str) -> Value {
    command(if on { "ephemeral_on" } else { "ephemeral_off" }, at, &json!({}))
}

fn profile(at: &str, more: &Value) -> Value {
    let mut profile =
        json!({"organization_id": ORG, "patient_id": PATIENT, "actor": Uuid::from_u128(9), "recorded_at": at});
    profile.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    profile
}

fn signal(at: &str, hours: f64) -> Value {
    json!({"organization_id": ORG, "patient_id": PATIENT, "metric": "sleep_hours", "unit": "h", "value": hours,
        "device": "watch", "synced_at": at})
}

/// Before, inside and after: documents in both languages, a profile, a device.
fn documents_and_profiles() -> Vec<Value> {
    vec![
        document(1, 1, BEFORE, "Toma sertralina 50 mg al día. Refiere insomnio."),
        profile(BEFORE, &json!({"region": "ES", "cognitive_state": 80, "allergies": [{"substance": "penicilina"}]})),
        document(2, 1, INSIDE, "Toma sertralina 100 mg al día. Refiere ansiedad. Es alérgica al látex."),
        document(3, 1, INSIDE, "She takes lithium 400 mg daily. She lost her job."),
        profile(INSIDE, &json!({"region": "PE", "cognitive_state": 20, "conditions": [{"name": "asma"}]})),
        signal(INSIDE, 4.5),
        document(4, 1, AFTER, "Refiere cefalea. Toma sertralina 50 mg al día."),
        signal(AFTER, 7.0),
    ]
}

async fn digest(pipeline: &Pipeline) -> StoreDigest {
    pipeline.store().read().digest(None).await.unwrap()
}

async fn a_command_that_comes_late_leaves_what_one_in_time_leaves(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let switches = [switch(true, ON), switch(false, OFF)];
    let in_time = clinic.pipeline().await;
    feed(&in_time, &bodies(&switches), 2).await;
    feed(&in_time, &bodies(&documents_and_profiles()), 3).await;
    let in_time = digest(&in_time).await;
    for batch in [1, 2] {
        let late = clinic.pipeline().await;
        let done = feed(&late, &bodies(&documents_and_profiles()), 3).await;
        assert!(done.iter().all(|one| *one == Disposition::Stored), "{done:?}");
        // The end first: the beginning arrives late.
        feed(&late, &bodies(&[switches[1].clone(), switches[0].clone()]), batch).await;
        let found = digest(&late).await;
        for (table, sum) in &in_time.tables {
            if !STEPS.contains(table) {
                assert_eq!(&found.tables[table], sum, "{table}");
            }
        }
        // Removed messages may arrive again, and are as ephemeral as the first time.
        let again = feed(&late, &bodies(&documents_and_profiles()), 3).await;
        assert_eq!(again.iter().filter(|one| **one == Disposition::Ephemeral).count(), 4, "{again:?}");
        assert_eq!(digest(&late).await.without(&STEPS), found.without(&STEPS));
    }
}

/// Types and bodies of the events of the patient.
async fn events(pipeline: &Pipeline) -> Vec<(String, Value)> {
    let keys = pipeline.store().read().keys_of(scope()).await.unwrap().unwrap();
    let mut found = Vec::new();
    for row in rows(pipeline.store(), "SELECT id, event_type, body_sealed FROM outbox").await {
        let cell = ColumnRef { table: "outbox", row: row.uuid(0).unwrap(), column: "body" };
        let body = keys.open(cell, &row.blob(2).unwrap()).unwrap();
        found.push((row.text(1).unwrap(), serde_json::from_slice(&body).unwrap()));
    }
    found
}

async fn unsent_events_are_withdrawn_and_danger_stays_announced_without_content(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let danger = document(2, 1, INSIDE, "Dice que quiere suicidarse esta noche.");
    feed(&pipeline, &bodies(&[document(1, 1, BEFORE, "Refiere insomnio."), danger]), 1).await;
    let gone = Uuid::from_u128(2).to_string();
    assert!(events(&pipeline).await.iter().any(|(_, body)| body["document_id"] == json!(gone)));
    feed(&pipeline, &bodies(&[switch(true, ON)]), 1).await;
    let left = events(&pipeline).await;
    assert!(!left.iter().any(|(_, body)| body.to_string().contains(&gone)), "{left:?}");
    assert!(left.iter().any(|(_, body)| body["document_id"] == json!(Uuid::from_u128(1))), "{left:?}");
    let danger: Vec<&Value> =
        left.iter().filter(|(kind, _)| kind == "anamnesis.risk.flagged.v1").map(|(_, body)| body).collect();
    assert!(!danger.is_empty(), "{left:?}");
    for one in danger {
        assert_eq!((&one["ephemeral"], &one["document_id"]), (&json!(true), &Value::Null), "{one}");
        assert!(one["class"].is_string() && one["level"].is_string(), "{one}");
    }
    let ids = rows(pipeline.store(), "SELECT id FROM memory").await;
    let known: Vec<String> = ids.iter().map(|row| row.uuid(0).unwrap().to_string()).collect();
    for (kind, body) in &left {
        let memory = body["memory_id"].as_str();
        assert!(memory.is_none_or(|id| known.contains(&id.to_owned())), "{kind}: {body}");
    }
}

async fn an_older_revision_from_outside_is_current_again(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let first = document(1, 1, BEFORE, "Toma sertralina 50 mg al día.");
    let second = document(1, 2, INSIDE, "Toma sertralina 100 mg al día.");
    let pipeline = clinic.pipeline().await;
    feed(&pipeline, &bodies(&[first.clone(), second, switch(true, ON)]), 1).await;
    let expected = clinic.pipeline().await;
    feed(&expected, &bodies(&[first, switch(true, ON)]), 1).await;
    let (found, expected) = (digest(&pipeline).await, digest(&expected).await);
    // The next run of the jobs makes the vector, and a later analysis the passage's concepts.
    let later = ["action_audit", "outbox", "embedding", "passage"];
    assert_eq!(found.without(&later), expected.without(&later));
    assert_eq!(found.rows("passage"), 1);
    assert_eq!(count(pipeline.store(), "SELECT count(*) FROM passage WHERE embedding_pending = 1").await, 1);
}

async fn what_a_correction_did_is_undone_with_its_words(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let said = bodies(&[document(1, 1, BEFORE, "Toma sertralina 50 mg al día.")]);
    feed(&pipeline, &said, 1).await;
    let before = digest(&pipeline).await;
    let memory = rows(pipeline.store(), "SELECT id FROM memory WHERE kind <> 'raw'").await[0].uuid(0).unwrap();
    let correct = command("correct", INSIDE, &json!({"memory_ids": [memory], "text": "sertralina 150 mg"}));
    assert_eq!(feed(&pipeline, &bodies(&[correct]), 1).await, [Disposition::Stored]);
    assert_ne!(digest(&pipeline).await.tables["memory"], before.tables["memory"]);
    feed(&pipeline, &bodies(&[switch(true, ON)]), 1).await;
    let after = digest(&pipeline).await;
    for table in ["documents", "extracted_findings", "memory", "memory_event", "memory_link", "medications"] {
        assert_eq!(after.tables[table], before.tables[table], "{table}");
    }
    assert_eq!(after.rows("inbox"), 2, "the document from before and the command");
}

async fn what_a_legal_hold_keeps_stays(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let inside = [document(1, 1, INSIDE, "Refiere insomnio."), document(2, 1, INSIDE, "Refiere cefalea.")];
    feed(&pipeline, &bodies(&inside), 2).await;
    let held = Some(anamnesis_core::ids::DocumentId(Uuid::from_u128(1)));
    pipeline.store().erasure().set_hold(scope(), held, None, Uuid::from_u128(9)).await.unwrap().unwrap();
    feed(&pipeline, &bodies(&[switch(true, ON)]), 1).await;
    let left = rows(pipeline.store(), "SELECT document_id FROM documents").await;
    assert_eq!(left.iter().map(|row| row.uuid(0).unwrap()).collect::<Vec<_>>(), [Uuid::from_u128(1)]);
}

async fn a_broken_message_of_an_ephemeral_patient_is_dropped_and_others_are_stored(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    feed(&pipeline, &bodies(&[switch(true, ON), switch(false, OFF)]), 1).await;
    let broken = |at: &str| {
        let mut broken = document(1, 1, at, "Refiere insomnio.");
        broken["revision"] = json!("uno");
        broken
    };
    let whole = broken(INSIDE).to_string();
    let mut undated = broken(INSIDE);
    undated["occurred_at"] = json!("ayer");
    let mut twice = broken(AFTER);
    twice["text"] = json!("Dice que\u{0} nada.");
    let mut stranger = broken(INSIDE);
    stranger["patient_id"] = json!(Uuid::from_u128(99));
    let dropped = [
        whole.clone().into_bytes(),
        event("broken", "anamnesis.document.submitted.v1", &broken(INSIDE)).to_string().into_bytes(),
        whole.as_bytes()[..whole.len() - 2].to_vec(),
        undated.to_string().into_bytes(),
        event("unknown", "anamnesis.document.sent.v9", &document(1, 1, INSIDE, "Refiere náuseas."))
            .to_string()
            .into_bytes(),
    ];
    let kept = [
        broken(AFTER).to_string().into_bytes(),
        broken(BEFORE).to_string().into_bytes(),
        twice.to_string().into_bytes(),
        stranger.to_string().into_bytes(),
        b"{\"text\": \"Refiere mareo.\", \"revision\": 1".to_vec(),
    ];
    let quarantined = "SELECT count(*) FROM quarantine";
    let with_body = "SELECT count(*) FROM quarantine WHERE body_sealed IS NOT NULL OR attributes_sealed IS NOT NULL";
    for (n, body) in dropped.iter().enumerate() {
        let done = feed(&pipeline, std::slice::from_ref(body), 1).await;
        assert_eq!(done[0].code(), "quarantined");
        assert_eq!(count(pipeline.store(), with_body).await, 0, "{n}");
    }
    assert_eq!(count(pipeline.store(), quarantined).await, dropped.len() as i64, "ids and codes");
    let done = feed(&pipeline, &kept, 5).await;
    assert!(done.iter().all(|one| one.code() == "quarantined"), "{done:?}");
    assert_eq!(count(pipeline.store(), with_body).await, kept.len() as i64);
}

async fn no_canary_of_an_ephemeral_patient_is_left_when_the_command_comes_late(engine: TestEngine) {
    let program = Program::on(engine).await;
    let bird = "zqcanarioefimerowxkq";
    let note = |id, text: String| document(id, 1, INSIDE, &text);
    let mut broken = note(9, format!("Roto {bird}."));
    broken["revision"] = json!("uno");
    let reported = [
        note(1, format!("Toma litio 400 mg al día. Habla de {bird}.")),
        note(2, format!("She reports headaches and {bird}.")),
        profile(INSIDE, &json!({"conditions": [{"name": bird}], "preferences": {"apodo": bird}})),
        signal(INSIDE, 5.0),
        command("add", INSIDE, &json!({"text": format!("Prefiere {bird} por la tarde.")})),
    ];
    assert_eq!(counts(&program.ingest(&bodies(&reported), &[]))["stored"], json!(reported.len()));
    let late = counts(&program.ingest(&bodies(&[switch(true, ON), broken]), &[]));
    assert_eq!((&late["stored"], &late["quarantined"]), (&json!(1), &json!(1)), "{late}");
    let store = program.store().await;
    let left = store.read().digest(None).await.unwrap();
    let empty = [
        "documents",
        "passage",
        "embedding",
        "extracted_findings",
        "memory",
        "memory_event",
        "memory_link",
        "conditions",
        "medications",
        "symptom_states",
        "health_signals",
        "conversation_preferences",
        "profile_statement",
        "risk_flag",
        "contradiction",
    ];
    for table in empty {
        assert_eq!(left.rows(table), 0, "{table}");
    }
    assert_eq!(left.rows("inbox"), 1, "the command");
    assert_eq!(count(&store, "SELECT count(*) FROM quarantine WHERE body_sealed IS NOT NULL").await, 0);
    store.close().await;
    std::fs::remove_file(program.folder.path().join("messages.ndjson")).unwrap();
    for entry in program.folder.path().read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            assert!(!bytes.windows(bird.len()).any(|part| part == bird.as_bytes()), "{}", path.display());
        }
    }
    let of = [ORG, PATIENT].map(|id| id.to_string());
    for reader in [&["context", "--query", bird, "--min-score", "-1"][..], &["export"], &["profile"]] {
        let named = ["--org", &of[0], "--patient", &of[1], "--output", "json"];
        let read = program.command(&[]).args(reader).args(named).output().unwrap();
        let read = String::from_utf8(read.stdout).unwrap();
        assert!(!read.replace(&format!("\"query\":\"{bird}\""), "").contains(bird), "{reader:?}: {read}");
    }
}
