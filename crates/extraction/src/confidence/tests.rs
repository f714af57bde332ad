use std::collections::HashMap;

use super::*;
use crate::{ExtractionInput, Extractor};
use anamnesis_core::finding::EntityType;
use anamnesis_text::{Document, Language};

/// Lines that say nothing clinical, so that a document is long enough to be weighed.
const FILLER: &str =
    "The letter was typed by the secretary and sent to the practice by post on the same day as usual.\n";

fn confidence(line: &str, kind: EntityType, value: &str, long: bool) -> f64 {
    let text = if long { format!("{}{line}\n", FILLER.repeat(7)) } else { line.to_owned() };
    let document = Document::plain(text, Language::Unknown);
    let found = Extractor::shared().extract(&ExtractionInput::new(&document));
    let entity = found.entities.iter().find(|entity| entity.kind == kind && entity.value == value);
    entity.unwrap_or_else(|| panic!("{line}: {:?}", found.entities)).confidence
}

#[test]
fn every_line_of_the_weights_is_read() {
    let lines = WEIGHTS.lines().filter(|line| !line.starts_with('#')).count();
    let known: HashMap<_, _> = rows(WEIGHTS).collect();
    assert_eq!(known.len(), lines, "a line is no weight, or stands twice");
}

#[test]
fn a_medicine_with_dose_and_frequency_is_read_more_surely_than_its_bare_name() {
    for (whole, bare, value) in [
        ("Takes bisoprolol 5 mg daily.", "Bisoprolol.", "bisoprolol"),
        ("Toma enalapril 10 mg cada 12 horas.", "Enalapril.", "enalapril"),
    ] {
        let [whole, bare] = [whole, bare].map(|line| confidence(line, EntityType::Medication, value, true));
        assert!(whole > bare && whole >= DOUBT, "{value}: {whole} and {bare}");
    }
}

#[test]
fn an_illness_in_a_clause_about_a_person_by_name_is_read_less_surely() {
    let plain = confidence("He has asthma and uses an inhaler.", EntityType::Condition, "asthma", true);
    let named = confidence("[PERSON_1A2B] has asthma and uses an inhaler.", EntityType::Condition, "asthma", true);
    assert!(named < plain, "{named} and {plain}");
}

#[test]
fn a_short_document_has_the_confidence_of_the_rule() {
    let rule = confidence("Bisoprolol 5 mg daily.", EntityType::Medication, "bisoprolol", false);
    assert!((rule - 0.9).abs() < 1e-9, "{rule}");
}

#[test]
fn what_a_rule_found_is_remembered_however_doubtful_it_is() {
    for line in [
        "Plan: if worse, consider lithium.",
        "[PERSON_1A2B]: asthma?",
        "Mother: diabetes, and he says so too, he thinks.",
    ] {
        let document = Document::plain(format!("{}{line}\n", FILLER.repeat(7)), Language::Unknown);
        let found = Extractor::shared().extract(&ExtractionInput::new(&document));
        assert!(found.entities.iter().all(|entity| entity.confidence >= REMEMBERED), "{:?}", found.entities);
    }
}
