//! What readers see of a doubtful statement, or of one that a relative or a chat reported.

use serde_json::{Value, json};
use uuid::Uuid;

use crate::support::{ORG, PATIENT, Program, TestEngine, bodies, document, on_every_program};

on_every_program!(
    a_statement_read_below_the_threshold_is_a_hypothesis_until_a_person_verifies_it,
    an_allergy_read_below_the_threshold_stays_in_the_profile_marked_as_unconfirmed,
    a_relatives_word_and_a_chat_are_labelled_wherever_they_are_shown,
);

const AT: &str = "2026-06-30T10:00:00Z";

/// The program's answer as JSON. With `strict`, no statement is read surely enough for a decision.
fn ask(program: &Program, strict: bool, args: &[&str]) -> Value {
    let scope = [ORG.to_string(), PATIENT.to_string()];
    let mut command = program.command(&[]);
    if strict {
        command.env("ANAMNESIS__JOBS__DIRECTORY", strict_policies(program));
    }
    command.args(args).args(["--org", &scope[0], "--patient", &scope[1], "--output", "json"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The shipped policies with a threshold that nothing read by rules reaches.
fn strict_policies(program: &Program) -> std::path::PathBuf {
    let folder = program.folder.path().join("policies");
    std::fs::create_dir_all(&folder).unwrap();
    let shipped = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("jobs");
    for entry in shipped.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.replace("min_extraction_confidence = 0.6", "min_extraction_confidence = 0.995");
        std::fs::write(folder.join(path.file_name().unwrap()), text).unwrap();
    }
    folder
}

fn find<'a>(rows: &'a Value, statement: &str) -> &'a Value {
    let all = rows.as_array().unwrap();
    all.iter()
        .find(|row| row["statement"].as_str().is_some_and(|s| s.contains(statement)))
        .unwrap_or_else(|| panic!("no {statement}: {rows:#}"))
}

async fn with(engine: TestEngine, message: Value) -> Program {
    let program = Program::on(engine).await;
    let output = program.ingest(&bodies(&[message]), &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

async fn a_statement_read_below_the_threshold_is_a_hypothesis_until_a_person_verifies_it(engine: TestEngine) {
    let program = with(engine, document(1, 1, AT, "Diagnosed with asthma. Takes salbutamol 100 mcg daily.")).await;
    let sure = ask(&program, false, &["memory", "list"]);
    assert_eq!(find(&sure, "asthma")["use"], "decision");

    let rows = ask(&program, true, &["memory", "list"]);
    let asthma = find(&rows, "asthma");
    assert_eq!((&asthma["use"], &asthma["unconfirmed"]), (&json!("hypothesis"), &json!(true)));
    let context = ask(&program, true, &["context"]);
    assert_eq!(context["profile"]["conditions"], json!([]), "no profile row rests on a doubtful reading");
    assert_eq!(context["profile"]["past"], json!([]), "doubt is not the past");
    find(&context["hypotheses"], "asthma");
    let review = ask(&program, true, &["memory", "review"]);
    assert_eq!(find(&review, "asthma")["cause"], "read_doubtfully");

    let id = asthma["memory_id"].as_str().unwrap().to_owned();
    let by = Uuid::from_u128(7).to_string();
    ask(&program, true, &["memory", "verify", &id, "--by", &by, "--role", "clinician"]);
    let verified = ask(&program, true, &["memory", "list"]);
    assert_eq!(find(&verified, "asthma")["use"], "decision", "{verified:#}");
}

async fn an_allergy_read_below_the_threshold_stays_in_the_profile_marked_as_unconfirmed(engine: TestEngine) {
    let program = with(engine, document(1, 1, AT, "Alérgica a la penicilina. Padre alérgico al látex.")).await;
    let context = ask(&program, true, &["context"]);
    let allergies = &context["profile"]["allergies"];
    assert_eq!(allergies.as_array().unwrap().len(), 1, "{allergies:#}");
    let allergy = find(allergies, "penicillin");
    assert_eq!((&allergy["use"], &allergy["unconfirmed"]), (&json!("hypothesis"), &json!(true)));

    let (org, patient) = (ORG.to_string(), PATIENT.to_string());
    let mut command = program.command(&[]);
    command.env("ANAMNESIS__JOBS__DIRECTORY", strict_policies(&program));
    let output = command.args(["context", "--org", &org, "--patient", &patient]).output().unwrap();
    let page = String::from_utf8(output.stdout).unwrap();
    let at = page.find("penicillin").unwrap_or_else(|| panic!("{page}"));
    assert!(page[at..].lines().next().unwrap().contains("unconfirmed"), "{page}");
}

async fn a_relatives_word_and_a_chat_are_labelled_wherever_they_are_shown(engine: TestEngine) {
    let mut transcript = document(1, 1, AT, "");
    transcript["document_type"] = json!("session_transcript");
    transcript.as_object_mut().unwrap().remove("text");
    transcript["turns"] = json!([
        {"speaker": "clinician", "text": "What does he take?"},
        {"speaker": "family", "text": "He takes metformin 850 mg every day."},
    ]);
    let program = with(engine, transcript).await;
    let mut chat = document(2, 1, AT, "I take sertraline 50 mg every morning.");
    chat["document_type"] = json!("chat_message");
    assert!(program.ingest(&bodies(&[chat]), &[]).status.success());
    let rows = ask(&program, false, &["memory", "list"]);
    assert_eq!(find(&rows, "metformin")["reported_by"], "family", "{rows:#}");
    assert_eq!(find(&rows, "sertraline")["reported_by"], "chat");
}
