//! The source of a statement decides its effects: model output ends and changes nothing, nothing derived from it is
//! trusted more, the patient's state weights the patient's own words, and a copy of a text is no evidence. On each
//! engine.

use anamnesis_core::finding::{EntityType, Epistemic};
use anamnesis_core::memory::{Class, Kind, PermittedUse, SetBy, State};
use anamnesis_core::provenance::Trust;
use anamnesis_jobs::JobName;
use anamnesis_pipeline::Importer;
use anamnesis_search::PatientSummary;
use anamnesis_store::read::{Memory, MemoryFilter, ReadInstant};
use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use uuid::Uuid;

use super::fixture::StoreFixture;
use crate::support::{ORG, PATIENT, TestEngine, bodies, count, document, event, feed, on_every_engine, scope};

on_every_engine!(
    what_a_model_wrote_is_a_hypothesis_that_ends_within_a_day,
    a_revision_or_a_copy_of_a_models_text_prolongs_nothing,
    a_model_changes_nothing_that_a_person_said,
    what_a_clinician_signed_is_theirs_and_shows_who_signed,
    everything_of_a_document_ends_when_its_producer_says,
    what_another_document_says_too_does_not_end_with_the_first,
    what_is_made_from_a_models_words_is_never_trusted_more,
    a_models_own_words_live_no_longer_for_being_promoted,
    a_model_is_no_evidence_and_what_is_not_there_is_refused,
    what_replaces_a_models_words_is_better_only_as_somebodys_own_word,
    the_patients_state_weighs_the_patients_own_words_alone,
    a_copy_of_a_text_is_no_new_evidence_in_any_order,
    copies_of_a_text_form_no_belief,
    an_imported_record_is_no_better_known_than_those_it_was_made_from,
);

const SIGNER: Uuid = Uuid::from_u128(0x51);
const HOUR_AGO: &str = "2026-07-01T11:00:00Z";
const EARLIER: &str = "2026-06-30T10:00:00Z";

fn of_type(kind: &str, id: u128, at: &str, text: &str, provenance: Value) -> Value {
    let mut document = document(id, 1, at, text);
    document["document_type"] = json!(kind);
    document["provenance"] = provenance;
    document
}

fn analysis(id: u128, at: &str, text: &str) -> Value {
    of_type("analysis", id, at, text, json!({}))
}

fn command(id: &str, role: &str, more: &Value) -> Value {
    let mut command = json!({"organization_id": ORG, "patient_id": PATIENT, "issued_at": "2026-07-01T11:30:00Z",
        "actor": {"id": Uuid::from_u128(9), "role": role}});
    command.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event(id, "anamnesis.memory.command.v1", &command)
}

async fn done(fixture: &StoreFixture, message: Value) -> &'static str {
    feed(&fixture.pipeline, &bodies(&[message]), 1).await[0].code()
}

/// Everything except captures, in any state.
async fn all(fixture: &StoreFixture) -> Vec<Memory> {
    let filter = MemoryFilter { states: State::ALL.to_vec(), ..MemoryFilter::default() };
    let mut all = fixture.store().read().memories(scope(), &filter, ReadInstant::Now).await.unwrap();
    all.retain(|memory| memory.kind != Kind::Raw);
    all
}

async fn raw_of(fixture: &StoreFixture, id: u128) -> Memory {
    let filter = MemoryFilter { kinds: vec![Kind::Raw], ..MemoryFilter::default() };
    let raws = fixture.store().read().memories(scope(), &filter, ReadInstant::Now).await.unwrap();
    raws.into_iter().find(|raw| raw.document_id.is_some_and(|d| d.0 == Uuid::from_u128(id))).unwrap()
}

fn find_memory(all: &[Memory], entity: EntityType) -> &Memory {
    all.iter().find(|memory| memory.entity == Some(entity)).unwrap_or_else(|| panic!("{entity}: {all:#?}"))
}

async fn profile(fixture: &StoreFixture) -> PatientSummary {
    anamnesis_search::context::clinical_profile(fixture.store(), scope(), ReadInstant::Now).await.unwrap()
}

