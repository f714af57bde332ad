//! Medicines, allergies and intolerances of whole paragraphs, from message to memory, in both languages.

use anamnesis_core::finding::EntityType;
use anamnesis_core::memory::State;
use anamnesis_search::MemoryItem;
use anamnesis_store::read::{MemoryFilter, ReadInstant};
use serde_json::{Value, json};

use crate::support::{Clinic, TestEngine, bodies, document, feed, scope};

/// Active or historical statements of the kinds that are tested here, as `statement | state`.
async fn remembered(documents: &[Value]) -> Vec<String> {
    let clinic = Clinic::on(TestEngine::File).await;
    let pipeline = clinic.pipeline().await;
    feed(&pipeline, &bodies(documents), 1).await;
    let filter = MemoryFilter {
        entities: vec![EntityType::Medication, EntityType::Allergy, EntityType::Intolerance],
        states: State::ALL.to_vec(),
        ..MemoryFilter::default()
    };
    let all = pipeline.store().read().memories(scope(), &filter, ReadInstant::Now).await.unwrap();
    let mut lines: Vec<String> = all
        .iter()
        .map(MemoryItem::conversational)
        .map(|item| format!("{} | {} {}", item.statement, item.use_, item.state))
        .collect();
    lines.sort();
    lines
}

async fn note(text: &str) -> Vec<String> {
    remembered(&[document(1, 1, "2026-05-02T10:00:00Z", text)]).await
}

async fn talk(turns: &[(&str, &str)]) -> Vec<String> {
    let mut reported = document(1, 1, "2026-05-02T10:00:00Z", "");
    let object = reported.as_object_mut().unwrap();
    object.remove("text");
    object.insert("document_type".into(), json!("session_transcript"));
    let turns: Vec<Value> = turns.iter().map(|(who, text)| json!({"speaker": who, "text": text})).collect();
    object.insert("turns".into(), json!(turns));
    remembered(&[reported]).await
}

