//! The experiencer of an allergy, the reason for giving up a medicine, and retractions.

use std::fmt::Write as _;

use crate::{EntityType, Experiencer, ExtractionInput, Extractor, StatementKind};
use anamnesis_text::{Document, Language, Speaker};

/// The allergies and intolerances of a text, one a line: "allergy: latex (hives)", "no allergy: egg", "family's …".
fn read(document: &Document) -> String {
    let found = Extractor::shared().extract(&ExtractionInput::new(document));
    let mut lines: Vec<String> = found
        .entities
        .iter()
        .filter(|entity| matches!(entity.kind, EntityType::Allergy | EntityType::Intolerance))
        .map(|entity| {
            let mut line = String::new();
            if entity.context.experiencer != Experiencer::Patient {
                line.push_str("family's ");
            }
            if entity.context.negated {
                line.push_str("no ");
            }
            let _ = write!(line, "{}: {}", entity.kind.code(), entity.value);
            if let Some(reaction) = &entity.reaction {
                let _ = write!(line, " ({})", reaction.name);
            }
            line
        })
        .collect();
    lines.sort();
    lines.join("; ")
}

fn note(text: &str) -> String {
    read(&Document::plain(text, Language::Unknown))
}

fn talk(turns: &[(Speaker, &str)]) -> String {
    read(&Document::dialogue(turns.iter().map(|(who, words)| (*who, *words, None)), Language::Unknown))
}

#[test]
fn a_medicine_given_up_for_what_it_did_is_not_tolerated() {
    assert_eq!(
        note("Fluoxetine tried in spring, stopped because of a dry cough."),
        "intolerance: fluoxetine (dry cough)"
    );
    assert_eq!(note("Enalapril suspendido por tos seca."), "intolerance: enalapril (tos seca)");
    assert_eq!(note("La gabapentina la dejó xq andaba mareada."), "intolerance: gabapentin (mareada)");
    assert_eq!(note("Se suspende la ceftriaxona por exantema."), "allergy: ceftriaxone (exantema)");
    let answered = talk(&[
        (Speaker::Clinician, "And the mirtazapine?"),
        (Speaker::Patient, "Like a zombie on it, so I binned it."),
    ]);
    assert_eq!(answered, "intolerance: mirtazapine (like a zombie)");
}

#[test]
fn a_medicine_given_up_for_another_reason_is_no_intolerance() {
    assert_eq!(note("Metformin stopped due to insurance."), "");
    assert_eq!(note("Sertraline stopped because she felt better."), "");
    assert_eq!(note("Paroxetina la dejó porque se sentía bien."), "");
}

#[test]
fn an_allergy_that_turns_out_to_be_a_relatives_is_theirs_and_not_the_patients() {
    let brother = talk(&[
        (Speaker::Clinician, "Any allergies? It says amoxicillin here."),
        (Speaker::Patient, "No, that was my brother."),
    ]);
    assert_eq!(brother, "family's allergy: amoxicillin; no allergy: amoxicillin");
    let wife = talk(&[
        (Speaker::Clinician, "¿Alguna alergia?"),
        (Speaker::Patient, "Mi esposa es alérgica al ibuprofeno pero yo no."),
    ]);
    assert_eq!(wife, "family's allergy: ibuprofen; no allergy: ibuprofen");
    assert_eq!(
        note("Figuraba alergia a las sulfas, eso era de su hija."),
        "family's allergy: sulfa drugs; no allergy: sulfa drugs"
    );
}

#[test]
fn a_relative_who_speaks_of_themselves_gives_the_patient_nothing() {
    let mother = talk(&[
        (Speaker::Clinician, "¿Alergias de la niña?"),
        (Speaker::Family, "Ella a nada. Yo a la amoxicilina, me salen ronchas."),
    ]);
    assert_eq!(mother, "family's allergy: amoxicillin (ronchas)");
}

#[test]
fn an_allergy_is_taken_back_where_the_same_was_taken_since() {
    assert_eq!(
        note("Down as allergic to penicillin but has had flucloxacillin twice without trouble."),
        "no allergy: penicillin"
    );
    assert_eq!(note("Egg allergy: eats them every day."), "no allergy: egg");
    assert_eq!(note("Allergic to penicillin, not latex."), "allergy: penicillin; no allergy: latex");
}

