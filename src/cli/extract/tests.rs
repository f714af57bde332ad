//! The stream, line by line.

use super::*;

fn streamed(input: &str) -> (Vec<Value>, Exit) {
    let mut out = Vec::new();
    let exit = stream(input.as_bytes(), &mut out, &Extractor::shared(), true).unwrap();
    let lines = String::from_utf8(out).unwrap();
    (lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), exit)
}

#[test]
fn offsets_are_code_points_and_the_text_is_literally_there() {
    let text = "Ñoño: niega ansiedad. Toma sertralina 50 mg al día.";
    let (lines, exit) = streamed(
        &json!({"id": "a", "text": text, "language": "es", "targets": [{"start": 12, "end": 20}]}).to_string(),
    );
    let medication = lines[0]["entities"].as_array().unwrap().iter().find(|e| e["type"] == "medication").unwrap();
    let (start, end) = (medication["start"].as_u64().unwrap() as usize, medication["end"].as_u64().unwrap() as usize);
    assert_eq!(text.chars().skip(start).take(end - start).collect::<String>(), medication["text"]);
    assert_eq!((&medication["dose"], &medication["frequency"]), (&json!("50 mg"), &json!("1/day")));
    assert_eq!(lines[0]["targets"][0]["negated"], true);
    assert_eq!((&lines[0]["id"], exit), (&json!("a"), Exit::Done));
}

#[test]
fn turns_are_joined_and_each_finding_knows_its_turn() {
    let turns = json!([{"speaker": "clinician", "text": "¿Es alérgica a algo?"}, {"speaker": "patient", "text": "Sí, a la penicilina."}]);
    let (lines, _) = streamed(&json!({"id": 1, "turns": turns}).to_string());
    let allergy = &lines[0]["entities"][0];
    assert_eq!(
        (&allergy["type"], &allergy["turn"], &allergy["value"]),
        (&json!("allergy"), &json!(1), &json!("penicillin"))
    );
    assert_eq!(lines[0]["values"]["allergies"], json!(["penicilina (penicillin)"]));
}

#[test]
fn a_bad_line_is_answered_by_code_and_field_and_the_rest_goes_on() {
    let input = "{\"id\":1,\"text\":7}\nsecreto\n{\"id\":2,\"text\":\"x\",\"document_type\":\"secreto\"}\n\
                 {\"id\":3,\"turns\":[{\"speaker\":\"secreto\",\"text\":\"x\"}]}\n{\"id\":4,\"text\":\"x\",\"targets\":[{\"start\":0,\"end\":9}]}\n{\"text\":\"hola\"}\n";
    let (lines, exit) = streamed(input);
    let faults: Vec<String> = lines.iter().map(|line| line["error"]["field"].to_string()).collect();
    assert_eq!(faults, ["\"text\"", "\"\"", "\"document_type\"", "\"turns[0].speaker\"", "\"targets[0]\"", "null"]);
    assert!(!lines.iter().any(|line| line.to_string().contains("secreto")));
    assert_eq!(exit, Exit::Partial);
}

#[test]
fn a_finding_explains_its_cues_and_every_answer_names_its_version() {
    let (lines, _) = streamed(&json!({"id": 1, "text": "Niega fiebre. Tiene insomnio."}).to_string());
    let entities = lines[0]["entities"].as_array().unwrap();
    assert_eq!(entities[0]["why"], json!([{"says": "negated", "start": 0, "end": 5, "text": "Niega"}]));
    assert_eq!(entities[1]["why"], json!([]));
    assert!(lines[0]["version"].as_str().unwrap().contains('.'));
}
