//! Forgotten statements are read nowhere: not in a search, a context or an export, in no document that contains them,
//! and not after the purge.

use serde_json::Value;

use crate::support::{ORG, PATIENT, Program, TestEngine, bodies, document, on_every_program};

on_every_program!(
    what_was_forgotten_is_in_no_search_context_or_export_until_it_is_recovered,
    what_was_forgotten_and_purged_is_found_nowhere,
);

const BY: [&str; 4] = ["--by", "00000000-0000-4000-8000-000000000009", "--role", "patient"];

/// Runs a verb for the patient and returns its output.
fn asked(program: &Program, arguments: &[&str], more: &[(&str, &str)]) -> String {
    let (org, patient) = (ORG.to_string(), PATIENT.to_string());
    let output = program.command(more).args(arguments).args(["--org", &org, "--patient", &patient]).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Where the words occur: the answers of every reader.
fn readers(program: &Program, more: &[(&str, &str)]) -> [(&'static str, String); 3] {
    let context = |query| asked(program, &["context", "--query", query, "--min-score", "-1", "--output", "json"], more);
    [
        ("search", context("litio mg día")),
        ("context", context("cómo está")),
        ("export", asked(program, &["export"], more)),
    ]
}

/// Two documents say the same, one of them among other things; a third one says something else.
async fn with_lithium(engine: TestEngine) -> Program {
    let program = Program::on(engine).await;
    let note = |id, text: &str| document(id, 1, "2026-06-28T10:00:00Z", text);
    let reported = [
        note(1, "Toma litio 400 mg al día."),
        note(2, "Refiere cefalea.\nSigue con litio 400 mg al día.\nDuerme bien."),
        note(3, "Refiere náuseas por la mañana."),
    ];
    assert!(program.ingest(&bodies(&reported), &[]).status.success());
    for (reader, answer) in readers(&program, &[]) {
        assert!(answer.contains("400 mg"), "{reader} reads it before: {answer}");
    }
    program
}

fn lithium(program: &Program) -> Vec<String> {
    let listed = asked(program, &["memory", "list", "--entity", "medication", "--output", "json"], &[]);
    let listed: Vec<Value> = serde_json::from_str(&listed).unwrap();
    listed.iter().map(|one| one["memory_id"].as_str().unwrap().to_owned()).collect()
}

fn forget(program: &Program) -> Vec<String> {
    let ids = lithium(program);
    assert!(!ids.is_empty());
    let named: Vec<&str> = ids.iter().map(String::as_str).collect();
    asked(program, &[&["memory", "forget"][..], &named, &BY].concat(), &[]);
    ids
}

async fn what_was_forgotten_is_in_no_search_context_or_export_until_it_is_recovered(engine: TestEngine) {
    let program = with_lithium(engine).await;
    let ids = forget(&program);
    for (reader, answer) in readers(&program, &[]) {
        assert!(!answer.contains("400 mg"), "{reader} still reads it: {answer}");
        assert!(answer.contains("náuseas"), "{reader} reads the rest: {answer}");
    }
    let exported = asked(&program, &["export"], &[]);
    assert!(exported.contains("Duerme bien"), "the rest of its document stays readable: {exported}");
    let named: Vec<&str> = ids.iter().map(String::as_str).collect();
    let later = [("ANAMNESIS__PIPELINE__NOW", "2026-07-01T13:00:00Z")];
    asked(&program, &[&["memory", "recover"][..], &named, &BY].concat(), &later);
    for (reader, answer) in readers(&program, &later) {
        assert!(answer.contains("400 mg"), "{reader} reads it again: {answer}");
    }
}

async fn what_was_forgotten_and_purged_is_found_nowhere(engine: TestEngine) {
    let program = with_lithium(engine).await;
    forget(&program);
    let later = [("ANAMNESIS__PIPELINE__NOW", "2026-08-20T12:00:00Z")];
    let org = ORG.to_string();
    let run =
        program.command(&later).args(["job", "run", "purge", "--as-of", "2026-08-19", "--org", &org]).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let store = program.store().await;
    let purged = "SELECT count(*) FROM memory WHERE state = 'inactive' AND content_sealed IS NULL";
    assert!(crate::support::count(&store, purged).await > 0, "the purge took its words");
    store.close().await;
    for (reader, answer) in readers(&program, &later) {
        assert!(!answer.contains("400 mg"), "{reader} still reads it: {answer}");
    }
}
