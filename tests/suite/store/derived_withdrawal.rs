//! A derived finding is withdrawn with its sources, on each engine, on a server as the role of the jobs.

use anamnesis_core::finding::EntityType;
use anamnesis_core::memory::{Class, State};
use anamnesis_jobs::JobName;
use anamnesis_store::read::{Memory, MemoryFilter, ReadInstant};
use serde_json::{Value, json};

use super::fixture::StoreFixture;
use crate::support::{ORG, PATIENT, TestEngine, document, event, on_every_engine, scope};

on_every_engine!(
    a_belief_goes_with_the_statements_that_a_patient_forgot_and_is_back_when_they_are,
    a_belief_that_a_person_verified_stays_without_its_statements,
    a_revision_that_no_longer_says_it_takes_its_part_of_a_belief,
);

const DAYS: [&str; 3] = ["2026-06-20T10:00:00Z", "2026-06-22T10:00:00Z", "2026-06-24T10:00:00Z"];

fn headache(n: u128, at: &str) -> Value {
    // A copy of a text is no other evidence.
    let more = ["Camina.", "Lee.", "Descansa.", "Trabaja."][usize::try_from(n - 1).unwrap()];
    document(n, 1, at, &format!("Refiere cefalea. {more}"))
}

/// A ward in which a headache was reported on three days, and became a belief.
async fn with_belief(engine: TestEngine) -> StoreFixture {
    let fixture = StoreFixture::on(engine).await;
    let reported: Vec<Value> = (1..).zip(DAYS).map(|(n, at)| headache(n, at)).collect();
    fixture.ingest(&reported).await;
    assert_eq!(run_job(&fixture).await, (1, 0));
    assert_eq!(beliefs(&fixture).await.len(), 1);
    fixture
}

/// Beliefs that a consolidation run derived, and those that it withdrew or restored.
async fn run_job(fixture: &StoreFixture) -> (u64, u64) {
    let status = fixture.after(1, JobName::Consolidation).await.status;
    (status["beliefs"].as_u64().unwrap(), status["withdrawn"].as_u64().unwrap())
}

async fn beliefs(fixture: &StoreFixture) -> Vec<Memory> {
    let filter = MemoryFilter { classes: vec![Class::Pattern], states: State::ALL.to_vec(), ..MemoryFilter::default() };
    fixture.store().read().memories(scope(), &filter, ReadInstant::Now).await.unwrap()
}

/// All statements about a headache, except derived ones.
async fn statements(fixture: &StoreFixture) -> Vec<Memory> {
    let entities = vec![EntityType::Symptom];
    let filter = MemoryFilter { entities, states: State::ALL.to_vec(), ..MemoryFilter::default() };
    fixture.store().read().memories(scope(), &filter, ReadInstant::Now).await.unwrap()
}

async fn command(fixture: &StoreFixture, name: &str, memories: &[Memory], role: &str) {
    let now = anamnesis_core::clock::Clock::now(fixture.clinic.time.as_ref());
    let ids: Vec<_> = memories.iter().map(|memory| memory.id).collect();
    let command = json!({"organization_id": ORG, "patient_id": PATIENT, "command": name, "memory_ids": ids,
        "actor": {"id": PATIENT, "role": role}, "issued_at": now});
    fixture.ingest(&[event(name, "anamnesis.memory.command.v1", &command)]).await;
}

async fn a_belief_goes_with_the_statements_that_a_patient_forgot_and_is_back_when_they_are(engine: TestEngine) {
    let fixture = with_belief(engine).await;
    let said = statements(&fixture).await;
    command(&fixture, "forget", &said, "patient").await;
    assert_eq!(run_job(&fixture).await, (0, 1));
    assert!(beliefs(&fixture).await.is_empty());
    assert_eq!(run_job(&fixture).await, (0, 0), "once");

    command(&fixture, "recover", &said, "patient").await;
    fixture.ingest(&[headache(4, "2026-06-26T10:00:00Z")]).await;
    run_job(&fixture).await;
    let back = beliefs(&fixture).await;
    assert_eq!((back.len(), back[0].status.state, back[0].times_reinforced), (1, State::Active, 1));
}

async fn a_belief_that_a_person_verified_stays_without_its_statements(engine: TestEngine) {
    let fixture = with_belief(engine).await;
    let belief = beliefs(&fixture).await;
    command(&fixture, "verify", &belief, "clinician").await;
    command(&fixture, "forget", &statements(&fixture).await, "patient").await;
    assert_eq!(run_job(&fixture).await, (0, 0));
    let mut still = beliefs(&fixture).await;
    still.retain(|memory| memory.status.state == State::Active);
    assert_eq!((still.len(), still[0].verification_count), (1, 1));
}

async fn a_revision_that_no_longer_says_it_takes_its_part_of_a_belief(engine: TestEngine) {
    let fixture = with_belief(engine).await;
    fixture.ingest(&[document(2, 2, DAYS[1], "Refiere insomnio.")]).await;
    assert_eq!(run_job(&fixture).await, (0, 1), "two days are no pattern");
    assert!(beliefs(&fixture).await.is_empty());
    fixture.ingest(&[document(2, 3, DAYS[1], "Refiere cefalea.")]).await;
    assert_eq!(run_job(&fixture).await.0, 0, "not formed again, but counted again");
    assert_eq!(beliefs(&fixture).await.len(), 1);
}