async fn what_a_model_wrote_is_a_hypothesis_that_ends_within_a_day(engine: TestEngine) {
    let fixture = StoreFixture::on(engine).await;
    fixture
        .ingest(&[
            analysis(
                1,
                HOUR_AGO,
                "El paciente tiene epilepsia. Toma sertralina 50 mg al día. Alergia a la penicilina.",
            ),
            analysis(2, HOUR_AGO, "The patient has asthma. Reports insomnia. Prefers to be seen in the morning."),
        ])
        .await;
    let found = all(&fixture).await;
    assert!(found.len() >= 5, "{found:#?}");
    for memory in &found {
        let kind = (memory.class, memory.epistemic, memory.trust, memory.set_by);
        assert_eq!(kind, (Class::Inference, Epistemic::Inferred, Trust::T4, SetBy::Agent), "{memory:#?}");
        assert_eq!((memory.status.use_, memory.is_protected), (PermittedUse::Hypothesis, false), "{memory:#?}");
        assert!(memory.expires_at.unwrap() <= memory.recorded_at + TimeDelta::hours(24));
    }
    let held = profile(&fixture).await;
    assert_eq!(held.items().count(), 0, "nothing of it is in the profile");
    let protect = json!({"command": "protect", "memory_ids": [found[0].id]});
    assert_eq!(done(&fixture, command("p", "clinician", &protect)).await, "stored");
    assert!(all(&fixture).await.iter().all(|memory| !memory.is_protected));

    fixture.clinic.time.advance(TimeDelta::hours(23));
    assert!(all(&fixture).await.iter().all(|memory| memory.status.state == State::Expired), "when it is read");
    fixture.after(1, JobName::Expiry).await;
    let active = "SELECT count(*) FROM memory WHERE state = 'active' AND kind <> 'raw'";
    assert_eq!(count(fixture.store(), active).await, 0, "and for good");
}

async fn a_revision_or_a_copy_of_a_models_text_prolongs_nothing(engine: TestEngine) {
    let fixture = StoreFixture::on(engine).await;
    let text = "El paciente tiene epilepsia.";
    fixture.ingest(&[analysis(1, HOUR_AGO, text)]).await;
    let ends = all(&fixture).await[0].expires_at;
    fixture.clinic.time.advance(TimeDelta::hours(20));
    let later = ["2026-07-02T07:00:00Z", "2026-07-02T07:30:00Z"];
    let mut revised = analysis(1, later[0], "Resumen revisado: el paciente tiene epilepsia.");
    revised["revision"] = json!(2);
    fixture.ingest(&[revised]).await;
    fixture.ingest(&[analysis(2, later[1], "El paciente tiene EPILEPSIA")]).await;
    let now = all(&fixture).await;
    assert_eq!((now.len(), now[0].expires_at), (1, ends), "{now:#?}");
    fixture.clinic.time.advance(TimeDelta::hours(20));
    fixture.ingest(&[analysis(3, "2026-07-03T03:00:00Z", text)]).await;
    let after = all(&fixture).await;
    let states: Vec<State> = after.iter().map(|memory| memory.status.state).collect();
    assert_eq!(states, [State::Expired], "a copy brings nothing back: {after:#?}");
}

async fn a_model_changes_nothing_that_a_person_said(engine: TestEngine) {
    let fixture = StoreFixture::on(engine).await;
    fixture
        .ingest(&[
            document(1, 1, EARLIER, "Paciente con asma. Toma sertralina 50 mg al día. Refiere cefalea."),
            document(2, 1, EARLIER, "The patient has no known drug allergies."),
        ])
        .await;
    let mut before = all(&fixture).await;
    fixture
        .ingest(&[
            analysis(3, HOUR_AGO, "Suspendió la sertralina. No tiene asma. Alergia a la penicilina."),
            analysis(4, HOUR_AGO, "Refiere cefalea. Paciente con asma. Toma sertralina 100 mg al día."),
        ])
        .await;
    let found = all(&fixture).await;
    assert!(found.len() > before.len(), "the model's words are kept as such");
    before.sort_by_key(|memory| memory.id);
    for was in &before {
        let is = found.iter().find(|memory| memory.id == was.id).unwrap();
        let fields = |m: &Memory| {
            (m.status.state, m.status.use_, m.contested, m.confidence, m.times_reinforced, m.expires_at, m.valid_to)
        };
        assert_eq!(fields(is), fields(was), "{is:#?}");
    }
    assert_eq!(profile(&fixture).await.absences.len(), 1, "no known allergies, still");
}

