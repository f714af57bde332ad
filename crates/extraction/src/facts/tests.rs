//! People, preferences and goals by what is said of them.

use crate::{EntityType, ExtractionInput, Extractor};
use anamnesis_text::{Document, Language, Speaker};

fn told(document: &Document, kind: EntityType) -> Vec<String> {
    let found = Extractor::shared().extract(&ExtractionInput::of(document));
    let sure = found.entities.iter().filter(|entity| entity.kind == kind && entity.confidence > 0.5);
    sure.map(|entity| entity.value.clone()).collect()
}

fn note(text: &str, kind: EntityType) -> Vec<String> {
    told(&Document::plain(text, Language::Unknown), kind)
}

fn chat(line: &str, kind: EntityType) -> Vec<String> {
    told(&Document::dialogue([(Speaker::Patient, line, None)], Language::Unknown), kind)
}

#[test]
fn a_relative_who_is_named_is_somebody_in_the_patients_life() {
    assert_eq!(chat("I rang [PERSON_AA11], my sponsor.", EntityType::Relationship).len(), 1);
    assert_eq!(note("Phone call from sister [PERSON_AB1C].", EntityType::Relationship).len(), 1);
    assert_eq!(note("Father [PERSON_AB1C], MI at 60.", EntityType::Relationship).len(), 0);
}

#[test]
fn what_a_relative_does_is_told_and_a_bare_mention_is_not() {
    assert_eq!(chat("Mi viejo vive lejos ahora y no lo veo.", EntityType::Relationship).len(), 1);
    assert_eq!(chat("I bought it for my cousin.", EntityType::Relationship).len(), 0);
}

#[test]
fn a_chat_tells_what_is_wanted_without_saying_i() {
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
