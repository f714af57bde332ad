//! People, preferences and goals by the statements about them.

use crate::{EntityType, ExtractionInput, Extractor};
use anamnesis_text::{Document, Language, Speaker};

fn stated(document: &Document, kind: EntityType) -> Vec<String> {
    let found = Extractor::shared().extract(&ExtractionInput::new(document));
    let sure = found.entities.iter().filter(|entity| entity.kind == kind && entity.confidence > 0.5);
    sure.map(|entity| entity.value.clone()).collect()
}

fn note(text: &str, kind: EntityType) -> Vec<String> {
    stated(&Document::plain(text, Language::Unknown), kind)
}

fn chat(line: &str, kind: EntityType) -> Vec<String> {
    stated(&Document::dialogue([(Speaker::Patient, line, None)], Language::Unknown), kind)
}

#[test]
fn a_named_relative_is_a_person_in_the_patients_life() {
    assert_eq!(chat("I rang [PERSON_AA11], my sponsor.", EntityType::Relationship).len(), 1);
    assert_eq!(note("Phone call from sister [PERSON_AB1C].", EntityType::Relationship).len(), 1);
    assert_eq!(note("Father [PERSON_AB1C], MI at 60.", EntityType::Relationship).len(), 0);
}

#[test]
fn an_act_of_a_relative_is_stored_and_a_bare_mention_is_not() {
    assert_eq!(chat("Mi viejo vive lejos ahora y no lo veo.", EntityType::Relationship).len(), 1);
    assert_eq!(chat("I bought it for my cousin.", EntityType::Relationship).len(), 0);
}

#[test]
fn a_chat_states_a_wish_without_saying_i() {
    assert_eq!(chat("rather a woman if poss", EntityType::Preference), ["rather a woman if poss"]);
    assert_eq!(chat("Don't tell my dad.", EntityType::Preference).len(), 1);
    assert_eq!(chat("Que no llamen a casa.", EntityType::Preference).len(), 1);
    assert_eq!(chat("I don't want to live", EntityType::Preference).len(), 0);
}

#[test]
fn a_form_that_asks_what_is_wanted_is_answered_in_its_line() {
    let goals = note("What would you like from us?  Better sleep. And a letter for work.", EntityType::Goal);
    assert_eq!(goals, ["better sleep", "a letter for work"]);
}

#[test]
fn comparisons_likings_and_dislikes_are_stored_as_they_were_said() {
    for (line, value) in [
        ("Cooking settles me more than the telly does.", "cooking settles me more than the telly does"),
        ("Mondays are harder than Fridays.", "mondays are harder than fridays"),
        ("A mí las tardes me pesan más que las mañanas.", "a mí las tardes me pesan más que las mañanas"),
        ("Las reuniones por cámara no las soporto.", "las reuniones por cámara no las soporto"),
        ("i cant stand the tuesday choir", "i cant stand the tuesday choir"),
        ("Asking for a lift is for cowards.", "asking for a lift is for cowards"),
        ("I've felt better since the switch to nights.", "i've felt better since the switch to nights"),
    ] {
        assert_eq!(chat(line, EntityType::Preference), [value], "{line}");
    }
    assert_eq!(note("Lleva peor los lunes que los viernes.", EntityType::Preference).len(), 1);
}

#[test]
fn a_line_of_a_chat_that_asks_does_not_hide_the_next_one() {
    let text = "can we keep it on video pls\nthe tuesday choir is something i cant stand\nbye";
    assert_eq!(chat(text, EntityType::Preference), ["the tuesday choir is something i cant stand"]);
}

#[test]
fn a_liking_of_a_chat_is_no_longer_than_its_line() {
    let text = "ya tomo la nueva pastilla\nel coro al final me encanta, son un sol\npuedo cambiar el turno";
    assert_eq!(chat(text, EntityType::Preference), ["el coro al final me encanta"]);
}

#[test]
fn conditions_dreams_wishes_and_other_peoples_likings_are_no_opinions() {
    for line in [
        "If I'm hung over, being alone is better than being with people.",
        "I dreamt I hated the choir.",
        "I'd love the choir to be shorter.",
        "Mi hermana odia el coro.",
        "She hates the choir.",
        "Do you like the choir more than the band?",
        "I'm better than last week.",
        "It swells me up like a balloon.",
        "I feel just like that time I lost my job.",
        "The pain is very strong today.",
        "I can't stand on my left leg.",
        "Oh I just love waiting rooms.",
        "Maybe I like running more than talking.",
        "I'm not sure that I like the choir.",
    ] {
        assert_eq!(chat(line, EntityType::Preference), [] as [&str; 0], "{line}");
    }
}

#[test]
fn findings_of_a_note_are_no_opinions() {
    for line in [
        "Muscle strength 5/5 bilaterally.",
        "Chest pain is worse with walking than with rest.",
        "Cannot stand unaided for more than 5 minutes.",
        "Apixaban is better than warfarin here.",
        "Blood pressure higher in clinic than at home.",
        "Fuerte dolor torácico opresivo.",
        "Carer reports that the son can't stand the hostel.",
    ] {
        assert_eq!(note(line, EntityType::Preference), [] as [&str; 0], "{line}");
    }
}

#[test]
fn how_a_relative_treated_the_patient_is_stored() {
    let kept = |line| chat(line, EntityType::Relationship);
    assert_eq!(kept("My father never listened to me."), ["my father never listened to me"]);
    assert_eq!(kept("Mi abuela siempre me escuchó."), ["mi abuela siempre me escuchó"]);
    assert_eq!(kept("I never lived alone a day in my life."), ["i never lived alone a day in my life"]);
}
