//! What somebody thought possible and a person verifies, on each engine.

use anamnesis_core::finding::EntityType;
use anamnesis_core::memory::{State, Use};
use anamnesis_store::read::{Filter, Memory, When};
use serde_json::json;

use super::ward::Ward;
use crate::support::{Engine, ORG, PATIENT, document, event, on_every_engine, scope};

on_every_engine!(a_possible_condition_is_in_the_clinical_store_once_a_clinician_verifies_it);

async fn conditions(ward: &Ward) -> Vec<Memory> {
    let filter = Filter { entities: vec![EntityType::Condition], states: State::ALL.to_vec(), ..Filter::default() };
    ward.store().memories(scope(), &filter, When::Now).await.unwrap()
}

async fn in_profile(ward: &Ward) -> Vec<String> {
    let profile = anamnesis_search::context::clinical_profile(ward.store(), scope(), When::Now).await.unwrap();
    profile.conditions.into_iter().map(|item| item.statement).collect()
}

async fn a_possible_condition_is_in_the_clinical_store_once_a_clinician_verifies_it(engine: Engine) {
    let ward = Ward::on(engine).await;
    ward.tell(&[document(1, 1, "2026-06-20T10:00:00Z", "Posible asma.")]).await;
    let possible = conditions(&ward).await;
    assert_eq!((possible.len(), possible[0].standing.use_), (1, Use::Hypothesis));
    let verify = json!({"organization_id": ORG, "patient_id": PATIENT, "command": "verify", "memory_ids": [possible[0].id],
        "actor": {"id": PATIENT, "role": "clinician"}, "issued_at": "2026-06-25T10:00:00Z"});
    ward.tell(&[event("v", "anamnesis.memory.command.v1", &verify)]).await;
    let found = conditions(&ward).await;
    let (old, new) =
        (found.iter().find(|m| m.id == possible[0].id).unwrap(), found.iter().find(|m| m.id != possible[0].id));
    let new = new.expect("a memory of its own");
    assert_eq!((old.standing.state, old.superseded_by), (State::Superseded, Some(new.id)));
    assert_eq!((new.standing.use_, new.class), (Use::Decision, old.class));
    let told = in_profile(&ward).await;
    assert_eq!(told.len(), 1, "{told:?}");
}
