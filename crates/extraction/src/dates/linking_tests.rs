//! The findings of dates, in whole lines.

use chrono::NaiveDate;

use super::find;
use crate::{Entity, ExtractionInput, Extractor};
use anamnesis_core::finding::EntityType;
use anamnesis_text::{Document, Language, Speaker};

/// A Monday.
fn today() -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 3, 2).unwrap()
}

fn entities(document: &Document, language: Language) -> Vec<Entity> {
    let dates = find(&document.text, language, today());
    let input = ExtractionInput { dates: &dates, today: Some(today()), ..ExtractionInput::new(document) };
    Extractor::shared().extract(&input).entities
}

fn dated(text: &str, language: Language, name: &str) -> String {
    let found = entities(&Document::plain(text, language), language);
    let one = found.iter().find(|e| e.value == name).unwrap_or_else(|| panic!("no {name} in {text}: {found:#?}"));
    one.at.map(|at| at.iso()).unwrap_or_default()
}

#[test]
fn every_item_of_a_list_has_the_date_next_to_it() {
    let text = "Operations: adenoids '84, hysterectomy 2009, appendix out Easter 2015";
    assert_eq!(dated(text, Language::English, "tonsillectomy"), "1984");
    assert_eq!(dated(text, Language::English, "hysterectomy"), "2009");
    assert_eq!(dated(text, Language::English, "appendectomy"), "2015-04");
}

#[test]
fn a_lasting_state_comes_before_its_first_day() {
    let text = "on cpap since 2018 previous stroke 2011 after his hip replacement";
    assert_eq!(dated(text, Language::English, "CPAP"), "2018");
    assert_eq!(dated(text, Language::English, "hip replacement"), "2011");
}

#[test]
fn an_answer_a_table_and_a_sentence_of_nothing_else_give_their_date() {
    let turns =
        [(Speaker::Clinician, "¿La paroxetina?", None), (Speaker::Patient, "La dejé de tomar en octubre.", None)];
    let found = entities(&Document::dialogue(turns, Language::Spanish), Language::Spanish);
    let paroxetine = found.iter().find(|e| e.value == "paroxetine").unwrap();
    assert_eq!(paroxetine.at.unwrap().iso(), "2025-10");
    let row = "heroin | first 2014 | last use 2/20/26 | smoked";
    assert_eq!(dated(row, Language::English, "heroin use"), "2026-02-20");
    let line = "Fractura de muñeca izq. 2016. Asma.";
    let found = entities(&Document::plain(line, Language::Spanish), Language::Spanish);
    assert!(
        found.iter().any(|e| e.kind == EntityType::Condition && e.at.is_some_and(|at| at.iso() == "2016")),
        "{found:#?}"
    );
}

#[test]
fn a_reaction_s_day_is_that_of_the_allergy() {
    let text = "Allergic to trimethoprim which gave her a nasty blistering rash in 1999.";
    assert_eq!(dated(text, Language::English, "trimethoprim"), "1999");
}

#[test]
fn a_day_to_come_with_an_hour_or_a_word_of_a_visit_is_an_appointment() {
    let days = |text: &str, language| -> Vec<String> {
        let found = entities(&Document::plain(text, language), language);
        let met = found.iter().filter(|e| e.kind == EntityType::Appointment);
        met.filter_map(|e| e.at.map(|at| at.iso())).collect()
    };
    assert_eq!(days("Consulta 10/04/2026 a las 9:40.", Language::Spanish), ["2026-04-10"]);
    assert_eq!(days("Dr Shah will call you tomorrow at 9.30.", Language::English), ["2026-03-03"]);
    assert_eq!(days("Nos juntamos el viernes 13 a las once.", Language::Spanish), ["2026-03-13"]);
    assert_eq!(days("Seen in clinic on 20 February, fell on Monday at 10.", Language::English), Vec::<String>::new());
}

