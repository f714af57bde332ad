//! Pages keep their places through redaction.

use serde_json::{Value, json};

use super::*;
use crate::fixture::document;
use crate::redactors::Redactors;
use anamnesis_core::ids::OrgId;
use anamnesis_redaction::{KnownPeople, SurrogateKey};

const FIRST: &str = "Paciente Ramón Núñez Ibáñez, teléfono 612 345 678. ";
const SECOND: &str = "Sigue con sertralina 50 mg. ";
const THIRD: &str = "Revisión con analítica.";

fn uploaded(pages: &Value) -> DocumentSubmitted {
    let file =
        json!({"name": "informe.pdf", "media_type": "application/pdf", "sha256": "AB".repeat(32), "pages": pages});
    document("uploaded_document", &json!({"text": format!("{FIRST}{SECOND}{THIRD}"), "file": file}))
}

fn redacted(document: &DocumentSubmitted) -> Redacted {
    let redactors = Redactors::built_in();
    let redactor = redactors.get(OrgId(uuid::Uuid::from_u128(9)), "safe_harbor").unwrap();
    redactor
        .redact_with_services(&document.to_document(), &KnownPeople::default(), &SurrogateKey::new([3; 32]))
        .unwrap()
}

#[test]
fn a_document_that_is_no_file_has_no_pages() {
    let note = document("clinical_note", &json!({"text": SECOND}));
    assert!(PageIndex::from_document(&note, &redacted(&note)).is_none());
}

#[test]
fn a_page_begins_at_its_first_word_after_redaction() {
    let (one, two) = (FIRST.chars().count(), FIRST.chars().count() + SECOND.chars().count());
    let document = uploaded(&json!([0, one, two]));
    let redacted = redacted(&document);
    let text = &redacted.document().text;
    assert!(!text.contains("612 345 678"), "{text}");
    let pages = PageIndex::from_document(&document, &redacted).unwrap();
    let begin: Vec<&str> = pages.starts().iter().map(|start| &text[*start..]).collect();
    assert_eq!(begin[0], text);
    assert!(begin[1].starts_with("Sigue con") && begin[2] == THIRD, "{begin:?}");
    let page = |word: &str| pages.place(text.find(word).unwrap()).page;
    assert_eq!((page("teléfono"), page("Sigue"), page("analítica")), (Some(1), Some(2), Some(3)));
    let before = text.find("Sigue").unwrap() - 1;
    assert_eq!(pages.place(before).page, Some(1), "the last byte of the first page");
}

#[test]
fn the_hash_of_a_file_has_one_spelling() {
    let document = uploaded(&json!([0]));
    let pages = PageIndex::from_document(&document, &redacted(&document)).unwrap();
    assert_eq!(pages.sha256(), "ab".repeat(32));
    assert_eq!(pages.place(0).sha256, "ab".repeat(32));
}

#[test]
fn a_producer_without_pages_gives_a_file_and_no_page() {
    let document = uploaded(&Value::Null);
    let pages = PageIndex::from_document(&document, &redacted(&document)).unwrap();
    assert!(pages.starts().is_empty());
    assert_eq!(pages.place(12).page, None);
}
