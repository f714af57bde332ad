//! Documents in, memory out: nothing lost, nothing twice, in any order and at any number of repetitions.

use anamnesis_core::reason::Reason;
use anamnesis_observability::metrics::labels::CacheResult;
use anamnesis_pipeline::Disposition;
use anamnesis_store::digest::StoreDigest;
use anamnesis_store::read::{DocumentFilter, ReadInstant};
use aws_lc_rs::digest::{SHA256, digest};
use serde_json::json;
use uuid::Uuid;

use super::support::{
    self, Clinic, Program, TestEngine, bodies, count, document, event, feed, on_every_engine, on_every_program, samples,
};

on_every_engine!(
    the_samples_are_stored_whole_and_a_second_run_changes_nothing,
    any_order_and_any_batch_of_the_same_messages_end_in_the_same_memory,
    the_order_of_the_revisions_of_one_document_does_not_matter,
    a_new_revision_replaces_the_old_one_and_a_late_old_one_changes_nothing_visible,
    the_same_id_with_another_body_is_quarantined,
    a_bad_message_never_takes_its_neighbours_along,
    a_text_that_a_patient_has_already_keeps_its_vector_and_another_patients_does_not,
);
on_every_program!(a_file_with_bad_lines_is_ingested_line_by_line);

async fn a_text_that_a_patient_has_already_keeps_its_vector_and_another_patients_does_not(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let asked = || {
        let cache = &pipeline.metrics().embedding.cache;
        (cache.with_labels(CacheResult::Hit).get(), cache.with_labels(CacheResult::Miss).get())
    };
    let note = |number, at| document(number, 1, at, "Refiere insomnio desde hace un mes.");
    feed(&pipeline, &bodies(&[note(1, "2026-06-18T10:00:00Z")]), 1).await;
    assert_eq!(asked(), (0, 1));
    feed(&pipeline, &bodies(&[note(2, "2026-06-19T10:00:00Z")]), 1).await;
    assert_eq!(asked(), (1, 1), "the same words of the same patient");
    let mut other = note(3, "2026-06-19T10:00:00Z");
    other["patient_id"] = "00000000-0000-4000-8000-00000000beef".into();
    feed(&pipeline, &bodies(&[other]), 1).await;
    assert_eq!(asked(), (1, 2), "the same words of another patient");
    assert_eq!(count(pipeline.store(), "SELECT count(*) FROM embedding").await, 3, "each passage has its vector");
}

const DOCUMENT: &str = "anamnesis.document.submitted.v1";
/// Events depend on the order of arrival, and vectors may be requested twice: neither is memory.
const STEPS: &[&str] = &["outbox"];

/// The same messages in an order that depends only on the seed.
fn shuffled(messages: &[Vec<u8>], seed: u8) -> Vec<Vec<u8>> {
    let mut all = messages.to_vec();
    all.sort_by_key(|body| digest(&SHA256, &[&[seed], body.as_slice()].concat()).as_ref().to_vec());
    all
}

/// The tables in which two digests differ.
fn difference(one: &StoreDigest, other: &StoreDigest) -> Vec<String> {
    let differs = |name: &&&'static str| one.tables[**name] != other.tables[**name];
    let reported = |name: &&str| format!("{name}: {} rows and {}", one.rows(name), other.rows(name));
    one.tables.keys().filter(differs).map(reported).collect()
}

fn all(disposition: Disposition, done: &[Disposition]) -> bool {
    done.iter().all(|d| *d == disposition)
}

async fn the_samples_are_stored_whole_and_a_second_run_changes_nothing(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let messages = samples();
    let done = feed(&pipeline, &messages, 32).await;
    assert!(all(Disposition::Stored, &done), "{done:?}");
    let first = pipeline.store().read().digest(None).await.unwrap();
    assert_eq!(first.rows("inbox"), messages.len() as u64);
    for table in ["documents", "passage", "embedding", "extracted_findings", "memory", "medications", "outbox"] {
        assert!(first.rows(table) > 0, "{table}");
    }
    let again = feed(&pipeline, &messages, 7).await;
    assert!(all(Disposition::Duplicate, &again), "{again:?}");
    assert_eq!(pipeline.store().read().digest(None).await.unwrap(), first);
    assert_eq!(count(pipeline.store(), "SELECT count(*) FROM attempt").await, 0);
}