#[test]
fn a_death_is_the_relative_s_and_a_suicide_in_the_family_is_stored() {
    use anamnesis_core::finding::Experiencer;
    let found = entities(
        &Document::plain("Dad d. 2019. Paternal uncle hanged himself in 2004.", Language::English),
        Language::English,
    );
    let deaths: Vec<_> = found.iter().filter(|e| e.kind == EntityType::Event).collect();
    let said: Vec<_> =
        deaths.iter().map(|e| (e.value.as_str(), e.subject.as_deref(), e.at.map(|at| at.iso()))).collect();
    assert_eq!(
        said,
        [
            ("death", Some("father"), Some("2019".to_owned())),
            ("death by suicide", Some("uncle"), Some("2004".to_owned()))
        ]
    );
    assert!(deaths.iter().all(|e| e.context.experiencer == Experiencer::Family));
}

#[test]
fn a_bare_answer_is_the_value_of_what_was_asked() {
    let turns = [(Speaker::Clinician, "Blood pressure?", None), (Speaker::Family, "98 over 61. He is fine.", None)];
    let found = entities(&Document::dialogue(turns, Language::English), Language::English);
    let value = found.iter().find_map(|e| e.measured.as_ref()).unwrap();
    assert_eq!(value.value, "98/61");
}

#[test]
fn a_medicine_has_the_day_that_what_it_did_has() {
    for (text, language, name, day) in [
        ("Methotrexate was discontinued in 2021 because of mouth ulcers.", Language::English, "methotrexate", "2021"),
        ("Dejó el topiramato en enero por parestesias.", Language::Spanish, "topiramate", "2026-01"),
        ("Implanon inserted 11/2025", Language::English, "etonogestrel", "2025-11"),
    ] {
        let found = entities(&Document::plain(text, language), language);
        let medicine = found.iter().find(|e| e.kind == EntityType::Medication && e.value == name);
        let at = medicine.unwrap_or_else(|| panic!("{found:#?}")).at;
        assert_eq!(at.map(|at| at.iso()).as_deref(), Some(day), "{text}");
    }
}

#[test]
fn a_bracket_after_a_day_has_separate_days() {
    let text = "Hábitos: tabaco, retomó en febrero (lo había dejado por el embarazo).";
    assert_eq!(dated(text, Language::Spanish, "tobacco use"), "2026-02");
    let text = "Un gesto autolítico en 2016 (sobreingesta).";
    assert_eq!(dated(text, Language::Spanish, "overdose"), "2016");
}

#[test]
fn the_day_of_a_start_is_not_that_of_the_stop() {
    for (text, language, name, expected) in [
        ("En enero inició paroxetina, que abandonó.", Language::Spanish, "paroxetine", ""),
        ("Empezó topiramato en enero y lo abandonó.", Language::Spanish, "topiramate", ""),
        ("En enero inició paroxetina, que abandonó en febrero.", Language::Spanish, "paroxetine", "2026-02"),
        ("In January he started citalopram, which he stopped.", Language::English, "citalopram", ""),
        ("Began lithium in January but gave it up.", Language::English, "lithium", ""),
        ("Sertraline was started in January and stopped in February.", Language::English, "sertraline", "2026-02"),
        ("En enero abandonó la sertralina.", Language::Spanish, "sertraline", "2026-01"),
        ("Stopped citalopram in January.", Language::English, "citalopram", "2026-01"),
        ("En enero dejó el litio que tomaba.", Language::Spanish, "lithium", "2026-01"),
    ] {
        assert_eq!(dated(text, language, name), expected, "{text}");
    }
}

#[test]
fn a_day_from_which_an_order_begins_is_still_to_come() {
    for (text, language, name, day) in [
        ("Plan: begin fluoxetine 20 mg from Thursday.", Language::English, "fluoxetine", true),
        ("Increase lamotrigine to 100 mg from Friday.", Language::English, "lamotrigine", true),
        ("She started citalopram on Friday.", Language::English, "citalopram", false),
        ("Refiere tomar sertralina desde el lunes.", Language::Spanish, "sertraline", false),
        ("Empezamos quetiapina desde el viernes.", Language::Spanish, "quetiapine", false),
        ("Could not start olanzapine; stopped it from Friday.", Language::English, "olanzapine", false),
    ] {
        let found = entities(&Document::plain(text, language), language);
        let medicine = found.iter().find(|e| e.kind == EntityType::Medication && e.value == name);
        let medicine = medicine.unwrap_or_else(|| panic!("{text}: {found:#?}"));
        assert_eq!(medicine.at.is_some_and(|at| at.day > today()), day, "{text}: {:?}", medicine.at.map(|at| at.iso()));
    }
}
