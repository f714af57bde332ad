//! Files that are past their term, and records that a worker completes to erase: through the program.

use std::fs;
use std::path::Path;

use anamnesis_core::clock::{Clock as _, SystemClock, SystemEntropy, ordered_id};
use serde_json::Value;
use uuid::Uuid;

use super::support::{ORG, PATIENT, Program, TestEngine, bodies, counts, document, on_every_program, scope};
use super::worker::{Running, until};

on_every_program!(a_worker_completes_what_the_end_of_a_record_began);

const TEXT: &str = "Toma sertralina 50 mg al día. Es alérgica a la penicilina.";

fn run(program: &Program, settings: &[(&str, &str)], args: &[&str]) -> String {
    let output = program.command(settings).args(args).output().unwrap();
    let printed = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{args:?}: {printed}");
    printed
}

async fn a_worker_completes_what_the_end_of_a_record_began(engine: TestEngine) {
    let program = Program::on(engine).await;
    let lines = bodies(&[document(1, 1, "2026-06-30T10:00:00Z", TEXT)]);
    assert_eq!(counts(&program.ingest(&lines, &[]))["stored"], 1);
    let later = [("ANAMNESIS__PIPELINE__NOW", "2052-08-10T12:00:00Z")];
    let (org, patient) = (ORG.to_string(), PATIENT.to_string());
    let job = ["job", "run", "retention", "--org", &org, "--as-of", "2052-08-09", "--output", "json"];
    let report = run(&program, &later, &job);
    assert!(report.contains("\"records_ended\":1"), "{report}");
    let store = program.store().await;
    assert!(!store.erasure().rows_of_patient(scope()).await.unwrap().is_empty(), "begun, not complete");
    let worker = Running::start(&program, &later).await;
    until("the erasure is complete", async || store.erasure().open_erasures(scope().org()).await.unwrap().is_empty())
        .await;
    assert_eq!(store.erasure().rows_of_patient(scope()).await.unwrap(), Default::default());
    assert_eq!(worker.end(), Some(0));
    store.close().await;
    let receipts =
        run(&program, &later, &["erase", "--org", &org, "--patient", &patient, "--receipts", "--output", "json"]);
    let receipt: Value = serde_json::from_str(receipts.lines().next().unwrap()).unwrap();
    let receipt = &receipt[0];
    assert_eq!(receipt["what"], "patient", "{receipt}");
    assert_ne!(receipt["requested_by"], Uuid::nil().to_string(), "the policy has a name");
    let late = counts(&program.ingest(&lines, &later));
    assert_eq!(late["quarantined"], 1, "{late}");
}

/// Files as a worker, a migration, a restore and a simulation that died leave them.
fn lay(program: &Program, taken: &str) -> Vec<std::path::PathBuf> {
    let id = ordered_id(taken.parse().unwrap(), &SystemEntropy).simple().to_string();
    let at = |name: &str| program.folder.path().join(name);
    let store = program.environment().into_iter().find(|(key, _)| key == "ANAMNESIS__STORE__PATH").unwrap().1;
    let keys = program.environment().into_iter().find(|(key, _)| key == "ANAMNESIS__STORE__KEYS").unwrap().1;
    let simulation = Path::new(&store).parent().unwrap().join(".anamnesis-simulation-x1");
    let files = vec![
        at("spool").join(".unreadable").join(format!("{id}.notes.ndjson")),
        at("spool").join(".archive").join(format!("{id}.sealed")),
        format!("{store}.before-migration").into(),
        format!("{keys}.replaced").into(),
        simulation.join("store.db"),
    ];
    for file in &files {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, format!("{{\"patient_id\": \"{PATIENT}\"}}\n")).unwrap();
    }
    files
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_are_past_their_term_are_removed_and_no_others() {
    let program = Program::on(TestEngine::File).await;
    program.ingest(&bodies(&[document(1, 1, "2026-06-30T10:00:00Z", TEXT)]), &[]);
    let now = SystemClock.now();
    let files = lay(&program, &(now - chrono::TimeDelta::days(29)).to_rfc3339());
    let foreign = program.folder.path().join("spool").join(".archive").join("README");
    fs::write(&foreign, "not ours").unwrap();
    let there = || files.iter().filter(|file| file.exists()).count();
    let looked = |days: i64| (now + chrono::TimeDelta::days(days)).to_rfc3339();
    let worker = Running::start(&program, &[("ANAMNESIS__PIPELINE__NOW", &looked(0))]).await;
    assert_eq!(worker.end(), Some(0));
    assert_eq!(there(), 5, "nothing is past its term");
    let worker = Running::start(&program, &[("ANAMNESIS__PIPELINE__NOW", &looked(2))]).await;
    until("the files of the spool and the simulation are gone", async || there() == 2).await;
    assert_eq!(worker.end(), Some(0));
    assert!(files[2].exists() && files[3].exists(), "a copy is kept for thirty days");
    let worker = Running::start(&program, &[("ANAMNESIS__PIPELINE__NOW", &looked(31))]).await;
    until("the copies are gone", async || there() == 0).await;
    assert_eq!(worker.end(), Some(0));
    assert!(foreign.exists(), "what was not left by us stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_takes_copies_of_simulations_and_unreadable_files_that_name_the_patient() {
    let program = Program::on(TestEngine::File).await;
    program.ingest(&bodies(&[document(1, 1, "2026-06-30T10:00:00Z", TEXT)]), &[]);
    let files = lay(&program, "2026-06-30T10:00:00Z");
    let others = files[0].with_file_name("other.ndjson");
    fs::write(&others, "{\"patient_id\": \"another patient\"}\n").unwrap();
    let (org, patient, by) = (ORG.to_string(), PATIENT.to_string(), Uuid::from_u128(7).to_string());
    let settings = [("ANAMNESIS__WORKER__SPOOL", program.folder.path().join("spool").display().to_string())];
    let settings = [(settings[0].0, settings[0].1.as_str())];
    run(&program, &settings, &["erase", "--org", &org, "--patient", &patient, "--by", &by]);
    assert!(!files[4].exists(), "the copy of a simulation");
    assert!(!files[0].exists(), "a file that nobody could read, and that names the patient");
    assert!(!files[2].exists() && !files[3].exists(), "copies of the store, and of keys that open them");
    assert!(others.exists());
}
