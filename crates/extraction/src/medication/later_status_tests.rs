//! The status of a medicine by later clauses, sentences and turns, and medicines for later or of others.

use std::sync::LazyLock;

use crate::{Entity, EntityType, ExtractionInput, Extractor, Temporality};
use anamnesis_text::{Document, Language, Speaker};

static EXTRACTOR: LazyLock<Extractor> = LazyLock::new(Extractor::builtin);

fn medicine(document: &Document, name: &str) -> Option<Entity> {
    let all = EXTRACTOR.extract(&ExtractionInput::new(document)).entities;
    all.into_iter().find(|entity| entity.kind == EntityType::Medication && entity.value == name)
}

fn status(text: &str, name: &str) -> String {
    let found = medicine(&Document::plain(text, Language::Unknown), name);
    found.unwrap_or_else(|| panic!("{name}: {text}")).status.unwrap_or_default()
}

fn is_left_out(text: &str, name: &str) -> bool {
    let found = medicine(&Document::plain(text, Language::Unknown), name);
    found.is_none_or(|found| found.context.temporality == Temporality::Hypothetical)
}

fn each(cases: &[(&str, &str, &str)]) {
    let read: Vec<(&str, String)> = cases.iter().map(|(text, name, _)| (*text, status(text, name))).collect();
    let expected: Vec<(&str, String)> = cases.iter().map(|(text, _, status)| (*text, (*status).to_owned())).collect();
    assert_eq!(read, expected);
}

#[test]
fn a_later_clause_without_another_medicine_ends_the_one_before_it() {
    each(&[
        ("Disulfiram 250, una al día. Anduvo bien unas semanas. Lo dejó ella.", "disulfiram", "stopped"),
        (
            "Bupropion 150 mg each morning from the walk-in clinic. It made him jumpy. He stopped it in March.",
            "bupropion",
            "stopped",
        ),
        ("Le recetaron topiramato 50 mg. La cefalea siguió. Se lo quitaron.", "topiramate", "stopped"),
        ("Aripiprazole 10 mg started in autumn. She slept badly and came off it.", "aripiprazole", "stopped"),
        ("Doxycycline + metronidazole at discharge. Stopped 3/2.", "doxycycline", "stopped"),
        ("Gabapentina 300 mg. La tomó de marzo a mayo.", "gabapentin", "stopped"),
        ("Zolpidem 5 mg, ten tablets; she took two and binned them.", "zolpidem", "stopped"),
    ]);
}

#[test]
fn a_later_clause_about_something_else_ends_no_medicine() {
    for (text, name) in [
        ("Sertraline 50 mg daily. He stopped smoking in May.", "sertraline"),
        ("Metformina 850 mg cada 12 horas. La dejó el marido en enero.", "metformin"),
        ("Lithium 400 mg at night. The tremor stopped.", "lithium"),
        ("Amlodipino 5 mg. Lo dejamos igual.", "amlodipine"),
        ("Escitalopram 10 mg. He was stopped by the police.", "escitalopram"),
        ("Quetiapine 50 mg at night. She stopped at the shop on the way.", "quetiapine"),
        ("Enalapril 10 mg. No lo tomó hoy.", "enalapril"),
        ("Paracetamol 1 g when needed. She took two today.", "acetaminophen"),
        ("Omeprazole 20 mg. Stopped it in May and restarted it in June.", "omeprazole"),
    ] {
        let found = status(text, name);
        assert!(!matches!(found.as_str(), "stopped" | "not_taken" | "declined"), "{text}: {found}");
    }
}

#[test]
fn the_answer_of_the_next_turn_ends_a_medicine() {
    let talk = |turns: &[(Speaker, &str)]| {
        let document = Document::dialogue(turns.iter().map(|(who, words)| (*who, *words, None)), Language::Unknown);
        medicine(&document, "fluoxetine").expect("named").status.unwrap_or_default()
    };
    assert_eq!(
        talk(&[(Speaker::Clinician, "So they put you on fluoxetine 20."), (Speaker::Patient, "i stoped it")]),
        "stopped"
    );
    assert_eq!(
        talk(&[(Speaker::Clinician, "Le pusieron fluoxetina 20."), (Speaker::Patient, "La corté al mes.")]),
        "stopped"
    );
    assert_ne!(
        talk(&[(Speaker::Clinician, "You are on fluoxetine 20."), (Speaker::Patient, "I stopped drinking.")]),
        "stopped"
    );
}

#[test]
fn what_was_never_collected_or_begun_is_not_taken() {
    each(&[
        ("El cardiólogo le pautó atorvastatina en junio y no llegó a comprarla.", "atorvastatin", "not_taken"),
        ("Ranitidina: la recetó la guardia, no la han comprado.", "ranitidine", "not_taken"),
        ("La loratadina no la tomé nunca.", "loratadine", "not_taken"),
        ("Prescribed varenicline in spring, she never collected it.", "varenicline", "not_taken"),
        ("My brother says I should try melatonin, haven't.", "melatonin", "not_taken"),
    ]);
    assert_ne!(status("Toma enalapril. No lo toma con comida.", "enalapril"), "not_taken");
}

#[test]
fn an_offer_that_is_refused_in_the_next_clause_is_declined() {
    each(&[
        ("Depot was discussed: paliperidone was offered and he would rather not.", "paliperidone", "declined"),
        ("Discussed dapagliflozin, pt would rather wait for the scan.", "dapagliflozin", "declined"),
        ("Se le ofreció naltrexona y prefiere esperar.", "naltrexone", "declined"),
    ]);
    assert_ne!(status("Sertraline 50 mg daily. Not keen on therapy.", "sertraline"), "declined");
}

