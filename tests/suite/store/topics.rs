//! Forgetting by topic and disputes, through messages, on each engine.

use anamnesis_core::finding::EntityType;
use anamnesis_core::memory::State;
use anamnesis_pipeline::Pipeline;
use anamnesis_store::read::{Memory, MemoryFilter, ReadInstant};
use serde_json::{Value, json};

use crate::support::{Clinic, ORG, PATIENT, TestEngine, bodies, count, document, event, feed, on_every_engine, scope};

on_every_engine!(
    a_topic_forgets_its_memories_after_a_preview_that_changes_nothing,
    a_patients_end_of_a_clinicians_fact_becomes_a_question,
);

async fn command(pipeline: &Pipeline, id: &str, more: Value) {
    let mut command = json!({"organization_id": ORG, "patient_id": PATIENT, "actor": {"id": PATIENT, "role": "patient"},
        "issued_at": "2026-06-30T10:00:00Z"});
    for (key, value) in more.as_object().unwrap() {
        command[key] = value.clone();
    }
    let done = feed(pipeline, &bodies(&[event(id, "anamnesis.memory.command.v1", &command)]), 1).await;
    assert_eq!(done[0].code(), "stored");
}

async fn states(pipeline: &Pipeline) -> Vec<(EntityType, State)> {
    let entities = vec![EntityType::Medication, EntityType::Symptom];
    let filter = MemoryFilter { entities, states: State::ALL.to_vec(), ..MemoryFilter::default() };
    let all: Vec<Memory> = pipeline.store().read().memories(scope(), &filter, ReadInstant::Now).await.unwrap();
    let mut states: Vec<_> = all.iter().map(|m| (m.entity.unwrap(), m.status.state)).collect();
    states.sort_unstable();
    states
}

async fn a_topic_forgets_its_memories_after_a_preview_that_changes_nothing(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let reported = document(1, 1, "2026-06-29T10:00:00Z", "Toma litio 400 mg al día. Refiere cefalea.");
    feed(&pipeline, &bodies(&[reported]), 1).await;
    let before = states(&pipeline).await;
    assert_eq!(before, [(EntityType::Symptom, State::Active), (EntityType::Medication, State::Active)]);

    command(&pipeline, "1", json!({"command": "forget", "topic": "litio", "preview": true})).await;
    command(&pipeline, "2", json!({"command": "forget", "topic": "de la"})).await;
    command(&pipeline, "3", json!({"command": "forget", "topic": "fútbol"})).await;
    assert_eq!(states(&pipeline).await, before);
    command(&pipeline, "4", json!({"command": "forget", "topic": "el litio"})).await;
    let forgotten = [(EntityType::Symptom, State::Active), (EntityType::Medication, State::Inactive)];
    assert_eq!(states(&pipeline).await, forgotten);
    command(&pipeline, "5", json!({"command": "recover", "topic": "litio", "issued_at": "2026-06-30T11:00:00Z"})).await;
    assert_eq!(states(&pipeline).await, before);
}

async fn a_patients_end_of_a_clinicians_fact_becomes_a_question(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let reported = document(1, 1, "2026-06-29T10:00:00Z", "Toma litio 400 mg al día.");
    feed(&pipeline, &bodies(&[reported]), 1).await;
    let filter = MemoryFilter { entities: vec![EntityType::Medication], ..MemoryFilter::default() };
    let lithium = pipeline.store().read().memories(scope(), &filter, ReadInstant::Now).await.unwrap()[0].id;
    command(&pipeline, "1", json!({"command": "end", "memory_ids": [lithium]})).await;
    assert_eq!(states(&pipeline).await, [(EntityType::Medication, State::Active)]);
    let open = pipeline.store().read().contradictions(scope()).await.unwrap();
    assert_eq!((open.len(), open[0].state.as_str(), open[0].kept), (1, "open", lithium));
    let asked = "SELECT count(*) FROM outbox WHERE event_type = 'anamnesis.reconfirmation.due.v1'";
    assert_eq!(count(pipeline.store(), asked).await, 1);
    let clinician = json!({"id": PATIENT, "role": "clinician"});
    let end =
        json!({"command": "end", "memory_ids": [lithium], "actor": clinician, "issued_at": "2026-06-30T12:00:00Z"});
    command(&pipeline, "2", end).await;
    assert_eq!(states(&pipeline).await, [(EntityType::Medication, State::Resolved)]);
    assert_eq!(pipeline.store().read().contradictions(scope()).await.unwrap()[0].state, "answered");
}