#[test]
fn a_list_of_allergies_names_what_no_lexicon_knows_and_no_remedy() {
    assert_eq!(
        note("ALLERGIES: Elderflower: lips swell. Bee stings: throat swells, epi pen expired."),
        "allergy: bee venom (throat swells); allergy: elderflower (lips swell)"
    );
    assert_eq!(
        note("ALLERGIES: Tegretol – Stevens-Johnson, never to be given again."),
        "allergy: carbamazepine (stevens-johnson)"
    );
}

#[test]
fn a_mere_side_effect_is_an_intolerance_and_no_allergy() {
    assert_eq!(
        note("Allergies: erythromycin, it was just an upset stomach."),
        "intolerance: erythromycin (upset stomach); no allergy: erythromycin"
    );
}

#[test]
fn only_what_is_said_of_an_allergen_itself_takes_it_back() {
    for (text, expected) in [
        ("ALERGIA VERDADERA: amoxicilina-clavulánico (2019). Se retira Augmentin.", "allergy: amoxicillin/clavulanate"),
        ("Alergias: kiwi (prurito). Plátano lo tolera.", "allergy: kiwi (prurito); no allergy: banana"),
        ("Alérgica a kiwi, no es alérgica a nada más.", "allergy: kiwi"),
        ("ALERGIAS\nKiwi y melocotón: prurito oral", "allergy: kiwi; allergy: peach (prurito)"),
        ("Allergies: Micropore → blisters (taken off). Mepore fine.", "allergy: adhesive tape (blisters)"),
        ("Allergies: Micropore → blisters. Hypafix ok.", "allergy: adhesive tape (blisters)"),
        ("Penicillin allergy, not allergic to latex.", "allergy: penicillin; no allergy: latex"),
        (
            "Alergia a penicilina descartada, alergia a ibuprofeno confirmada.",
            "allergy: ibuprofen; no allergy: penicillin",
        ),
        ("Alergia a amoxicilina: exantema, se retira el fármaco.", "allergy: amoxicillin (exantema)"),
        ("Cephalexin allergy, outgrown at age 9.", "no allergy: cephalexin"),
    ] {
        assert_eq!(note(text), expected, "{text}");
    }
}

#[test]
fn what_a_title_or_a_value_refutes_is_denied() {
    for (text, expected) in [
        (
            "ALERGIAS DESCARTADAS: penicilina, AINE, látex",
            "no allergy: latex; no allergy: nsaids; no allergy: penicillin",
        ),
        ("Alergias descartadas:\n- Penicilina\n- Látex", "no allergy: latex; no allergy: penicillin"),
        (
            "Allergies refuted: penicillin, latex. True allergy: ibuprofen (angioedema).",
            "allergy: ibuprofen (angioedema); no allergy: latex; no allergy: penicillin",
        ),
        ("Alergias: Látex (-), penicilina (+)", "allergy: penicillin; no allergy: latex"),
        ("Alergias: Penicilina, niega", "no allergy: penicillin"),
        ("Allergies: Penicillin – rash. Latex – removed.", "allergy: penicillin (rash); no allergy: latex"),
        ("Alergias: Penicilina, niega otras.", "allergy: penicillin"),
    ] {
        assert_eq!(note(text), expected, "{text}");
    }
}

#[test]
fn a_pen_of_adrenaline_is_carried_and_no_allergen() {
    assert_eq!(note("Alergias: penicilina (rash). Lleva Altellus."), "allergy: penicillin (rash)");
    assert_eq!(note("Allergies: peanut, Jext, wasp, Anapen"), "allergy: peanuts; allergy: wasp venom");
    assert_eq!(note("Alérgico a cacahuete, EpiPen en el cole."), "allergy: peanuts");
}

#[test]
fn no_known_allergies_are_none_in_every_common_wording_and_a_single_substance_is_not_all() {
    let none = |text: &str| {
        let found = Extractor::shared().extract(&ExtractionInput::new(&Document::plain(text, Language::Unknown)));
        found.statements.iter().any(|statement| statement.kind == StatementKind::NoKnownAllergies)
    };
    for text in [
        "No known drug allergies.",
        "No known allergies",
        "There are no known allergies.",
        "PMH: asthma.\nNo known drug allergies\nMeds: none",
        "Takes sertraline 50 mg. No known drug or food allergies. Sleeps well.",
        "No known allergies to medications",
        "No known drug allergies, lives alone.",
        "Sin alergias medicamentosas conocidas.",
    ] {
        assert!(none(text), "{text}");
    }
    for text in [
        "No known food allergies.",
        "No known penicillin allergy.",
        "Known allergies: latex.",
        "His known drug allergies were reviewed.",
        "If no known drug allergies, start amoxicillin 500 mg.",
        "Her husband has no known drug allergies.",
    ] {
        assert!(!none(text), "{text}");
    }
}

