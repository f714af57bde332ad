//! "Erased", "unknown" and "keys unavailable" are three answers, in every reader; and only `keys init` makes the keys
//! of a store on a server.

use std::process::Output;

use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{ORG, PATIENT, Program, TestEngine, bodies, counts, document, on_every_program};

on_every_program!(
    known_unknown_erased_and_unavailable_are_four_answers_of_every_reader,
    events_of_the_erased_end_and_events_without_keys_wait,
);

const READERS: [&[&str]; 9] = [
    &["context"],
    &["context", "--query", "sertralina"],
    &["profile"],
    &["memory", "list"],
    &["memory", "contradictions"],
    &["archive", "list"],
    &["hold", "list"],
    &["report", "confidence"],
    &["export"],
];

fn note(id: u128, patient: Uuid) -> Value {
    let mut note = document(id, 1, "2026-05-02T10:00:00Z", "Toma sertralina 50 mg al día. Alergia a penicilina.");
    note["patient_id"] = json!(patient);
    note
}

fn asked(program: &Program, reader: &[&str], patient: Uuid) -> Output {
    let (org, patient) = (ORG.to_string(), patient.to_string());
    let of = ["--output", "json", "--org", &org, "--patient", &patient];
    program.command(&[]).args(reader).args(of).output().unwrap()
}

/// The `answer` of the first line of standard output; of a list there is none.
fn answer(output: &Output) -> Option<String> {
    let first = output.stdout.split(|byte| *byte == b'\n').next()?;
    let said: Value = serde_json::from_slice(first).ok()?;
    Some(said.get("answer")?.as_str()?.to_owned())
}

async fn destroy(program: &Program, patient: Uuid) {
    let store = program.store().await;
    let scope = Scope::new(OrgId(ORG), PatientId(patient)).unwrap();
    store.keys().destroy(scope).await.unwrap();
    store.key_binding().note_keys().await.unwrap();
    store.close().await;
}

async fn known_unknown_erased_and_unavailable_are_four_answers_of_every_reader(engine: TestEngine) {
    let program = Program::on(engine).await;
    let (erased, stranger) = (Uuid::from_u128(PATIENT.as_u128() + 1), Uuid::from_u128(PATIENT.as_u128() + 2));
    assert_eq!(counts(&program.ingest(&bodies(&[note(1, PATIENT), note(2, erased)]), &[]))["stored"], 2);
    destroy(&program, erased).await;
    for reader in READERS {
        // A list of a patient's rows is a list, with rows or without.
        let list = ["memory", "archive", "hold"].contains(&reader[0]);
        for (patient, wanted) in [(PATIENT, "known"), (stranger, "unknown")] {
            let output = asked(&program, reader, patient);
            let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(0), "{reader:?}, {wanted}: {complaint}");
            let said = answer(&output);
            match list {
                false => assert_eq!(said.as_deref(), Some(wanted), "{reader:?}"),
                true => {
                    assert!(serde_json::from_slice::<Vec<Value>>(&output.stdout).is_ok(), "{reader:?}");
                    assert_eq!(
                        complaint.contains("Nothing is known of this patient."),
                        wanted == "unknown",
                        "{reader:?}"
                    );
                }
            }
        }
        let output = asked(&program, reader, erased);
        assert_eq!((output.status.code(), answer(&output).as_deref()), (Some(1), Some("erased")), "{reader:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("the patient was erased"), "{reader:?}");
    }
    let keys = program.folder.path().join("keys");
    std::fs::rename(&keys, keys.with_extension("away")).unwrap();
    let verbs: [&[&str]; 3] = [&["quarantine", "list"], &["job", "run", "expiry"], &["ingest", "nothing.ndjson"]];
    std::fs::write(program.folder.path().join("nothing.ndjson"), "").unwrap();
    let outputs = READERS.iter().flat_map(|reader| [PATIENT, erased, stranger].map(|of| asked(&program, reader, of)));
    let other = verbs.map(|verb| program.command(&[]).args(verb).args(["--output", "json"]).output().unwrap());
    for output in outputs.chain(other) {
        assert_eq!((output.status.code(), answer(&output).as_deref()), (Some(2), Some("keys_unavailable")));
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(complaint.contains(keys.to_str().unwrap()) && complaint.contains("restore "), "{complaint}");
    }
    std::fs::rename(keys.with_extension("away"), &keys).unwrap();
    assert_eq!(answer(&asked(&program, &["context"], PATIENT)).as_deref(), Some("known"));
}

