//! The rules answer every question of `tests/data/rules` as reasoned out by hand from the model, in both languages.

use std::path::Path;

use anamnesis::cli::{Exit, rules::answer_all};
use serde_json::Value;

fn cases() -> Vec<(Value, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/rules");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let lines: Vec<String> = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let read = |line: &str| {
        let case: Value = serde_json::from_str(line).unwrap();
        (case["ask"].clone(), case["answer"].clone())
    };
    lines.iter().flat_map(|text| text.lines()).map(read).collect()
}

/// Every expected field is there; numbers are exact to 1e-6 (contract.md).
fn holds(answer: &Value, expected: &Value) -> bool {
    expected.as_object().unwrap().iter().all(|(field, wanted)| match (wanted.as_f64(), answer[field].as_f64()) {
        (Some(wanted), Some(got)) => (wanted - got).abs() <= 1e-6,
        _ => answer.get(field) == Some(wanted),
    })
}

#[test]
fn every_question_has_the_answer_that_the_model_gives_by_hand() {
    let cases = cases();
    assert!(cases.len() >= 120, "only {} questions", cases.len());
    let questions: Vec<String> = cases.iter().map(|(ask, _)| ask.to_string()).collect();
    let mut out = Vec::new();
    let exit = answer_all(questions.join("\n").as_bytes(), &mut out).unwrap();
    assert_eq!(exit, Exit::Partial, "some questions are refused on purpose");
    let out = String::from_utf8(out).unwrap();
    let answers: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), cases.len());
    let wrong: Vec<String> = cases
        .iter()
        .zip(&answers)
        .filter(|((ask, expected), answer)| answer["id"] != ask["id"] || !holds(answer, expected))
        .map(|((ask, expected), answer)| format!("{ask}\n  expected {expected}\n  answered {answer}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}