async fn what_a_clinician_signed_is_theirs_and_shows_who_signed(engine: TestEngine) {
    let fixture = StoreFixture::on(engine).await;
    let signed = json!({"signed_by": SIGNER});
    let text = "El paciente tiene epilepsia. Toma sertralina 50 mg al día.";
    fixture.ingest(&[of_type("analysis", 1, HOUR_AGO, text, signed)]).await;
    let found = all(&fixture).await;
    for (entity, class) in
        [(EntityType::Condition, Class::LongLivedFact), (EntityType::Medication, Class::LongLivedFact)]
    {
        let memory = find_memory(&found, entity);
        assert_eq!((memory.class, memory.trust, memory.set_by), (class, Trust::T1, SetBy::Clinician), "{memory:#?}");
        assert_eq!((memory.status.use_, memory.signed_by), (PermittedUse::Decision, Some(SIGNER)));
    }
    let held = profile(&fixture).await;
    assert_eq!((held.conditions.len(), held.medications.len()), (1, 1));
    assert_eq!(held.conditions[0].source.signed_by, Some(SIGNER));
    assert!(held.conditions[0].source.label.contains(&SIGNER.to_string()), "{}", held.conditions[0].source.label);
}

async fn everything_of_a_document_ends_when_its_producer_says(engine: TestEngine) {
    let fixture = StoreFixture::on(engine).await;
    let ends: DateTime<Utc> = "2026-07-03T00:00:00Z".parse().unwrap();
    let until = || json!({"expires_at": ends});
    let mut transcript = of_type("session_transcript", 3, HOUR_AGO, "", until());
    transcript.as_object_mut().unwrap().remove("text");
    transcript["turns"] = json!([{"speaker": "patient", "text": "Tengo migraña y quiero morirme."}]);
    fixture
        .ingest(&[
            of_type("clinical_note", 1, HOUR_AGO, "Paciente con asma. Alergia a la penicilina.", until()),
            of_type("chat_message", 2, HOUR_AGO, "I take lithium 300 mg daily. I prefer mornings.", until()),
            transcript,
        ])
        .await;
    let held = profile(&fixture).await;
    assert!(held.conditions.len() == 2 && held.allergies.len() == 1 && !held.risks.is_empty(), "{held:#?}");
    // No date of a producer's ends an allergy.
    let ending = |memory: &Memory| memory.entity != Some(EntityType::Allergy);
    let ends_then = |memory: &Memory| memory.ends_at == Some(ends) && memory.expires_at <= Some(ends);
    assert!(all(&fixture).await.iter().filter(|memory| ending(memory)).all(ends_then));
    fixture.clinic.time.advance(TimeDelta::days(2));
    for memory in all(&fixture).await.iter().filter(|memory| ending(memory)) {
        assert_eq!((memory.status.state, memory.status.use_), (State::Expired, PermittedUse::History), "{memory:#?}");
    }
    let held = profile(&fixture).await;
    assert!(held.conditions.is_empty() && held.allergies.len() == 1 && held.risks.is_empty(), "{held:#?}");
    assert!(
        fixture.store().read().documents(scope(), Default::default(), 10, ReadInstant::Now).await.unwrap().is_empty()
    );
    fixture.after(1, JobName::Expiry).await;
    assert_eq!(count(fixture.store(), "SELECT count(*) FROM memory WHERE state = 'active'").await, 1, "captures too");
}