async fn events_of_the_erased_end_and_events_without_keys_wait(engine: TestEngine) {
    let program = Program::on(engine).await;
    let erased = Uuid::from_u128(PATIENT.as_u128() + 1);
    assert_eq!(counts(&program.ingest(&bodies(&[note(1, PATIENT), note(2, erased)]), &[]))["stored"], 2);
    let before = std::fs::read(program.folder.path().join("keys")).unwrap();
    destroy(&program, erased).await;
    let store = program.store().await;
    let now = store.clock().now();
    let claimed = store.outbox().claim_events(OrgId(ORG), now, now, 100).await.unwrap();
    assert!(!claimed.is_empty());
    for event in &claimed {
        assert_eq!(event.body.is_none(), event.patient.0 == erased, "only the erased patient's have nothing to tell");
    }
    // The key file of an hour ago would restore the erased patient, and lacks newer keys: no data are read.
    std::fs::write(program.folder.path().join("keys"), before).unwrap();
    assert!(store.outbox().claim_events(OrgId(ORG), now, now, 100).await.is_err());
    assert_eq!(store.outbox().pending_events(OrgId(ORG)).await.unwrap().0, claimed.len() as i64, "every event waits");
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_on_a_server_waits_for_keys_init_and_binds_to_no_other_keys() {
    let program = Program::without_keys(TestEngine::Postgres, Program::provider_options()).await;
    let keys = program.folder.path().join("keys");
    let refused = |what: &str| {
        let worker = program.command(&[]).arg("worker").output().unwrap();
        let status = program.command(&[]).args(["keys", "status"]).output().unwrap();
        for output in [program.ingest(&bodies(&[note(1, PATIENT)]), &[]), worker, status] {
            let complaint = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            assert_eq!(output.status.code(), Some(2), "{what}: {complaint}");
            assert!(
                complaint.contains(keys.to_str().unwrap()) && complaint.contains("keys init"),
                "{what}: {complaint}"
            );
        }
    };
    refused("no key store");
    assert!(!keys.exists() && !keys.with_extension("master").exists(), "nothing is made");
    // A host with another key store, made for another store.
    let other = Program::on(TestEngine::File).await;
    assert_eq!(counts(&other.ingest(&bodies(&[note(1, PATIENT)]), &[]))["stored"], 1);
    for name in ["keys", "keys.master"] {
        std::fs::copy(other.folder.path().join(name), program.folder.path().join(name)).unwrap();
    }
    refused("keys that nobody has bound to this store");
    for name in ["keys", "keys.master"] {
        std::fs::remove_file(program.folder.path().join(name)).unwrap();
    }
    for _ in 0..2 {
        let made = program.command(&[]).args(["keys", "init", "--output", "json"]).output().unwrap();
        assert_eq!(made.status.code(), Some(0), "{}", String::from_utf8_lossy(&made.stderr));
    }
    assert_eq!(counts(&program.ingest(&bodies(&[note(1, PATIENT)]), &[]))["stored"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_store_whose_root_key_a_service_holds_waits_for_keys_init_too() {
    let program = Program::on(TestEngine::File).await;
    let vault = [
        ("ANAMNESIS__KEYS__ROOT", "vault"),
        ("ANAMNESIS__KEYS__VAULT__URL", "http://127.0.0.1:9"),
        ("ANAMNESIS__KEYS__VAULT__KEY", "anamnesis"),
        ("ANAMNESIS__KEYS__VAULT__TOKEN_FILE", "/nowhere/token"),
    ];
    let output = program.ingest(&bodies(&[note(1, PATIENT)]), &vault);
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    assert!(complaint.contains("keys init"), "{complaint}");
    assert!(!program.folder.path().join("keys").exists());
}
