//! Plus and minus, yes and no after and before findings, without brackets.

use std::sync::LazyLock;

use crate::{ExtractionInput, Extractor};
use anamnesis_text::{Document, Language};

static EXTRACTOR: LazyLock<Extractor> = LazyLock::new(Extractor::builtin);

/// The findings of a text that it denies, and those that it states.
fn read(text: &str) -> (Vec<String>, Vec<String>) {
    let document = Document::plain(text, Language::Unknown);
    let all = EXTRACTOR.extract(&ExtractionInput::new(&document)).entities;
    let (denied, stated): (Vec<_>, Vec<_>) = all.into_iter().partition(|entity| entity.context.negated);
    let names = |found: Vec<crate::Entity>| found.into_iter().map(|entity| entity.value).collect();
    (names(denied), names(stated))
}

#[test]
fn a_row_of_signs_says_of_each_finding_whether_it_is_there() {
    for (text, denied, stated) in [
        ("-chest pain, +dyspnea, -fever", vec!["chest pain", "fever"], vec!["shortness of breath"]),
        ("- headache, - nausea, + vertigo", vec!["headache", "nausea"], vec!["vertigo"]),
        ("+fever -cough", vec!["cough"], vec!["fever"]),
        ("Asma -, HTA +", vec!["asthma"], vec!["hypertension"]),
        ("Disnea sí tos no fiebre sí", vec!["cough"], vec!["shortness of breath", "fever"]),
        ("DM2 no, HTA si, asma no", vec!["type 2 diabetes mellitus", "asthma"], vec!["hypertension"]),
        ("Nausea N Vomiting Y Diarrhea N", vec!["nausea", "diarrhea"], vec!["vomiting"]),
        ("Pertinent negatives: fever, chills", vec!["fever", "chills"], vec![]),
        ("Síntomas negativos: fiebre, tos", vec!["fever", "cough"], vec![]),
    ] {
        let (no, yes) = read(text);
        assert_eq!(
            (no, yes),
            (denied.into_iter().map(str::to_owned).collect(), stated.into_iter().map(str::to_owned).collect()),
            "{text}"
        );
    }
}

#[test]
fn bullets_and_lists_joined_by_signs_deny_nothing() {
    for text in [
        "- asthma\n- hypertension\n- diabetes",
        "PMH: - asthma - hypertension - GERD",
        "- Asma, - HTA, - DM2",
        "Asthma - hypertension - diabetes",
        "Fever + cough",
        "Esquizofrenia con síntomas negativos: aplanamiento afectivo, abulia.",
        "Síntomas negativos: abulia, alogia.",
    ] {
        assert!(read(text).0.is_empty(), "{text}: {:?}", read(text));
    }
    assert_eq!(read("Tiene fiebre no tos.").0, ["cough"]);
}
