//! Quarantined messages: sealed for their patient if one is known, shown redacted, stored only for a term.

use anamnesis_core::ids::PatientId;
use anamnesis_core::scope::Scope;
use anamnesis_pipeline::erasure::{ErasureOutcome, erase};
use anamnesis_sql::{Access, Sql};
use anamnesis_store::Store;
use anamnesis_store::erasure::{ErasureRequest, ErasureSubject};
use anamnesis_store::quarantine::{ContentView, QuarantineAction, QuarantinedContent};
use serde_json::{Value, json};
use uuid::Uuid;

use super::support::{
    Clinic, ORG, PATIENT, Program, TestEngine, bodies, count, document, feed, on_every_engine, on_every_program, rows,
    scope,
};

on_every_engine!(a_message_is_quarantined_under_the_key_of_its_patient_and_no_key_is_made_for_it);
on_every_program!(
    quarantined_messages_are_shown_redacted_and_raw_only_on_the_record,
    the_content_of_a_quarantined_message_goes_after_thirty_days_and_its_row_after_a_year,
);

const TEXT: &str = "Soy Zuriñe Etxeandia, mi teléfono es 612 345 678 y tomo sertralina.";
const SEALED: &str = "SELECT count(*) FROM quarantine WHERE body_sealed IS NOT NULL";

fn broken(id: u128, patient: Uuid) -> Value {
    let mut broken = document(id, 1, "2026-06-20T10:00:00Z", "");
    broken["patient_id"] = json!(patient);
    broken["text"] = json!(5);
    broken["turns"] = json!([{"speaker": "patient", "text": TEXT}]);
    broken
}

async fn held(store: &Store, id: Uuid) -> Option<QuarantinedContent> {
    store.quarantined().open_message(id, "test", QuarantineAction::Shown(ContentView::Raw)).await.unwrap().unwrap().1
}

async fn a_message_is_quarantined_under_the_key_of_its_patient_and_no_key_is_made_for_it(engine: TestEngine) {
    let clinic = Clinic::on(engine).await;
    let pipeline = clinic.pipeline().await;
    let store = pipeline.store();
    let stranger = Scope::new(scope().org(), PatientId(Uuid::from_u128(0xbeef))).unwrap();
    feed(&pipeline, &bodies(&[document(1, 1, "2026-06-20T10:00:00Z", "Duerme mal.")]), 1).await;
    let unread = [b"no JSON at all".to_vec(), b"{\"patient_id\": \"?\"}".to_vec()];
    feed(&pipeline, &[bodies(&[broken(2, PATIENT), broken(3, stranger.patient().0)]), unread.to_vec()].concat(), 4)
        .await;
    assert_eq!(count(store, SEALED).await, 4);
    let own = rows(
        store,
        "SELECT id, key_org_id, key_patient_id, body_sealed FROM quarantine WHERE key_patient_id IS NOT NULL",
    )
    .await;
    let named: Vec<(Uuid, Uuid)> = own.iter().map(|row| (row.uuid(1).unwrap(), row.uuid(2).unwrap())).collect();
    assert_eq!(named, [(ORG, PATIENT)], "the patient who is known, and nobody else");
    let found = store.keys().find(&[stranger]).await.unwrap();
    assert_eq!(found.unknown(&[stranger]), [stranger], "a broken message makes nobody known");
    let ids = rows(store, "SELECT id FROM quarantine").await;
    for id in &ids {
        assert!(held(store, id.uuid(0).unwrap()).await.is_some(), "all of them open");
    }

    let (id, sealed) = (own[0].uuid(0).unwrap(), own[0].blob(3).unwrap());
    let request = ErasureRequest {
        scope: scope(),
        id: Uuid::from_u128(0xe1),
        subject: ErasureSubject::Patient,
        requested_by: Uuid::from_u128(7),
        requested_at: "2026-06-21T12:00:00Z".parse().unwrap(),
    };
    let ErasureOutcome::Erased(receipt) = erase(store, &request).await.unwrap() else { panic!("not erased") };
    assert_eq!(receipt.counts.get("quarantine"), Some(&1), "{receipt:?}");
    assert_eq!(count(store, SEALED).await, 3, "the others stay");
    // As a database backup restores it: the key is destroyed, and so is the content.
    let mut tx = store.db().begin(Access::Platform).await.unwrap();
    let back = Sql::new("UPDATE quarantine SET body_sealed = $2 WHERE id = $1");
    assert_eq!(tx.execute(&back, vec![id.into(), sealed.into()]).await.unwrap(), 1);
    tx.commit().await.unwrap();
    assert!(held(store, id).await.is_none(), "nobody can read it any more");
    assert_eq!(
        store.erasure().rows_of_patient(scope()).await.unwrap().get("quarantine"),
        Some(&1),
        "the verify pass sees it"
    );
}