async fn any_order_and_any_batch_of_the_same_messages_end_in_the_same_memory(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let messages = samples();
    let calm = clinic.pipeline().await;
    feed(&calm, &messages, 32).await;
    let expected = calm.store().read().digest(None).await.unwrap();
    for (seed, batch) in [(0u8, 1), (1, 7), (2, 64), (3, 7), (4, 1)] {
        let pipeline = clinic.pipeline().await;
        let done = feed(&pipeline, &shuffled(&messages, seed), batch).await;
        assert!(all(Disposition::Stored, &done), "seed {seed}, batches of {batch}: {done:?}");
        let found = pipeline.store().read().digest(None).await.unwrap();
        let differs: Vec<String> = difference(&expected, &found);
        assert_eq!(found.without(STEPS), expected.without(STEPS), "seed {seed}, batches of {batch}: {differs:?}");
        assert_ne!(found.rows("outbox"), 0);
    }
}

async fn the_order_of_the_revisions_of_one_document_does_not_matter(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let at = "2026-05-04T10:00:00Z";
    let one = document(7, 1, at, "Paciente con asma. Toma sertralina 50 mg al día.");
    let two = document(7, 2, at, "Paciente con migraña. Toma sertralina 100 mg al día.");
    let three = document(7, 3, at, "Paciente con migraña. Toma fluoxetina 20 mg al día.");
    let other = document(8, 1, "2026-05-05T10:00:00Z", "Refiere insomnio. Toma sertralina 100 mg al día.");
    let messages = bodies(&[one, two, three, other]);
    let calm = clinic.pipeline().await;
    feed(&calm, &messages, 1).await;
    let expected = calm.store().read().digest(None).await.unwrap();
    assert_eq!(count(calm.store(), "SELECT revision FROM documents WHERE current = 1 AND revision > 1").await, 3);
    for seed in 0..8 {
        let pipeline = clinic.pipeline().await;
        let done = feed(&pipeline, &shuffled(&messages, seed), [1, 2, 4][usize::from(seed % 3)]).await;
        assert!(all(Disposition::Stored, &done), "{done:?}");
        let found = pipeline.store().read().digest(None).await.unwrap();
        let differs = difference(&expected, &found);
        assert_eq!(found.without(STEPS), expected.without(STEPS), "seed {seed}: {differs:?}");
    }
}

async fn a_new_revision_replaces_the_old_one_and_a_late_old_one_changes_nothing_visible(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let store = pipeline.store();
    let at = "2026-05-04T10:00:00Z";
    let [one, two, three] = ["Toma sertralina 50 mg al día.", "Toma fluoxetina 20 mg al día.", "Toma litio 400 mg."];
    let visible = async || {
        let mut snapshot = store.read().snapshot(support::scope()).await.unwrap();
        let seen = snapshot.candidates(1, None, None, &DocumentFilter::default(), ReadInstant::Now).await.unwrap().1;
        drop(snapshot);
        let mut seen: Vec<(u32, Vec<i64>)> = seen.into_iter().map(|c| (c.revision, c.terms)).collect();
        seen.sort();
        let memories = "SELECT m.id, m.state FROM memory AS m WHERE m.kind <> 'raw' AND m.ungrounded = 0 ORDER BY 1";
        let memories = support::rows(store, memories).await;
        let memories: Vec<(Uuid, String)> =
            memories.iter().map(|row| (row.uuid(0).unwrap(), row.text(1).unwrap())).collect();
        (seen, memories)
    };
    feed(&pipeline, &bodies(&[document(7, 1, at, one)]), 1).await;
    let (first, _) = visible().await;
    assert!(first.iter().all(|(revision, terms)| *revision == 1 && !terms.is_empty()) && !first.is_empty());
    feed(&pipeline, &bodies(&[document(7, 3, at, three)]), 1).await;
    let (third, memories) = visible().await;
    assert!(third.iter().all(|(revision, _)| *revision == 3) && !third.is_empty());
    assert_eq!(count(store, "SELECT count(*) FROM passage WHERE revision < 3").await, 0);
    assert_eq!(
        count(
            store,
            "SELECT count(*) FROM embedding AS e LEFT JOIN passage AS p ON p.id = e.passage_id WHERE p.id IS NULL"
        )
        .await,
        0
    );
    let done = feed(&pipeline, &bodies(&[document(7, 2, at, two)]), 1).await;
    assert_eq!(done, [Disposition::Stored]);
    assert_eq!(visible().await, (third, memories));
    assert_eq!(count(store, "SELECT count(*) FROM documents").await, 3);
    assert_eq!(count(store, "SELECT count(*) FROM documents WHERE current = 1 AND revision = 3").await, 1);
}

