use chrono::{Duration, TimeZone};
use proptest::prelude::*;

use super::*;

fn found(a: &str, b: &str, similarity: Option<f64>) -> Option<&'static str> {
    contradiction(
        &ContradictionClaim::from_text(a),
        &ContradictionClaim::from_text(b),
        similarity,
        &ContradictionPolicy::default(),
    )
    .map(ContradictionType::code)
}

#[test]
fn the_seeds_own_table_is_found_with_the_similarity_given() {
    assert_eq!(found("Never share secrets", "Always be transparent", Some(0.9)), Some("direct_negation"));
    assert_eq!(found("More structure helps", "Less structure helps", Some(0.9)), Some("comparative_opposition"));
    assert_eq!(found("Prefer directness", "Avoid confrontation", Some(0.9)), Some("preference_conflict"));
}

#[test]
fn the_seeds_table_is_found_in_spanish() {
    assert_eq!(found("Nunca comparte secretos", "Siempre es transparente", Some(0.8)), Some("direct_negation"));
    assert_eq!(found("Más estructura ayuda", "Menos estructura ayuda", None), Some("comparative_opposition"));
    assert_eq!(found("Prefiere la franqueza", "Evita la confrontación", Some(0.6)), Some("preference_conflict"));
}

#[test]
fn without_a_common_subject_opposed_words_contradict_nothing() {
    assert_eq!(found("Never share secrets", "Always be transparent", None), None);
    assert_eq!(found("Never share secrets", "Always be transparent", Some(0.599_999)), None);
    assert_eq!(found("Never share secrets", "Always be transparent", Some(0.6)), Some("direct_negation"));
}

#[test]
fn two_shared_stems_are_enough_and_one_is_not() {
    assert_eq!(found("I always take my pills", "I never take my pills", None), Some("direct_negation"));
    assert_eq!(found("I always remember birthdays", "I never remember names", None), None);
    assert_eq!(found("Siempre toma las pastillas", "Nunca toma la pastilla", None), Some("direct_negation"));
}

#[test]
fn words_that_hold_a_cue_are_not_the_cue() {
    assert_eq!(found("Nevertheless I walk in the park", "I always walk in the park", Some(0.95)), None);
    assert_eq!(found("Regardless, structure helps me", "More structure helps me", Some(0.95)), None);
    assert_eq!(found("Sin embargo camina por el parque", "Siempre camina por el parque", Some(0.95)), None);
    assert_eq!(found("No obstante duerme bien de noche", "Duerme bien de noche", Some(0.95)), None);
    assert_eq!(found("Al menos duerme seis horas", "Duerme más de seis horas", Some(0.95)), None);
    assert_eq!(found("It feels like crying in public", "Avoids crying in public", Some(0.9)), None);
}

#[test]
fn a_thing_said_and_the_same_thing_denied_contradict() {
    assert_eq!(found("I eat meat at home", "I do not eat meat at home", None), Some("direct_negation"));
    assert_eq!(found("Bebe alcohol los fines de semana", "No bebe alcohol", None), Some("direct_negation"));
    assert_eq!(found("She can't trust her doctor", "She trusts her doctor", None), Some("direct_negation"));
    assert_eq!(found("Duerme sin pastillas para dormir", "Duerme con pastillas", None), Some("direct_negation"));
}

#[test]
fn two_denials_agree() {
    assert_eq!(found("I never eat meat at home", "I do not eat meat at home", Some(0.95)), None);
    assert_eq!(found("No bebe alcohol nunca", "Niega beber alcohol", Some(0.95)), None);
}

#[test]
fn attitudes_conflict_also_through_a_denial() {
    assert_eq!(found("Me encanta el café", "No me gusta el café", Some(0.8)), Some("preference_conflict"));
    assert_eq!(found("Likes group therapy", "Dislikes group therapy", None), Some("preference_conflict"));
    assert_eq!(found("Avoids crowds in town", "Does not like crowds in town", Some(0.9)), None);
}

#[test]
fn two_oppositions_cancel_out() {
    assert_eq!(found("More rest makes mornings better", "Less rest makes mornings worse", Some(0.9)), None);
    assert_eq!(found("More exercise, less sugar", "Less sugar and more exercise", Some(0.95)), None);
    assert_eq!(found("Prefers tea and avoids coffee", "Avoids coffee", Some(0.9)), None);
    assert_eq!(found("Prefers tea and avoids coffee", "Prefers coffee", Some(0.9)), Some("preference_conflict"));
}

#[test]
fn another_persons_habit_contradicts_nothing() {
    assert_eq!(found("My mother always takes her pills", "I never take my pills", Some(0.9)), None);
    assert_eq!(found("Mi madre siempre bebe alcohol", "Nunca bebe alcohol", Some(0.9)), None);
    let patient = ContradictionClaim {
        experiencer: Some(Experiencer::Patient),
        ..ContradictionClaim::from_text("Always takes pills at night")
    };
    let family = ContradictionClaim {
        experiencer: Some(Experiencer::Family),
        ..ContradictionClaim::from_text("Never takes pills at night")
    };
    let policy = ContradictionPolicy::default();
    assert_eq!(contradiction(&patient, &family, Some(0.9), &policy), None);
    let own = ContradictionClaim { experiencer: Some(Experiencer::Patient), ..family };
    assert!(contradiction(&patient, &own, Some(0.9), &policy).is_some());
}

#[test]
fn the_same_person_named_in_both_is_no_obstacle() {
    assert_eq!(found("I always call my mother on Sundays", "I never call my mother", None), Some("direct_negation"));
}

