//! Memories made by hand, and records of older systems, through messages on each engine.

use anamnesis_core::ids::MemoryId;
use anamnesis_core::memory::{Kind, State};
use anamnesis_core::provenance::{SourceType, Trust};
use anamnesis_pipeline::{ImportOutcome, Importer, Pipeline};
use anamnesis_store::read::{LineageDirection, Memory, MemoryFilter, ReadInstant};
use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{Clinic, NOW, ORG, PATIENT, TestEngine, bodies, document, event, feed, on_every_engine, scope};

on_every_engine!(
    what_is_promoted_names_its_capture_both_ways_and_what_replaces_it_names_it_too,
    evidence_reinforces_once_and_an_unknown_parent_is_refused,
    records_of_older_systems_come_in_once_read_as_what_they_say_and_go_out_as_they_came,
);

async fn command(pipeline: &Pipeline, id: &str, at: &str, more: Value) -> &'static str {
    let mut command = json!({"organization_id": ORG, "patient_id": PATIENT, "issued_at": at,
        "actor": {"id": PATIENT, "role": "clinician"}});
    for (key, value) in more.as_object().unwrap() {
        command[key] = value.clone();
    }
    feed(pipeline, &bodies(&[event(id, "anamnesis.memory.command.v1", &command)]), 1).await[0].code()
}

async fn of_kind(pipeline: &Pipeline, kind: Kind) -> Vec<Memory> {
    let filter = MemoryFilter { kinds: vec![kind], states: State::ALL.to_vec(), ..MemoryFilter::default() };
    pipeline.store().read().memories(scope(), &filter, ReadInstant::Now).await.unwrap()
}

async fn parents(pipeline: &Pipeline, of: MemoryId, direction: LineageDirection) -> Vec<Uuid> {
    let edges = pipeline.store().read().links(scope(), &[of.0], direction).await.unwrap();
    edges.into_iter().map(|edge| edge.to).collect()
}

async fn what_is_promoted_names_its_capture_both_ways_and_what_replaces_it_names_it_too(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let said = "El plan escrito le ayuda a dormir.";
    feed(&pipeline, &bodies(&[document(1, 1, "2026-06-20T10:00:00Z", said)]), 1).await;
    let raw = of_kind(&pipeline, Kind::Raw).await.remove(0);
    let promote = json!({"command": "promote", "memory_ids": [raw.id], "kind": "value"});
    assert_eq!(command(&pipeline, "1", "2026-06-21T10:00:00Z", promote).await, "stored");
    let value = of_kind(&pipeline, Kind::Value).await.remove(0);
    assert_eq!(value.words.as_ref().unwrap().concept, said, "in the capture's own words");
    assert_eq!((value.trust, value.source_type), (Trust::T1, SourceType::DirectExperience));
    assert!(value.evidence.as_ref().unwrap().text.contains(said));
    assert!(parents(&pipeline, value.id, LineageDirection::Up).await.contains(&raw.id.0));
    assert!(parents(&pipeline, raw.id, LineageDirection::Down).await.contains(&value.id.0));

    let supersede =
        json!({"command": "supersede", "memory_ids": [value.id], "text": "Le ayuda hablar antes de dormir."});
    assert_eq!(command(&pipeline, "2", "2026-06-22T10:00:00Z", supersede).await, "stored");
    let values = of_kind(&pipeline, Kind::Value).await;
    let states: Vec<State> = values.iter().map(|memory| memory.status.state).collect();
    assert_eq!(states, [State::Active, State::Superseded]);
    assert_eq!((values[0].supersedes, values[1].superseded_by), (Some(value.id), Some(values[0].id)));
    assert!(parents(&pipeline, values[0].id, LineageDirection::Up).await.contains(&value.id.0));
}