#[tokio::test]
async fn an_allergy_ends_where_something_is_taken() {
    let cases: [(&str, &[&str]); 4] = [
        (
            "Allergic to cefuroxime. Takes citalopram 30 mg daily.",
            &["Allergy: cefuroxime | decision active", "Medication: citalopram 30 mg, 1/day | decision active"],
        ),
        (
            "Alergias: azitromicina. Toma pantoprazol y escitalopram.",
            &[
                "Allergy: azithromycin | decision active",
                "Medication: escitalopram | decision active",
                "Medication: pantoprazole | decision active",
            ],
        ),
        (
            "Allergic to doxycycline. Father takes digoxin.",
            &["Allergy: doxycycline | decision active", "Family (father) — Medication: digoxin | decision active"],
        ),
        (
            "Intolerancias: naproxeno (dispepsia)\nTratamiento habitual:\nBisoprolol 5 mg",
            &[
                "Intolerance: naproxen, reaction: dispepsia | decision active",
                "Medication: bisoprolol 5 mg | decision active",
            ],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(note(text).await, expected, "{text}");
    }
}

#[tokio::test]
async fn a_reaction_stays_with_its_substance_and_distinguishes_allergy_from_intolerance() {
    let cases: [(&str, &[&str]); 5] = [
        (
            "Allergies:\n- Tramadol - vomiting\n- Trimethoprim: hives\n- Latex (contact rash)",
            &[
                "Allergy: latex, reaction: rash | decision active",
                "Allergy: trimethoprim, reaction: hives | decision active",
                "Intolerance: tramadol, reaction: vomiting | decision active",
            ],
        ),
        (
            "Must not be given haloperidol, it gave him oculogyric crisis.",
            &["Intolerance: haloperidol, reaction: oculogyric crisis | decision active"],
        ),
        ("A ella le brota el naproxeno.", &["Allergy: naproxen, reaction: le brota | decision active"]),
        (
            "Clindamycin made her vomit and she stopped it in 2021.",
            &[
                "Intolerance: clindamycin, reaction: made her vomit | decision active",
                "Medication: clindamycin, stopped | history resolved",
            ],
        ),
        // A side effect that is borne is no intolerance.
        ("Metformin gives him mild diarrhoea but he continues 500 mg.", &["Medication: metformin | decision active"]),
    ];
    for (text, expected) in cases {
        assert_eq!(note(text).await, expected, "{text}");
    }
}

#[tokio::test]
async fn an_allergy_that_is_gone_or_never_was_is_denied() {
    for text in [
        "Cefalexin allergy listed in chart but tolerated it since; allergy removed.",
        "Alergia a cefalexina descartada en 2022 (provocación negativa).",
        "Cephalexin allergy, outgrown at age 9.",
    ] {
        assert_eq!(note(text).await, ["Denied — Allergy: cephalexin | decision active"], "{text}");
    }
    for text in ["Allergies: none known.", "Alergias: ninguna conocida.", "RAMs negadas.", "Sin AMC.", "NKDA."] {
        assert_eq!(note(text).await, ["No known allergies | decision active"], "{text}");
    }
}

#[tokio::test]
async fn an_answer_that_names_no_medicine_says_what_became_of_it() {
    let cases: [(&str, &str, &str); 5] = [
        (
            "And the carbamazepine?",
            "Haven't touched it since June.",
            "Medication: carbamazepine, stopped | history resolved",
        ),
        ("¿Y la olanzapina?", "Esa la dejé, no me hacía nada.", "Medication: olanzapine, stopped | history resolved"),
        ("¿Y el topiramato?", "No lo llegué a comprar.", "Denied — Medication: topiramate | decision active"),
        ("And the mirtazapine?", "Never picked it up.", "Denied — Medication: mirtazapine | decision active"),
        ("And the lisinopril?", "Every morning.", "Medication: lisinopril, 1/day in the morning | decision active"),
    ];
    for (question, answer, expected) in cases {
        let rows = talk(&[("clinician", question), ("patient", answer)]).await;
        assert!(rows.iter().any(|row| row == expected), "{question} {answer}: {rows:#?}");
    }
}

#[tokio::test]
async fn one_row_says_what_a_letter_says_of_a_medicine_in_the_end() {
    let cases: [(&str, &[&str]); 8] = [
        (
            "Fluoxetine was increased from 20 to 40 mg. Remains on fluoxetine 40 mg daily.",
            &["Medication: fluoxetine 40 mg, 1/day | decision active"],
        ),
        (
            "Se suspende atorvastatina por calambres.",
            &[
                "Intolerance: atorvastatin, reaction: calambres | decision active",
                "Medication: atorvastatin, stopped | history resolved",
            ],
        ),
        (
            "Switched from quetiapine 200 mg to olanzapine 10 mg last week.",
            &[
                "Medication: olanzapine 10 mg | decision active",
                "Medication: quetiapine 200 mg, stopped | history resolved",
            ],
        ),
        ("Le habían formulado pregabalina, nunca la compró.", &["Denied — Medication: pregabalin | decision active"]),
        ("Zopiclone was suggested by the GP, she refuses.", &["Medication: zopiclone, declined | history resolved"]),
        ("Plan: valorar inicio de memantina.", &["Medication: memantine | hypothesis active"]),
        ("Hidromorfona 2 mg en vez de morfina.", &["Medication: hydromorphone 2 mg | decision active"]),
        (
            "Mamá hipertensa, toma valsartán de 80.",
            &["Family (mother) — Medication: valsartan 80 mg | decision active"],
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(note(text).await, expected, "{text}");
    }
}

#[tokio::test]
async fn a_proposal_gives_way_to_what_is_taken_later() {
    let first = document(1, 1, "2026-05-02T10:00:00Z", "Plan: consider memantine.");
    let next = document(2, 1, "2026-05-09T10:00:00Z", "Started on memantine 10 mg daily.");
    let rows = remembered(&[first, next]).await;
    assert_eq!(
        rows,
        [
            "Medication: memantine 10 mg, 1/day | decision active",
            "Medication: memantine, suggested | history superseded"
        ]
    );
}

#[tokio::test]
async fn a_medicine_taken_against_an_allergy_is_never_silent() {
    let clinic = Clinic::on(TestEngine::File).await;
    let pipeline = clinic.pipeline().await;
    let reported = [
        document(1, 1, "2026-05-02T10:00:00Z", "Allergic to trimethoprim (hives)."),
        document(2, 1, "2026-05-09T10:00:00Z", "Takes trimethoprim 100 mg nightly."),
    ];
    feed(&pipeline, &bodies(&reported), 1).await;
    let profile =
        anamnesis_search::context::clinical_profile(pipeline.store(), scope(), ReadInstant::Now).await.unwrap();
    let taken = profile.medications.first().expect("it is taken");
    assert!(taken.contested && taken.flags().contains(&"allergy on record"), "{taken:#?}");
}
