//! Nothing is stored for ever: data are removed at the end of their term, on each engine, on a server as the role of
//! the jobs.

use anamnesis_core::finding::EntityType;
use anamnesis_core::ids::{DocumentId, OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_jobs::JobName;
use anamnesis_jobs::driver::JobReport;
use anamnesis_pipeline::erasure::{ErasureOutcome, erase};
use anamnesis_sql::{Access, Sql};
use anamnesis_store::erasure::{ErasureRequest, ErasureSubject};
use anamnesis_store::read::{MemoryFilter, ReadInstant};
use serde_json::{Value, json};
use uuid::Uuid;

use super::fixture::StoreFixture;
use crate::support::{ORG, TestEngine, count, document, event, on_every_engine, rows, scope};

on_every_engine!(
    a_patient_without_activity_for_the_term_is_erased_and_an_active_or_held_one_is_not,
    any_word_from_or_about_a_patient_begins_the_term_anew,
    an_archived_text_goes_after_its_term_unless_a_hold_keeps_it,
    what_is_known_of_runs_holds_erasures_messages_and_groups_goes_after_its_term,
);

const TERM: i64 = 9_497;

fn scope_of_patient(patient: u128) -> Scope {
    Scope::new(OrgId(ORG), PatientId(Uuid::from_u128(patient))).unwrap()
}

fn note(id: u128, patient: Scope, at: &str) -> Value {
    let mut note = document(id, 1, at, "Toma sertralina 50 mg al día. Es alérgica a la penicilina.");
    note["patient_id"] = json!(patient.patient().0);
    note
}

fn figure(report: &JobReport, counter: &str) -> u64 {
    report.status[counter].as_u64().unwrap_or_else(|| panic!("no {counter} in {}", report.status))
}

async fn rows_of(fixture: &StoreFixture, scope: Scope) -> u64 {
    fixture.store().erasure().rows_of_patient(scope).await.unwrap().values().sum()
}

/// A worker's handling of started erasures.
async fn completed(fixture: &StoreFixture) -> usize {
    let open = fixture.store().erasure().open_erasures(OrgId(ORG)).await.unwrap();
    for one in &open {
        assert!(matches!(
            erase(fixture.store(), &one.request).await.unwrap(),
            ErasureOutcome::Erased(_) | ErasureOutcome::Before(_)
        ));
        fixture.store().erasure().end_erasure_of_files(&one.request).await.unwrap();
    }
    open.len()
}

async fn a_patient_without_activity_for_the_term_is_erased_and_an_active_or_held_one_is_not(engine: TestEngine) {
    let fixture = StoreFixture::on(engine).await;
    let (heard_of, held, by) = (scope_of_patient(0xb1), scope_of_patient(0xb2), Uuid::from_u128(7));
    let all = [scope(), heard_of, held];
    let notes: Vec<Value> = (1..).zip(all).map(|(id, who)| note(id, who, "2026-06-20T10:00:00Z")).collect();
    fixture.ingest(&notes).await;
    let hold = fixture.store().erasure().set_hold(held, None, None, by).await.unwrap().unwrap();
    let early = fixture.after(4_000, JobName::Retention).await;
    assert_eq!((figure(&early, "records_ended"), figure(&early, "records_held")), (0, 0));
    fixture.ingest(&[note(9, heard_of, "2037-06-01T10:00:00Z")]).await;
    assert_eq!(figure(&fixture.after(TERM - 4_001, JobName::Retention).await, "records_ended"), 0, "a day too early");
    let report = fixture.after(2, JobName::Retention).await;
    assert_eq!((figure(&report, "records_ended"), figure(&report, "records_held")), (1, 1));
    assert_eq!(count(fixture.store(), "SELECT count(*) FROM action_audit WHERE action = 'record_ended'").await, 1);
    assert_eq!(completed(&fixture).await, 1);
    assert_eq!(rows_of(&fixture, scope()).await, 0);
    assert!(rows_of(&fixture, heard_of).await > 0 && rows_of(&fixture, held).await > 0);
    let receipt = &fixture.store().erasure().erasures(scope()).await.unwrap()[0];
    assert!(receipt.done_at.is_some() && receipt.counts["documents"] == 1, "{receipt:?}");
    let next = fixture.after(1, JobName::Retention).await;
    assert_eq!((figure(&next, "records_ended"), figure(&next, "records_held"), next.changed), (0, 1, 0));
    // A released hold protects no patient.
    assert!(fixture.store().erasure().lift_hold(held, hold, by).await.unwrap());
    assert_eq!(figure(&fixture.after(1, JobName::Retention).await, "records_ended"), 1);
    completed(&fixture).await;
    assert_eq!(rows_of(&fixture, held).await, 0);
    assert!(rows_of(&fixture, heard_of).await > 0);
}

async fn any_word_from_or_about_a_patient_begins_the_term_anew(engine: TestEngine) {
    let fixture = StoreFixture::on(engine).await;
    let all: Vec<Scope> = (0xc1..=0xc5).map(scope_of_patient).collect();
    let notes: Vec<Value> = (1..).zip(&all).map(|(id, who)| note(id, *who, "2026-06-20T10:00:00Z")).collect();
    fixture.ingest(&notes).await;
    fixture.after(5_000, JobName::Retention).await;
    let (by, at) = (Uuid::from_u128(9), "2037-06-10T10:00:00Z");
    let said = |who: Scope, more: Value| {
        let mut said = json!({"organization_id": ORG, "patient_id": who.patient().0});
        said.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        said
    };
    let filter = MemoryFilter { entities: vec![EntityType::Allergy], ..MemoryFilter::default() };
    let memory = fixture.store().read().memories(all[1], &filter, ReadInstant::Now).await.unwrap()[0].id;
    fixture
        .ingest(&[
            event(
                "profile",
                "anamnesis.profile.updated.v1",
                &said(all[0], json!({"actor": by, "recorded_at": at, "region": "ES"})),
            ),
            event(
                "confirm",
                "anamnesis.memory.command.v1",
                &said(
                    all[1],
                    json!({"command": "confirm", "memory_ids": [memory], "issued_at": at,
                "actor": {"id": all[1].patient().0, "role": "patient"}}),
                ),
            ),
            event(
                "consent",
                "anamnesis.consent.recorded.v1",
                &said(all[2], json!({"scope": "memory", "provision": "permit", "from": at, "recorded_by": by})),
            ),
            event(
                "signal",
                "anamnesis.health_signal.recorded.v1",
                &said(
                    all[3],
                    json!({"metric": "steps", "value": 4000.0, "unit": "count", "device": "watch", "synced_at": at}),
                ),
            ),
        ])
        .await;
    // Ids of messages are long deleted by then; only their results show that they arrived.
    fixture.after(5_000, JobName::Upkeep).await;
    assert_eq!(count(fixture.store(), "SELECT count(*) FROM inbox").await, 0);
    assert_eq!(
        figure(&fixture.after(0, JobName::Retention).await, "records_ended"),
        1,
        "of the fifth alone nothing came"
    );
    completed(&fixture).await;
    for who in &all[..4] {
        assert!(rows_of(&fixture, *who).await > 0, "{who:?}");
    }
    assert_eq!(rows_of(&fixture, all[4]).await, 0);
    assert_eq!(figure(&fixture.after(TERM, JobName::Retention).await, "records_ended"), 4);
}

async fn an_archived_text_goes_after_its_term_unless_a_hold_keeps_it(engine: TestEngine) {
    let fixture = StoreFixture::on(engine).await;
    let (held, by) = (scope_of_patient(0xb2), Uuid::from_u128(7));
    fixture.ingest(&[note(1, scope(), "2026-06-20T10:00:00Z"), note(2, held, "2026-06-20T10:00:00Z")]).await;
    for who in [scope(), held] {
        let tier = json!({"organization_id": ORG, "patient_id": who.patient().0, "actor": by,
            "recorded_at": "2026-06-21T10:00:00Z", "privacy_tier": "cold archive"});
        fixture.ingest(&[event(&format!("tier {who:?}"), "anamnesis.profile.updated.v1", &tier)]).await;
    }
    assert_eq!(figure(&fixture.after(370, JobName::Retention).await, "archived"), 2);
    let document = Some(DocumentId(Uuid::from_u128(2)));
    fixture.store().erasure().set_hold(held, document, None, by).await.unwrap().unwrap();
    assert_eq!(figure(&fixture.after(TERM - 2, JobName::Upkeep).await, "archives"), 0, "too early");
    assert_eq!(figure(&fixture.after(4, JobName::Upkeep).await, "archives"), 1);
    assert!(fixture.store().erasure().archived(scope()).await.unwrap().is_empty());
    assert_eq!(fixture.store().erasure().archived(held).await.unwrap().len(), 1);
    let states = rows(fixture.store(), "SELECT retention_state FROM documents ORDER BY document_id").await;
    let states: Vec<String> = states.iter().map(|row| row.text(0).unwrap()).collect();
    assert_eq!(states, ["source_dropped", "archived"]);
}

async fn what_is_known_of_runs_holds_erasures_messages_and_groups_goes_after_its_term(engine: TestEngine) {
    let fixture = StoreFixture::on(engine).await;
    let by = Uuid::from_u128(7);
    fixture.ingest(&[note(1, scope(), "2026-06-20T10:00:00Z"), note(2, scope(), "2026-06-21T10:00:00Z")]).await;
    let hold = fixture.store().erasure().set_hold(scope(), None, None, by).await.unwrap().unwrap();
    fixture.store().erasure().lift_hold(scope(), hold, by).await.unwrap();
    let open = fixture.store().erasure().set_hold(scope(), None, None, by).await.unwrap().unwrap();
    fixture.store().erasure().lift_hold(scope(), open, by).await.unwrap();
    let request = ErasureRequest {
        scope: scope(),
        id: Uuid::from_u128(0xe1),
        subject: ErasureSubject::Document(DocumentId(Uuid::from_u128(2))),
        requested_by: by,
        requested_at: "2026-07-01T12:00:00Z".parse().unwrap(),
    };
    assert!(matches!(erase(fixture.store(), &request).await.unwrap(), ErasureOutcome::Erased(_)));
    fixture.store().erasure().end_erasure_of_files(&request).await.unwrap();
    let mut tx = fixture.store().db().begin(Access::Organization(OrgId(ORG))).await.unwrap();
    let pattern = Sql::new(
        "INSERT INTO cohort_pattern (org_id, month, dimension, value, patients, created_at, updated_at) \
         VALUES ($1, '2026-05', 'condition', 'anxiety', 12, $2, $2)",
    );
    tx.execute(&pattern, vec![ORG.into(), request.requested_at.into()]).await.unwrap();
    tx.commit().await.unwrap();
    // One that is set now stays, however long it is in force.
    fixture.store().erasure().set_hold(scope(), None, None, by).await.unwrap().unwrap();
    let held = async |table: &'static str| match table {
        "runs" => count(fixture.store(), "SELECT count(*) FROM job_run WHERE as_of < '2027'").await,
        "holds" => count(fixture.store(), "SELECT count(*) FROM legal_hold").await,
        "receipts" => count(fixture.store(), "SELECT count(*) FROM erasure").await,
        "patterns" => count(fixture.store(), "SELECT count(*) FROM cohort_pattern").await,
        "messages" => count(fixture.store(), "SELECT count(*) FROM inbox").await,
        _ => count(fixture.store(), "SELECT count(*) FROM outbox WHERE published_at IS NOT NULL").await,
    };
    let published = Sql::new("UPDATE outbox SET published_at = $1");
    let mut tx = fixture.store().db().begin(Access::Organization(OrgId(ORG))).await.unwrap();
    tx.execute(&published, vec![request.requested_at.into()]).await.unwrap();
    tx.commit().await.unwrap();
    fixture.after(1, JobName::Expiry).await;
    let (messages, events) = (held("messages").await, held("events").await);
    assert!(messages > 0 && events > 0, "{messages} {events}");
    fixture.after(88, JobName::Upkeep).await;
    assert_eq!((held("messages").await, held("events").await), (messages, events), "not yet ninety days");
    fixture.after(3, JobName::Upkeep).await;
    assert_eq!((held("messages").await, held("events").await), (0, 0));
    assert!(held("runs").await > 0);
    fixture.after(400, JobName::Upkeep).await;
    assert_eq!(held("runs").await, 0, "a year and more");
    assert_eq!(held("holds").await, 3);
    let report = fixture.after(2_192 - 493, JobName::Upkeep).await;
    assert_eq!((figure(&report, "holds"), held("holds").await), (0, 3), "a day too early");
    let report = fixture.after(2, JobName::Upkeep).await;
    assert_eq!((figure(&report, "holds"), held("holds").await), (2, 1), "those that were lifted");
    assert_eq!((held("receipts").await, held("patterns").await), (1, 1));
    let report = fixture.after(TERM - 2_192, JobName::Upkeep).await;
    assert_eq!((figure(&report, "receipts"), figure(&report, "patterns")), (1, 1));
    assert_eq!((held("receipts").await, held("patterns").await), (0, 0));
}
