//! Changes of a job run: at the boundary and not before, once, for any trigger.

use anamnesis_core::clock::{Clock as _, micros};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::KeyStore as _;
use anamnesis_jobs::JobName;
use anamnesis_jobs::driver::JobOutcome;
use anamnesis_jobs::ledger::Trigger;
use anamnesis_sql::Sql;
use anamnesis_store::outbox;
use chrono::TimeDelta;

use super::app::{JobFixture, ORG, count, patient, run, undisturbed, utc};

#[tokio::test]
async fn every_time_driven_row_of_the_state_table_moves_at_its_boundary_and_no_other() {
    let fixture = JobFixture::new().await;
    fixture.seed(3).await;
    let report = run(&fixture.scheduler("a").build(), fixture.due(JobName::Expiry, "2026-03-10")).await;
    assert_eq!(report.outcome, JobOutcome::Done);
    assert_eq!(count(&report, "resolved_unconfirmed"), 6);
    assert_eq!(count(&report, "expired"), 6);
    assert_eq!(count(&report, "stale"), 3);
    let expected: &[(&str, usize)] = &[
        ("event active", 3),
        ("event inactive", 3),
        ("health_signal active", 3),
        ("health_signal stale", 3),
        ("inference active", 3),
        ("inference expired", 3),
        ("long_lived_fact active", 3),
        ("pattern active", 6),
        ("preference expired", 3),
        ("time_bound_state active", 9),
        ("time_bound_state resolved_unconfirmed", 6),
    ];
    let states = fixture.states().await;
    assert_eq!(states, expected.iter().map(|(state, n)| ((*state).to_owned(), *n)).collect());
    // The state holds since its boundary, not since the job ran; log, clinical rows and events agree.
    assert_eq!(fixture.rows("SELECT 'x' FROM memory WHERE state <> 'active' AND state_at = valid_to").await.len(), 15);
    assert_eq!(fixture.rows("SELECT 'x' FROM memory_event e JOIN memory m ON m.id = e.memory_id AND m.patient_id = e.patient_id WHERE e.at = m.state_at AND e.action = m.state").await.len(), 15);
    assert_eq!(fixture.rows("SELECT 'x' FROM outbox WHERE event_type = 'anamnesis.memory.changed.v1'").await.len(), 15);
    assert_eq!(fixture.rows("SELECT 'x' FROM symptom_states s JOIN memory m ON m.id = s.memory_id AND m.patient_id = s.patient_id WHERE m.state <> s.status").await.len(), 0);
    assert_eq!(fixture.rows("SELECT 'x' FROM health_signals s JOIN memory m ON m.id = s.memory_id AND m.patient_id = s.patient_id WHERE m.state <> s.status").await.len(), 0);
}

/// This app has no statements of people: nothing is to be summarised, recurs or is embedded, and no source is to be
/// removed.
const IDLE: [JobName; 8] = [
    JobName::Summaries,
    JobName::Consolidation,
    JobName::Retention,
    JobName::EmbedBatch,
    JobName::ConfidenceAnalytics,
    JobName::CohortPatterns,
    JobName::Reembedding,
    JobName::Reconciliation,
];

#[tokio::test]
async fn a_second_run_changes_nothing_for_any_trigger() {
    let fixture = JobFixture::new().await;
    fixture.seed(3).await;
    let scheduler = fixture.scheduler("a").build();
    for job in JobName::ALL {
        let due = fixture.due(*job, "2026-03-10");
        fixture.clock.set(due.cutoff);
        let changed = run(&scheduler, due).await.changed;
        assert_eq!(changed > 0, !IDLE.contains(job));
        let digest = fixture.digest().await;
        assert_eq!(run(&scheduler, due).await.outcome, JobOutcome::AlreadyDone);
        let again = scheduler.offer(due, Trigger::Manual).await.unwrap();
        assert_eq!((again.outcome, again.changed), (JobOutcome::Done, 0));
        assert_eq!(fixture.digest().await, digest);
    }
    let kept = fixture.ledger().await.iter().any(|run| run.contains("\"resolved_unconfirmed\":6"));
    assert!(kept, "the night's totals survive a repetition");
}

#[tokio::test]
async fn a_question_is_asked_once_per_cycle() {
    let fixture = JobFixture::new().await;
    fixture.seed(2).await;
    let scheduler = fixture.scheduler("a").build();
    let due = fixture.due(JobName::Reconfirmation, "2026-03-10");
    fixture.clock.set(due.cutoff);
    // Per patient: the two of 48 hours (the run is twenty minutes after the boundary) and the two of seven days. Of
    // these, one ended before the run and one is open until the cutoff of the expiry run.
    let first = run(&scheduler, due).await;
    assert_eq!(count(&first, "asked"), 4);
    for date in ["2026-03-11", "2026-03-12"] {
        let due = fixture.due(JobName::Reconfirmation, date);
        fixture.clock.set(due.cutoff);
        assert_eq!(count(&run(&scheduler, due).await, "asked"), 0, "{date}");
    }
    let asked = "SELECT 'x' FROM outbox WHERE event_type = 'anamnesis.reconfirmation.due.v1'";
    assert_eq!(fixture.rows(asked).await.len(), 4);
    assert_eq!(
        fixture.rows("SELECT 'x' FROM memory WHERE reconfirm_due_at = last_confirmed_at + 172800000000").await.len(),
        4
    );

    // A confirmation begins another cycle, and two days later another question.
    let mut tx = fixture.begin().await;
    let confirmed = utc("2026-03-12T12:00:00Z");
    let confirm = Sql::new(
        "UPDATE memory SET cycle = cycle + 1, last_confirmed_at = $1, expires_at = $1 + 604800000000, reconfirm_due_at = NULL WHERE reconfirm_due_at IS NOT NULL",
    );
    tx.execute(&confirm, vec![confirmed.into()]).await.unwrap();
    tx.commit().await.unwrap();
    let due = fixture.due(JobName::Reconfirmation, "2026-03-15");
    fixture.clock.set(due.cutoff);
    assert_eq!(count(&run(&scheduler, due).await, "asked"), 4);
    assert_eq!(fixture.rows(asked).await.len(), 8);
}

