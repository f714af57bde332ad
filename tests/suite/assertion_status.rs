//! Denials, uncertainty, other people and past facts in whole documents, from the message to the list of memories.

use serde_json::{Value, json};

use crate::support::{ORG, PATIENT, Program, TestEngine, bodies, document, on_every_program};

on_every_program!(
    a_physical_examination_denies_what_follows_its_single_no,
    a_family_history_is_no_illness_of_the_patient,
    a_form_says_what_its_boxes_and_columns_say,
    habits_are_stored_with_amount_denial_and_end,
    a_transcript_with_names_for_labels_is_read_by_speaker,
    what_is_cured_is_past_and_what_is_doubted_is_no_ground_for_decisions,
);

const AT: &str = "2026-03-02T10:00:00Z";

/// The rows of the one document that the program was fed.
async fn rows(engine: TestEngine, message: Value) -> Vec<Value> {
    let program = Program::on(engine).await;
    let fed = program.ingest(&bodies(&[message]), &[]);
    assert!(fed.status.success(), "{}", String::from_utf8_lossy(&fed.stderr));
    let scope = [ORG.to_string(), PATIENT.to_string()];
    let args = ["memory", "list", "--org", &scope[0], "--patient", &scope[1], "--output", "json"];
    let output = program.command(&[]).args(args).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn note(text: &str) -> Value {
    document(1, 1, AT, text)
}

/// The rows whose statement holds these words.
fn about<'a>(rows: &'a [Value], words: &str) -> Vec<&'a Value> {
    rows.iter().filter(|row| row["statement"].as_str().is_some_and(|said| said.contains(words))).collect()
}

/// Each of the findings is stored, and denied.
fn denied(rows: &[Value], findings: &[&str]) {
    for finding in findings {
        let found = about(rows, finding);
        assert!(!found.is_empty() && found.iter().all(|row| row["negated"] == json!(true)), "{finding}: {rows:#?}");
    }
}

/// Each of the findings is stored of the patient, and stated.
fn stated(rows: &[Value], findings: &[&str]) {
    for finding in findings {
        let found = about(rows, finding);
        let said = |row: &&Value| row["negated"] == json!(false) && row["experiencer"] == json!("patient");
        assert!(!found.is_empty() && found.iter().all(said), "{finding}: {rows:#?}");
    }
}

async fn a_physical_examination_denies_what_follows_its_single_no(engine: TestEngine) {
    let english = "HPI: sore throat for two days.\nROS: no fever, night sweats, weight loss, cough. No vomiting, diarrhea, \
                   rash, but has headache.\nEyes: normal.";
    let found = rows(engine, note(english)).await;
    denied(&found, &["fever", "weight loss", "cough", "vomiting", "diarrhea", "rash"]);
    stated(&found, &["headache"]);
    let spanish = "Motivo: odinofagia.\nAnamnesis: sin fiebre, tos, disnea, vómitos. Cefaleas ocasionales. Convulsiones nunca. \
                   Asma: niega. DM neg.";
    let found = rows(engine, note(spanish)).await;
    denied(&found, &["fever", "cough", "shortness of breath", "vomiting", "seizures", "asthma", "diabetes"]);
    stated(&found, &["headache"]);
}

async fn a_family_history_is_no_illness_of_the_patient(engine: TestEngine) {
    let text = "Antecedentes familiares: padre HTA; la hermana, Eva, epilepsia. Abuela finada x diabetes.\n\
                Enfermedad actual: cáncer de mama izquierda diagnosticado en enero. No hay esquizofrenia en la familia.";
    let found = rows(engine, note(text)).await;
    for kin in ["hypertension", "epilepsy", "diabetes", "schizophrenia"] {
        let about = about(&found, kin);
        assert!(
            !about.is_empty() && about.iter().all(|row| row["experiencer"] == json!("family")),
            "{kin}: {found:#?}"
        );
    }
    stated(&found, &["breast cancer"]);
    denied(&found, &["schizophrenia"]);
}

