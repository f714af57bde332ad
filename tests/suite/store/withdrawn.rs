//! What a night formed goes with what it was formed of, on each engine, on a server as the role of the nights.

use anamnesis_core::finding::EntityType;
use anamnesis_core::memory::{Class, State};
use anamnesis_jobs::JobName;
use anamnesis_store::read::{Filter, Memory, When};
use serde_json::{Value, json};

use super::ward::Ward;
use crate::support::{Engine, ORG, PATIENT, document, event, on_every_engine, scope};

on_every_engine!(
    a_belief_goes_with_the_statements_that_a_patient_forgot_and_is_back_when_they_are,
    a_belief_that_a_person_verified_stands_without_its_statements,
    a_revision_that_no_longer_says_it_takes_its_part_of_a_belief,
);

const DAYS: [&str; 3] = ["2026-06-20T10:00:00Z", "2026-06-22T10:00:00Z", "2026-06-24T10:00:00Z"];

fn headache(n: u128, at: &str) -> Value {
    // A copy of a text is no other evidence.
    let more = ["Camina.", "Lee.", "Descansa.", "Trabaja."][usize::try_from(n - 1).unwrap()];
    document(n, 1, at, &format!("Refiere cefalea. {more}"))
}

/// A ward in which a headache was told of on three days, and became a belief.
async fn with_belief(engine: Engine) -> Ward {
    let ward = Ward::on(engine).await;
    let told: Vec<Value> = (1..).zip(DAYS).map(|(n, at)| headache(n, at)).collect();
    ward.tell(&told).await;
    assert_eq!(night(&ward).await, (1, 0));
    assert_eq!(beliefs(&ward).await.len(), 1);
    ward
}

/// Beliefs that a night of consolidation formed, and what it withdrew or let count again.
async fn night(ward: &Ward) -> (u64, u64) {
    let status = ward.after(1, JobName::Consolidation).await.status;
    (status["beliefs"].as_u64().unwrap(), status["withdrawn"].as_u64().unwrap())
}

async fn beliefs(ward: &Ward) -> Vec<Memory> {
    let filter = Filter { classes: vec![Class::Pattern], states: State::ALL.to_vec(), ..Filter::default() };
    ward.store().memories(scope(), &filter, When::Now).await.unwrap()
}

/// Everything that is said of a headache, but for what was formed of it.
async fn statements(ward: &Ward) -> Vec<Memory> {
    let entities = vec![EntityType::Symptom];
    let filter = Filter { entities, states: State::ALL.to_vec(), ..Filter::default() };
    ward.store().memories(scope(), &filter, When::Now).await.unwrap()
}

async fn command(ward: &Ward, name: &str, memories: &[Memory], role: &str) {
    let now = anamnesis_core::clock::Clock::now(ward.clinic.time.as_ref());
    let ids: Vec<_> = memories.iter().map(|memory| memory.id).collect();
    let command = json!({"organization_id": ORG, "patient_id": PATIENT, "command": name, "memory_ids": ids,
        "actor": {"id": PATIENT, "role": role}, "issued_at": now});
    ward.tell(&[event(name, "anamnesis.memory.command.v1", &command)]).await;
}

async fn a_belief_goes_with_the_statements_that_a_patient_forgot_and_is_back_when_they_are(engine: Engine) {
    let ward = with_belief(engine).await;
    let said = statements(&ward).await;
    command(&ward, "forget", &said, "patient").await;
    assert_eq!(night(&ward).await, (0, 1));
    assert!(beliefs(&ward).await.is_empty());
    assert_eq!(night(&ward).await, (0, 0), "once");

    command(&ward, "recover", &said, "patient").await;
    ward.tell(&[headache(4, "2026-06-26T10:00:00Z")]).await;
    night(&ward).await;
    let back = beliefs(&ward).await;
    assert_eq!((back.len(), back[0].standing.state, back[0].times_reinforced), (1, State::Active, 1));
}

async fn a_belief_that_a_person_verified_stands_without_its_statements(engine: Engine) {
    let ward = with_belief(engine).await;
    let belief = beliefs(&ward).await;
    command(&ward, "verify", &belief, "clinician").await;
    command(&ward, "forget", &statements(&ward).await, "patient").await;
    assert_eq!(night(&ward).await, (0, 0));
    let mut still = beliefs(&ward).await;
    still.retain(|memory| memory.standing.state == State::Active);
    assert_eq!((still.len(), still[0].verification_count), (1, 1));
}

async fn a_revision_that_no_longer_says_it_takes_its_part_of_a_belief(engine: Engine) {
    let ward = with_belief(engine).await;
    ward.tell(&[document(2, 2, DAYS[1], "Refiere insomnio.")]).await;
    assert_eq!(night(&ward).await, (0, 1), "two days are no pattern");
    assert!(beliefs(&ward).await.is_empty());
    ward.tell(&[document(2, 3, DAYS[1], "Refiere cefalea.")]).await;
    assert_eq!(night(&ward).await.0, 0, "not formed again, but counted again");
    assert_eq!(beliefs(&ward).await.len(), 1);
}