async fn what_another_document_says_too_does_not_end_with_the_first(engine: TestEngine) {
    let fixture = StoreFixture::on(engine).await;
    let until = json!({"expires_at": "2026-07-03T00:00:00Z"});
    fixture
        .ingest(&[
            of_type("clinical_note", 1, EARLIER, "Paciente con asma.", until),
            document(2, 1, HOUR_AGO, "Sigue con asma, en tratamiento."),
        ])
        .await;
    fixture.clinic.time.advance(TimeDelta::days(10));
    let memory = all(&fixture).await.remove(0);
    assert_eq!((memory.status.state, memory.ends_at), (State::Active, None), "{memory:#?}");
}

/// A fixture in which a model found epilepsy, and its finding.
async fn with_inference(engine: TestEngine) -> (StoreFixture, Memory) {
    let fixture = StoreFixture::on(engine).await;
    fixture.ingest(&[analysis(1, HOUR_AGO, "El paciente tiene epilepsia.")]).await;
    let found = all(&fixture).await.remove(0);
    (fixture, found)
}

async fn what_is_made_from_a_models_words_is_never_trusted_more(engine: TestEngine) {
    let (fixture, inference) = with_inference(engine).await;
    let parent = [inference.id];
    let reported = json!({"source": "told by Claire"});
    let ways = [
        ("clinician", json!({"command": "add", "text": "Toma litio 300 mg al día.", "provenance": reported})),
        ("system", json!({"command": "add", "text": "She has asthma."})),
        ("clinician", json!({"command": "add", "text": "Alergia a la penicilina."})),
        ("patient", json!({"command": "add", "text": "Tengo migraña."})),
    ];
    for (n, (role, mut way)) in ways.into_iter().enumerate() {
        way["derived_from"] = json!(parent);
        assert_eq!(done(&fixture, command(&format!("w{n}"), role, &way)).await, "stored");
    }
    for memory in all(&fixture).await {
        assert_eq!((memory.trust, memory.status.use_), (Trust::T4, PermittedUse::Hypothesis), "{memory:#?}");
    }
    assert_eq!(profile(&fixture).await.items().count(), 0);

    // A correction and a replacement that come from it are no better, and change nothing.
    fixture.ingest(&[document(2, 1, EARLIER, "Toma sertralina 50 mg al día.")]).await;
    let kept = all(&fixture).await.into_iter().find(|m| m.trust == Trust::T1).unwrap();
    for (n, verb) in ["supersede", "correct", "revise"].into_iter().enumerate() {
        let text = format!("Toma sertralina {}00 mg al día.", n + 2);
        let more = json!({"command": verb, "memory_ids": [kept.id], "text": text, "derived_from": parent});
        let role = if verb == "correct" { "patient" } else { "clinician" };
        assert_eq!(done(&fixture, command(&format!("c{n}"), role, &more)).await, "stored");
    }
    let held = profile(&fixture).await;
    assert_eq!(held.medications.iter().map(|m| m.memory_id).collect::<Vec<_>>(), [kept.id], "{held:#?}");
}

async fn a_models_own_words_live_no_longer_for_being_promoted(engine: TestEngine) {
    let (fixture, inference) = with_inference(engine).await;
    let raw = raw_of(&fixture, 1).await;
    assert_eq!(raw.trust, Trust::T4);
    for (n, id) in [inference.id, raw.id].into_iter().enumerate() {
        let promote = json!({"command": "promote", "memory_ids": [id], "kind": "belief"});
        assert_eq!(done(&fixture, command(&format!("p{n}"), "clinician", &promote)).await, "stored");
    }
    let found = all(&fixture).await;
    assert!(found.len() > 1, "{found:#?}");
    for memory in &found {
        assert_eq!(
            (memory.trust, memory.status.use_, memory.class),
            (Trust::T4, PermittedUse::Hypothesis, Class::Inference)
        );
        assert!(memory.expires_at <= inference.expires_at, "{memory:#?}");
    }
}

