//! The experiencer in sentences that name a relative: as subject, company, comparison and one of two.

use std::sync::LazyLock;

use crate::{EntityType, Experiencer, ExtractionInput, Extractor};
use anamnesis_text::{Document, Language};

static EXTRACTOR: LazyLock<Extractor> = LazyLock::new(Extractor::builtin);

/// Of whom a sentence says something that it says once: with the patient where `own` says so, and whether it is denied.
fn found(text: &str, value: &str) -> (bool, bool) {
    let document = Document::plain(text, Language::Unknown);
    let all = EXTRACTOR.extract(&ExtractionInput::new(&document)).entities;
    let is = |kind| !matches!(kind, EntityType::Relationship | EntityType::Event);
    let entity = all.iter().find(|entity| is(entity.kind) && entity.value == value);
    let context = entity.unwrap_or_else(|| panic!("{value}: {text}: {all:?}")).context;
    (context.experiencer == Experiencer::Patient, context.negated)
}

#[test]
fn what_a_relative_has_as_the_subject_or_as_company_is_theirs() {
    for (text, value) in [
        ("Their son has schizophrenia.", "schizophrenia"),
        ("Boyfriend has bipolar disorder.", "bipolar disorder"),
        ("Wife depressed since March.", "low mood"),
        ("Mother of two boys, one with asthma.", "asthma"),
        ("Padre de dos hijas, una con TDAH.", "attention-deficit hyperactivity disorder"),
        ("Vive con su madre, diabética.", "diabetes mellitus"),
        ("Convive con su hermana con esquizofrenia.", "schizophrenia"),
        ("Married to a drug addict.", "substance use disorder"),
        ("Shares a flat with a friend who uses cocaine.", "cocaine use"),
        ("Tía en tratamiento con tamoxifeno por cáncer de mama.", "tamoxifen"),
        ("Hijo con TDAH en tratamiento con metilfenidato.", "methylphenidate"),
        ("El marido está con Sintrom.", "acenocoumarol"),
        ("Husband had a vasectomy.", "vasectomy"),
        ("Wife is allergic to penicillin.", "penicillin"),
        ("His son is allergic to peanuts; he has no allergies.", "peanuts"),
        ("Her husband takes lithium and she takes sertraline.", "lithium"),
        ("My son has a fever and I gave him amoxicillin.", "amoxicillin"),
        ("Lives with husband who smokes 20 a day.", "tobacco use"),
    ] {
        assert!(!found(text, value).0, "{text}");
    }
}

#[test]
fn what_is_said_of_the_patient_near_a_relative_is_the_patients() {
    for (text, value) in [
        ("Vive con su mujer, tiene diabetes e HTA.", "diabetes mellitus"),
        ("Vive con su madre, diabético.", "diabetes mellitus"),
        ("Lives with her son and has asthma.", "asthma"),
        ("Madre de dos hijos, asmática.", "asthma"),
        ("Mother of two with asthma.", "asthma"),
        ("Acude con su madre, que refiere fiebre.", "fever"),
        ("Acude acompañado de su hija con disnea.", "shortness of breath"),
        ("Son reports that she has dementia.", "dementia"),
        ("Her husband takes lithium and she takes sertraline.", "sertraline"),
        ("Su mujer toma apixabán y él Sintrom.", "acenocoumarol"),
        ("Mum is giving him Calpol 5 ml every 6 hours.", "acetaminophen"),
        ("Casado, en tratamiento con Sintrom.", "acenocoumarol"),
        ("His mother says he is allergic to penicillin.", "penicillin"),
    ] {
        assert!(found(text, value).0, "{text}");
    }
}

#[test]
fn what_is_shared_or_compared_with_a_relative_is_the_patients_too() {
    for (text, value, denied) in [
        ("Like his father, he has hypertension.", "hypertension", false),
        ("Al igual que su hermana, padece asma.", "asthma", false),
        ("My brother has epilepsy and so do I.", "epilepsy", false),
        ("Mi padre es hipertenso y yo también.", "hypertension", false),
        ("Mi hermana y yo tenemos asma.", "asthma", false),
        ("Both he and his brother have diabetes.", "diabetes mellitus", false),
        ("Tanto ella como su madre tienen migraña.", "migraine", false),
        ("Neither he nor his father has diabetes.", "diabetes mellitus", true),
        ("Ni él ni su hermano tienen epilepsia.", "epilepsy", true),
        ("Unlike his brother, he does not have asthma.", "asthma", true),
    ] {
        assert_eq!(found(text, value), (true, denied), "{text}");
    }
    assert_eq!(found("Her mother has asthma and so does her sister.", "asthma"), (false, false));
    assert_eq!(found("Ni su madre ni su hermana tienen asma.", "asthma"), (false, true));
}

#[test]
fn a_title_without_a_colon_ends_the_family_history() {
    for (text, value) in [
        ("ANTECEDENTES FAMILIARES\nMadre con depresión\nANTECEDENTES MÉDICOS\nEpilepsia", "epilepsy"),
        ("Antecedentes familiares\n- Padre: infarto\nEnfermedad actual\n- Cefalea", "headache"),
        ("Antecedentes familiares\nPadre alcohólico\nAntecedentes personales\nAsma", "asthma"),
    ] {
        assert!(found(text, value).0, "{text}");
    }
    assert!(!found("Antecedentes familiares\nPadre alcohólico\nMadre con asma", "asthma").0);
}

#[test]
fn illnesses_of_people_at_work_are_not_the_patients() {
    for text in
        ["Trabaja con niños con autismo.", "Teaches children with dyslexia.", "Works with adults with dementia."]
    {
        let document = Document::plain(text, Language::Unknown);
        let all = EXTRACTOR.extract(&ExtractionInput::new(&document)).entities;
        assert!(all.iter().all(|entity| entity.kind != EntityType::Condition), "{text}: {all:?}");
    }
}
