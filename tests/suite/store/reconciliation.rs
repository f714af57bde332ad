//! The clinical store against its log, the passages against their vectors, on each engine.

use std::time::{Duration, Instant};

use anamnesis_core::ids::OrgId;
use anamnesis_jobs::JobName;
use anamnesis_jobs::driver::JobReport;
use anamnesis_jobs::ledger::Trigger;
use anamnesis_jobs::planner::DueRun;
use anamnesis_sql::{Access, Sql};
use chrono::TimeDelta;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Executor as _};

use super::fixture::StoreFixture;
use crate::support::{
    ORG, StorePlace, TestEngine, bodies, count, document, embedder, feed, model, on_every_engine, samples,
};

on_every_engine!(
    in_a_sound_store_there_is_nothing_to_make_right,
    what_was_damaged_is_derived_again_and_what_cannot_be_is_counted,
    a_run_compares_all_patients_however_small_its_pages_are,
    a_patient_whose_rows_do_not_open_is_counted_and_keeps_no_other_from_being_compared,
    a_run_that_was_made_up_or_moved_on_is_begun_anew,
    hidden_differences_after_other_rows_are_found,
    a_model_that_was_changed_in_place_gets_its_vectors_by_job_runs_and_nothing_is_lost,
);

async fn damage(fixture: &StoreFixture, sql: &'static str) -> u64 {
    let mut tx = fixture.store().db().begin(Access::Organization(OrgId(ORG))).await.unwrap();
    let hit = tx.execute(&Sql::new(sql), Vec::new()).await.unwrap();
    tx.commit().await.unwrap();
    hit
}

async fn due(fixture: &StoreFixture) -> Vec<DueRun> {
    let mut due = fixture.scheduler.due().await.unwrap();
    due.retain(|due| due.key.job == JobName::Reconciliation);
    due
}

async fn run(fixture: &StoreFixture, due: DueRun) -> JobReport {
    let report = fixture.scheduler.offer(due, Trigger::Manual).await.unwrap();
    assert_eq!(report.outcome.code(), "done", "{report:?}");
    report
}

/// A job run over all organisations.
async fn run_job(fixture: &StoreFixture) -> Vec<JobReport> {
    fixture.clinic.time.advance(TimeDelta::days(1));
    let mut reports = Vec::new();
    for due in due(fixture).await {
        reports.push(run(fixture, due).await);
    }
    reports
}

async fn fixture(engine: TestEngine) -> StoreFixture {
    let mut fixture = StoreFixture::on(engine).await;
    fixture.scheduler = fixture.scheduler.with_models(embedder().into());
    fixture
}

/// Facts of every clinical table whose time ends without an act: by the rules, or by their producer.
fn what_ends() -> Vec<Value> {
    let texts = [
        "Cita con cardiología el 3 de julio de 2026. Refiere cefalea.",
        "Alérgico a la penicilina. Toma sertralina 50 mg al día. Tiene diabetes. Próxima cita el 4 de julio de 2026.",
    ];
    let mut documents: Vec<Value> =
        texts.iter().zip(101..).map(|(text, n)| document(n, 1, "2026-06-30T10:00:00Z", text)).collect();
    documents[1]["provenance"] = json!({"expires_at": "2026-07-05T10:00:00Z"});
    documents
}

async fn in_a_sound_store_there_is_nothing_to_make_right(engine: TestEngine) {
    let fixture = fixture(engine).await;
    feed(&fixture.pipeline, &samples(), 16).await;
    feed(&fixture.pipeline, &bodies(&what_ends()), 4).await;
    for days in [0, 1, 3, 8, 40] {
        fixture.clinic.time.advance(TimeDelta::days(days));
        // Every run that is due, in its order: what time does to a memory is no difference.
        let mut reports = fixture.scheduler.round().await.unwrap();
        reports.retain(|report| report.job == JobName::Reconciliation && report.outcome.code() == "done");
        reports.extend(run_job(&fixture).await);
        assert!(reports.iter().any(|report| report.examined > 0));
        for report in reports {
            let status = &report.status;
            assert_eq!((report.changed, &status["unfounded_memories"]), (0, &0.into()), "after {days}: {status}");
            assert_eq!((&status["unsearchable_documents"], &status["unreadable_patients"]), (&0.into(), &0.into()));
        }
    }
}

