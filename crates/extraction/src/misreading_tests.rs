//! Kinds of misreading that whole records showed, one line each: what was tested for, shown, feared, asked of the
//! world, stated about others, replaced or ended.

use std::sync::LazyLock;

use super::{Entity, EntityType, Experiencer, ExtractionInput, Extractor, StatementKind, Temporality};
use anamnesis_text::{Document, Language, Speaker};
use chrono::NaiveDate;

static EXTRACTOR: LazyLock<Extractor> = LazyLock::new(Extractor::builtin);

fn read(document: &Document) -> Vec<Entity> {
    let today = NaiveDate::from_ymd_opt(2026, 3, 2).expect("a day");
    let dates = super::dates::find(&document.text, Language::English, today);
    let input = ExtractionInput { today: Some(today), dates: &dates, ..ExtractionInput::new(document) };
    EXTRACTOR.extract(&input).entities
}

fn note(text: &str) -> Vec<Entity> {
    read(&Document::plain(text, Language::Unknown))
}

fn talk(turns: &[(Speaker, &str)]) -> Vec<Entity> {
    read(&Document::dialogue(turns.iter().map(|(who, words)| (*who, *words, None)), Language::Unknown))
}

fn said(text: &str) -> Vec<Entity> {
    talk(&[(Speaker::Patient, text)])
}

/// Whether something is held of the patient now, as a fact.
fn holds(found: &[Entity], kind: EntityType, value: &str) -> bool {
    found.iter().any(|entity| {
        entity.kind == kind
            && entity.value == value
            && !entity.context.negated
            && !entity.context.uncertain
            && entity.context.experiencer == Experiencer::Patient
            && entity.context.temporality == Temporality::Recent
            && !matches!(entity.status.as_deref(), Some("stopped" | "suggested" | "not_taken"))
    })
}

#[test]
fn what_a_patient_was_challenged_with_is_no_medicine_and_no_allergen_if_it_was_borne() {
    for (text, value) in [
        ("Provocación oral con ibuprofeno 400 mg: tolerada.", "ibuprofen"),
        ("Graded challenge with cefuroxime 250 mg, no reaction at four hours.", "cefuroxime"),
        ("Prueba de exposición controlada a paracetamol negativa.", "acetaminophen"),
    ] {
        let found = note(text);
        assert!(!holds(&found, EntityType::Medication, value), "{text}: {found:?}");
        let refuted = |e: &Entity| e.kind == EntityType::Allergy && e.value == value && e.context.negated;
        assert!(found.iter().any(refuted), "{text}: {found:?}");
    }
    for (text, value) in [
        ("Skin prick testing to amoxicillin: positive.", "amoxicillin"),
        ("Provocación con naproxeno 500 mg pendiente.", "naproxen"),
    ] {
        let found = note(text);
        assert!(!holds(&found, EntityType::Medication, value), "{text}: {found:?}");
        assert!(!found.iter().any(|e| e.kind == EntityType::Allergy && e.context.negated), "{text}: {found:?}");
    }
    // A medicine that is taken as well, and one that only challenges.
    assert!(holds(&note("Allergy testing booked. Takes ramipril 5 mg daily."), EntityType::Medication, "ramipril"));
    assert!(holds(&note("It is a challenge to remember her lithium 400 mg."), EntityType::Medication, "lithium"));
}

#[test]
fn a_label_that_is_taken_off_says_nothing_of_all_allergies() {
    let statements =
        |text: &str| EXTRACTOR.extract(&ExtractionInput::new(&Document::plain(text, Language::Unknown))).statements;
    for text in ["Se retira la etiqueta de alergia.", "Allergy label removed."] {
        assert!(statements(text).iter().all(|one| one.kind != StatementKind::NoKnownAllergies), "{text}");
    }
    for text in ["Sin alergias conocidas.", "¿Tiene alguna alergia? No, ninguna", "NKDA."] {
        assert!(statements(text).iter().any(|one| one.kind == StatementKind::NoKnownAllergies), "{text}");
    }
}

#[test]
fn what_is_shown_read_or_feared_is_not_had() {
    for (text, kind, value) in [
        ("I watched that show where the teacher gets cancer.", EntityType::Condition, "cancer"),
        ("Estoy viendo la serie en la que el padre tiene epilepsia.", EntityType::Condition, "epilepsy"),
        ("Cada noche pienso que me va a dar un infarto.", EntityType::Condition, "myocardial infarction"),
        ("Is it true that lithium makes you gain weight", EntityType::Medication, "lithium"),
        ("Leí en internet que la quetiapina da sueño.", EntityType::Medication, "quetiapine"),
    ] {
        let found = said(text);
        assert!(!holds(&found, kind, value), "{text}: {found:?}");
    }
    assert!(holds(&said("I have epilepsy and I watch a series every night."), EntityType::Condition, "epilepsy"));
    assert!(holds(&said("Me dio un infarto en enero."), EntityType::Condition, "myocardial infarction"));
}