/// Allergies as [`note`] shows them, and after a stroke the symptoms and conditions that are the patient's own.
fn nearby(text: &str) -> String {
    let document = Document::plain(text, Language::Unknown);
    let found = Extractor::shared().extract(&ExtractionInput::new(&document)).entities;
    let own = |entity: &&crate::Entity| {
        matches!(entity.kind, EntityType::Symptom | EntityType::Condition) && !entity.context.negated
    };
    let mut names: Vec<&str> = found.iter().filter(own).map(|entity| entity.value.as_str()).collect();
    names.sort_unstable();
    format!("{} | {}", read(&document), names.join(", "))
}

#[test]
fn a_present_complaint_next_to_an_allergy_is_none_of_its_reactions() {
    for (text, expected) in [
        ("Alérgico a la amoxicilina. Refiere diarrea desde el martes.", "allergy: amoxicillin | diarrhea"),
        ("Soy alérgica a la penicilina. Tengo vómitos desde anoche.", "allergy: penicillin | vomiting"),
        ("Alérgica a penicilina, refiere náuseas desde ayer.", "allergy: penicillin | nausea"),
        ("Alergia a AINEs. Consulta por fiebre.", "allergy: nsaids | fever"),
        ("Soy alérgico al ibuprofeno. Llevo dos días con diarrea.", "allergy: ibuprofen | diarrhea"),
        ("Alérgico al látex. A la exploración presenta urticaria en el tronco.", "allergy: latex | urticaria"),
        ("Allergic to penicillin and has nausea today.", "allergy: penicillin | nausea"),
        ("Allergic to sulfa. Complains of vomiting for two days.", "allergy: sulfa drugs | vomiting"),
        ("I'm allergic to ibuprofen. I've been vomiting since Sunday.", "allergy: ibuprofen | vomiting"),
        ("Allergic to latex. Presents with diarrhoea.", "allergy: latex | diarrhea"),
        ("Allergic to codeine. Vomiting.", "allergy: codeine | vomiting"),
        ("Allergies: penicillin (hives). Reports nausea.", "allergy: penicillin (hives) | nausea"),
        ("Alergias: penicilina (urticaria). Náuseas desde ayer.", "allergy: penicillin (urticaria) | nausea"),
    ] {
        assert_eq!(nearby(text), expected, "{text}");
    }
}

#[test]
fn a_finding_next_to_a_denied_allergy_is_found_as_what_it_is() {
    for (text, expected) in [
        ("No soy alérgica al ibuprofeno pero tengo picor.", "no allergy: ibuprofen | itching"),
        ("No es alérgico a la penicilina. Presenta diarrea.", "no allergy: penicillin | diarrhea"),
        ("No es alérgica al marisco, acude con vómitos.", "no allergy: shellfish | vomiting"),
        ("Not allergic to nuts. Itching since last week.", "no allergy: tree nuts | itching"),
        ("I am not allergic to aspirin. I have had nausea since Monday.", "no allergy: aspirin | nausea"),
        ("She isn't allergic to latex, has a rash on both arms.", "no allergy: latex | arm rash"),
    ] {
        assert_eq!(nearby(text), expected, "{text}");
    }
}

#[test]
fn a_reaction_is_stated_in_the_clause_of_the_allergy_or_in_one_that_says_so() {
    for (text, expected) in [
        ("Alérgico a la amoxicilina. Le dio urticaria.", "allergy: amoxicillin (urticaria) | "),
        ("Alérgica a las cefalosporinas. Reacción: exantema.", "allergy: cephalosporins (exantema) | "),
        ("Soy alérgica a la penicilina, me salieron ronchas.", "allergy: penicillin (ronchas) | "),
        (
            "Alergia a penicilina: de niño le dio un rash. Hoy viene con vómitos.",
            "allergy: penicillin (rash) | vomiting",
        ),
        ("Alérgico al látex – urticaria.", "allergy: latex (urticaria) | "),
        ("Allergic to sulfa. It gave me hives.", "allergy: sulfa drugs (hives) | "),
        ("Allergic to penicillin - has hives every time.", "allergy: penicillin (hives) | "),
        ("Allergic to codeine. Hives and swelling.", "allergy: codeine (hives and swelling) | "),
        ("I'm allergic to ibuprofen. It makes me vomit.", "intolerance: ibuprofen (makes me vomit) | "),
        ("Allergic to latex. Rash all over as a child.", "allergy: latex (rash) | "),
    ] {
        assert_eq!(nearby(text), expected, "{text}");
    }
}