#[test]
fn a_medicine_for_a_time_to_come_is_only_planned() {
    each(&[
        ("Trazodona 50 mg noche cuando QTc <450, no antes.", "trazodone", "suggested"),
        ("Litio quedaría para cuando lo vea nefrología.", "lithium", "suggested"),
        ("Enoxaparina 20 mg sc a partir de las 6 h.", "enoxaparin", "suggested"),
        ("Acamprosate 333 mg once the bloods are back.", "acamprosate", "suggested"),
        ("Iniciar vortioxetina mañana, 5 mg.", "vortioxetine", "suggested"),
        ("Dr Vale did mention guanfacine as another option.", "guanfacine", "suggested"),
    ]);
    for (text, name) in [
        ("Ibuprofeno 400 mg cuando duele.", "ibuprofen"),
        ("Diazepam 5 mg when anxious.", "diazepam"),
        ("Lamotrigine 100 mg once daily.", "lamotrigine"),
        ("Iniciar enalapril 5 mg por la mañana.", "enalapril"),
        ("Mirtazapine 15 mg when he was in hospital.", "mirtazapine"),
    ] {
        assert_ne!(status(text, name), "suggested", "{text}");
    }
}

#[test]
fn what_is_left_as_it_is_goes_on_and_a_person_who_is_not_wanted_is_no_refusal() {
    each(&[
        ("El Medikinet lo dejamos igual, en 20, no lo voy a subir.", "methylphenidate", "active"),
        ("La sertralina la dejamos como está.", "sertraline", "active"),
        ("Apixabán 5 mg: en pausa por la cirugía, preguntar cuándo se reinicia.", "apixaban", "on_hold"),
        ("Metformina EN SUSPENSO por el contraste.", "metformin", "on_hold"),
    ]);
    assert_ne!(status("I'm on citalopram, I don't want him going down that road.", "citalopram"), "declined");
    assert_eq!(status("Citalopram was offered, she doesn't want it.", "citalopram"), "declined");
}

#[test]
fn what_is_left_over_or_a_relatives_or_was_swallowed_is_no_treatment() {
    for (text, name) in [
        ("He has kept back his late wife's leftover Sevredol in a drawer.", "morphine"),
        ("Tomó 8 lorazepam 1 mg (son de la abuela).", "lorazepam"),
        ("Primer intento a los 20 años (ibuprofeno).", "ibuprofen"),
    ] {
        assert!(is_left_out(text, name), "{text}");
    }
    assert!(!is_left_out("Lorazepam 1 mg por la noche; las pastillas son de la farmacia.", "lorazepam"));
}

#[test]
fn what_a_laboratory_measures_is_no_medicine() {
    for (text, name) in [
        ("Salicylate neg, ASA <2.", "aspirin"),
        ("Bloods in May: FBC, LFTs, B12.", "vitamin b12"),
        ("Repeat testosterone, 8 am sample, in March.", "testosterone"),
        ("Urine grew E. coli, trimethoprim resistant.", "trimethoprim"),
        ("Orina: BZD +, metadona -.", "methadone"),
    ] {
        let found = medicine(&Document::plain(text, Language::Unknown), name);
        assert!(found.is_none(), "{text}: {found:?}");
    }
    for (text, name) in [
        ("Vitamin B12 1 mg im every three months.", "vitamin b12"),
        ("Takes aspirin 75 mg.", "aspirin"),
        ("Ferritin 8, started folic acid.", "folic acid"),
        ("UTI treated with trimethoprim 200 mg.", "trimethoprim"),
    ] {
        assert!(medicine(&Document::plain(text, Language::Unknown), name).is_some(), "{text}");
    }
}

#[test]
fn an_order_to_others_and_the_name_of_a_class_are_no_sure_medicines() {
    let sureness = |text: &str, name: &str| {
        medicine(&Document::plain(text, Language::Unknown), name).map_or(0.0, |found| found.confidence)
    };
    for (text, name) in [
        ("Please avoid naproxen.", "naproxen"),
        ("Nada de metoclopramida.", "metoclopramide"),
        ("No agregar tramadol ni codeína.", "tramadol"),
        ("Stop the mood stabiliser.", "mood stabilizer"),
    ] {
        assert!(sureness(text, name) < 0.6, "{text}: {}", sureness(text, name));
    }
    assert!(sureness("She should not take naproxen.", "naproxen") > 0.6);
    assert!(sureness("Toma metoclopramida 10 mg.", "metoclopramide") > 0.6);
}

#[test]
fn a_level_in_blood_is_no_illness() {
    let conditions = |text: &str| {
        let all = EXTRACTOR.extract(&ExtractionInput::new(&Document::plain(text, Language::Spanish))).entities;
        all.into_iter().filter(|entity| entity.kind == EntityType::Condition).count()
    };
    assert_eq!(conditions("Teofilinemia 14 mcg/mL."), 0);
    assert_eq!(conditions("Hiperpotasemia 6,4 mEq/L."), 1);
}

#[test]
fn the_dose_to_which_a_medicine_is_brought_is_the_newer_one() {
    for (text, name, dose) in [
        ("Lorazepam 4 mg noche desde marzo.\nLorazepam baja a 2 mg noche.", "lorazepam", "2 mg"),
        ("Toma enalapril 20.", "enalapril", "20 mg"),
        ("Olanzapine 10 mg at night.\nOlanzapine down to 5 mg.", "olanzapine", "5 mg"),
    ] {
        let all = EXTRACTOR.extract(&ExtractionInput::new(&Document::plain(text, Language::Unknown))).entities;
        let found = all.iter().rfind(|entity| entity.value == name).expect(text);
        assert_eq!(found.dose.as_deref(), Some(dose), "{text}");
    }
}
