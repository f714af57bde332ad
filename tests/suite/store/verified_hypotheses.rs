//! Hypotheses that a person verifies, on each engine.

use anamnesis_core::finding::EntityType;
use anamnesis_core::memory::{PermittedUse, State};
use anamnesis_store::read::{Memory, MemoryFilter, ReadInstant};
use serde_json::json;

use super::fixture::StoreFixture;
use crate::support::{ORG, PATIENT, TestEngine, document, event, on_every_engine, scope};

on_every_engine!(a_possible_condition_is_in_the_clinical_store_once_a_clinician_verifies_it);

async fn conditions(fixture: &StoreFixture) -> Vec<Memory> {
    let filter =
        MemoryFilter { entities: vec![EntityType::Condition], states: State::ALL.to_vec(), ..MemoryFilter::default() };
    fixture.store().read().memories(scope(), &filter, ReadInstant::Now).await.unwrap()
}

async fn in_profile(fixture: &StoreFixture) -> Vec<String> {
    let profile =
        anamnesis_search::context::clinical_profile(fixture.store(), scope(), ReadInstant::Now).await.unwrap();
    profile.conditions.into_iter().map(|item| item.statement).collect()
}

async fn a_possible_condition_is_in_the_clinical_store_once_a_clinician_verifies_it(engine: TestEngine) {
    let fixture = StoreFixture::on(engine).await;
    fixture.ingest(&[document(1, 1, "2026-06-20T10:00:00Z", "Posible asma.")]).await;
    let possible = conditions(&fixture).await;
    assert_eq!((possible.len(), possible[0].status.use_), (1, PermittedUse::Hypothesis));
    let verify = json!({"organization_id": ORG, "patient_id": PATIENT, "command": "verify", "memory_ids": [possible[0].id],
        "actor": {"id": PATIENT, "role": "clinician"}, "issued_at": "2026-06-25T10:00:00Z"});
    fixture.ingest(&[event("v", "anamnesis.memory.command.v1", &verify)]).await;
    let found = conditions(&fixture).await;
    let (old, new) =
        (found.iter().find(|m| m.id == possible[0].id).unwrap(), found.iter().find(|m| m.id != possible[0].id));
    let new = new.expect("a memory of its own");
    assert_eq!((old.status.state, old.superseded_by), (State::Superseded, Some(new.id)));
    assert_eq!((new.status.use_, new.class), (PermittedUse::Decision, old.class));
    let reported = in_profile(&fixture).await;
    assert_eq!(reported.len(), 1, "{reported:?}");
}