#[test]
fn a_statement_of_two_minds_is_not_contradicted_by_its_own_words() {
    assert_eq!(found("avoid, never avoid", "avoid, never avoid", Some(1.0)), None);
    let torn = "I prefer to sleep late, I do not prefer to sleep late";
    assert_eq!(found(torn, torn, Some(1.0)), None);
    assert_eq!(found(torn, "I do not prefer to sleep late", Some(0.9)), None);
    assert_eq!(found("Always takes pills at night", "Never takes pills at night", None), Some("direct_negation"));
}

#[test]
fn what_was_true_at_other_times_contradicts_nothing() {
    let start = Utc.with_ymd_and_hms(2026, 1, 1, 0, 0, 0).unwrap();
    let policy = ContradictionPolicy::default();
    let second = Duration::seconds(1);
    let later =
        ContradictionClaim { valid_from: Some(start), ..ContradictionClaim::from_text("I never take my pills") };
    for (end, expected) in [(start - second, false), (start, false), (start + second, true)] {
        let earlier =
            ContradictionClaim { valid_to: Some(end), ..ContradictionClaim::from_text("I always take my pills") };
        assert_eq!(contradiction(&earlier, &later, None, &policy).is_some(), expected);
        assert_eq!(contradiction(&later, &earlier, None, &policy).is_some(), expected);
    }
}

proptest! {
    #[test]
    fn order_does_not_matter(
        a in "(always|never|more|less|prefer|avoid|no|siempre|nunca|tea|sleep|pills|work| |, ){1,8}",
        b in "(always|never|more|less|prefer|avoid|no|siempre|nunca|tea|sleep|pills|work| |, ){1,8}",
    ) {
        prop_assert_eq!(found(&a, &b, Some(0.9)), found(&b, &a, Some(0.9)));
    }

    #[test]
    fn nothing_contradicts_itself(text in "(always|never|more|less|prefer|avoid|no|siempre|tea|sleep|pills| |, ){1,10}") {
        prop_assert_eq!(found(&text, &text, Some(1.0)), None);
    }
}

#[test]
fn two_things_that_change_places_in_a_comparison_oppose_each_other() {
    for (one, other) in [
        ("Walking clears my head more than reading", "Reading clears my head more than walking does"),
        ("I feel safer with my aunt than with my uncle", "I've always felt safer with my uncle than my aunt"),
        ("Evenings are harder than mornings", "The mornings are harder than the evenings for him"),
        ("I prefer texting to calling", "I prefer calling to texting"),
        ("My back is worse sitting than standing", "My back's worse standing than sitting"),
        ("Duermo mejor en el sofá que en la cama", "En la cama duermo mucho mejor que en el sofá"),
        ("El ruido me agota más que el trabajo", "el trabajo me agota muchísimo más que el ruido"),
        ("Con mi hermano hablo mejor que con mi hermana", "con mi hermana hablo mejor que con mi hermano"),
        ("Llevo peor los lunes que los viernes", "Lleva peor los viernes que los lunes"),
        ("Prefiere mujer antes que hombre", "como terapeuta prefiero hombre antes que mujer"),
    ] {
        assert_eq!(found(one, other, None), Some("comparative_opposition"), "{one} / {other}");
        assert_eq!(found(other, one, None), Some("comparative_opposition"), "{other} / {one}");
    }
}

#[test]
fn one_thing_that_is_liked_and_not_liked_is_enough_where_the_attitudes_are_about_it() {
    for (one, other) in [
        ("Hates syrups and does not want them", "I'd much rather have the syrup"),
        ("El jarabe no lo soporto, me sabe a rayos", "Quiere sus medicinas en jarabe"),
        ("I like to read every letter", "I've always hated getting letters about myself"),
        ("A la tarde detesta venir", "Yo siempre prefiero a la tarde, tipo seis"),
        ("I can't bear being called Rosie", "I only like Rosie"),
    ] {
        assert_eq!(found(one, other, None), Some("preference_conflict"), "{one} / {other}");
        assert_eq!(found(other, one, None), Some("preference_conflict"), "{other} / {one}");
    }
    // The very words of the one, denied.
    let denied = found("El jarabe no lo quiero por nada", "Quiere sus medicinas en jarabe", None);
    assert_eq!(denied, Some("direct_negation"));
    assert_eq!(found("Hates syrups, likes tablets", "I hate syrups and I like tablets", None), None);
    assert_eq!(found("Me gusta el coro", "No me gusta el autobús", None), None);
}

#[test]
fn comparisons_that_agree_or_compare_other_things_oppose_nothing() {
    for (one, other) in [
        ("Mornings are better than evenings", "Evenings are worse than mornings"),
        ("Mornings are better than evenings", "For me mornings are easier than evenings"),
        ("Coffee wakes me more than tea", "I like tea more than coffee"),
        ("I'm better than last year", "I'm worse than last week"),
        ("Duermo mejor con mi perro que sola", "Trabajo mejor sola que con mi perro"),
        ("Running helps me more than talking", "Running helps me more than talking to anyone"),
    ] {
        assert_eq!(found(one, other, None), None, "{one} / {other}");
    }
}

#[test]
fn a_degree_that_turns_round_opposes_the_same_comparison() {
    let better = "I sleep better at home than in the hostel";
    assert_eq!(found(better, "I sleep worse at home than in the hostel", None), Some("comparative_opposition"));
    let felt = "I've felt worse since the switch to duloxetine";
    let better = "He has felt better ever since the switch to duloxetine";
    assert_eq!(found(felt, better, None), Some("comparative_opposition"));
    assert_eq!(found(felt, "He feels better since the switch to nights", None), None);
    let since = "Desde el cambio a la pregabalina estoy peor que antes";
    assert_eq!(
        found(since, "desde que me hizo el cambio a la pregabalina estoy mejor que antes", None),
        Some("comparative_opposition")
    );
}
