//! The same messages in any order, any number of times and by any number of concurrent workers: the same memory.

use std::sync::Arc;

use anamnesis_pipeline::{Disposition, Pipeline, RawMessage};
use anamnesis_sql::{Access, Location, Sql};
use aws_lc_rs::digest::{SHA256, digest};
use serde_json::{Value, json};
use uuid::Uuid;

use super::amount;
use crate::server::TestDatabase;
use crate::support::{Clinic, ORG, PATIENT, StorePlace, TestEngine, bodies, document, feed, on_every_engine};

on_every_engine!(any_order_with_any_repetition_ends_in_the_same_memory);

/// Events depend on the order of arrival, and vectors may be requested twice: neither is memory.
const STEPS: &[&str] = &["outbox"];

/// One patient's year: revisions, a profile, a device, a person's own hand, contradictions.
fn year() -> Vec<Vec<u8>> {
    let signed = |mut body: Value, own: Value| {
        body.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        body
    };
    let scope = json!({"organization_id": ORG, "patient_id": PATIENT});
    let profile = json!({"actor": Uuid::from_u128(9), "recorded_at": "2026-05-01T10:00:00Z", "region": "ES",
        "allergies": [{"substance": "penicilina"}], "medications": [{"name": "sertralina", "dose": "50 mg"}]});
    let signal = json!({"metric": "sleep", "unit": "h", "value": 5.5, "trend": "down", "device": "reloj",
        "synced_at": "2026-05-06T08:00:00Z"});
    let consent = json!({"scope": "memory", "provision": "permit", "from": "2026-01-01T00:00:00Z",
        "recorded_by": Uuid::from_u128(9)});
    bodies(&[
        signed(scope.clone(), profile),
        signed(scope.clone(), signal),
        signed(scope, consent),
        document(1, 1, "2026-05-02T10:00:00Z", "Paciente con asma. Toma sertralina 50 mg al día."),
        document(1, 2, "2026-05-02T10:00:00Z", "Paciente con migraña. Toma sertralina 100 mg al día."),
        document(2, 1, "2026-05-03T10:00:00Z", "Refiere insomnio desde hace una semana. Niega alergias."),
        document(3, 1, "2026-05-09T10:00:00Z", "Suspende sertralina. Refiere insomnio."),
        document(4, 1, "2026-05-12T10:00:00Z", "Sigue con migraña. Alergia a la penicilina."),
    ])
}

fn dice(seed: usize, what: &[u8]) -> u64 {
    let hash = digest(&SHA256, &[&seed.to_be_bytes(), what].concat());
    u64::from_be_bytes(hash.as_ref()[..8].try_into().unwrap())
}

/// An order, with one to three of the messages repeated somewhere.
fn permutation(messages: &[Vec<u8>], seed: usize) -> Vec<Vec<u8>> {
    let mut all: Vec<(u64, &Vec<u8>)> = messages.iter().map(|m| (dice(seed, m), m)).collect();
    for copy in 0..=dice(seed, b"copies") % 3 {
        let again =
            &messages[usize::try_from(dice(seed, &[1, u8::try_from(copy).unwrap()]) % messages.len() as u64).unwrap()];
        all.push((dice(seed, &[2, u8::try_from(copy).unwrap()]), again));
    }
    all.sort();
    all.into_iter().map(|(_, m)| m.clone()).collect()
}

