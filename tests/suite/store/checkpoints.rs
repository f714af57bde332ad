//! A long record is projected from a checkpoint, with the same result as from the beginning.

use std::collections::BTreeSet;

use anamnesis_core::ids::OrgId;
use anamnesis_pipeline::{Disposition, Pipeline};
use anamnesis_sql::{Access, Sql};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{Clinic, ORG, PATIENT, StorePlace, TestEngine, bodies, document, event, feed, on_every_engine};

on_every_engine!(
    a_record_that_grew_document_by_document_is_what_it_is_when_read_at_once,
    a_statement_about_an_earlier_time_is_projected_in_its_place,
    whatever_a_checkpoint_rests_on_takes_it_along,
    opposing_statements_among_more_than_are_compared_are_those_of_the_newest,
);

/// Events depend on the order of arrival, and vectors may be requested twice: neither is memory.
const STEPS: &[&str] = &["outbox"];

/// A day of the record's first month and after.
fn at(day: u32) -> String {
    format!("2026-{:02}-{:02}T10:00:00Z", 1 + day / 28, 1 + day % 28)
}

/// Repeated statements of a patient over so many days, never in the same words.
fn days(count: u32) -> Vec<Value> {
    let sentences = [
        "Sigo con la sertralina 50 mg al día.",
        "Otra vez con insomnio.",
        "Me dijeron que tengo asma.",
        "Soy alérgica a la penicilina.",
        "Me gusta nadar en el mar.",
    ];
    let day = |n: u32| {
        let said: Vec<&str> =
            sentences.iter().enumerate().filter(|(i, _)| (n as usize).is_multiple_of(i + 1)).map(|(_, s)| *s).collect();
        document(u128::from(n) + 100, 1, &at(n), &format!("{} Van {n} jornadas.", said.join(" ")))
    };
    (0..count).map(day).collect()
}