#[tokio::test]
async fn events_hold_ids_and_codes_and_open_under_the_patients_key_only() {
    let fixture = JobFixture::new().await;
    fixture.seed(1).await;
    run(&fixture.scheduler("a").build(), fixture.due(JobName::Expiry, "2026-03-10")).await;
    let keys = fixture.keys.known(&[Scope::new(ORG, patient(0)).unwrap()]).await.unwrap();
    let keys = keys.values().next().unwrap();
    let mut tx = fixture.begin().await;
    let rows = tx
        .fetch_all(&Sql::new("SELECT id, body_sealed FROM outbox WHERE published_at IS NULL"), Vec::new())
        .await
        .unwrap();
    for row in rows {
        let (id, sealed) = (row.uuid(0).unwrap(), row.blob(1).unwrap());
        let body: serde_json::Value =
            serde_json::from_slice(&keys.open(outbox::body_cell(id), &sealed).unwrap()).unwrap();
        let fields: Vec<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(fields, ["change", "class", "kind", "memory_id", "organization_id", "patient_id", "state"]);
        assert_eq!(body["patient_id"], patient(0).0.to_string());
    }
}

#[tokio::test]
async fn a_preview_reports_what_a_run_will_do_and_writes_nothing() {
    let fixture = JobFixture::new().await;
    fixture.seed(3).await;
    let scheduler = fixture.scheduler("a").build();
    let before = fixture.digest().await;
    let due = fixture.due(JobName::Expiry, "2026-03-10");
    let preview = scheduler.preview(due).await.unwrap();
    assert_eq!(fixture.digest().await, before);
    assert!(fixture.ledger().await.is_empty());
    let report = run(&scheduler, due).await;
    assert_eq!(preview.outcome, JobOutcome::Preview);
    assert_eq!(preview.status, report.status);
}

#[tokio::test]
async fn a_late_run_leaves_what_a_punctual_one_would_have_left() {
    let punctual = undisturbed(4).await;
    let fixture = JobFixture::new().await;
    fixture.seed(4).await;
    fixture.clock.set(utc("2026-03-19T21:00:00Z"));
    let scheduler = fixture.scheduler("late").build();
    for job in JobName::ALL {
        let report = scheduler.offer(fixture.due(*job, "2026-03-10"), Trigger::Manual).await.unwrap();
        assert_eq!(report.outcome, JobOutcome::Done);
    }
    assert_eq!(fixture.digest().await, punctual);
}

#[tokio::test]
async fn missed_runs_are_made_up_one_by_one_and_end_like_punctual_ones() {
    let (punctual, late) = (JobFixture::new().await, JobFixture::new().await);
    punctual.seed(2).await;
    late.seed(2).await;
    let mut now = utc("2026-03-08T00:00:00Z");
    let scheduler = punctual.scheduler("punctual").build();
    while now <= utc("2026-03-18T00:00:00Z") {
        punctual.clock.set(now);
        scheduler.round().await.unwrap();
        now += TimeDelta::minutes(97);
    }
    late.clock.set(utc("2026-03-17T23:59:00Z"));
    let reports = late.scheduler("late").build().round().await.unwrap();
    assert!(reports.is_sorted_by_key(|report| report.cutoff));
    assert!(reports.len() >= 20, "ten daily runs of two jobs");
    assert_eq!(late.digest().await, punctual.digest().await);
    assert!(late.scheduler("again").build().round().await.unwrap().is_empty(), "all settled, known from the ledger");
}

#[tokio::test]
async fn another_organisations_rows_stay_as_they_are() {
    let fixture = JobFixture::new().await;
    fixture.seed(1).await;
    let mut tx = fixture.begin().await;
    let copy = [
        "INSERT INTO organization (org_id, time_zone, redaction_policy, consent_required, created_at, updated_at, privacy_tier, country) SELECT x'0000000000000000000000000000000B', time_zone, redaction_policy, consent_required, created_at, updated_at, privacy_tier, country FROM organization",
        "CREATE TEMP TABLE twin AS SELECT * FROM patient_profile",
        "UPDATE twin SET org_id = x'0000000000000000000000000000000B'",
        "INSERT INTO patient_profile SELECT * FROM twin",
        "CREATE TEMP TABLE twins AS SELECT * FROM memory",
        "UPDATE twins SET org_id = x'0000000000000000000000000000000B'",
        "INSERT INTO memory SELECT * FROM twins",
    ];
    for statement in copy {
        tx.execute(&Sql::new(statement), Vec::new()).await.unwrap();
    }
    tx.commit().await.unwrap();
    run(&fixture.scheduler("a").build(), fixture.due(JobName::Expiry, "2026-03-10")).await;
    let moved = "SELECT hex(org_id) FROM memory WHERE state NOT IN ('active', 'inactive') GROUP BY org_id";
    assert_eq!(fixture.rows(moved).await, [hex::encode_upper(ORG.0.as_bytes())]);
    assert!(micros(fixture.clock.now()) > 0);
}