async fn the_same_id_with_another_body_is_quarantined(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let at = "2026-05-04T10:00:00Z";
    let (one, other) = (document(7, 1, at, "Duerme mal."), document(8, 1, at, "Duerme bien."));
    let first = bodies(&[event("a", DOCUMENT, &one)]);
    assert_eq!(feed(&pipeline, &first, 1).await, [Disposition::Stored]);
    let before = pipeline.store().read().digest(None).await.unwrap();
    let reused = Disposition::Quarantined(Reason::IdReused);
    assert_eq!(feed(&pipeline, &bodies(&[event("a", DOCUMENT, &other)]), 1).await, [reused]);
    // The same revision of the same document under another id is the same mistake.
    let changed = document(7, 1, at, "Duerme regular.");
    assert_eq!(feed(&pipeline, &bodies(&[event("b", DOCUMENT, &changed)]), 1).await, [reused]);
    assert_eq!(feed(&pipeline, &first, 1).await, [Disposition::Duplicate]);
    let after = pipeline.store().read().digest(None).await.unwrap();
    assert_eq!(after.without(&["quarantine"]), before.without(&["quarantine"]));
    assert_eq!(after.rows("quarantine"), 2);
    // Within one batch too.
    let fresh = clinic.pipeline().await;
    let both = bodies(&[event("a", DOCUMENT, &one), event("a", DOCUMENT, &other)]);
    assert_eq!(feed(&fresh, &both, 2).await, [Disposition::Stored, reused]);
}

async fn a_bad_message_never_takes_its_neighbours_along(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let at = "2026-05-04T10:00:00Z";
    let good = |id| document(id, 1, at, "Toma litio 400 mg al día.").to_string().into_bytes();
    let mut nobody = document(2, 1, at, "x");
    nobody["patient_id"] = json!(Uuid::nil());
    let messages = vec![
        good(10),
        b"{\"text\": ".to_vec(),
        good(11),
        b"\xff\xfe not text".to_vec(),
        good(12),
        nobody.to_string().into_bytes(),
        good(13),
    ];
    let done = feed(&pipeline, &messages, 64).await;
    let stored = done.iter().enumerate().filter(|(_, d)| **d == Disposition::Stored).map(|(n, _)| n);
    assert_eq!(stored.collect::<Vec<_>>(), [0, 2, 4, 6], "{done:?}");
    assert!(done.iter().all(|d| *d != Disposition::Retry), "{done:?}");
    let alone = clinic.pipeline().await;
    feed(&alone, &[10, 11, 12, 13].map(good), 64).await;
    let (mixed, alone) =
        (pipeline.store().read().digest(None).await.unwrap(), alone.store().read().digest(None).await.unwrap());
    assert_eq!(mixed.without(&["quarantine"]), alone.without(&["quarantine"]), "{:?}", difference(&mixed, &alone));
    assert_eq!(count(pipeline.store(), "SELECT count(*) FROM quarantine").await, 3);
}

async fn a_file_with_bad_lines_is_ingested_line_by_line(engine: TestEngine) {
    let program = Program::on(engine).await;
    let at = "2026-05-04T10:00:00Z";
    let good = |id| document(id, 1, at, "Toma litio 400 mg al día.").to_string().into_bytes();
    let long = document(5, 1, at, &"mucho ".repeat(1000)).to_string().into_bytes();
    let lines = [good(1), long, good(2), b"{\"text\": \"\xff\"}".to_vec(), Vec::new(), b"no".to_vec(), good(3)];
    let limit = [("ANAMNESIS__INTAKE__MAX_BODY_BYTES", "2048")];
    let output = program.ingest(&lines, &limit);
    let reported = support::counts(&output);
    assert_eq!(
        (&reported["stored"], &reported["quarantined"], &reported["retry"]),
        (&json!(3), &json!(3), &json!(0)),
        "{reported}"
    );
    assert_eq!(
        (&reported["reasons"]["too_large"], &reported["reasons"]["malformed"]),
        (&json!(1), &json!(2)),
        "{reported}"
    );
    assert_eq!(output.status.code(), Some(3), "some stored, some not");
    let before = program.store().await.read().digest(None).await.unwrap();
    let again = support::counts(&program.ingest(&lines, &limit));
    assert_eq!((&again["duplicate"], &again["quarantined"]), (&json!(3), &json!(3)), "{again}");
    let store = program.store().await;
    assert_eq!(store.read().digest(None).await.unwrap(), before);
    assert_eq!(count(&store, "SELECT count(*) FROM quarantine").await, 3, "kept once, however often it comes");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_engine_ends_with_the_same_digest_of_the_same_messages() {
    let clinic = Clinic::new().await;
    let messages = samples();
    let mut digests = Vec::new();
    for engine in TestEngine::ALL {
        let pipeline = clinic.pipeline_on(engine).await;
        assert!(all(Disposition::Stored, &feed(&pipeline, &messages, 16).await), "{engine:?}");
        digests.push(pipeline.store().read().digest(None).await.unwrap());
    }
    let [file, server] = digests.as_slice() else { unreachable!("two engines") };
    assert_eq!(file, server, "{:?}", difference(file, server));
}
