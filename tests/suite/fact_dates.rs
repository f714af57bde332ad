//! Dates and reactions reach readers as typed values of the fact, and dates are in no stored text.

use serde_json::{Value, json};

use crate::support::{ORG, PATIENT, Program, TestEngine, bodies, document, on_every_program};

on_every_program!(
    a_date_said_in_a_document_is_shown_with_its_fact_though_redaction_takes_it,
    a_later_revision_keeps_the_date,
    a_reaction_is_stored_with_its_allergy_and_is_no_illness,
);

/// A Monday.
const AT: &str = "2026-03-02T10:00:00Z";

fn ask(program: &Program, args: &[&str]) -> Value {
    let scope = [ORG.to_string(), PATIENT.to_string()];
    let output =
        program.command(&[]).args(args).args(["--org", &scope[0], "--patient", &scope[1], "--output", "json"]).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn find<'a>(rows: &'a Value, statement: &str) -> &'a Value {
    let all = rows.as_array().unwrap();
    let found = all.iter().find(|row| row["statement"].as_str().is_some_and(|s| s.contains(statement)));
    found.unwrap_or_else(|| panic!("no {statement}: {rows:#}"))
}

fn dated(rows: &Value, statement: &str, day: &str, precision: &str) {
    let row = find(rows, statement);
    assert!(row["at"].as_str().is_some_and(|at| at.starts_with(day)), "{row:#}");
    assert_eq!(row["precision"], json!(precision), "{row:#}");
}

async fn with(engine: TestEngine, messages: &[Value]) -> Program {
    let program = Program::on(engine).await;
    let output = program.ingest(&bodies(messages), &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

async fn a_date_said_in_a_document_is_shown_with_its_fact_though_redaction_takes_it(engine: TestEngine) {
    let text = "Asthma since 14 June 2021. He got laid off three weeks ago. Takes sertraline 50 mg daily.";
    let program = with(engine, &[document(1, 1, AT, text)]).await;
    let rows = ask(&program, &["memory", "list"]);
    dated(&rows, "asthma", "2021-06-14", "day");
    dated(&rows, "job loss", "2026-02-09", "week");
    assert_eq!(find(&rows, "sertraline")["at"], Value::Null);
    let kept = rows.as_array().unwrap().iter().filter_map(|row| row["fragment"].as_str());
    assert!(kept.into_iter().all(|fragment| !fragment.contains("14 June")), "{rows:#}");
}

async fn a_later_revision_keeps_the_date(engine: TestEngine) {
    let first = document(1, 1, AT, "Migraine since 3 May 2019.");
    let second = document(1, 2, AT, "Migraine since 3 May 2019, right-sided.");
    let program = with(engine, &[first, second]).await;
    dated(&ask(&program, &["memory", "list"]), "migraine", "2019-05-03", "day");
}

async fn a_reaction_is_stored_with_its_allergy_and_is_no_illness(engine: TestEngine) {
    let text = "Allergies: sulfa: hives, codeine - nausea.\nTakes sertraline 50 mg daily.";
    let program = with(engine, &[document(1, 1, AT, text)]).await;
    let rows = ask(&program, &["memory", "list"]);
    assert_eq!(find(&rows, "sulf")["reaction"], json!("hives"));
    assert_eq!(find(&rows, "codeine")["reaction"], json!("nausea"));
    let illness = |row: &&Value| matches!(row["entity"].as_str(), Some("condition" | "symptom"));
    assert_eq!(rows.as_array().unwrap().iter().filter(illness).count(), 0, "{rows:#}");
    let allergies = ask(&program, &["profile"]).to_string();
    assert!(allergies.contains("hives") && allergies.contains("nausea"), "{allergies}");
}
