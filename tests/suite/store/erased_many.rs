//! A patient with very many memories is erased in seconds, and so is one memory among them: on each engine.

use std::time::{Duration, Instant};

use anamnesis_core::ids::MemoryId;
use anamnesis_pipeline::erasure::{ErasureOutcome, erase};
use anamnesis_sql::{Access, Sql};
use anamnesis_store::Store;
use anamnesis_store::erasure::{ErasureRequest, ErasureSubject};
use uuid::Uuid;

use super::amount;
use super::fixture::StoreFixture;
use crate::support::{TestEngine, count, document, on_every_engine, rows, scope};

on_every_engine!(a_patient_with_very_many_memories_is_erased_in_seconds);

/// Longest wait: for an unoptimised program on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

fn leaked(sql: String) -> &'static str {
    Box::leak(sql.into_boxed_str())
}

/// Copies the rows of a table so often, each under another key.
async fn multiply(store: &Store, table: &str, keyed: &[&str], times: usize) {
    let server = store.db().engine() != "sqlite";
    let columns = match server {
        true => format!("SELECT column_name::text FROM information_schema.columns WHERE table_name = '{table}'"),
        false => format!("SELECT name FROM pragma_table_info('{table}')"),
    };
    let columns: Vec<String> = rows(store, leaked(columns)).await.iter().map(|row| row.text(0).unwrap()).collect();
    let value = |column: &String| match (keyed.contains(&column.as_str()), column.ends_with("hash"), server) {
        (false, ..) => format!("t.{column}"),
        (true, true, true) => "decode(md5(random()::text) || md5(random()::text), 'hex')".to_owned(),
        (true, false, true) => "gen_random_uuid()".to_owned(),
        (true, true, false) => "randomblob(32)".to_owned(),
        (true, false, false) => "randomblob(16)".to_owned(),
    };
    let values: Vec<String> = columns.iter().map(value).collect();
    let sql = format!(
        "INSERT INTO {table} ({}) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {times}) \
         SELECT {} FROM (SELECT * FROM {table} LIMIT 1) AS t, n",
        columns.join(", "),
        values.join(", ")
    );
    let mut tx = store.db().begin(Access::Organization(scope().org())).await.unwrap();
    tx.execute(&Sql::new(leaked(sql)), Vec::new()).await.unwrap();
    tx.commit().await.unwrap();
}

async fn took(store: &Store, id: u128, subject: ErasureSubject) -> (Duration, u64) {
    let request = ErasureRequest {
        scope: scope(),
        id: Uuid::from_u128(id),
        subject,
        requested_by: Uuid::from_u128(7),
        requested_at: "2026-07-02T12:00:00Z".parse().unwrap(),
    };
    let began = Instant::now();
    let ErasureOutcome::Erased(receipt) = erase(store, &request).await.unwrap() else { panic!("not erased") };
    (began.elapsed(), receipt.counts["memory"])
}

async fn a_patient_with_very_many_memories_is_erased_in_seconds(engine: TestEngine) {
    let many = amount(5_000, 100_000);
    let fixture = StoreFixture::on(engine).await;
    fixture.ingest(&[document(1, 1, "2026-06-20T10:00:00Z", "Toma sertralina 50 mg al día. Refiere vértigo.")]).await;
    let store = fixture.store();
    let own =
        rows(store, "SELECT id FROM memory WHERE kind <> 'raw' AND entity_type = 'symptom'").await[0].uuid(0).unwrap();
    for (table, keyed) in [
        ("memory", &["id", "group_hash", "attribute_hash"][..]),
        ("extracted_findings", &["id", "group_hash", "attribute_hash", "source_id"]),
        ("memory_event", &["id", "memory_id"]),
    ] {
        multiply(store, table, keyed, many).await;
    }
    assert!(count(store, "SELECT count(*) FROM memory").await > many as i64);
    let (one, _) = took(store, 0xe1, ErasureSubject::Memory(MemoryId(own))).await;
    let (all, memories) = took(store, 0xe2, ErasureSubject::Patient).await;
    assert!(memories >= many as u64, "{memories}");
    assert_eq!(store.erasure().rows_of_patient(scope()).await.unwrap(), Default::default());
    println!("{many} memories: one of them {one:?}, the patient {all:?}");
    assert!(one < PATIENCE && all < PATIENCE, "one of {many} memories: {one:?}; the patient: {all:?}");
}
