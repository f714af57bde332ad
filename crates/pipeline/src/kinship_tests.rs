//! The relative of a family finding.

use super::*;
use anamnesis_core::finding::EntityType;
use anamnesis_extraction::{ExtractionInput, Extractor};
use anamnesis_text::{Document, Language, Span};

/// The finding that a text's rules read in it, at other places where the test says so.
fn finding(text: &str) -> Entity {
    let document = Document::plain(text, Language::Spanish);
    let found = Extractor::shared().extract(&ExtractionInput::new(&document));
    let all = found.entities;
    all.into_iter().find(|e| e.kind == EntityType::Condition).unwrap_or_else(|| panic!("{text}"))
}

fn placed(text: &str, mention: &str, evidence: &str) -> Entity {
    let span = |part: &str| {
        let start = text.find(part).unwrap();
        Span::new(start, start + part.len())
    };
    let mut entity = finding("Su madre tiene diabetes.");
    (entity.span, entity.evidence) = (span(mention), span(evidence));
    entity
}

#[test]
fn a_finding_of_the_patient_has_no_relative_for_any_named_person() {
    let text = "Tiene diabetes y vive con su madre.";
    let own = finding(text);
    assert_eq!((own.context.experiencer, detect(text, &own)), (Experiencer::Patient, None));
}

#[test]
fn a_finding_of_a_relative_is_named_once_for_all_spellings() {
    for (text, relation) in [
        ("Su madre tiene diabetes.", "mother"),
        ("Su mamá tiene diabetes.", "mother"),
        ("Su abuela tiene diabetes.", "grandmother"),
        ("Su hermano tiene diabetes.", "brother"),
    ] {
        let entity = finding(text);
        assert_eq!(
            (entity.context.experiencer, detect(text, &entity)),
            (Experiencer::Family, Some(relation)),
            "{text}"
        );
    }
}

#[test]
fn the_last_relative_before_the_mention_wins_over_those_after_it() {
    let text = "La hermana de su padre tiene asma, como su tía.";
    assert_eq!(detect(text, &placed(text, "asma", text)), Some("father"));
    let text = "Asma: su tía y su primo.";
    assert_eq!(detect(text, &placed(text, "Asma", text)), Some("aunt"), "the first one after it");
    let text = "Su hija. Asma, y su primo también.";
    assert_eq!(
        detect(text, &placed(text, "Asma", "Asma, y su primo también.")),
        Some("cousin"),
        "the same evidence first"
    );
}

#[test]
fn a_title_of_the_line_counts_and_another_line_does_not() {
    let text = "Madre: diabetes; asma.";
    assert_eq!(detect(text, &placed(text, "asma", "asma.")), Some("mother"));
    let text = "Padre: sano.\nDe la familia materna: asma.";
    assert_eq!(detect(text, &placed(text, "asma", "asma.")), Some("family"));
    let text = "Padre: sano.\nAntecedentes: asma.";
    assert_eq!(detect(text, &placed(text, "asma", "asma.")), None);
}

#[test]
fn relations_are_named_in_the_order_of_the_text() {
    assert_eq!(all(Some("mi tía, my sister's husband y papá")), ["aunt", "sister", "husband", "father"]);
    assert!(all(Some("la vecindad y el matrimonio")).is_empty() && all(None).is_empty());
}
