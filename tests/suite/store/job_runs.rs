//! Job runs on each engine: the same memory afterwards, and on a server with their own role.

use std::sync::Arc;

use anamnesis_config::redaction::RedactionConfig;
use anamnesis_core::clock::{ManualClock, SeededEntropy};
use anamnesis_core::finding::EntityType;
use anamnesis_core::memory::{Class, PermittedUse, State};
use anamnesis_core::provenance::Trust;
use anamnesis_core::vector::CacheKey;
use anamnesis_jobs::JobName;
use anamnesis_jobs::policy::Policies;
use anamnesis_jobs::scheduler::JobScheduler;
use anamnesis_pipeline::{Disposition, ImportOutcome, Importer, Pipeline, Redactors};
use anamnesis_search as recall;
use anamnesis_sql::Database;
use anamnesis_store::Store;
use anamnesis_store::digest::StoreDigest;
use anamnesis_store::read::{LineageDirection, Memory, MemoryFilter, ReadInstant};
use chrono::TimeDelta;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::support::{
    Clinic, NOW, ORG, PATIENT, StorePlace, TestEngine, bodies, count, document, embedder, event, feed, on_every_engine,
    samples, scope,
};

/// Ten days of job runs over the samples; the result, and how many memories were changed.
async fn ten_days(clinic: &Clinic, engine: TestEngine) -> (StoreDigest, u64) {
    let place = StorePlace::on(engine).await;
    let pipeline = clinic.pipeline_at(&place.location()).await;
    feed(&pipeline, &samples(), 16).await;
    let database = match &place {
        StorePlace::Postgres(server) => Database::open(&server.location("test_jobs")).await.unwrap(),
        _ => pipeline.store().db().clone(),
    };
    let clock = Arc::new(ManualClock::at(NOW.parse().unwrap()));
    let store = Store::new(database, Arc::clone(&clinic.keys), clock.clone(), Arc::new(SeededEntropy::new(5)));
    let scheduler = JobScheduler::over(&store, Policies::embedded().unwrap(), Arc::new(()), CancellationToken::new());
    let mut changed = 0;
    for _ in 0..10 {
        clock.advance(TimeDelta::days(1));
        changed += scheduler.round().await.unwrap().iter().map(|report| report.changed).sum::<u64>();
    }
    (pipeline.store().read().digest(None).await.unwrap(), changed)
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_days_of_job_runs_leave_the_same_memory_on_every_engine() {
    let clinic = Clinic::new().await;
    let (expected, changed) = ten_days(&clinic, TestEngine::File).await;
    assert!(changed > 0, "the job runs have something to do");
    assert_eq!(ten_days(&clinic, TestEngine::Postgres).await, (expected, changed));
}

on_every_engine!(
    what_was_forgotten_long_ago_has_no_words_left_and_nothing_it_replaced_comes_back,
    what_recurs_becomes_a_belief_that_names_its_captures_and_every_further_mention_reinforces_it_once,
    what_a_newer_policy_takes_leaves_texts_quotes_memories_and_vectors_once,
    what_a_newer_policy_takes_leaves_profiles_preferences_commands_and_imported_records_once,
);

async fn what_was_forgotten_long_ago_has_no_words_left_and_nothing_it_replaced_comes_back(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let reported = [
        document(1, 1, "2026-06-20T10:00:00Z", "Toma sertralina 50 mg al día."),
        document(2, 1, "2026-06-25T10:00:00Z", "Toma sertralina 100 mg al día."),
    ];
    feed(&pipeline, &bodies(&reported), 2).await;
    let store = pipeline.store();
    let filter = MemoryFilter { entities: vec![EntityType::Medication], ..MemoryFilter::default() };
    let newest = store.read().memories(scope(), &filter, ReadInstant::Now).await.unwrap().remove(0);
    let forget = json!({"organization_id": ORG, "patient_id": PATIENT, "command": "forget", "memory_ids": [newest.id],
        "actor": {"id": PATIENT, "role": "patient"}, "issued_at": "2026-06-26T10:00:00Z"});
    feed(&pipeline, &bodies(&[event("f", "anamnesis.memory.command.v1", &forget)]), 1).await;

    clinic.time.advance(TimeDelta::days(26));
    let scheduler = JobScheduler::over(store, Policies::embedded().unwrap(), Arc::new(()), CancellationToken::new());
    let purged = async || -> u64 {
        let runs = scheduler.round().await.unwrap();
        runs.iter().filter(|run| run.job == JobName::Purge).map(|run| run.changed).sum()
    };
    assert_eq!(purged().await, 1);
    clinic.time.advance(TimeDelta::days(1));
    assert_eq!(purged().await, 0, "once");

    let held = store.read().memory(scope(), newest.id, ReadInstant::Now).await.unwrap().unwrap();
    assert_eq!((held.status.state, held.words, held.evidence), (State::Inactive, None, None));
    let words =
        "SELECT count(*) FROM medications AS c JOIN memory AS m ON m.id = c.memory_id WHERE m.state = 'inactive'";
    assert_eq!(count(store, words).await, 0);
    assert_eq!(count(store, "SELECT count(*) FROM extracted_findings WHERE tombstone_of IS NOT NULL").await, 1);
    // The group is projected again with its later statements: the older dose stays replaced, the forgotten one
    // forgotten.
    let later = document(3, 1, "2026-07-27T10:00:00Z", "Toma sertralina 150 mg al día.");
    feed(&pipeline, &bodies(&[later]), 1).await;
    let filter = MemoryFilter { states: State::ALL.to_vec(), ..filter };
    let all = store.read().memories(scope(), &filter, ReadInstant::Now).await.unwrap();
    let states: Vec<State> = all.iter().map(|m| m.status.state).collect();
    assert_eq!(states, [State::Active, State::Inactive, State::Superseded]);
    assert_eq!(all[1].id, newest.id);
}

/// The runs of consolidation of one round: beliefs formed, reinforced.
async fn consolidated(scheduler: &JobScheduler) -> (u64, u64) {
    let runs = scheduler.round().await.unwrap();
    let runs = runs.iter().filter(|run| run.job == JobName::Consolidation);
    let count = |name: &str, status: &serde_json::Value| status[name].as_u64().unwrap();
    runs.fold((0, 0), |sum, run| (sum.0 + count("beliefs", &run.status), sum.1 + count("reinforced", &run.status)))
}

async fn what_recurs_becomes_a_belief_that_names_its_captures_and_every_further_mention_reinforces_it_once(
    engine: TestEngine,
) {
    let more = ["Camina.", "Lee.", "Descansa.", "Trabaja."];
    let reported = |n: usize, at: &str| document(n as u128, 1, at, &format!("Refiere cefalea. {}", more[n - 1]));
    let first =
        [reported(1, "2026-06-20T10:00:00Z"), reported(2, "2026-06-22T10:00:00Z"), reported(3, "2026-06-24T10:00:00Z")];
    let fourth = reported(4, "2026-06-26T10:00:00Z");
    let patterns = async |pipeline: &Pipeline| {
        let filter = MemoryFilter { classes: vec![Class::Pattern], ..MemoryFilter::default() };
        pipeline.store().read().memories(scope(), &filter, ReadInstant::Now).await.unwrap()
    };
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    feed(&pipeline, &bodies(&first[..2]), 4).await;
    let scheduler =
        JobScheduler::over(pipeline.store(), Policies::embedded().unwrap(), Arc::new(()), CancellationToken::new());
    clinic.time.advance(TimeDelta::days(1));
    assert_eq!(consolidated(&scheduler).await, (0, 0), "two are no pattern");
    feed(&pipeline, &bodies(&first[2..]), 4).await;
    clinic.time.advance(TimeDelta::days(1));
    assert_eq!(consolidated(&scheduler).await, (1, 0));
    let belief = patterns(&pipeline).await.remove(0);
    assert_eq!((belief.trust, belief.status.use_, belief.confidence), (Trust::T4, PermittedUse::Hypothesis, 0.8));
    assert!(belief.evidence.as_ref().unwrap().text.contains("cefalea"));
    let lineage = recall::trace(pipeline.store(), scope(), belief.id, LineageDirection::Up).await.unwrap().unwrap();
    let documents = lineage.children.iter().filter(|raw| raw.kind == "raw" && raw.children[0].kind == "document");
    assert_eq!(documents.count(), 3);

    clinic.time.advance(TimeDelta::days(1));
    assert_eq!(consolidated(&scheduler).await, (0, 0), "nothing came in");
    feed(&pipeline, &bodies(std::slice::from_ref(&fourth)), 4).await;
    clinic.time.advance(TimeDelta::days(1));
    assert_eq!(consolidated(&scheduler).await, (0, 1));
    let surer = patterns(&pipeline).await.remove(0);
    assert_eq!((surer.id, surer.times_reinforced), (belief.id, 1));
    assert!(surer.confidence > belief.confidence && surer.status.use_ == PermittedUse::Hypothesis);

    // All together, in another order: the same belief.
    let other = clinic.pipeline().await;
    let all: Vec<_> = [fourth].into_iter().chain(first.into_iter().rev()).collect();
    feed(&other, &bodies(&all), 4).await;
    let scheduler =
        JobScheduler::over(other.store(), Policies::embedded().unwrap(), Arc::new(()), CancellationToken::new());
    clinic.time.advance(TimeDelta::days(1));
    assert_eq!(consolidated(&scheduler).await, (1, 1));
    let same = patterns(&other).await.remove(0);
    let reported = |m: &Memory| (m.id, m.confidence, m.times_reinforced, m.valid_from, m.said_at, m.words.clone());
    assert_eq!(reported(&same), reported(&surer));
}

/// Redaction runs of one round, with their results.
async fn redacted_again(scheduler: &JobScheduler) -> Vec<serde_json::Value> {
    let runs = scheduler.round().await.unwrap();
    runs.into_iter().filter(|run| run.job == JobName::Redaction).map(|run| run.status).collect()
}

async fn what_a_newer_policy_takes_leaves_texts_quotes_memories_and_vectors_once(engine: TestEngine) {
    // The policy of the row keeps relations and countries; the organisation's next one takes all.
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let text =
        "Su hermana la acompaña. Refiere cefalea desde que su hermana volvió de Francia. Toma sertralina 50 mg al día.";
    feed(&pipeline, &bodies(&[document(1, 1, "2026-06-20T10:00:00Z", text)]), 1).await;
    let store = pipeline.store();
    let symptoms =
        MemoryFilter { entities: vec![EntityType::Symptom], states: State::ALL.to_vec(), ..MemoryFilter::default() };
    let before = store.read().memories(scope(), &symptoms, ReadInstant::Now).await.unwrap().remove(0);
    assert!(before.evidence.as_ref().unwrap().text.contains("hermana"));
    let first_words =
        store.read().revisions(scope(), &[before.document_id.unwrap()]).await.unwrap().remove(0).content.text;
    let vectors = "SELECT count(*) FROM embedding";
    assert!(count(store, vectors).await > 0);

    clinic.time.advance(TimeDelta::days(1));
    let scheduler = JobScheduler::over(store, Policies::embedded().unwrap(), Arc::new(()), CancellationToken::new());
    assert_eq!(redacted_again(&scheduler).await[0]["examined"], 0, "nothing changed");

    let config: RedactionConfig =
        toml::from_str(&format!("[[organizations]]\norganization = \"{ORG}\"\npolicy = \"strict\"")).unwrap();
    let redactors = Redactors::load(&config).unwrap();
    clinic.time.advance(TimeDelta::days(1));
    let scheduler = JobScheduler::over(store, Policies::embedded().unwrap(), Arc::new(()), CancellationToken::new());
    let scheduler = scheduler.redacting(redactors);
    let status = redacted_again(&scheduler).await.remove(0);
    assert_eq!((&status["redacted"], &status["failed"]), (&json!(1), &json!(0)));

    let stored = store.read().revisions(scope(), &[before.document_id.unwrap()]).await.unwrap().remove(0);
    assert!(!stored.content.text.contains("hermana") && !stored.content.text.contains("Francia"));
    assert!(stored.content.text.contains("[FAMILY") && stored.content.text.contains("cefalea"));
    // The redaction is recorded at its position, without its value.
    let taken = &stored.content.redactions;
    assert!(taken.len() >= 3 && taken.iter().all(|one| one.redacted.slice(&stored.content.text).starts_with('[')));
    assert!(taken.iter().all(|one| one.source.slice(text).len() == one.source.len() && !one.source.is_empty()));
    assert!(taken.iter().any(|one| one.label == "FAMILY" && one.source.slice(text).contains("hermana")));
    let after = store.read().memories(scope(), &symptoms, ReadInstant::Now).await.unwrap().remove(0);
    let evidence = after.evidence.unwrap();
    assert_eq!((after.id, after.status.state), (before.id, before.status.state));
    assert!(evidence.text.contains("cefalea") && !evidence.text.contains("hermana"));
    let literal = &stored.content.text[evidence.start..evidence.end];
    assert_eq!(literal, evidence.text, "evidence is literally in its document");
    assert_eq!(count(store, vectors).await, 0, "a vector tells of the words it was made of");

    let scheduler = scheduler.with_models(embedder().into());
    clinic.time.advance(TimeDelta::days(1));
    assert_eq!(redacted_again(&scheduler).await[0]["examined"], 0, "once");
    assert!(count(store, vectors).await > 0, "the words of today have vectors of their own by the next night");
    let keys = store.keys().ensure(&[scope()]).await.unwrap().known.remove(&scope()).unwrap();
    let known = async |text: &str| {
        let key = CacheKey { scope: scope(), generation: 1, text: keys.text_hash(text) };
        store.intake().cached_vectors([key].into_iter()).await.unwrap().len()
    };
    let counts = (known(&stored.content.text).await, known(&first_words).await);
    assert_eq!(counts, (1, 0), "a vector is found by the words of today");
}

/// All words that are held of the patient apart from documents.
async fn words_other_than_documents(store: &Store) -> String {
    let all = MemoryFilter { states: State::ALL.to_vec(), ..MemoryFilter::default() };
    let memories = store.read().memories(scope(), &all, ReadInstant::Now).await.unwrap();
    let clinical = store.read().clinical(scope(), ReadInstant::Now).await.unwrap();
    let clinical: Vec<_> = clinical.into_iter().filter_map(|row| row.memory.words).collect();
    let preferences = store.read().preferences(scope(), ReadInstant::Now).await.unwrap();
    let records: Vec<_> =
        store.intake().legacy_records(scope()).await.unwrap().into_iter().map(|(_, record)| record).collect();
    json!([memories, clinical, preferences, records]).to_string()
}

async fn what_a_newer_policy_takes_leaves_profiles_preferences_commands_and_imported_records_once(engine: TestEngine) {
    // The policy of the row keeps relations; the organisation's next one takes them.
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let store = pipeline.store();
    let profile = json!({"organization_id": ORG, "patient_id": PATIENT, "actor": PATIENT, "recorded_at": "2026-06-20T10:00:00Z",
        "allergies": [{"substance": "penicilina", "reaction": "urticaria, lo vio su hermana"}],
        "preferences": {"avisos": "llamar a su hermana"}});
    let add = json!({"organization_id": ORG, "patient_id": PATIENT, "actor": {"id": PATIENT, "role": "clinician"},
        "issued_at": "2026-06-20T11:00:00Z", "command": "add", "kind": "note", "text": "Su hermana la acompaña a las citas."});
    let sent =
        [event("p-1", "anamnesis.profile.updated.v1", &profile), event("c-1", "anamnesis.memory.command.v1", &add)];
    let done = feed(&pipeline, &bodies(&sent), 2).await;
    assert!(done.iter().all(|one| *one == Disposition::Stored), "{done:?}");
    let importer = Importer { by: PATIENT, undated: "2026-06-01T10:00:00Z".parse().unwrap() };
    let record = json!({"base_memory": {"memory_id": "m1", "memory": "Su hermana le regaló un libro", "topics": ["libros"],
        "last_updated": "2025-11-06T10:00:00"}, "confidence": 0.25, "is_proxy": false, "proxy_agent": null});
    assert_eq!(pipeline.import(scope(), &[record], importer).await.unwrap(), [ImportOutcome::Stored]);
    let before = words_other_than_documents(store).await;
    assert!(before.matches("hermana").count() >= 6, "in all of them: {before}");

    let config: RedactionConfig =
        toml::from_str(&format!("[[organizations]]\norganization = \"{ORG}\"\npolicy = \"strict\"")).unwrap();
    let redactors = Redactors::load(&config).unwrap();
    let scheduler = JobScheduler::over(store, Policies::embedded().unwrap(), Arc::new(()), CancellationToken::new());
    let scheduler = scheduler.redacting(redactors);
    clinic.time.advance(TimeDelta::days(1));
    let status = redacted_again(&scheduler).await.remove(0);
    assert_eq!(
        (&status["patients"], &status["patients_redacted"], &status["failed"]),
        (&json!(1), &json!(1), &json!(0))
    );
    let after = words_other_than_documents(store).await;
    assert!(!after.contains("hermana"), "{after}");
    assert!(
        after.contains("urticaria") && after.contains("libro") && after.contains("[FAMILY"),
        "the rest stays: {after}"
    );
    let allergy = store.read().clinical(scope(), ReadInstant::Now).await.unwrap().remove(0);
    assert_eq!((allergy.entity, allergy.memory.status.state), (EntityType::Allergy, State::Active));
    clinic.time.advance(TimeDelta::days(1));
    assert_eq!(redacted_again(&scheduler).await[0]["patients"], 0, "once");
}
