//! Allergies that a text takes back or that were tolerated, rows and signs that state one, and words that are no
//! reaction.

use crate::{Entity, EntityType, Experiencer, ExtractionInput, Extractor};
use anamnesis_text::{Document, Language, Speaker};

fn entities(document: &Document) -> Vec<Entity> {
    Extractor::shared().extract(&ExtractionInput::new(document)).entities
}

fn rows(text: &str) -> Vec<Entity> {
    entities(&Document::plain(text, Language::Unknown))
}

/// "allergy", "no allergy", "intolerance" or nothing: the relation of a substance to the patient in a text.
fn relation(text: &str, name: &str) -> String {
    let is = |entity: &&Entity| {
        matches!(entity.kind, EntityType::Allergy | EntityType::Intolerance)
            && entity.value == name
            && entity.context.experiencer == Experiencer::Patient
    };
    let all = rows(text);
    let mut said: Vec<String> = all
        .iter()
        .filter(is)
        .map(|entity| format!("{}{}", if entity.context.negated { "no " } else { "" }, entity.kind.code()))
        .collect();
    said.dedup();
    said.join(", ")
}

fn each(cases: &[(&str, &str, &str)]) {
    let read: Vec<(&str, String)> = cases.iter().map(|(text, name, _)| (*text, relation(text, name))).collect();
    let expected: Vec<(&str, String)> = cases.iter().map(|(text, _, said)| (*text, (*said).to_owned())).collect();
    assert_eq!(read, expected);
}

#[test]
fn an_allergy_that_the_text_takes_back_is_denied() {
    each(&[
        ("Alergia a cefuroxima en la ficha. No es cierto, que la quiten.", "cefuroxime", "no allergy"),
        ("Alergias:\n- látex: anotado y luego tachado.", "latex", "no allergy"),
        ("En la portada pone alérgico a tramadol pues no que lo quiten.", "tramadol", "no allergy"),
        ("The entry \"allergic to codeine\" is nonsense.", "codeine", "no allergy"),
        ("Allergy list: eggs. Remove.", "egg", "no allergy"),
        (
            "Alergia a penicilina: provocación con penicilina negativa -> puede tomarla, pendiente de borrar.",
            "penicillin",
            "no allergy",
        ),
    ]);
}

#[test]
fn the_answer_of_the_next_turn_takes_back_what_the_record_says() {
    let said = |answer: &str| {
        let turns = [
            (Speaker::Clinician, "Allergies: I have sesame on the record here.", None),
            (Speaker::Family, answer, None),
        ];
        let all = entities(&Document::dialogue(turns, Language::English));
        all.iter().any(|e| {
            e.kind == EntityType::Allergy && !e.context.negated && e.context.experiencer == Experiencer::Patient
        })
    };
    assert!(!said("He had the test last year and he passed."));
    assert!(said("Yes, he came out in hives."));
}

#[test]
fn an_allergy_of_which_nothing_is_taken_back_stays() {
    each(&[
        ("Alergia a la penicilina. No es verdad que la tolere.", "penicillin", "allergy"),
        ("Alérgica al látex, no tachado.", "latex", "allergy"),
        ("Allergic to peanuts. The food diary is nonsense, she says of the leaflet.", "peanuts", "allergy"),
        ("Alergia a amoxicilina: provocación con amoxicilina positiva.", "amoxicillin", "allergy"),
        ("Allergic to latex. Sutures to be removed.", "latex", "allergy"),
        ("Alergia al látex. Tenía un yeso y se lo quitaron.", "latex", "allergy"),
        ("Allergic to ibuprofen, not so bad now.", "ibuprofen", "allergy"),
    ]);
}

#[test]
fn what_was_borne_where_allergies_are_spoken_of_is_denied_and_no_medicine() {
    for (text, name) in [
        (
            "Alergia a penicilina de pequeño. En 2019 le pusieron Benzetacil y no le pasó nada.",
            "benzathine benzylpenicillin",
        ),
        ("Allergies: sulfa. She was given cefalexin last year, no bother.", "cephalexin"),
    ] {
        assert_eq!(relation(text, name), "no allergy", "{text}");
        assert!(!rows(text).iter().any(|e| e.kind == EntityType::Medication && e.value == name), "{text}");
    }
    each(&[("Alergias: látex. Mariscos bien.", "shellfish", "no allergy")]);
    let text = "Alergias: penicilina. Toma enalapril sin problema.";
    assert_eq!(relation(text, "enalapril"), "");
    assert_eq!(relation(text, "penicillin"), "allergy");
}

#[test]
fn a_sign_or_a_row_with_a_reaction_states_an_allergy() {
    each(&[
        ("*** ALERTA: CEFTRIAXONA = ANAFILAXIA (2018) ***", "ceftriaxone", "allergy"),
        ("clarithromycin = really bad vomiting", "clarithromycin", "intolerance"),
        ("La cefalexina le cerró la garganta en 2015.", "cephalexin", "allergy"),
        ("| Ketorolaco | [x] | Ronchas en la espalda, 2015 |", "ketorolac", "allergy"),
    ]);
    assert_eq!(relation("| Zolpidem | 10 | insomnio |", "zolpidem"), "");
}

#[test]
fn a_reaction_is_made_of_reaction_words_and_no_row_of_its_own() {
    for text in [
        "Alergias: estreptomicina - de crío.",
        "Alergias: metamizol, consignada en 2015.",
        "Allergies: nitrofurantoin - pt says no more.",
    ] {
        let all = rows(text);
        let found = all.iter().find(|e| matches!(e.kind, EntityType::Allergy | EntityType::Intolerance));
        assert!(found.is_some_and(|found| found.reaction.is_none()), "{text}: {all:?}");
    }
    let all = rows("Allergy: cefaclor -- lips & eyes swelled up when she was nine.");
    assert!(!all.iter().any(|e| e.kind == EntityType::Symptom), "{all:?}");
}

#[test]
fn what_is_taken_for_an_attack_or_was_given_against_a_reaction_is_no_allergen() {
    let asked = Document::dialogue(
        [
            (Speaker::Clinician, "¿Alergias a medicamentos?", None),
            (Speaker::Patient, "no. bueno el salbutamol cuando me da el ahogo", None),
        ],
        Language::Spanish,
    );
    let allergic = |e: &Entity| matches!(e.kind, EntityType::Allergy | EntityType::Intolerance) && !e.context.negated;
    assert!(!entities(&asked).iter().any(allergic));
    each(&[("Haloperidol: distonía en 2011, hubo que ponerle biperideno.", "biperiden", "")]);
}

#[test]
fn a_medicine_that_was_taken_away_for_what_it_did_is_not_tolerated() {
    each(&[
        ("Aripiprazol: hubo que quitarlo por acatisia.", "aripiprazole", "intolerance"),
        ("No tolera tramadol por náuseas.", "tramadol", "intolerance"),
        ("Codeine - vomiting, not a true allergy.", "codeine", "intolerance"),
        ("Diclofenaco: NO poner, sangrado de estómago en 2020.", "diclofenac", "intolerance"),
        ("Y el piroxicam me revienta el estómago.", "piroxicam", "intolerance"),
    ]);
}

#[test]
fn a_medicine_that_must_not_be_given_without_a_harm_is_no_allergen() {
    each(&[
        ("Zolpidem: no dar esta semana.", "zolpidem", ""),
        ("Diazepam 5 mg, do not give with alcohol.", "diazepam", ""),
    ]);
}