fn verb(program: &Program, more: &[(&str, &str)], arguments: &[&str]) -> String {
    let output = program.command(more).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn listed(program: &Program, more: &[(&str, &str)]) -> Vec<Value> {
    let printed = verb(program, more, &["quarantine", "list", "--state", "all", "--output", "json"]);
    printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

async fn quarantined_messages_are_shown_redacted_and_raw_only_on_the_record(engine: TestEngine) {
    let program = Program::on(engine).await;
    program.ingest(&bodies(&[document(1, 1, "2026-06-20T10:00:00Z", "Duerme mal."), broken(2, PATIENT)]), &[]);
    let id = listed(&program, &[])[0]["id"].as_str().unwrap().to_owned();
    let show = |more: &[&str]| -> Value {
        let arguments = [&["quarantine", "show", &id, "--output", "json", "--actor", "ana"], more].concat();
        serde_json::from_str(&verb(&program, &[], &arguments)).unwrap()
    };
    assert_eq!(show(&[]).get("body"), None);
    let shown = show(&["--content"]);
    for name in ["Zuriñe", "Etxeandia", "612 345 678"] {
        assert!(!shown.to_string().contains(name), "{name}: {shown}");
    }
    assert!(shown["body"].to_string().contains("sertralina"), "what is wrong can be seen: {shown}");
    assert_eq!(shown["redacted"], json!(true));
    verb(&program, &[], &["keys", "rotate", "--data"]);
    let raw = show(&["--raw"]);
    assert!(raw["body"].as_str().unwrap().contains("Zuriñe Etxeandia"), "after a rotation of keys too: {raw}");
    let mut looks: Vec<(&str, &str)> = raw["history"]
        .as_array()
        .unwrap()
        .iter()
        .map(|act| (act["actor"].as_str().unwrap(), act["content"].as_str().unwrap()))
        .collect();
    looks.sort_unstable();
    assert_eq!(looks, [("ana", "none"), ("ana", "raw"), ("ana", "redacted")]);
}

async fn the_content_of_a_quarantined_message_goes_after_thirty_days_and_its_row_after_a_year(engine: TestEngine) {
    let program = Program::on(engine).await;
    let (org, patient, by) = (ORG.to_string(), PATIENT.to_string(), Uuid::from_u128(9).to_string());
    let held_patient = Uuid::from_u128(0xbeef);
    let mut theirs = document(3, 1, "2026-06-20T10:00:00Z", "Duerme bien.");
    theirs["patient_id"] = json!(held_patient);
    let known = [document(1, 1, "2026-06-20T10:00:00Z", "Duerme mal."), theirs];
    program.ingest(&bodies(&known), &[]);
    let rejected = [bodies(&[broken(2, PATIENT), broken(4, held_patient)]), vec![b"no JSON at all".to_vec()]].concat();
    program.ingest(&rejected, &[]);
    let hold = ["hold", "set", "--org", &org, "--patient", &held_patient.to_string(), "--by", &by];
    verb(&program, &[], &hold);
    let sealed = async || {
        let store = program.store().await;
        let counted = (count(&store, SEALED).await, count(&store, "SELECT count(*) FROM quarantine").await);
        store.close().await;
        counted
    };
    let upkeep = |now: &str, date: &str, more: &[&str]| {
        let arguments = [&["job", "run", "upkeep", "--as-of", date, "--org", &org, "--output", "json"], more].concat();
        verb(&program, &[("ANAMNESIS__PIPELINE__NOW", now)], &arguments)
    };
    assert_eq!(sealed().await, (3, 3));
    upkeep("2026-07-30T12:00:00Z", "2026-07-29", &[]);
    assert_eq!(sealed().await, (3, 3), "before its term nothing goes");
    let counted = upkeep("2026-08-05T12:00:00Z", "2026-08-04", &["--dry-run"]);
    assert!(counted.contains("\"quarantined_bodies\":2"), "{counted}");
    assert_eq!(sealed().await, (3, 3), "counting changes nothing");
    upkeep("2026-08-05T12:00:00Z", "2026-08-04", &[]);
    assert_eq!(sealed().await, (1, 3), "what a hold keeps stays");
    let later = [("ANAMNESIS__PIPELINE__NOW", "2026-08-05T12:00:00Z")];
    let gone = listed(&program, &later).into_iter().find(|row| row["patient_id"] == json!(patient)).unwrap();
    let id = gone["id"].as_str().unwrap();
    let shown: Value = serde_json::from_str(&verb(&program, &later, &["quarantine", "show", id, "--raw"])).unwrap();
    assert_eq!(shown["content"], json!("dropped: its term ended"));
    assert!(shown["history"].as_array().unwrap().iter().any(|act| act["actor"] == json!("upkeep")), "{shown}");
    // Sent again, it is quarantined again.
    program.ingest(&bodies(&[broken(2, PATIENT)]), &later);
    assert_eq!(sealed().await, (2, 3));
    upkeep("2027-07-10T12:00:00Z", "2027-07-09", &[]);
    assert_eq!(sealed().await, (1, 2), "its second term ended, the unreadable one's row is gone");
    upkeep("2027-08-20T12:00:00Z", "2027-08-19", &[]);
    assert_eq!(sealed().await, (1, 1), "the hold alone keeps one");
}