fn with(mut body: Value, more: Value) -> Value {
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

fn profile(day: u32, more: Value) -> Value {
    let scope =
        json!({"organization_id": ORG, "patient_id": PATIENT, "actor": Uuid::from_u128(9), "recorded_at": at(day)});
    with(scope, more)
}

async fn rows(pipeline: &Pipeline, sql: &'static str) -> i64 {
    let mut tx = pipeline.store().db().read(Access::Organization(OrgId(ORG))).await.unwrap();
    tx.fetch_all(&Sql::new(sql), Vec::new()).await.unwrap()[0].i64(0).unwrap()
}

/// The sealed checkpoints: one that was made again is another.
async fn checkpoints(pipeline: &Pipeline) -> BTreeSet<Vec<u8>> {
    let mut tx = pipeline.store().db().read(Access::Organization(OrgId(ORG))).await.unwrap();
    let rows = tx.fetch_all(&Sql::new("SELECT state_sealed FROM fold_checkpoint"), Vec::new()).await.unwrap();
    rows.iter().map(|row| row.blob(0).unwrap()).collect()
}

/// The memory that the patient has asthma.
async fn asthma(pipeline: &Pipeline) -> Uuid {
    let mut tx = pipeline.store().db().read(Access::Organization(OrgId(ORG))).await.unwrap();
    let sql = Sql::new("SELECT id FROM memory WHERE entity_type = 'condition' AND state = 'active'");
    tx.fetch_all(&sql, Vec::new()).await.unwrap()[0].uuid(0).unwrap()
}

/// The same messages one by one in one store and all together in another: the digests of both, and the first store.
async fn compared(engine: TestEngine, messages: &[Value]) -> Pipeline {
    let clinic = Clinic::new().await;
    let (grown, whole) = (StorePlace::on(engine).await, StorePlace::on(engine).await);
    let messages = bodies(messages);
    let one = clinic.pipeline_at(&grown.location()).await;
    let other = clinic.pipeline_at(&whole.location()).await;
    for (pipeline, batch) in [(&one, 1), (&other, messages.len())] {
        let done = feed(pipeline, &messages, batch).await;
        assert!(done.iter().all(|d| *d == Disposition::Stored), "{done:?}");
    }
    let (one_digest, other_digest) =
        (one.store().read().digest(None).await.unwrap(), other.store().read().digest(None).await.unwrap());
    let differ: Vec<_> =
        one_digest.tables.iter().filter(|(name, t)| other_digest.tables[*name] != **t).map(|(n, _)| n).collect();
    assert_eq!(one_digest.without(STEPS), other_digest.without(STEPS), "{differ:?}");
    std::mem::forget((clinic, grown, whole));
    one
}

async fn a_record_that_grew_document_by_document_is_what_it_is_when_read_at_once(engine: TestEngine) {
    let mut messages = days(70);
    messages.push(document(900, 1, &at(80), "Ya no tomo sertralina. Ahora duermo bien, sin insomnio."));
    messages.push(document(901, 1, &at(81), "No soporto nadar en el mar."));
    let pipeline = compared(engine, &messages).await;
    assert!(checkpoints(&pipeline).await.len() >= 3, "long groups are folded on");
    let found = rows(&pipeline, "SELECT count(*) FROM contradiction").await;
    assert!(found > 0, "what opposes an old statement is found among them");
}

async fn a_statement_about_an_earlier_time_is_projected_in_its_place(engine: TestEngine) {
    let mut messages = days(60);
    // Each comes when a later time is in a checkpoint.
    messages.push(document(902, 1, &at(20), "Tomo sertralina 25 mg al día."));
    messages.extend(days(64).split_off(60));
    messages.push(document(903, 1, &at(2), "Niega insomnio. Niega alergias."));
    messages.push(document(904, 1, &at(66), "Sigo con la sertralina 50 mg al día."));
    compared(engine, &messages).await;
}

async fn whatever_a_checkpoint_rests_on_takes_it_along(engine: TestEngine) {
    let clinic = Clinic::new().await;
    let place = StorePlace::on(engine).await;
    let pipeline = clinic.pipeline_at(&place.location()).await;
    feed(&pipeline, &bodies(&days(60)), 1).await;
    let grown = checkpoints(&pipeline).await;
    assert!(grown.len() >= 3, "{}", grown.len());
    let left =
        |before: &BTreeSet<Vec<u8>>, after: &BTreeSet<Vec<u8>>| before.len() - before.intersection(after).count();
    // Only the second day mentions the medicine.
    let revised = document(101, 2, &at(1), "Nada que contar hoy.");
    feed(&pipeline, &bodies(std::slice::from_ref(&revised)), 1).await;
    let after_revision = checkpoints(&pipeline).await;
    assert_eq!(left(&grown, &after_revision), 1, "a finding that counts no more");
    let actor = json!({"id": Uuid::from_u128(7), "role": "clinician"});
    let act = json!({"organization_id": ORG, "patient_id": PATIENT, "command": "confirm",
        "memory_ids": [asthma(&pipeline).await], "actor": actor, "issued_at": at(61)});
    let act = event("act", "anamnesis.memory.command.v1", &act);
    feed(&pipeline, &bodies(std::slice::from_ref(&act)), 1).await;
    let after_act = checkpoints(&pipeline).await;
    assert_eq!(left(&after_revision, &after_act), 1, "an act");
    let unsure = profile(91, json!({"cognitive_state": 40}));
    feed(&pipeline, &bodies(std::slice::from_ref(&unsure)), 1).await;
    let after_profile = checkpoints(&pipeline).await;
    assert_eq!(left(&after_act, &after_profile), after_act.len(), "another weight of what the patient said");
    let digest = pipeline.store().read().digest(None).await.unwrap();
    let fresh = StorePlace::on(engine).await;
    let other = clinic.pipeline_at(&fresh.location()).await;
    let messages = [days(60), vec![revised, act, unsure]].concat();
    feed(&other, &bodies(&messages), messages.len()).await;
    assert_eq!(digest.without(STEPS), other.store().read().digest(None).await.unwrap().without(STEPS));
}

/// Likes and dislikes of a patient, more of them than are compared.
fn tastes() -> Vec<Value> {
    let things = ["nadar", "correr", "bailar", "cantar", "pintar", "cocinar", "viajar", "leer", "dormir", "caminar"];
    let places = ["en casa", "en el parque", "en la playa", "en el trabajo", "en la montaña", "en el pueblo"];
    let taste = |n: usize| {
        let (thing, place) = (things[n % things.len()], places[(n / things.len()) % places.len()]);
        let attitude = if n.is_multiple_of(7) { "No soporto" } else { "Me gusta" };
        let attitude = if n >= 60 && n.is_multiple_of(3) { "No soporto" } else { attitude };
        let day = u32::try_from(n).unwrap();
        document(n as u128 + 500, 1, &at(day), &format!("{attitude} {thing} {place} los días de número {n}."))
    };
    (0..125).map(taste).collect()
}

async fn opposing_statements_among_more_than_are_compared_are_those_of_the_newest(engine: TestEngine) {
    let mut messages = tastes();
    let pipeline = compared(engine, &messages).await;
    let stated =
        rows(&pipeline, "SELECT count(*) FROM memory WHERE entity_type = 'preference' AND state = 'active'").await;
    assert!(stated > 100, "{stated}");
    let found = rows(&pipeline, "SELECT count(*) FROM contradiction").await;
    assert!(found > 5, "{found}");
    // One is said a second time, one came late, and another leaves: the next older one is among the newest again.
    messages.push(document(700, 1, &at(126), "Me gusta leer en la playa los días de número 27."));
    messages.push(document(701, 1, &at(3), "No soporto cantar en el parque."));
    messages.push(document(600, 2, &at(100), "Nada más."));
    compared(engine, &messages).await;
}
