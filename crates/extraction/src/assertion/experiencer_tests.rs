//! The experiencer of a finding, and whether it was confirmed.

use std::sync::LazyLock;

use crate::{EntityType, Experiencer, ExtractionInput, Extractor, MentionContext};
use anamnesis_text::{Document, Language, Speaker};

static EXTRACTOR: LazyLock<Extractor> = LazyLock::new(Extractor::builtin);

fn mention_context(document: &Document, value: &str) -> MentionContext {
    let all = EXTRACTOR.extract(&ExtractionInput::new(document)).entities;
    let is = |kind| !matches!(kind, EntityType::Relationship | EntityType::Event);
    let found = all.iter().find(|entity| is(entity.kind) && entity.value == value);
    found.unwrap_or_else(|| panic!("{value}: {}: {all:?}", document.text)).context
}

fn in_note(text: &str, value: &str) -> MentionContext {
    mention_context(&Document::plain(text, Language::Unknown), value)
}

fn said(text: &str, value: &str) -> MentionContext {
    mention_context(&Document::dialogue([(Speaker::Patient, text, None)], Language::Unknown), value)
}

#[test]
fn what_a_person_who_is_no_relative_has_is_theirs() {
    for (text, value) in [
        ("Mi casera toma warfarina.", "warfarin"),
        ("El portero de mi edificio es diabético.", "diabetes mellitus"),
        ("La señora de enfrente tiene cáncer.", "cancer"),
        ("El del tercero tiene asma.", "asthma"),
        ("Una compañera del taller tiene epilepsia.", "epilepsy"),
        ("My landlord takes warfarin.", "warfarin"),
        ("My neighbour Joan has diabetes.", "diabetes mellitus"),
        ("My mate from the pub is on methadone.", "methadone"),
        ("The couple from upstairs has asthma.", "asthma"),
        ("My flatmate has epilepsy and takes lithium.", "lithium"),
    ] {
        assert_eq!(said(text, value).experiencer, Experiencer::Other, "{text}");
    }
    assert_eq!(
        in_note("El vecino tiene epilepsia. La paciente toma litio.", "lithium").experiencer,
        Experiencer::Patient
    );
}

#[test]
fn what_another_person_does_for_the_speaker_leaves_their_illness_with_them() {
    for (text, value) in [
        ("Mi vecina me lleva al hospital por la diabetes.", "diabetes mellitus"),
        ("Vivo con una amiga y tengo asma.", "asthma"),
        ("Mi casero tiene gato y yo tengo asma.", "asthma"),
        ("My neighbour drives me in for my diabetes.", "diabetes mellitus"),
        ("My flatmate is lovely and I have asthma.", "asthma"),
    ] {
        assert_eq!(said(text, value).experiencer, Experiencer::Patient, "{text}");
    }
}

#[test]
fn a_title_within_a_line_ends_the_family_history() {
    for (text, value) in [
        ("FH: mother - hypothyroidism, sister - epilepsy. PMH: asthma", "asthma"),
        ("AHF: diabetes en padre, cáncer de colon en tía. APP: hipertensión.", "hypertension"),
        ("AF: madre HTA, hermano asma. AP: epilepsia.", "epilepsy"),
        ("Family history: father with stroke. Medication: salbutamol", "albuterol"),
    ] {
        assert_eq!(in_note(text, value).experiencer, Experiencer::Patient, "{text}");
    }
    for (text, value) in [
        ("FH: mother - hypothyroidism, sister - epilepsy. PMH: asthma", "epilepsy"),
        ("AF: madre HTA, padre DM2, hermano asma.", "asthma"),
        ("Family history: father with stroke. Two aunts with asthma.", "asthma"),
    ] {
        assert_eq!(in_note(text, value).experiencer, Experiencer::Family, "{text}");
    }
}

#[test]
fn what_is_not_confirmed_is_in_doubt_and_not_denied() {
    for (text, value) in [
        ("Alergia a penicilina (no confirmada)", "penicillin"),
        ("Alergias: látex (no confirmado), yodo", "latex"),
        ("Asma (no confirmado)", "asthma"),
        ("Hipotiroidismo no confirmado", "hypothyroidism"),
        ("Epilepsia, sin confirmar", "epilepsy"),
        ("Penicillin allergy (unconfirmed)", "penicillin"),
        ("PMH: asthma (not confirmed), hypertension", "asthma"),
        ("Lupus – not confirmed", "lupus"),
    ] {
        let context = in_note(text, value);
        assert!(context.uncertain && !context.negated, "{text}");
    }
    for (text, value) in [
        ("Alergias: látex (no confirmado), yodo", "iodine"),
        ("Asthma confirmed by spirometry", "asthma"),
        ("No confirmado el alta; HTA", "hypertension"),
        ("Por favor, cambiad el Adiro por clopidogrel 75 mg", "clopidogrel"),
    ] {
        assert!(!in_note(text, value).uncertain, "{text}");
    }
}

#[test]
fn a_sentence_of_what_the_patient_does_leaves_the_family_on_the_same_line() {
    for (text, value) in [
        ("Steady. Family history: mother asthma. Takes ramipril 5 mg.", "ramipril"),
        ("Family history: mother asthma, brother MI. Remains on lithium 600 mg.", "lithium"),
        ("Antecedentes familiares: padre alcoholismo. Toma enalapril 10 mg.", "enalapril"),
        ("Revisión. Antecedentes familiares: madre HTA. Actualmente con litio 400 mg.", "lithium"),
    ] {
        assert_eq!(in_note(text, value).experiencer, Experiencer::Patient, "{text}");
    }
    for (text, value) in [
        ("Family history: breast cancer. Asthma in two cousins.", "asthma"),
        ("Antecedentes familiares: madre HTA. Diabetes en la abuela.", "diabetes mellitus"),
        ("Family history: gout. Epilepsy.", "epilepsy"),
    ] {
        assert_ne!(in_note(text, value).experiencer, Experiencer::Patient, "{text}");
    }
}