#[test]
fn an_answer_about_a_spouse_is_the_spouses_until_the_speaker_comes_back_to_themselves() {
    let asked = |answer| talk(&[(Speaker::Clinician, "¿Y cómo está su marido?"), (Speaker::Patient, answer)]);
    let found = asked("Con depresión. No sale de casa.");
    assert!(!holds(&found, EntityType::Condition, "depression"), "{found:?}");
    let found = asked("Bien. Yo tengo insomnio.");
    assert!(holds(&found, EntityType::Condition, "insomnia"), "{found:?}");
    let found = note("Insomnio reactivo a la epilepsia del cónyuge.");
    assert!(!holds(&found, EntityType::Condition, "epilepsy"), "{found:?}");
    let found = note("Hipotiroidismo, lo sigue su médica familiar.");
    assert!(holds(&found, EntityType::Condition, "hypothyroidism"), "{found:?}");
}

#[test]
fn a_diagnosis_that_another_one_replaced_is_over() {
    for (text, old, new) in [
        (
            "Diagnosis revised from bipolar disorder to ADHD.",
            "bipolar disorder",
            "attention-deficit hyperactivity disorder",
        ),
        ("Se modifica el diagnóstico de asma a epilepsia.", "asthma", "epilepsy"),
    ] {
        let found = note(text);
        assert!(
            !holds(&found, EntityType::Condition, old) && holds(&found, EntityType::Condition, new),
            "{text}: {found:?}"
        );
    }
    assert!(holds(&note("New diagnosis of asthma, referred to the clinic."), EntityType::Condition, "asthma"));
}

#[test]
fn a_course_has_a_last_day_and_what_was_stopped_as_planned_is_stopped() {
    let medicine = |text: &str| note(text).into_iter().find(|e| e.kind == EntityType::Medication).unwrap();
    let ends = |text: &str| medicine(text).ends.map(|end| end.day.to_string());
    assert_eq!(ends("Amoxicillin 500 mg three times a day for 7 days.").as_deref(), Some("2026-03-09"));
    assert_eq!(ends("Prednisona 30 mg al día durante dos semanas y suspender.").as_deref(), Some("2026-03-16"));
    // A medicine taken since then, or going on, has no end.
    assert_eq!(ends("Has been taking sertraline 50 mg for two weeks."), None);
    assert_eq!(ends("Sertraline 50 mg daily for six months now."), None);
    for text in ["Stopped quetiapine last week as agreed.", "Se retiró la quetiapina según lo previsto."] {
        assert_eq!(medicine(text).status.as_deref(), Some("stopped"), "{text}");
    }
}

#[test]
fn a_loss_with_its_day_ends_a_pregnancy_and_one_of_long_ago_does_not() {
    let found = said("I lost the baby on Friday.");
    let over = |e: &Entity| e.value == "pregnancy" && e.context.temporality == Temporality::Historical;
    assert!(found.iter().any(over), "{found:?}");
    let found = note("G4P1, two miscarriages in 2019. Now 20 weeks pregnant.");
    assert!(holds(&found, EntityType::Condition, "pregnancy"), "{found:?}");
}

#[test]
fn words_that_sound_like_an_illness_or_a_drug_are_none() {
    for (text, value) in [
        ("El primer mes me costó mucho.", "cannabis use"),
        ("No bebo ni gota.", "gout"),
        ("We binged the whole series.", "binge eating"),
    ] {
        assert!(said(text).iter().all(|e| e.value != value), "{text}");
    }
}

