//! Killed anywhere on the way and started again: nothing is lost and nothing is there twice.

use anamnesis_pipeline::CRASH_POINTS;
use serde_json::json;
use uuid::Uuid;

use super::support::{self, ORG, PATIENT, Program, TestEngine, count, document, on_every_program};

fn messages() -> Vec<Vec<u8>> {
    let note = |id, day: u32, text| document(id, 1, &format!("2026-05-{day:02}T10:00:00Z"), text);
    let profile = json!({"organization_id": ORG, "patient_id": PATIENT, "actor": Uuid::from_u128(9),
        "recorded_at": "2026-05-01T10:00:00Z", "allergies": [{"substance": "penicilina"}]});
    let all = [
        profile,
        note(1, 2, "Paciente con asma. Toma sertralina 50 mg al día."),
        note(2, 3, "Refiere insomnio desde hace una semana."),
        note(3, 4, "Toma sertralina 100 mg al día. Niega alergias."),
        document(2, 2, "2026-05-03T10:00:00Z", "Refiere migraña desde hace una semana."),
        note(4, 6, "Sigue con asma. Toma sertralina 100 mg al día."),
    ];
    support::bodies(&all)
}

#[test]
fn every_named_point_is_on_the_way_of_a_message_and_every_point_is_named() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/pipeline/src");
    let mut called = Vec::new();
    let files = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    for file in files.filter(|path| path.is_file()) {
        let text = std::fs::read_to_string(file).unwrap();
        called.extend(text.split("crash_at(\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()));
    }
    called.sort();
    let mut named = CRASH_POINTS.map(str::to_owned).to_vec();
    named.sort();
    assert_eq!(called, named);
}

on_every_program!(a_run_killed_at_any_point_and_started_again_ends_like_one_that_nothing_disturbed);

async fn a_run_killed_at_any_point_and_started_again_ends_like_one_that_nothing_disturbed(engine: TestEngine) {
    let messages = messages();
    let batches = [("ANAMNESIS__PIPELINE__BATCH_DOCUMENTS", "4")];
    let calm = Program::on(engine).await;
    let reported = support::counts(&calm.ingest(&messages, &batches));
    assert_eq!(reported["stored"], json!(messages.len()), "{reported}");
    let expected = calm.store().await.read().digest(None).await.unwrap();
    assert!(expected.rows("memory") > 4 && expected.rows("outbox") > 4);
    for point in CRASH_POINTS {
        let program = Program::with_keys_of(&calm).await;
        let killed = program.ingest(&messages, &[batches[0], ("ANAMNESIS_CRASH_AT", point)]);
        assert_eq!(killed.status.code(), None, "{point}: the process was not killed");
        let store = program.store().await;
        let begun = count(&store, "SELECT coalesce(sum(length(messages)), 0) / 32 FROM attempt_batch").await;
        let stored = count(&store, "SELECT count(*) FROM inbox").await;
        let committed = ["committed", "attempts_ended"].contains(&point);
        assert_eq!(stored, if committed { 4 } else { 0 }, "{point}: a batch is stored whole or not at all");
        assert_eq!(begun, 4 - stored, "{point}: an attempt ends with its effects, not a transaction later");
        store.close().await;
        let reported = support::counts(&program.ingest(&messages, &batches));
        assert_eq!(reported["duplicate"], json!(stored), "{point}: {reported}");
        assert_eq!(reported["stored"], json!(messages.len() as i64 - stored), "{point}: {reported}");
        let store = program.store().await;
        let found = store.read().digest(None).await.unwrap();
        for (table, digest) in &expected.tables {
            assert_eq!(found.tables[table], *digest, "{point}: {table}");
        }
    }
}