#[test]
fn the_day_of_a_complaint_is_not_that_of_the_allergy_next_to_it() {
    let today = chrono::NaiveDate::from_ymd_opt(2026, 3, 1).unwrap();
    for (text, language) in [
        ("Alérgica a penicilina, refiere náuseas desde ayer.", Language::Spanish),
        ("Allergic to penicillin and has had a headache since Monday.", Language::English),
    ] {
        let document = Document::plain(text, language);
        let dates = crate::dates::find(text, language, today);
        let input = ExtractionInput { dates: &dates, today: Some(today), ..ExtractionInput::new(&document) };
        for entity in Extractor::shared().extract(&input).entities {
            assert_eq!(entity.at.is_some(), entity.kind == EntityType::Symptom, "{text}: {entity:?}");
        }
    }
}

#[test]
fn a_denial_goes_on_over_the_strokes_of_a_list() {
    let all = "no allergy: iodine; no allergy: latex; no allergy: shellfish";
    assert_eq!(note("Not allergic to latex/iodine/shellfish."), all);
    assert_eq!(note("Reports she is not allergic to iodine/shellfish/latex, and sleeps well."), all);
    assert_eq!(note("No es alérgica a marisco/látex/yodo."), all);
    assert_eq!(note("She does not tolerate codeine."), "intolerance: codeine");
    assert_eq!(note("Allergic to latex/iodine."), "allergy: iodine; allergy: latex");
}

#[test]
fn what_was_given_against_a_reaction_caused_none() {
    for (text, said) in [
        ("Allergies: cashews - anaphylaxis (adrenaline x1, hydrocortisone).", "allergy: cashews (anaphylaxis)"),
        ("Alergias: ceftriaxona (urticaria, tratada con dexametasona).", "allergy: ceftriaxone (urticaria)"),
        ("Alergias: amoxicilina, exantema; se sustituyó por azitromicina.", "allergy: amoxicillin (exantema)"),
        // An illness that was treated, and a treatment that was stopped for its effect.
        (
            "Episodio de ansiedad tratado con citalopram 20 mg, que dejó por disfunción sexual.",
            "intolerance: citalopram (disfunción sexual)",
        ),
    ] {
        assert_eq!(note(text), said, "{text}");
    }
}

#[test]
fn a_line_that_is_ruled_or_no_item_leaves_the_list_of_allergens() {
    let shift = "ALERGIAS (pulsera): ibuprofeno, angioedema.\n--- 03/02 TURNO DE TARDE ---\n\
                 16:10 Toma un yogur y dos galletas.\n17:00 Se indica cloruro potásico por vía oral.";
    assert_eq!(note(shift), "allergy: ibuprofen (angioedema)");
    let letter = "Allergies: latex, hives.\n- kiwi: itchy mouth\nShe had eggs for breakfast and a peanut bar later.";
    assert_eq!(note(letter), "allergy: kiwi (itchy); allergy: latex (hives)");
}

#[test]
fn another_question_leaves_the_allergies_and_one_for_more_of_them_does_not() {
    use Speaker::{Clinician, Patient};
    let asks = (Clinician, "Any allergies?");
    let left = [asks, (Patient, "Penicillin."), (Clinician, "And for the pain?"), (Patient, "Tramadol, half of one.")];
    assert_eq!(talk(&left), "allergy: penicillin");
    let more = [asks, (Patient, "Penicillin."), (Clinician, "Anything else?"), (Patient, "Latex.")];
    assert_eq!(talk(&more), "allergy: latex; allergy: penicillin");
}

#[test]
fn the_bare_name_of_an_allergen_or_of_a_class_is_no_medicine_that_is_taken() {
    let sure = |text: &str, value: &str| {
        let document = Document::plain(text, Language::Unknown);
        let found = Extractor::shared().extract(&ExtractionInput::new(&document));
        let is = |entity: &&crate::Entity| entity.kind == EntityType::Medication && entity.value == value;
        found.entities.iter().find(is).map(|entity| entity.confidence > 0.5)
    };
    let both = "Allergic to codeine, which makes her itch.\n\nThe dentist wanted codeine.";
    assert_ne!(sure(both, "codeine"), Some(true));
    // With a dose it is taken, and a person must look.
    let taken = "Allergic to codeine, which makes her itch.\n\nTakes codeine 30 mg at night.";
    assert_eq!(sure(taken, "codeine"), Some(true));
    assert_ne!(sure("Steroids were talked about.", "steroid"), Some(true));
}