async fn evidence_reinforces_once_and_an_unknown_parent_is_refused(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let add = |text: &str, kind: &str| json!({"command": "add", "text": text, "kind": kind, "provenance": {"source": "told by Claire", "confidence": 0.6}});
    assert_eq!(command(&pipeline, "1", "2026-06-20T10:00:00Z", add("Caminar le calma.", "belief")).await, "stored");
    assert_eq!(
        command(&pipeline, "2", "2026-06-20T11:00:00Z", add("Caminó y durmió bien.", "episode")).await,
        "stored"
    );
    let belief = of_kind(&pipeline, Kind::Belief).await.into_iter().find(|m| m.confidence == 0.6).unwrap();
    let episode = of_kind(&pipeline, Kind::Episode).await.remove(0);
    assert_eq!((belief.source_type, belief.trust), (SourceType::External, Trust::T3));
    assert!(belief.source_entity.as_deref().is_some_and(|who| !who.contains("laire")), "a surrogate");

    let revise = json!({"command": "revise", "memory_ids": [belief.id], "derived_from": [episode.id]});
    for (id, at) in [("3", "2026-06-21T10:00:00Z"), ("4", "2026-06-22T10:00:00Z")] {
        assert_eq!(command(&pipeline, id, at, revise.clone()).await, "stored");
    }
    let surer = pipeline.store().read().memory(scope(), belief.id, ReadInstant::Now).await.unwrap().unwrap();
    assert_eq!(surer.times_reinforced, 1, "once per evidence");
    assert!((surer.confidence - (0.6 + 0.05 / 1.1)).abs() < 1e-9);
    let history = pipeline.store().read().history(scope(), belief.id).await.unwrap();
    let line = history.iter().find(|line| line.derived && line.action == "reinforced").unwrap();
    assert_eq!(line.evidence_id, Some(episode.id.0), "the evidence is named");

    let orphan = json!({"command": "add", "text": "Algo.", "derived_from": [Uuid::from_u128(77)]});
    assert_eq!(command(&pipeline, "5", "2026-06-23T10:00:00Z", orphan).await, "quarantined");
}

fn records() -> Vec<Value> {
    vec![
        json!({"base_memory": {"memory_id": "m1", "memory": "Disfruta de la pesca", "topics": ["pesca"],
            "last_updated": "2025-11-06T10:00:00"}, "confidence": 0.25, "is_proxy": false, "proxy_agent": null}),
        json!({"memory_id": "m2", "memory": "La cita se movió", "is_proxy": true, "proxy_agent": "agenda"}),
        json!({"type": "belief", "id": "b1", "statement": "El descanso ayuda", "source_type": "told_by_agent",
            "confidence": 0.9, "derived_from": ["raw:f70cefb6"], "confidence_history": [], "created_at": "2026-02-01T10:00:00Z"}),
        json!({"type": "belief", "id": "b2", "statement": "La calma se aprende", "source": "seed beliefs",
            "source_type": "inference"}),
        json!({"id": 7, "content": "Prefiere las mañanas", "is_active": false, "stratum": "inferred"}),
        json!({"user_id": "u1", "is_active": true, "style": {"tone": "cercano"}, "values": ["familia", "trabajo"]}),
    ]
}

async fn records_of_older_systems_come_in_once_read_as_what_they_say_and_go_out_as_they_came(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let undated: DateTime<Utc> = "2000-01-01T00:00:00Z".parse().unwrap();
    let by = Importer { by: Uuid::from_u128(9), undated };
    let records = records();
    let first = pipeline.import(scope(), &records, by).await.unwrap();
    assert_eq!(first, vec![ImportOutcome::Stored; records.len()]);
    let digest = pipeline.store().read().digest(None).await.unwrap();
    let second = pipeline.import(scope(), &records, by).await.unwrap();
    assert_eq!(second, vec![ImportOutcome::Unchanged; records.len()]);
    assert_eq!(pipeline.store().read().digest(None).await.unwrap(), digest, "imported twice without change");

    let all = MemoryFilter { states: State::ALL.to_vec(), ..MemoryFilter::default() };
    let memories = pipeline.store().read().memories(scope(), &all, ReadInstant::Now).await.unwrap();
    let named = |text: &str| {
        let says = |m: &&Memory| m.words.as_ref().is_some_and(|words| words.concept == text);
        memories.iter().find(says).unwrap_or_else(|| panic!("{text}"))
    };
    let plain = named("Disfruta de la pesca");
    assert_eq!((plain.source_type, plain.trust, plain.confidence), (SourceType::Unknown, Trust::T5, 0.25));
    let proxy = named("La cita se movió");
    assert_eq!((proxy.is_proxy, proxy.confidence, proxy.trust), (true, 1.0, Trust::T5));
    assert_eq!(
        (named("El descanso ayuda").source_type, named("El descanso ayuda").kind),
        (SourceType::External, Kind::Belief)
    );
    assert_eq!(named("La calma se aprende").source_type, SourceType::Seed);
    assert_eq!(named("Prefiere las mañanas").status.state, State::Inactive, "what was forgotten stays so");
    let preferences = pipeline.store().read().preferences(scope(), ReadInstant::Now).await.unwrap();
    assert!(preferences.iter().any(|one| (one.key.as_str(), one.value.as_str()) == ("style.tone", "cercano")));

    let out: Vec<Value> =
        pipeline.store().intake().legacy_records(scope()).await.unwrap().into_iter().map(|(_, r)| r).collect();
    assert_eq!(out, records, "exported without loss");
    assert_eq!(pipeline.import(scope(), &[json!({"a": null})], by).await.unwrap(), [ImportOutcome::Unread]);
    assert!(NOW > "2026");
}
