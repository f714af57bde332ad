use proptest::prelude::*;

use super::*;

fn all_same(texts: &[&str]) {
    for a in texts {
        for b in texts {
            assert!(same_fact(a, b), "{a:?} and {b:?}: {:?} and {:?}", statement(a), statement(b));
        }
    }
}

fn all_different(texts: &[&str]) {
    for (i, a) in texts.iter().enumerate() {
        for b in &texts[..i] {
            assert!(!same_fact(a, b), "{a:?} and {b:?}: {:?}", statement(a));
        }
    }
}

#[test]
fn another_dose_is_another_fact() {
    all_different(&[
        "sertraline 50 mg",
        "sertraline 100 mg",
        "sertraline 5 mg",
        "sertraline 50 mcg",
        "sertraline 50 ml",
        "sertraline",
        "sertraline 50 mg weekly",
        "sertraline 50 mg twice daily",
    ]);
    all_different(&["increased from 50 mg to 100 mg", "increased from 100 mg to 50 mg"]);
}

#[test]
fn one_dose_in_any_unit_word_or_language_is_one_fact() {
    all_same(&[
        "amoxicillin 0.5 g",
        "amoxicillin 500 mg",
        "amoxicilina 0,5 g",
        "toma amoxicilina 500mg",
        "500 mg of amoxicillin",
    ]);
    all_same(&["levothyroxine 100 mcg", "levotiroxina 0,1 mg", "levothyroxine 100 µg"]);
    all_same(&["takes fifty milligrams of sertraline", "sertraline 50 mg", "toma cincuenta miligramos de sertralina"]);
    all_same(&["metformina 1.000 mg", "metformin 1,000 mg", "metformin 1000 mg", "metformina 1 g"]);
}

#[test]
fn a_number_with_two_readings_equals_only_itself() {
    assert!(!same_fact("metformina 1,500 mg", "metformina 1500 mg"));
    assert!(!same_fact("metformina 1,500 mg", "metformina 1,5 mg"));
    all_same(&["digoxin 0.125 mg", "digoxina 0,125 mg"]);
}

#[test]
fn rhythms_are_compared_in_one_form() {
    all_same(&[
        "ibuprofen 400 mg every 8 hours",
        "ibuprofeno 400 mg cada 8 horas",
        "ibuprofen 400 mg q8h",
        "ibuprofeno 400 mg c/8h",
        "ibuprofen 400 mg three times a day",
        "ibuprofeno 400 mg tres veces al día",
        "ibuprofen 400 mg tid",
    ]);
    all_same(&[
        "sertraline 50 mg daily",
        "sertraline 50mg once a day",
        "sertralina 50 mg al día",
        "sertraline 50 mg/day",
    ]);
    all_different(&["methotrexate 15 mg weekly", "methotrexate 15 mg daily", "methotrexate 15 mg every 2 weeks"]);
}

#[test]
fn a_denial_is_never_the_fact_it_denies() {
    all_different(&["Allergic to penicillin", "Not allergic to penicillin"]);
    all_different(&["toma sertralina", "no toma sertralina", "ya no toma sertralina"]);
    all_different(&["has fever", "denies fever"]);
    all_different(&["walks without pain", "walks with pain"]);
    all_different(&["Fumador", "No fumador"]);
}

#[test]
fn one_denial_in_both_languages_is_one_fact() {
    all_same(&["no toma sertralina", "does not take sertraline", "doesn't take sertraline", "niega tomar sertralina"]);
    all_same(&["Not allergic to penicillin", "No es alérgica a la penicilina", "no penicillin allergy"]);
    all_same(&["non-smoker", "does not smoke", "no fuma", "niega fumar", "nunca fuma"]);
    all_same(&[
        "stopped taking sertraline",
        "no longer takes sertraline",
        "ya no toma sertralina",
        "dejó de tomar sertralina",
    ]);
}

#[test]
fn idioms_do_not_deny() {
    all_same(&["sin embargo toma sertralina", "toma sertralina", "nevertheless toma sertralina"][..2]);
    assert!(!same_fact("Nevertheless allergic to penicillin", "Never allergic to penicillin"));
}

#[test]
fn whose_fact_it_is_counts() {
    all_different(&["has diabetes", "my mother has diabetes", "my sister has diabetes", "family history of diabetes"]);
    all_same(&["My mother has diabetes", "Mi madre tiene diabetes", "mother: diabetes"]);
    all_same(&["I have diabetes", "The patient has diabetes", "tengo diabetes"]);
    all_different(&["the wife hit the patient", "the patient hit the wife"]);
}

