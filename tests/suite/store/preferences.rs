//! Preferences for conversation and treatment, consolidated by job runs, on each engine, on a server as the role of the
//! jobs.

use anamnesis_core::memory::{Class, Kind, PermittedUse, State};
use anamnesis_core::provenance::Trust;
use anamnesis_jobs::JobName;
use anamnesis_store::read::{LineageDirection, Memory, MemoryFilter, ReadInstant};
use serde_json::{Value, json};

use super::fixture::StoreFixture;
use crate::support::{ORG, PATIENT, TestEngine, document, event, on_every_engine, scope};

on_every_engine!(
    what_is_said_twice_is_one_preference_and_the_opposite_replaces_it_while_both_statements_stay,
    any_order_of_the_same_statements_over_any_runs_ends_in_the_same_preferences,
    what_others_say_of_a_patient_or_what_was_forgotten_is_no_preference_of_theirs,
    the_last_word_of_a_document_counts_and_a_later_revision_after_it,
);

fn chat(id: u128, at: &str, text: &str) -> Value {
    let mut document = document(id, 1, at, text);
    document["document_type"] = "chat_message".into();
    document.as_object_mut().unwrap().remove("text");
    document["turns"] = json!([{"speaker": "patient", "text": text}]);
    document
}

/// The preferences in the profile: statement, newest first.
async fn shown(fixture: &StoreFixture) -> Vec<String> {
    let profile =
        anamnesis_search::context::clinical_profile(fixture.store(), scope(), ReadInstant::Now).await.unwrap();
    profile.stated_preferences.into_iter().map(|item| item.statement).collect()
}

async fn all(fixture: &StoreFixture) -> Vec<Memory> {
    let filter = MemoryFilter { classes: vec![Class::Pattern], states: State::ALL.to_vec(), ..MemoryFilter::default() };
    let mut found = fixture.store().read().memories(scope(), &filter, ReadInstant::Now).await.unwrap();
    found.retain(|m| m.kind == Kind::Belief && m.words.as_ref().is_some_and(|w| w.status.as_deref() == Some("stated")));
    found.sort_by_key(|m| (m.valid_from, m.id));
    found
}

async fn preferences(fixture: &StoreFixture) -> u64 {
    fixture.after(1, JobName::Consolidation).await.status["preferences"].as_u64().unwrap()
}

async fn what_is_said_twice_is_one_preference_and_the_opposite_replaces_it_while_both_statements_stay(
    engine: TestEngine,
) {
    let fixture = StoreFixture::on(engine).await;
    fixture
        .ingest(&[
            chat(1, "2026-06-20T10:00:00Z", "Por favor no me llame al trabajo."),
            chat(2, "2026-06-21T10:00:00Z", "Prefiero que me llame por teléfono."),
            chat(3, "2026-06-22T10:00:00Z", "Quiero que me llame por teléfono."),
        ])
        .await;
    assert_eq!(preferences(&fixture).await, 3);
    assert_eq!(
        shown(&fixture).await,
        ["Preference: phone calls, wanted, stated", "Preference: phone calls (at work), unwanted, stated"]
    );
    let wanted = all(&fixture).await.remove(1);
    assert_eq!((wanted.times_reinforced, wanted.trust, wanted.status.use_), (1, Trust::T4, PermittedUse::Hypothesis));
    assert!(wanted.confidence > 0.8 && wanted.evidence.as_ref().unwrap().text.contains("llame"));
    let up = fixture.store().read().links(scope(), &[wanted.id.0], LineageDirection::Up).await.unwrap();
    let of = |relation: &str| up.iter().filter(|edge| edge.relation == relation).count();
    assert_eq!((of("derived_from"), of("source_episode")), (1, 1), "both captures are named");

    fixture.ingest(&[chat(4, "2026-06-24T10:00:00Z", "Odio las llamadas.")]).await;
    assert_eq!(preferences(&fixture).await, 1);
    assert_eq!(
        shown(&fixture).await,
        ["Preference: phone calls, unwanted, stated", "Preference: phone calls (at work), unwanted, stated"]
    );
    let found = all(&fixture).await;
    let (old, new) = (found.iter().find(|m| m.id == wanted.id).unwrap(), found.last().unwrap());
    assert_eq!((old.status.state, old.superseded_by), (State::Superseded, Some(new.id)));
    assert_eq!((old.valid_to, new.supersedes), (Some(new.valid_from), Some(old.id)));
    let opposed = anamnesis_search::context::contradictions(fixture.store(), scope(), ReadInstant::Now).await.unwrap();
    assert!(!opposed.is_empty(), "statements that oppose each other are shown");
    assert!(
        opposed.iter().all(|pair| pair.type_ != "clinical_conflict"),
        "nobody is asked what was just said: {opposed:#?}"
    );
    let filter =
        MemoryFilter { classes: vec![Class::Preference], states: vec![State::Active], ..MemoryFilter::default() };
    let said = fixture.store().read().memories(scope(), &filter, ReadInstant::Now).await.unwrap();
    assert_eq!(said.len(), 4, "what was said stays as it was said");
    assert_eq!(preferences(&fixture).await, 0, "another night changes nothing");
}