async fn a_model_is_no_evidence_and_what_is_not_there_is_refused(engine: TestEngine) {
    let (fixture, inference) = with_inference(engine).await;
    fixture.ingest(&[document(2, 1, EARLIER, "Prefers to be seen in the morning.")]).await;
    let known = all(&fixture).await.into_iter().find(|m| m.trust == Trust::T1).unwrap();
    let nobody = Uuid::from_u128(77);
    for (n, (verb, evidence)) in
        [("reinforce", inference.id.0), ("revise", inference.id.0), ("reinforce", nobody), ("revise", nobody)]
            .into_iter()
            .enumerate()
    {
        let more = json!({"command": verb, "memory_ids": [known.id], "derived_from": [evidence]});
        assert_eq!(done(&fixture, command(&format!("e{n}"), "clinician", &more)).await, "quarantined", "{verb}");
    }
    let words =
        json!({"command": "correct", "memory_ids": [known.id], "text": "In the evening.", "derived_from": [nobody]});
    assert_eq!(done(&fixture, command("w", "clinician", &words)).await, "quarantined");
    let still = fixture.store().read().memory(scope(), known.id, ReadInstant::Now).await.unwrap().unwrap();
    assert_eq!((still.times_reinforced, still.confidence), (known.times_reinforced, known.confidence));
}

async fn what_replaces_a_models_words_is_better_only_as_somebodys_own_word(engine: TestEngine) {
    let (fixture, inference) = with_inference(engine).await;
    for (n, (role, source)) in [("system", None), ("clinician", Some("told by Claire"))].into_iter().enumerate() {
        let mut more = json!({"command": "supersede", "memory_ids": [inference.id], "text": "Tiene epilepsia focal."});
        if let Some(source) = source {
            more["provenance"] = json!({"source": source});
        }
        assert_eq!(done(&fixture, command(&format!("s{n}"), role, &more)).await, "stored");
        assert!(all(&fixture).await.iter().all(|memory| memory.trust == Trust::T4), "{role}");
    }
    let more = json!({"command": "supersede", "memory_ids": [inference.id], "text": "El paciente tiene epilepsia."});
    assert_eq!(done(&fixture, command("own", "clinician", &more)).await, "stored");
    let held = profile(&fixture).await;
    assert_eq!((held.conditions.len(), held.conditions[0].trust), (1, Trust::T1));
}

async fn the_patients_state_weighs_the_patients_own_words_alone(engine: TestEngine) {
    let stated = json!({"organization_id": ORG, "patient_id": PATIENT, "actor": Uuid::from_u128(9),
        "recorded_at": "2026-06-01T10:00:00Z", "cognitive_state": 20});
    for by_profile in [true, false] {
        let fixture = StoreFixture::on(engine).await;
        if by_profile {
            fixture.ingest(std::slice::from_ref(&stated)).await;
        }
        let state = || if by_profile { json!({}) } else { json!({"cognitive_state": 20}) };
        let mut transcript = of_type("session_transcript", 1, EARLIER, "", state());
        transcript.as_object_mut().unwrap().remove("text");
        transcript["turns"] = json!([{"speaker": "clinician", "text": "Usted tiene epilepsia."},
            {"speaker": "patient", "text": "Tengo migraña."}, {"speaker": "family", "text": "El paciente tiene asma."}]);
        fixture
            .ingest(&[
                transcript,
                of_type("clinical_note", 2, EARLIER, "The patient has diabetes.", state()),
                of_type("chat_message", 3, EARLIER, "I have psoriasis.", state()),
                of_type("uploaded_document", 4, EARLIER, "Diagnosis: hypothyroidism.", state()),
            ])
            .await;
        let found = all(&fixture).await;
        let mut weighed: Vec<SetBy> = Vec::new();
        for memory in found.iter().filter(|m| m.entity == Some(EntityType::Condition)) {
            let own = memory.set_by == SetBy::Patient;
            assert!((memory.confidence - if own { 0.2 } else { 1.0 }).abs() < 1e-9, "{by_profile}: {memory:#?}");
            weighed.push(memory.set_by);
        }
        weighed.sort_unstable();
        weighed.dedup();
        assert!(weighed.contains(&SetBy::Patient) && weighed.contains(&SetBy::Clinician), "{weighed:?}");
        assert!(weighed.contains(&SetBy::Family) && weighed.contains(&SetBy::Unknown), "{weighed:?}");
    }
}