#[test]
fn dates_and_times_count() {
    all_different(&["appointment on 3 March 2026", "appointment on 4 March 2026", "appointment on 3 March 2027"]);
    all_same(&[
        "cita el 3 de marzo de 2026",
        "appointment on March 3, 2026",
        "appointment on 2026-03-03",
        "cita el 03/03/2026",
    ]);
    all_same(&["cita el día 3 de abril de 2026", "cita el día 03/04/2026"]);
    assert!(!same_fact("appointment on 03/04/2026", "appointment on 4 March 2026"));
    all_different(&["asthma since 2019", "asthma since 2020", "asthma"]);
    all_different(&["has cancer", "had cancer"]);
    all_different(&["toma sertralina", "tomaba sertralina", "tomó sertralina"][..2]);
}

#[test]
fn numbers_belong_to_the_words_next_to_them() {
    all_different(&["sertraline 50 mg, quetiapine 100 mg", "sertraline 100 mg, quetiapine 50 mg"]);
    all_same(&["sertraline 50 mg, quetiapine 100 mg", "quetiapina 100 mg y sertralina 50 mg"]);
    all_different(&["takes sertraline, not quetiapine", "takes quetiapine, not sertraline"]);
    all_same(&["allergic to penicillin and sulfa", "allergic to sulfa and penicillin"]);
    all_same(&["sertraline, 50 mg, daily", "sertraline 50 mg daily"]);
    all_different(&["blood pressure 120/80", "blood pressure 130/80"]);
}

#[test]
fn direction_and_certainty_count() {
    all_different(&["switched from sertraline to fluoxetine", "switched from fluoxetine to sertraline"]);
    all_different(&["asthma", "possible asthma"]);
    all_different(&["left knee pain", "right knee pain", "knee pain"]);
    all_same(&["dolor de rodilla izquierda", "left knee pain"]);
    all_different(&["started sertraline", "stopped sertraline"]);
    all_different(&["takes sertraline or quetiapine", "takes sertraline and quetiapine"]);
    all_different(&["mild pain", "severe pain"]);
}

#[test]
fn signs_letters_and_roman_numbers_count() {
    all_different(&["stage I", "stage II", "stage III", "stage IV"]);
    all_different(&["blood type A+", "blood type A-", "blood type B+", "blood type A"]);
    all_different(&["vitamin A", "vitamin E", "vitamin D", "vitamin"]);
    all_different(&["fever > 39", "fever < 39", "fever 39"]);
    all_different(&["allergic to penicillin", "allergic to penicillin?"]);
    all_different(&["balance -5", "balance 5"]);
}

#[test]
fn half_is_half_and_a_leading_point_is_no_full_stop() {
    all_same(&["lorazepam .5 mg", "lorazepam 0.5 mg", "lorazepam 0,5 mg", "lorazepam .5mg"]);
    all_different(&["lorazepam .5 mg", "lorazepam 5 mg"]);
    all_same(&["takes half a tablet", "takes 1/2 tablet", "toma medio comprimido", "0.5 tablets"]);
    all_different(&["cita mañana", "cita por la mañana"]);
    all_same(&["cita mañana", "appointment tomorrow"]);
    all_same(&["type 2 diabetes", "diabetes tipo 2"]);
    all_different(&["type 2 diabetes", "type 1 diabetes"]);
}

#[test]
fn names_are_not_cut_to_their_stem() {
    all_different(&["lives with Mario", "lives with Maria"]);
    all_different(&["prednisone 5 mg", "prednisolone 5 mg"]);
    all_different(&["hydralazine 25 mg", "hydroxyzine 25 mg"]);
}

#[test]
fn case_accents_and_space_do_not_count_and_nothing_is_no_fact() {
    all_same(&["Depresión  Mayor", "depresion mayor"]);
    assert!(!same_fact("", ""));
    assert!(same_fact("—", "—"));
    assert!(!same_fact("", "depression"));
}

fn words() -> impl Strategy<Value = String> {
    let word = proptest::sample::select(
        &[
            "sertraline",
            "50 mg",
            "no",
            "mother",
            "daily",
            "pain",
            ",",
            "had",
            "120/80",
            "3 March",
            "y",
            "to",
            "1,5 g",
            "cada 8 h",
        ][..],
    );
    proptest::collection::vec(word, 1..8).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn every_text_states_the_same_as_itself_in_capitals(text in words()) {
        prop_assert!(same_fact(&text, &text));
        let spaced = format!("  {text} ");
        prop_assert!(same_fact(&text, &spaced));
    }

    #[test]
    fn order_of_the_question_does_not_matter(a in words(), b in words()) {
        prop_assert_eq!(same_fact(&a, &b), same_fact(&b, &a));
    }

    #[test]
    fn no_text_panics(a in "\\PC{0,60}", b in "\\PC{0,60}") {
        prop_assert_eq!(same_fact(&a, &b), same_fact(&b, &a));
    }

    #[test]
    fn two_doses_are_the_same_exactly_when_they_are_equal(a in 1u32..2000, b in 1u32..2000) {
        let dose = |mg: u32| format!("takes sertraline {mg} mg daily");
        prop_assert_eq!(same_fact(&dose(a), &dose(b)), a == b);
    }
}