async fn a_form_says_what_its_boxes_and_columns_say(engine: TestEngine) {
    let text = "CHECK ALL THAT APPLY       now | past | never\nhypertension               [ ]   [ ]   [x]\n\
                pneumonia                  [ ]   [x]   [ ]\nsleep apnea                [x]   [ ]   [ ]\n\n\
                [x] Nightmares  [ ] Hearing things others don't  [x] Panic attacks\nEpilepsy: Yes [ ] No [x]";
    let found = rows(engine, note(text)).await;
    denied(&found, &["hypertension", "epilepsy"]);
    stated(&found, &["sleep apnea", "nightmares", "panic attack"]);
    let past = about(&found, "pneumonia");
    assert!(past.iter().all(|row| row["state"] == json!("resolved")) && past.len() == 1, "{found:#?}");
}

async fn habits_are_stored_with_amount_denial_and_end(engine: TestEngine) {
    let text = "Social: ex-smoker, stopped 2009. Alcohol 12 units/wk. No illicit drugs. Drinks plenty of water.";
    let found = rows(engine, note(text)).await;
    let of = |words: &str| about(&found, words).into_iter().cloned().collect::<Vec<_>>();
    assert!(of("tobacco use").iter().all(|row| row["state"] == json!("resolved")) && of("tobacco use").len() == 1);
    assert!(of("alcohol use").len() == 1 && of("12 units/wk").len() == 1, "{found:#?}");
    denied(&found, &["drug use"]);
    let text = "Hábitos: fuma 10 cigarrillos al día, no bebe. Porros los fines de semana; cocaína nunca.";
    let found = rows(engine, note(text)).await;
    stated(&found, &["tobacco use", "cannabis use"]);
    denied(&found, &["alcohol use", "cocaine use"]);
}

async fn a_transcript_with_names_for_labels_is_read_by_speaker(engine: TestEngine) {
    let text = "Dr Ferris: Any seizures, fainting?\nMaeve: No, no. I have epilepsy myself, mind.\nDr Ferris: And the asthma?\n\
                Maeve: Still bad at night.\nOran: I get panic attacks as well.";
    let mut message = note(text);
    message["document_type"] = json!("session_transcript");
    message["participants"] = json!([{"label": "Dr Ferris", "role": "clinician"}, {"label": "Oran", "role": "patient"},
        {"label": "Maeve", "role": "family", "relation": "mother"}]);
    let found = rows(engine, message).await;
    denied(&found, &["seizures", "syncope"]);
    stated(&found, &["asthma", "panic attack"]);
    let mother = about(&found, "epilepsy");
    let own = |row: &&Value| row["statement"].as_str().is_some_and(|said| said.contains("(mother)"));
    assert!(mother.len() == 1 && mother.iter().all(own), "{found:#?}");
    let kept = serde_json::to_string(&found).unwrap();
    assert!(!kept.contains("Maeve") && !kept.contains("Ferris"), "{kept}");
}

async fn what_is_cured_is_past_and_what_is_doubted_is_no_ground_for_decisions(engine: TestEngine) {
    let text = "Hepatitis C treated and cured. Wrist fracture 2015. ?sepsis. Bipolar disorder suspected, never confirmed. \
                Pneumonia was considered because of a cough but excluded on chest film. Come back if fever or rash develop.";
    let found = rows(engine, note(text)).await;
    for over in ["hepatitis c", "wrist fracture"] {
        let about = about(&found, over);
        assert!(about.len() == 1 && about[0]["state"] == json!("resolved"), "{over}: {found:#?}");
    }
    for open in ["sepsis", "bipolar disorder"] {
        let about = about(&found, open);
        assert!(!about.is_empty() && about.iter().all(|row| row["use"] != json!("decision")), "{open}: {found:#?}");
    }
    denied(&found, &["pneumonia"]);
    assert!(about(&found, "fever").is_empty() && about(&found, "rash").is_empty(), "{found:#?}");
}
