//! Problems by their site, abbreviation or misspelling, and a form's goals and household, from message to memory.

use serde_json::Value;

use crate::support::{ORG, PATIENT, Program, TestEngine, bodies, document, on_every_program};

on_every_program!(
    problems_are_remembered_by_place_abbreviation_and_misspelling_with_the_words_of_the_document,
    goals_preferences_and_household_are_remembered_from_a_note,
    words_that_name_an_illness_and_mean_something_else_are_not_remembered,
);

const AT: &str = "2026-03-02T10:00:00Z";

async fn remembered(engine: TestEngine, text: &str) -> Vec<String> {
    let program = Program::on(engine).await;
    let output = program.ingest(&bodies(&[document(1, 1, AT, text)]), &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (org, patient) = (ORG.to_string(), PATIENT.to_string());
    let args = ["memory", "list", "--org", &org, "--patient", &patient, "--output", "json"];
    let output = program.command(&[]).args(args).output().unwrap();
    let rows: Value = serde_json::from_slice(&output.stdout).unwrap();
    rows.as_array().unwrap().iter().filter_map(|row| row["statement"].as_str().map(str::to_owned)).collect()
}

fn holds(rows: &[String], beginnings: &[&str]) {
    for beginning in beginnings {
        assert!(rows.iter().any(|row| row.starts_with(beginning)), "no {beginning}: {rows:#?}");
    }
}

async fn problems_are_remembered_by_place_abbreviation_and_misspelling_with_the_words_of_the_document(
    engine: TestEngine,
) {
    let text = "Reports pain in the left elbow and right calf. Lost eight kilos since winter. Known HFmrEF, HTN and \
                diabetis mellitus. Cannot get out of bed most days.";
    let rows = remembered(engine, text).await;
    holds(
        &rows,
        &[
            "Symptom: elbow pain (pain in the left elbow)",
            "Symptom: calf pain",
            "Symptom: weight loss (Lost eight kilos)",
            "Condition: heart failure with mildly reduced ejection fraction (HFmrEF)",
            "Condition: hypertension (HTN)",
            "Symptom: staying in bed all day",
        ],
    );
}

async fn goals_preferences_and_household_are_remembered_from_a_note(engine: TestEngine) {
    let text = "Lives with his wife and two sons, works nights.\nWould like to get back to choir.\n\
                Prefers morning sessions.\nGoals: walk to the market. cook on Sundays";
    let rows = remembered(engine, text).await;
    holds(
        &rows,
        &[
            "Relationship: lives with his wife and two sons",
            "Goal: would like to get back to choir",
            "Preference: prefers morning sessions",
            "Goal: walk to the market",
            "Goal: cook on sundays",
        ],
    );
    assert!(!rows.iter().any(|row| row.contains("works nights")), "{rows:#?}");
}

async fn words_that_name_an_illness_and_mean_something_else_are_not_remembered(engine: TestEngine) {
    let text = "Seen in the pain clinic. Had the flu vaccine. She is sick of waiting. Came with her cousin.";
    let rows = remembered(engine, text).await;
    assert!(!rows.iter().any(|row| row.starts_with("Condition") || row.starts_with("Symptom")), "{rows:#?}");
}
