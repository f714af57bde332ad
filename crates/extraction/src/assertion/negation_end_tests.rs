//! Where a denial ends, where it comes after the denied words, and findings of a past time: both languages.

use std::sync::LazyLock;

use crate::{EntityType, ExtractionInput, Extractor, MentionContext, Temporality};
use anamnesis_text::{Document, Language};

static EXTRACTOR: LazyLock<Extractor> = LazyLock::new(Extractor::builtin);

fn in_note(text: &str, value: &str) -> MentionContext {
    let document = Document::plain(text, Language::Unknown);
    let all = EXTRACTOR.extract(&ExtractionInput::new(&document)).entities;
    let is = |kind| !matches!(kind, EntityType::Relationship | EntityType::Event);
    let found = all.iter().find(|entity| is(entity.kind) && entity.value == value);
    found.unwrap_or_else(|| panic!("{value}: {text}: {all:?}")).context
}

#[test]
fn a_plus_an_arrow_and_a_bracket_with_a_reason_end_a_denial() {
    for (text, value) in [
        ("Depresión sin ideas delirantes + insomnio de conciliación.", "insomnia"),
        ("No anticoagular -> epilepsia en estudio", "epilepsy"),
        ("No toma anticonceptivos desde 2021 (migraña con aura).", "migraine with aura"),
        ("No insulin (the diabetes is diet controlled).", "diabetes mellitus"),
        ("No cambios en la ansiedad.", "anxiety"),
    ] {
        assert!(!in_note(text, value).negated, "{text}");
    }
    for (text, value) in [
        ("Sin fiebre, tos ni disnea.", "cough"),
        ("No psychotic symptoms (hallucinations, delusions).", "hallucinations"),
        ("No fiebre + tos, ni insomnio.", "fever"),
    ] {
        assert!(in_note(text, value).negated, "{text}");
    }
}

#[test]
fn a_clause_with_a_separate_time_or_answer_is_not_denied() {
    for (text, value) in [
        ("Se niega a ponerse el cinturón y hoy se mareó en el coche.", "dizziness"),
        ("Me ofreció otra y le dije que no, que con esa tuve insomnio.", "insomnia"),
        ("Iron tablets: not taking, constipated.", "constipation"),
        ("El padre murió de cirrosis, la madre hipertensa.", "hypertension"),
    ] {
        let context = in_note(text, value);
        assert!(!context.negated, "{text}");
    }
    let living = in_note("El padre murió de cirrosis, la madre hipertensa.", "hypertension");
    assert_eq!(living.temporality, Temporality::Recent);
}

#[test]
fn a_denial_may_come_after_what_it_denies() {
    for (text, value) in [
        ("Un golpe en marzo, embarazada no estaba.", "pregnancy"),
        ("Diabética no soy.", "diabetes mellitus"),
        ("ADHD is not supported.", "attention-deficit hyperactivity disorder"),
    ] {
        assert!(in_note(text, value).negated, "{text}");
    }
    for (text, value) in [
        ("Tengo asma, no fumo.", "asthma"),
        ("La ansiedad no estaba bien controlada.", "anxiety"),
        ("Asthma: inhaler not needed today.", "asthma"),
    ] {
        assert!(!in_note(text, value).negated, "{text}");
    }
}

#[test]
fn one_medicine_stopped_denies_nothing_before_it() {
    let text = "Asma: leve, montelukast 5 mg retirado en 2024 por pesadillas.";
    assert!(!in_note(text, "asthma").negated);
}

#[test]
fn what_lasted_for_a_first_while_is_past() {
    for (text, value) in [
        ("Bit dizzy the first week.", "dizziness"),
        ("Estuve dos semanas con insomnio.", "insomnia"),
        ("Recovering well from pneumonia.", "pneumonia"),
        ("AP: asma en la infancia, no crisis desde los 16.", "asthma"),
    ] {
        assert_eq!(in_note(text, value).temporality, Temporality::Historical, "{text}");
    }
    for (text, value) in
        [("Dizzy since the first week.", "dizziness"), ("Insomnio desde la primera semana.", "insomnia")]
    {
        assert_eq!(in_note(text, value).temporality, Temporality::Recent, "{text}");
    }
}