/// Takes all rows away, so that making a pipeline (which reads its lexicons) is paid once.
async fn empty(pipeline: &Pipeline, place: &StorePlace) {
    if let StorePlace::Postgres(server) = place {
        let sql = "DO $$ DECLARE t text; BEGIN SELECT string_agg(format('anamnesis.%I', tablename), ', ') INTO t \
                   FROM pg_tables WHERE schemaname = 'anamnesis' AND tablename <> '_sqlx_migrations'; \
                   EXECUTE 'TRUNCATE ' || t || ' CASCADE'; END $$";
        sqlx::raw_sql(sql).execute(&mut server.administrator().await).await.unwrap();
        return;
    }
    let mut tx = pipeline.store().db().begin(Access::Platform).await.unwrap();
    tx.execute(&Sql::new("PRAGMA defer_foreign_keys = ON"), Vec::new()).await.unwrap();
    for kept in ["action_audit_kept", "action_audit_unchanged", "audit_block_kept"] {
        let sql = format!("DROP TRIGGER IF EXISTS {kept}");
        tx.execute(&Sql::new(Box::leak(sql.into_boxed_str())), Vec::new()).await.unwrap();
    }
    let tables =
        Sql::new("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '\\_sqlx%' ESCAPE '\\'");
    for row in tx.fetch_all(&tables, Vec::new()).await.unwrap() {
        let sql = format!("DELETE FROM {}", row.text(0).unwrap());
        tx.execute(&Sql::new(Box::leak(sql.into_boxed_str())), Vec::new()).await.unwrap();
    }
    tx.commit().await.unwrap();
}

/// Two thousand in all by `make proofs`.
async fn any_order_with_any_repetition_ends_in_the_same_memory(engine: TestEngine) {
    let clinic = Clinic::new().await;
    let place = StorePlace::on(engine).await;
    let pipeline = clinic.pipeline_at(&place.location()).await;
    let messages = year();
    assert!(feed(&pipeline, &messages, 64).await.iter().all(|d| *d == Disposition::Stored));
    let expected = pipeline.store().read().digest(None).await.unwrap();
    assert!(expected.rows("memory") > 5 && expected.rows("contradiction") > 0, "{expected:?}");
    for seed in 0..amount(6, 667) {
        empty(&pipeline, &place).await;
        let batch = [1, 2, 3, 16][seed % 4];
        let done = feed(&pipeline, &permutation(&messages, seed), batch).await;
        let fine = |d: &Disposition| matches!(d, Disposition::Stored | Disposition::Duplicate);
        assert!(done.iter().all(fine), "seed {seed}, batches of {batch}: {done:?}");
        let found = pipeline.store().read().digest(None).await.unwrap();
        let differ: Vec<_> =
            expected.tables.iter().filter(|(name, t)| found.tables[*name] != **t).map(|(n, _)| n).collect();
        assert_eq!(found.without(STEPS), expected.without(STEPS), "seed {seed}, batches of {batch}: {differ:?}");
    }
}

/// Offers each message until it is settled.
async fn work(pipeline: Arc<Pipeline>, messages: Vec<Vec<u8>>) {
    for body in messages {
        for _ in 0..100 {
            let raw = RawMessage::from_body(body.clone());
            match pipeline.run(vec![raw]).await[0] {
                Disposition::Stored | Disposition::Duplicate => break,
                open if open.is_open() => tokio::task::yield_now().await,
                other => panic!("{other:?}"),
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn workers_that_write_one_patient_at_once_end_like_one_that_wrote_alone() {
    let clinic = Clinic::new().await;
    let server = TestDatabase::new().await;
    let calm = clinic.pipeline().await;
    feed(&calm, &year(), 1).await;
    let expected = calm.store().read().digest(None).await.unwrap();
    let place = StorePlace::Postgres(server);
    let location: Location = place.location();
    let mut workers = Vec::new();
    for _ in 0..4 {
        workers.push(Arc::new(clinic.pipeline_at(&location).await));
    }
    for round in 0..amount(4, 50) {
        empty(&workers[0], &place).await;
        let shares = workers.iter().enumerate().map(|(n, w)| work(Arc::clone(w), permutation(&year(), 10 * round + n)));
        futures::future::join_all(shares.map(tokio::spawn)).await.into_iter().for_each(|done| done.unwrap());
        let found = workers[0].store().read().digest(None).await.unwrap();
        let differ: Vec<_> =
            expected.tables.iter().filter(|(name, t)| found.tables[*name] != **t).map(|(n, _)| n).collect();
        assert_eq!(found.without(STEPS), expected.without(STEPS), "round {round}: {differ:?}");
    }
}