async fn a_copy_of_a_text_is_no_new_evidence_in_any_order(engine: TestEngine) {
    let reported = |id: u128, at: &str, text: &str| of_type("chat_message", id, at, text, json!({"confidence": 0.6}));
    let messages = [
        reported(1, "2026-06-20T10:00:00Z", "Prefiero las mañanas."),
        reported(2, "2026-06-21T10:00:00Z", "  prefiero las MAÑANAS"),
        reported(3, "2026-06-22T10:00:00Z", "Como dije ayer, prefiero las mañanas."),
        reported(4, "2026-06-23T10:00:00Z", "Prefiero las mañanas!"),
    ];
    for (which, reinforced) in [(vec![0, 1, 3], 0), (vec![3, 1, 0], 0), (vec![0, 1, 2, 3], 1), (vec![3, 2, 0, 1], 1)] {
        let fixture = StoreFixture::on(engine).await;
        for at in &which {
            fixture.ingest(&messages[*at..=*at]).await;
        }
        let found = all(&fixture).await;
        assert_eq!(found.len(), 1, "{found:#?}");
        let sure = 0.6 + 0.05 / 1.1 * f64::from(reinforced);
        assert_eq!(found[0].times_reinforced, i64::from(reinforced), "{which:?}");
        assert!((found[0].confidence - sure).abs() < 1e-9, "{which:?}: {}", found[0].confidence);
    }
}

async fn copies_of_a_text_form_no_belief(engine: TestEngine) {
    let days = ["2026-06-20T10:00:00Z", "2026-06-22T10:00:00Z", "2026-06-24T10:00:00Z"];
    for (texts, beliefs) in [
        (["Refiere cefalea.", "Refiere cefalea", "REFIERE CEFALEA."], 0),
        (["Refiere cefalea.", "Hoy refiere cefalea.", "Refiere cefalea por la tarde."], 1),
    ] {
        let fixture = StoreFixture::on(engine).await;
        let reported: Vec<Value> = (1..).zip(days).zip(texts).map(|((n, at), text)| document(n, 1, at, text)).collect();
        fixture.ingest(&reported).await;
        let status = fixture.after(1, JobName::Consolidation).await.status;
        assert_eq!(status["beliefs"].as_u64(), Some(beliefs), "{texts:?}");
    }
}

async fn an_imported_record_is_no_better_known_than_those_it_was_made_from(engine: TestEngine) {
    let fixture = StoreFixture::on(engine).await;
    let reported = |id: &str, text: &str, source: &str, parents: Value| {
        json!({"type": "belief", "id": id, "statement": text, "source_type": source, "derived_from": parents,
            "created_at": "2026-02-01T10:00:00Z"})
    };
    let records = [
        reported("c", "La calma se aprende", "told_by_human", json!(["belief:b"])),
        reported("b", "El descanso ayuda", "told_by_human", json!(["belief:a"])),
        reported("a", "Duerme mal por el trabajo", "inference", json!([])),
        reported("d", "Music helps", "told_by_human", json!(["raw:f70cefb6"])),
        reported("e", "Walking helps", "told_by_human", json!(["belief:nobody"])),
    ];
    let by = Importer { by: Uuid::from_u128(9), undated: "2000-01-01T00:00:00Z".parse().unwrap() };
    fixture.pipeline.import(scope(), &records, by).await.unwrap();
    let found = all(&fixture).await;
    let trust = |text: &str| {
        found.iter().find(|m| m.words.as_ref().is_some_and(|words| words.concept == text)).map(|memory| memory.trust)
    };
    for text in ["La calma se aprende", "El descanso ayuda", "Duerme mal por el trabajo"] {
        assert_eq!(trust(text), Some(Trust::T4), "{text}");
    }
    assert_eq!((trust("Music helps"), trust("Walking helps")), (Some(Trust::T3), Some(Trust::T5)));
}
