//! Documents in a language or script that redaction does not support: refused, or stored sealed.

use serde_json::{Value, json};
use uuid::Uuid;

use super::support::{NOW, ORG, PATIENT, Program, TestEngine, bodies, count, counts, document, on_every_program};

on_every_program!(
    a_document_of_another_language_is_quarantined_with_its_reason,
    a_document_of_another_language_may_be_stored_sealed_and_is_never_searched,
    a_field_of_another_script_is_quarantined,
);

const FRENCH: &str =
    "Le patient dit que sa mère, Mme Odile Garnier, est morte et qu'il ne dort plus depuis trois semaines.";
const IN_PART: &str =
    "Seen with his sister, who interprets. Takes sertraline 50 mg daily.\nПациентка Наталья плачет каждый день.";
const SPANISH: &str = "Toma sertralina 50 mg al día. Alergia a penicilina.";

const SEALED: [(&str, &str); 1] = [("ANAMNESIS__PIPELINE__UNSUPPORTED_LANGUAGE", "store_sealed")];

fn all() -> Vec<Value> {
    [FRENCH, IN_PART, SPANISH].iter().zip(1..).map(|(text, id)| document(id, 1, NOW, text)).collect()
}

fn read(program: &Program, verb: &[&str]) -> String {
    let (org, patient) = (ORG.to_string(), PATIENT.to_string());
    let output = program.command(&[]).args(verb).args(["--org", &org, "--patient", &patient]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

async fn a_document_of_another_language_is_quarantined_with_its_reason(engine: TestEngine) {
    let program = Program::on(engine).await;
    let reported = counts(&program.ingest(&bodies(&all()), &[]));
    assert_eq!(
        (&reported["stored"], &reported["reasons"]),
        (&json!(1), &json!({"unsupported_language": 2})),
        "{reported}"
    );
    let shown = read(&program, &["export"]);
    assert!(!shown.contains("Odile") && !shown.contains("Наталья"), "{shown}");
    assert!(shown.contains("sertraline"), "{shown}");
}

async fn a_document_of_another_language_may_be_stored_sealed_and_is_never_searched(engine: TestEngine) {
    let program = Program::on(engine).await;
    let reported = counts(&program.ingest(&bodies(&all()), &SEALED));
    assert_eq!((&reported["stored"], &reported["reasons"]), (&json!(3), &json!({})), "{reported}");
    let store = program.store().await;
    assert_eq!(count(&store, "SELECT count(*) FROM documents").await, 3);
    assert_eq!(
        count(&store, "SELECT count(DISTINCT document_id) FROM passage").await,
        1,
        "only what is read has passages"
    );
    store.close().await;
    let context = read(&program, &["context", "--query", "mère morte sertraline", "--output", "json"]);
    let context: Value = serde_json::from_str(&context).unwrap();
    let unread = context["recent_documents"].as_array().unwrap().iter().filter(|d| d["unread"] == json!(true));
    assert_eq!(unread.count(), 2);
    assert!(!context.to_string().contains("Odile") && !context.to_string().contains("Наталья"));
    assert_eq!(context["passages"].as_array().unwrap().len(), 1);
    // The second part of a document is not read alone, so its medicines are not remembered.
    let rows: Value = serde_json::from_str(&read(&program, &["memory", "list", "--output", "json"])).unwrap();
    assert_eq!(rows.as_array().unwrap().iter().filter(|row| row["entity"] == json!("medication")).count(), 1);
    // An export is the patient's own copy.
    assert!(read(&program, &["export"]).contains("Odile"));
    // Nothing lies open in the store.
    for folder in [program.folder.path()] {
        for file in std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).filter(|p| p.is_file()) {
            if file.extension().is_some_and(|e| e == "ndjson") {
                continue; // the input itself
            }
            let bytes = std::fs::read(&file).unwrap();
            assert!(!bytes.windows(5).any(|w| w == b"Odile"), "{}", file.display());
        }
    }
}

async fn a_field_of_another_script_is_quarantined(engine: TestEngine) {
    let program = Program::on(engine).await;
    let profile = json!({"organization_id": ORG, "patient_id": PATIENT, "actor": Uuid::from_u128(9), "recorded_at": NOW,
        "conditions": [{"name": "депрессия", "status": "active"}]});
    let reported = counts(&program.ingest(&bodies(&[profile]), &SEALED));
    assert_eq!(reported["reasons"], json!({"unsupported_language": 1}), "{reported}");
}
