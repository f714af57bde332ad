//! Data to act on in an emergency: those that a clinician, the patient or the profile put on record in the clinical
//! store. Nothing else, by any way in; and a text for all patients.

use serde_json::{Value, json};
use uuid::Uuid;

use super::support::{ORG, PATIENT, Program, TestEngine, bodies, document, event, on_every_program};

on_every_program!(
    an_emergency_reads_decision_grade_clinical_rows_and_nothing_else,
    a_patient_of_whom_nothing_is_known_has_a_safe_text_in_either_language,
    a_danger_that_only_the_classifier_detected_is_counted_and_never_denied,
    where_nothing_may_be_handed_out_the_text_is_there_all_the_same,
);

const AT: &str = "2026-06-20T10:00:00Z";

fn verb(program: &Program, code: i32, arguments: &[&str]) -> String {
    let output = program.command(&[]).args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn emergency(program: &Program, code: i32, more: &[&str]) -> String {
    let (org, patient) = (ORG.to_string(), PATIENT.to_string());
    verb(program, code, &[&["profile", "--emergency", "--org", &org, "--patient", &patient], more].concat())
}

fn json_of(program: &Program, code: i32) -> Value {
    serde_json::from_str(&emergency(program, code, &["--output", "json"])).unwrap()
}

fn of_type(mut document: Value, kind: &str, more: &Value) -> Value {
    document["document_type"] = json!(kind);
    document.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    document
}

fn turns(speaker: &str, text: &str) -> Value {
    json!({"text": null, "turns": [{"speaker": speaker, "text": text}]})
}

/// Everything that is remembered and must not be acted on, with the word that would show it.
fn hearsay() -> Vec<(&'static str, Value)> {
    let note = |n, text| document(n, 1, AT, text);
    vec![
        (
            "latex",
            of_type(
                note(11, "Es alérgica al látex."),
                "clinical_note",
                &json!({"provenance": {"source": "told by Claire"}}),
            ),
        ),
        ("codeine", of_type(note(12, ""), "chat_message", &turns("family", "Mi hija es alérgica a la codeína."))),
        ("bipolar", of_type(note(13, "Tiene trastorno bipolar. Alérgica a la aspirina."), "analysis", &json!({}))),
        ("diabetes", note(14, "Su madre tiene diabetes.")),
        ("psoriasis", note(15, "Diagnosticada de psoriasis.")),
        (
            "asthma",
            of_type(note(16, "Diagnosticada de asma."), "clinical_note", &json!({"provenance": {"confidence": 0.3}})),
        ),
        ("lithium", note(17, "Toma litio 400 mg al día.")),
    ]
}

async fn an_emergency_reads_decision_grade_clinical_rows_and_nothing_else(engine: TestEngine) {
    let program = Program::on(engine).await;
    let (org, patient) = (ORG.to_string(), PATIENT.to_string());
    let note = "Alérgica a la penicilina: anafilaxia. Toma sertralina 50 mg al día. Diagnosticada de endometriosis.";
    let mut sent = vec![document(1, 1, AT, note)];
    sent.extend(hearsay().into_iter().map(|(_, document)| document));
    sent.push(document(18, 1, "2026-06-25T10:00:00Z", "Se suspende el litio."));
    sent.push(event(
        "p-1",
        "anamnesis.profile.updated.v1",
        &json!({"organization_id": ORG, "patient_id": PATIENT,
        "actor": Uuid::from_u128(9), "recorded_at": AT, "emergency_contacts": [{"reference": "contact-17"}],
        "disclaimer_accepted_at": "2026-06-01T10:00:00Z"}),
    ));
    let output = program.ingest(&bodies(&sent), &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let of = ["--org", &org, "--patient", &patient];
    let listed = verb(&program, 0, &[&["memory", "list", "--output", "json"][..], &of].concat());
    let listed: Vec<Value> = serde_json::from_str(&listed).unwrap();
    for (word, _) in hearsay() {
        assert!(
            listed.iter().any(|row| row["statement"].to_string().contains(word)),
            "{word} is remembered: {listed:#?}"
        );
    }
    let psoriasis = listed.iter().find(|row| row["statement"].to_string().contains("psoriasis")).unwrap();
    let forget = ["memory", "forget", psoriasis["memory_id"].as_str().unwrap(), "--by", &patient, "--role", "patient"];
    verb(&program, 0, &[&forget[..], &of].concat());

    let all = json_of(&program, 0);
    let statements = |section: &str| -> Vec<String> {
        all[section].as_array().unwrap().iter().map(|item| item["statement"].as_str().unwrap().to_owned()).collect()
    };
    let (allergies, medications, conditions) =
        (statements("allergies"), statements("medications"), statements("conditions"));
    assert!(allergies.len() == 1 && allergies[0].contains("penicillin"), "{allergies:?}");
    assert!(medications.len() == 1 && medications[0].contains("sertraline"), "{medications:?}");
    assert!(conditions.len() == 1 && conditions[0].contains("endometriosis"), "{conditions:?}");
    assert_eq!(all["contacts"], json!(["contact-17"]));
    assert_eq!(all["disclaimer_accepted_at"], json!("2026-06-01T10:00:00Z"));
    assert!(all["disclaimer"]["es"].as_str().unwrap().contains("no es un consejo médico"), "{all}");
    for format in ["json", "table"] {
        let shown = emergency(&program, 0, &["--output", format]).to_lowercase();
        for (word, _) in hearsay() {
            assert!(!shown.contains(word), "{word}: {shown}");
        }
    }
    assert!(all["unconfirmed_allergies"].as_u64() >= Some(2), "that there are more to ask about is said: {all}");
}

async fn a_patient_of_whom_nothing_is_known_has_a_safe_text_in_either_language(engine: TestEngine) {
    let program = Program::on(engine).await;
    let org = ORG.to_string();
    let mut other = document(1, 1, AT, "Duerme mal.");
    other["patient_id"] = json!(Uuid::from_u128(0xbeef));
    program.ingest(&bodies(&[other]), &[]);
    let spanish = emergency(&program, 0, &["--language", "es"]);
    for said in [
        "llame al número de emergencias de su país",
        "No se sabe nada de esta persona",
        "Alergias e intolerancias: nada registrado, lo que no significa que no haya",
    ] {
        assert!(spanish.contains(said), "{said}: {spanish}");
    }
    verb(&program, 0, &["org", "set", "--org", &org, "--country", "ES"]);
    assert!(emergency(&program, 0, &["--language", "en"]).contains("call 112 "));
    verb(&program, 0, &["org", "set", "--org", &org, "--emergency-text-es", "Avise en recepción."]);
    let all = json_of(&program, 0);
    assert_eq!((&all["answer"], &all["text"]["es"]), (&json!("unknown"), &json!("Avise en recepción.")));
    assert!(all["text"]["en"].as_str().unwrap().contains("call 112 "), "the other language keeps the country's");
    verb(&program, 0, &["org", "set", "--org", &org, "--emergency-text-es", ""]);
    assert!(json_of(&program, 0)["text"]["es"].as_str().unwrap().contains("llame al 112 "));
}

async fn a_danger_that_only_the_classifier_detected_is_counted_and_never_denied(engine: TestEngine) {
    let program = Program::on(engine).await;
    let note =
        "Mejor ánimo. Ayer pensó que no merecía la pena seguir viviendo, sin plan. Se acuerda llamada el viernes.";
    assert!(program.ingest(&bodies(&[document(1, 1, AT, note)]), &[]).status.success());
    let all = json_of(&program, 0);
    let (listed, unsure) = (all["risks"].as_array().unwrap().len(), all["unconfirmed_risks"].as_u64().unwrap());
    assert!(listed > 0 || unsure > 0, "a thought of death is not passed over: {all}");
    if listed == 0 {
        let text = emergency(&program, 0, &["--language", "es"]);
        assert!(text.contains("riesgos que solo ha detectado un programa"), "{text}");
    }
}

async fn where_nothing_may_be_handed_out_the_text_is_there_all_the_same(engine: TestEngine) {
    let program = Program::on(engine).await;
    let deny = json!({"organization_id": ORG, "patient_id": PATIENT, "scope": "recall", "provision": "deny",
        "from": AT, "until": null, "recorded_by": PATIENT});
    let sent = [
        document(1, 1, AT, "Alérgica a la penicilina: anafilaxia."),
        event("c-1", "anamnesis.consent.recorded.v1", &deny),
    ];
    assert!(program.ingest(&bodies(&sent), &[]).status.success());
    let all = json_of(&program, 1);
    assert_eq!(all["answer"], json!("withheld"));
    assert!(all["text"]["es"].as_str().unwrap().contains("servicio de urgencias"), "{all}");
    let text = emergency(&program, 1, &["--language", "es"]);
    assert!(text.contains("no hay consentimiento") && !text.to_lowercase().contains("penicil"), "{text}");
}
