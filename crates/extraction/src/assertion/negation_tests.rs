//! Where denials end in dictation and chat, which have no signs.

use std::sync::LazyLock;

use crate::{Entity, EntityType, ExtractionInput, Extractor};
use anamnesis_text::{Document, Language};

static EXTRACTOR: LazyLock<Extractor> = LazyLock::new(Extractor::builtin);

fn found(text: &str) -> Vec<Entity> {
    EXTRACTOR.extract(&ExtractionInput::new(&Document::plain(text, Language::Unknown))).entities
}

fn negated(text: &str, kind: EntityType, value: &str) -> bool {
    let all = found(text);
    let is = |entity: &&Entity| entity.kind == kind && entity.value == value;
    all.iter().rev().find(is).unwrap_or_else(|| panic!("{value}: {text}: {all:?}")).context.negated
}

#[test]
fn a_denial_ends_where_the_same_head_is_said_again_with_an_object() {
    for (text, value) in [
        ("niega alergias alergia a marisco hipertenso toma losartan", "shellfish"),
        ("sin alergias medicamentosas alergia al látex", "latex"),
        ("no es alérgico a nada alérgico a la aspirina", "aspirin"),
        ("sin alergias sí alérgica al melocotón", "peach"),
        ("no drug allergies allergic to peanuts takes metformin", "peanuts"),
        ("denies allergies allergic to codeine", "codeine"),
        ("no known allergies yes allergy to shellfish", "shellfish"),
        ("no allergies latex allergy", "latex"),
        ("no alergia a penicilina alergia a sulfamidas", "sulfa drugs"),
        ("no alergias conocidas, alergia a la aspirina", "aspirin"),
    ] {
        assert!(!negated(text, EntityType::Allergy, value), "{text}");
    }
    assert!(!negated("no intolerancia intolerancia a la lactosa", EntityType::Intolerance, "lactose"));
    assert!(!negated("no fiebre fiebre de 38 ayer", EntityType::Symptom, "fever"));
}

#[test]
fn a_denial_goes_on_through_a_list_that_says_its_head_again() {
    for (text, value) in [
        ("no alergia a penicilina ni alergia a sulfamidas", "sulfa drugs"),
        ("niega alergia a penicilina y alergia a mariscos", "shellfish"),
        ("niega alergia a penicilina, alergia a látex, alergia a yodo", "latex"),
        ("sin alergias ni alergia a contrastes", "iodinated contrast"),
        ("no allergy to penicillin or allergy to latex", "latex"),
        ("no history of allergy to latex, no allergy to iodine", "iodine"),
        ("no tiene alergia a penicilina no tiene alergia a látex", "latex"),
    ] {
        assert!(negated(text, EntityType::Allergy, value), "{text}");
    }
}

#[test]
fn a_denial_of_a_quality_says_nothing_of_what_follows() {
    for (text, kind, value) in [
        ("cita no urgente empezar sertralina 50 mg", EntityType::Medication, "sertraline"),
        ("no prioritario iniciar vitamina D", EntityType::Medication, "vitamin d"),
        ("derivación no urgente cefalea tensional", EntityType::Condition, "tension headache"),
        ("referral routine not urgent start ferrous sulphate 200 mg", EntityType::Medication, "iron"),
        ("not important start omeprazole 20 mg", EntityType::Medication, "omeprazole"),
        ("not urgent refer to cardiology heart failure", EntityType::Condition, "heart failure"),
    ] {
        assert!(!negated(text, kind, value), "{text}");
    }
}

#[test]
fn a_denial_of_a_graded_or_governed_finding_denies_it() {
    for (text, kind, value) in [
        ("no grave depresión", EntityType::Condition, "depression"),
        ("no toma hierro", EntityType::Medication, "iron"),
        ("no antecedentes de asma", EntityType::Condition, "asthma"),
        ("no severe pain", EntityType::Symptom, "pain"),
        ("not a serious illness depression", EntityType::Condition, "depression"),
    ] {
        assert!(negated(text, kind, value), "{text}");
    }
}

#[test]
fn what_is_named_first_and_never_was_is_denied() {
    for (text, value) in [
        ("Convulsiones no he tenido nunca.", "seizures"),
        ("Mareos tampoco ha notado.", "dizziness"),
        ("Vómitos no ha presentado.", "vomiting"),
        ("A nasty cough last month, gone now.", "cough"),
    ] {
        assert!(negated(text, EntityType::Symptom, value), "{text}");
    }
    for (text, value) in [
        ("La tos no se le quita nunca.", "cough"),
        ("The nausea has never gone away.", "nausea"),
        ("The nausea has not settled.", "nausea"),
        ("Convulsiones que no ha tenido nunca.", "seizures"),
        ("Con vómitos, después se fue a casa.", "vomiting"),
    ] {
        assert!(!negated(text, EntityType::Symptom, value), "{text}");
    }
}