async fn any_order_of_the_same_statements_over_any_runs_ends_in_the_same_preferences(engine: TestEngine) {
    let said = [
        chat(1, "2026-06-18T10:00:00Z", "Prefiero las citas por la mañana."),
        chat(2, "2026-06-19T10:00:00Z", "Prefiero las citas por la tarde."),
        chat(3, "2026-06-20T10:00:00Z", "Me siento más cómoda hablando en catalán."),
        chat(4, "2026-06-21T10:00:00Z", "Prefiero las citas por la mañana."),
    ];
    let reported = |m: &Memory| {
        (m.id, m.status.state, m.words.clone(), m.valid_from, m.valid_to, m.confidence, m.times_reinforced)
    };
    let mut expected = None;
    for order in [vec![vec![0, 1, 2, 3]], vec![vec![3], vec![1, 2], vec![0]], vec![vec![2, 1], vec![0, 3]]] {
        let fixture = StoreFixture::on(engine).await;
        for run in order {
            let messages: Vec<Value> = run.into_iter().map(|n: usize| said[n].clone()).collect();
            fixture.ingest(&messages).await;
            preferences(&fixture).await;
        }
        assert_eq!(
            shown(&fixture).await,
            ["Preference: time of appointments, morning, stated", "Preference: language, Catalan, stated"]
        );
        let found: Vec<_> = all(&fixture).await.iter().map(reported).collect();
        assert_eq!(found.len(), 4, "two mornings, an afternoon between them, a language");
        assert_eq!(*expected.get_or_insert_with(|| found.clone()), found);
    }
}

async fn what_others_say_of_a_patient_or_what_was_forgotten_is_no_preference_of_theirs(engine: TestEngine) {
    let fixture = StoreFixture::on(engine).await;
    let mut mother = chat(1, "2026-06-20T10:00:00Z", "Prefiere que le escriban mensajes de WhatsApp.");
    mother["turns"][0]["speaker"] = "family".into();
    let own = chat(2, "2026-06-21T10:00:00Z", "Prefiero no hablar de mi padre.");
    fixture.ingest(&[mother, own]).await;
    let filter = MemoryFilter { classes: vec![Class::Preference], ..MemoryFilter::default() };
    let said = fixture.store().read().memories(scope(), &filter, ReadInstant::Now).await.unwrap();
    let father = said.iter().find(|m| m.words.as_ref().is_some_and(|w| w.concept.contains("padre"))).unwrap();
    let now = anamnesis_core::clock::Clock::now(fixture.clinic.time.as_ref());
    let forget = json!({"organization_id": ORG, "patient_id": PATIENT, "command": "forget", "memory_ids": [father.id],
        "actor": {"id": PATIENT, "role": "patient"}, "issued_at": now});
    fixture.ingest(&[event("f", "anamnesis.memory.command.v1", &forget)]).await;
    assert_eq!(preferences(&fixture).await, 0, "{:?}", shown(&fixture).await);
    assert!(shown(&fixture).await.is_empty());

    // A repeated statement restores it.
    fixture.clinic.time.advance(chrono::TimeDelta::days(1));
    let now = anamnesis_core::clock::Clock::now(fixture.clinic.time.as_ref()).to_rfc3339();
    let again = chat(3, &now, "Prefiero no hablar de mi padre.");
    fixture.ingest(&[again]).await;
    assert_eq!(preferences(&fixture).await, 1);
    assert_eq!(shown(&fixture).await, ["Preference: talking about father, unwanted, stated"]);
}

async fn the_last_word_of_a_document_counts_and_a_later_revision_after_it(engine: TestEngine) {
    let fixture = StoreFixture::on(engine).await;
    let text = "Prefiero las citas por la mañana. Bueno, prefiero las citas por la tarde.";
    fixture.ingest(&[chat(1, "2026-06-20T10:00:00Z", text)]).await;
    assert_eq!(preferences(&fixture).await, 1);
    assert_eq!(shown(&fixture).await, ["Preference: time of appointments, afternoon, stated"]);
    let mut revised = chat(1, "2026-06-20T10:00:00Z", "Prefiero las citas por la mañana.");
    revised["revision"] = 2.into();
    fixture.ingest(&[revised]).await;
    assert_eq!(preferences(&fixture).await, 1);
    assert_eq!(shown(&fixture).await, ["Preference: time of appointments, morning, stated"]);
    let mut back = chat(1, "2026-06-20T10:00:00Z", text);
    back["revision"] = 3.into();
    fixture.ingest(&[back]).await;
    preferences(&fixture).await;
    assert_eq!(shown(&fixture).await, ["Preference: time of appointments, afternoon, stated"]);
}