#[test]
fn words_that_only_sound_like_these_kinds_stay() {
    let of = |spoken: bool, text: &str| if spoken { said(text) } else { note(text) };
    for (spoken, text, kind, value) in [
        (false, "Blood tests normal, increase levothyroxine to 75 mcg daily.", EntityType::Medication, "levothyroxine"),
        (
            false,
            "Skin prick test to mites positive, started loratadine 10 mg daily.",
            EntityType::Medication,
            "loratadine",
        ),
        (false, "Se prueba con mirtazapina 15 mg por la noche.", EntityType::Medication, "mirtazapine"),
        (false, "Asthma, total IgE 700, on montelukast 10 mg.", EntityType::Medication, "montelukast"),
        (true, "I saw that I have hypertension in the letter.", EntityType::Condition, "hypertension"),
        (true, "Sí, es cierto que tengo epilepsia.", EntityType::Condition, "epilepsy"),
        (
            false,
            "Diagnóstico de hipertensión, se cambia enalapril por losartán 50 mg.",
            EntityType::Condition,
            "hypertension",
        ),
        (false, "Currently 20 weeks pregnant. Miscarriage on 12 August 2025.", EntityType::Condition, "pregnancy"),
        (false, "Lamotrigine 25 mg daily for 2 weeks, stop if rash.", EntityType::Medication, "lamotrigine"),
    ] {
        let found = of(spoken, text);
        assert!(holds(&found, kind, value), "{text}: {found:?}");
    }
    let ends = |text: &str| note(text).into_iter().any(|e| e.kind == EntityType::Medication && e.ends.is_some());
    for text in [
        "Lamotrigine 25 mg daily for 2 weeks, stop if rash.",
        "Nitrofurantoin 100 mg nightly for 6 months.",
        "On amoxicillin 500 mg for 3 days, still symptomatic.",
        "Amoxicillin 500 mg three times daily, fever for 5 days.",
        "Paliperidone 100 mg monthly, last dose 15 February 2026.",
    ] {
        assert!(!ends(text), "{text}");
    }
    let refuted = |text: &str| note(text).into_iter().any(|e| e.kind == EntityType::Allergy && e.context.negated);
    for text in [
        "Graded challenge with amoxicillin 500 mg was not tolerated.",
        "Provocación oral con naproxeno 500 mg: no tolerada.",
        "Skin tests to amoxicillin negative, oral challenge declined.",
        "Provocación oral con celecoxib tolerada, debe evitar ibuprofeno.",
        "Oral challenge with cefalexin tolerated, penicillin to be tested.",
    ] {
        let found = note(text);
        let others = |e: &Entity| matches!(e.value.as_str(), "ibuprofen" | "penicillin" | "amoxicillin" | "naproxen");
        let wrong = |e: &Entity| e.kind == EntityType::Allergy && e.context.negated && others(e);
        assert!(!found.iter().any(wrong), "{text}: {found:?}, {}", refuted(text));
    }
    let none = |text: &str| {
        let found = EXTRACTOR.extract(&ExtractionInput::new(&Document::plain(text, Language::Unknown)));
        found.statements.iter().any(|one| one.kind == StatementKind::NoKnownAllergies)
    };
    for text in [
        "¿Tiene alguna alergia? No sabe.",
        "Does he have any allergies? No one knows.",
        "¿Alguien en la familia con alguna alergia? No",
    ] {
        assert!(!none(text), "{text}");
    }
    assert!(none("Alert and oriented, no allergies."));
    // The experiencer.
    let family = |found: &[Entity], value: &str| {
        found.iter().any(|e| e.value == value && e.context.experiencer != Experiencer::Patient)
    };
    assert!(family(&note("Tiene familiares con esquizofrenia."), "schizophrenia"));
    let asked = talk(&[
        (Speaker::Clinician, "Any cancer in the family?"),
        (Speaker::Patient, "With my mom, it was breast cancer."),
    ]);
    assert!(family(&asked, "breast cancer"), "{asked:?}");
    let own = talk(&[
        (Speaker::Clinician, "How have you been since the death of your husband?"),
        (Speaker::Patient, "Badly. Panic attacks every night."),
    ]);
    assert!(holds(&own, EntityType::Symptom, "panic attack"), "{own:?}");
}

#[test]
fn a_question_of_a_form_is_answered_after_it_on_its_line() {
    let denied = |text: &str, value: &str| {
        note(text).iter().any(|entity| entity.value == value && entity.context.negated && !entity.context.uncertain)
    };
    assert!(denied("Have you ever had epilepsy? No, never", "epilepsy"));
    assert!(denied("¿Le diagnosticaron asma de niño? No, nunca", "asthma"));
    assert!(denied("¿Tiene diabetes? No.", "diabetes mellitus"));
    assert!(holds(&note("Do you have asthma? Yes, since school"), EntityType::Condition, "asthma"));
    // A denial of something else answers nothing.
    assert!(!denied("Pneumonia? No chest pain.", "pneumonia"));
    assert!(!denied("¿Tiene asma? No sabe.", "asthma"));
    assert!(!denied("Does she have asthma?\nNo, thank you.", "asthma"));
}

#[test]
fn what_makes_one_swell_is_an_allergy() {
    let found = said("A mí la penicilina me hincha toda, desde chiquita.");
    assert!(holds(&found, EntityType::Allergy, "penicillin"), "{found:?}");
}

#[test]
fn what_is_borne_next_to_an_allergy_is_no_medicine() {
    let taken = |text: &str, name: &str| holds(&note(text), EntityType::Medication, name);
    assert!(!taken("Alergias: penicilina (exantema). Tolera cefuroxima.\nTratamiento: enalapril 10 mg.", "cefuroxime"));
    assert!(!taken("Allergies: NSAIDs (wheeze). Has tolerated celecoxib and paracetamol.", "acetaminophen"));
    assert!(!holds(
        &said("Soy alérgica a la penicilina pero tolero la cefuroxima."),
        EntityType::Medication,
        "cefuroxime"
    ));
    assert!(taken("Plan: tolerates sertraline well, continue.", "sertraline"));
    assert!(taken("Allergies: none. Tolerating well her sertraline 50 mg.", "sertraline"));
}