/// Work that waits for a lock on this server's database.
const WAITING: &str = "SELECT count(*) FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

#[tokio::test(flavor = "multi_thread")]
async fn what_others_change_while_a_page_is_compared_is_no_difference() {
    let fixture = fixture(TestEngine::Postgres).await;
    let StorePlace::Postgres(server) = &fixture.place else { unreachable!("asked for") };
    let texts =
        ["Alérgico a la penicilina. Toma sertralina 50 mg al día.", "Toma litio 400 mg al día. Tiene diabetes."];
    let documents: Vec<_> =
        texts.iter().zip(1..).map(|(text, n)| document(n, 1, "2026-06-20T10:00:00Z", text)).collect();
    feed(&fixture.pipeline, &bodies(&documents), 4).await;
    fixture.clinic.time.advance(TimeDelta::days(1));
    let due = due(&fixture).await.pop().unwrap();
    let (mut other, mut watcher) = (server.administrator().await, server.administrator().await);
    // Another transaction takes a memory away with all that belongs to it, and ends between two statements of the comparison.
    other.execute("BEGIN; LOCK TABLE anamnesis.medications IN ACCESS EXCLUSIVE MODE").await.unwrap();
    let meanwhile = async {
        let began = Instant::now();
        while sqlx::query_scalar::<_, i64>(WAITING).fetch_one(&mut watcher).await.unwrap() == 0 {
            assert!(began.elapsed() < Duration::from_secs(60), "the comparison never read the table");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        for table in
            ["allergies", "medications", "conditions", "memory_link", "memory_event", "memory", "extracted_findings"]
        {
            other.execute(AssertSqlSafe(format!("DELETE FROM anamnesis.{table}"))).await.unwrap();
        }
        other.execute("COMMIT").await.unwrap();
    };
    let (report, ()) = tokio::join!(fixture.scheduler.offer(due, Trigger::Manual), meanwhile);
    let report = report.unwrap();
    assert_eq!((report.outcome.code(), report.changed), ("done", 0), "{report:?}");
    for counter in ["unfounded_memories", "forged_rows"] {
        assert_eq!(report.status[counter], 0, "{counter}: {}", report.status);
    }
}

async fn what_was_damaged_is_derived_again_and_what_cannot_be_is_counted(engine: TestEngine) {
    let fixture = fixture(engine).await;
    let reported = [
        "Alérgico a la penicilina. Toma sertralina 50 mg al día.",
        "Refiere cefalea desde hace dos días. Alérgica al látex.",
        "Toma litio 400 mg al día. Tiene diabetes.",
    ];
    let documents: Vec<_> =
        reported.iter().zip(1..).map(|(text, n)| document(n, 1, "2026-06-20T10:00:00Z", text)).collect();
    feed(&fixture.pipeline, &bodies(&documents), 4).await;
    let whole = fixture.store().read().digest(None).await.unwrap();

    assert!(damage(&fixture, "DELETE FROM allergies").await > 1);
    assert!(damage(&fixture, "UPDATE medications SET status = 'stopped'").await > 1);
    assert!(
        damage(&fixture, "UPDATE memory SET confidence = 0.1, contested = 1 WHERE entity_type = 'condition'").await > 0
    );
    assert!(damage(&fixture, "DELETE FROM memory WHERE entity_type = 'symptom'").await > 0);
    assert!(damage(&fixture, "UPDATE embedding SET generation = 9").await > 2);
    assert_eq!(damage(&fixture, "UPDATE organization SET vector_generation = 1").await, 1);
    let damaged = fixture.store().read().digest(None).await.unwrap();

    fixture.clinic.time.advance(TimeDelta::days(1));
    let due = due(&fixture).await.pop().unwrap();
    let preview = fixture.scheduler.preview(due).await.unwrap();
    assert_eq!(fixture.store().read().digest(None).await.unwrap(), damaged, "a preview writes nothing");
    let report = run(&fixture, due).await;
    assert_eq!(preview.status, report.status, "a preview tells what the run does");
    for counter in ["memories", "clinical_rows", "passages_without_vector", "stray_vectors"] {
        assert!(report.status[counter].as_u64().unwrap() > 0, "{counter}: {}", report.status);
    }
    let again = run(&fixture, due).await;
    assert_eq!(count(fixture.store(), "SELECT count(*) FROM embedding").await, 0, "vectors of no generation are gone");
    assert_eq!((again.changed, again.examined), (0, 1), "{:?}", again.status);

    // The embedding job makes the vectors.
    fixture.clinic.time.advance(TimeDelta::days(1));
    let batch =
        fixture.scheduler.due().await.unwrap().into_iter().rfind(|due| due.key.job == JobName::EmbedBatch).unwrap();
    run(&fixture, batch).await;
    let mended = fixture.store().read().digest(None).await.unwrap();
    for table in
        ["memory", "allergies", "medications", "conditions", "symptom_states", "embedding", "memory_link", "outbox"]
    {
        assert_eq!(mended.tables[table], whole.tables[table], "{table}");
    }
    assert_eq!(count(fixture.store(), "SELECT count(*) FROM passage WHERE embedding_pending = 1").await, 0);

    // A memory without its log: it cannot be derived, and it is not removed.
    assert!(damage(&fixture, "DELETE FROM extracted_findings WHERE entity_type = 'medication'").await > 1);
    let memories = count(fixture.store(), "SELECT count(*) FROM memory").await;
    let report = run_job(&fixture).await.pop().unwrap();
    assert!(report.status["unfounded_memories"].as_u64().unwrap() > 1, "{}", report.status);
    assert_eq!(count(fixture.store(), "SELECT count(*) FROM memory").await, memories);
}

async fn a_run_compares_all_patients_however_small_its_pages_are(engine: TestEngine) {
    let mut fixture = fixture(engine).await;
    let mut documents = Vec::new();
    for patient in 1..=5u128 {
        let mut reported = document(patient, 1, "2026-06-20T10:00:00Z", "Alérgico a la penicilina.");
        reported["patient_id"] =
            uuid::Uuid::from_u128(0xfeed_0000_0000_4000_8000_0000_0000_0000 + patient).to_string().into();
        documents.push(reported);
    }
    feed(&fixture.pipeline, &bodies(&documents), 8).await;
    fixture.scheduler.policies.reconciliation.run.batch_size = 1;
    fixture.clinic.time.advance(TimeDelta::days(1));
    for _ in 0..2 {
        assert_eq!(damage(&fixture, "DELETE FROM allergies").await, 5);
        fixture.clinic.time.advance(TimeDelta::days(1));
        let latest = due(&fixture).await.pop().unwrap();
        let report = run(&fixture, latest).await;
        assert_eq!((report.examined, report.status["clinical_rows"].as_u64()), (5, Some(5)), "{}", report.status);
    }
}

/// Five patients with an allergy and an illness each.
async fn five_patients(fixture: &StoreFixture) {
    let mut documents = Vec::new();
    for patient in 1..=5u128 {
        let mut note = document(patient, 1, "2026-06-20T10:00:00Z", "Alérgico a la penicilina. Tiene diabetes.");
        note["patient_id"] =
            uuid::Uuid::from_u128(0xfeed_0000_0000_4000_8000_0000_0000_0000 + patient).to_string().into();
        documents.push(note);
    }
    feed(&fixture.pipeline, &bodies(&documents), 8).await;
    fixture.clinic.time.advance(TimeDelta::days(1));
}

async fn a_patient_whose_rows_do_not_open_is_counted_and_keeps_no_other_from_being_compared(engine: TestEngine) {
    let fixture = fixture(engine).await;
    five_patients(&fixture).await;
    // The lowest id, which is compared first.
    let first = "WHERE patient_id = (SELECT patient_id FROM patient_profile ORDER BY patient_id LIMIT 1)";
    let sealed = format!("UPDATE extracted_findings SET payload_sealed = evidence_sealed {first}");
    assert!(damage(&fixture, String::leak(sealed)).await > 0);
    assert_eq!(damage(&fixture, "DELETE FROM allergies").await, 5);
    // The first of the runs that are due.
    let status = run_job(&fixture).await.remove(0).status;
    assert!(status["forged_rows"].as_u64().unwrap() > 0, "{status}");
    assert_eq!(status["clinical_rows"], 4, "the others are compared and repaired: {status}");
}

async fn a_run_that_was_made_up_or_moved_on_is_begun_anew(engine: TestEngine) {
    let fixture = fixture(engine).await;
    five_patients(&fixture).await;
    run_job(&fixture).await;
    let made_up = Sql::new(
        "INSERT INTO job_run (org_id, job, as_of, cutoff_at, state, owner, fence, attempts, wake_at, cursor, status, started_at, \
         finished_at, created_at, updated_at) SELECT org_id, job, $1, cutoff_at + 86400000000, $2, owner, 3, 0, 1, $3, $4, 1, NULL, 1, 1 \
         FROM job_run WHERE job = 'reconciliation' ORDER BY as_of DESC LIMIT 1",
    );
    for (state, cursor) in [("done", None), ("partial", Some("{\"after\":\"ffffffff-ffff-4fff-bfff-ffffffffffff\"}"))] {
        fixture.clinic.time.advance(TimeDelta::days(1));
        let due = due(&fixture).await.pop().unwrap();
        let status = "{\"forged_rows\":-9}";
        let args = vec![due.key.as_of.to_string().into(), state.into(), cursor.into(), status.into()];
        let mut tx = fixture.store().db().begin(Access::Organization(OrgId(ORG))).await.unwrap();
        assert_eq!(tx.execute(&made_up, args).await.unwrap(), 1);
        tx.commit().await.unwrap();
        assert_eq!(damage(&fixture, "DELETE FROM allergies").await, 5);
        let report = fixture.scheduler.offer(due, Trigger::Scheduled).await.unwrap();
        assert_eq!((report.outcome.code(), report.examined), ("done", 5), "{state}: {}", report.status);
        assert_eq!(report.status["clinical_rows"], 5, "{state}");
        let census = fixture.store().stats().collect_stats().await.unwrap();
        assert_eq!((census.forged_rows, census.repaired_rows), (0, 5), "{state}: what was made up says nothing");
    }
}

async fn hidden_differences_after_other_rows_are_found(engine: TestEngine) {
    let fixture = fixture(engine).await;
    five_patients(&fixture).await;
    let calm = run_job(&fixture).await.pop().unwrap().status;
    assert_eq!((calm["forged_rows"].as_u64(), calm["clinical_rows"].as_u64()), (Some(0), Some(0)), "{calm}");
    // A second clinical row of one memory.
    let hidden = "INSERT INTO conditions (org_id, patient_id, memory_id, name_sealed, status, experiencer, trust, set_by, since, created_at, \
                  updated_at) SELECT org_id, patient_id, memory_id, substance_sealed, 'active', 'patient', 1, 'clinician', since, 1, 1 \
                  FROM allergies";
    assert_eq!(damage(&fixture, hidden).await, 5);
    let status = run_job(&fixture).await.pop().unwrap().status;
    assert_eq!(status["clinical_rows"], 5, "{status}");
    assert_eq!(count(fixture.store(), "SELECT count(*) FROM conditions").await, 5, "the made-up rows are gone");
    // A raw capture that names another person.
    assert!(damage(&fixture, "UPDATE memory SET experiencer = 'family' WHERE kind = 'raw'").await > 0);
    let status = run_job(&fixture).await.pop().unwrap().status;
    assert!(status["forged_rows"].as_u64().unwrap() > 0, "{status}");
}

async fn a_model_that_was_changed_in_place_gets_its_vectors_by_job_runs_and_nothing_is_lost(engine: TestEngine) {
    let mut fixture = fixture(engine).await;
    feed(&fixture.pipeline, &bodies(&[document(1, 1, "2026-06-20T10:00:00Z", "Refiere cefalea.")]), 1).await;
    let old = count(fixture.store(), "SELECT count(*) FROM embedding WHERE generation = 1").await;
    assert!(old > 0);
    fixture.scheduler = fixture.scheduler.with_models(model(5, "").into());
    let status = run_job(&fixture).await.pop().unwrap().status;
    assert_eq!((status["passages_without_vector"].as_i64(), status["stray_vectors"].as_i64()), (Some(old), Some(0)));
    fixture.clinic.time.advance(TimeDelta::days(1));
    let batch =
        fixture.scheduler.due().await.unwrap().into_iter().rfind(|due| due.key.job == JobName::EmbedBatch).unwrap();
    run(&fixture, batch).await;
    for generation in
        ["SELECT count(*) FROM embedding WHERE generation = 1", "SELECT count(*) FROM embedding WHERE generation = 5"]
    {
        assert_eq!(count(fixture.store(), generation).await, old);
    }
}
