use super::*;

fn said(text: &str) -> Option<String> {
    Some(text.to_owned())
}

#[test]
fn details_follow_the_concept_in_one_order() {
    let words = FindingWords {
        concept: "sertraline".into(),
        dose: said("50 mg"),
        frequency: said("daily"),
        route: said("oral"),
        status: said("active"),
        ..FindingWords::default()
    };
    assert_eq!(details(&words, None), "sertraline 50 mg, oral, daily");
    let stopped = FindingWords { status: said("stopped"), code: said("N06AB06"), ..words };
    assert_eq!(details(&stopped, None), "sertraline 50 mg, oral, daily, stopped [N06AB06]");
    let allergy = FindingWords { concept: "penicillin".into(), reaction: said("rash"), ..FindingWords::default() };
    assert_eq!(details(&allergy, None), "penicillin, reaction: rash");
    let lactose = FindingWords { concept: "lactose".into(), status: said("intolerance"), ..FindingWords::default() };
    assert_eq!((allergy_heading(Some(&lactose)), details(&lactose, None).as_str()), ("Intolerance", "lactose"));
    assert_eq!(allergy_heading(Some(&allergy)), "Allergy");
}

#[test]
fn a_reader_finds_the_words_of_the_document_beside_the_preferred_name() {
    let of = |concept: &str, mention: &str| {
        let words = FindingWords { concept: concept.into(), mention: mention.into(), ..FindingWords::default() };
        details(&words, as_said(&words).as_deref())
    };
    assert_eq!(of("type 2 diabetes mellitus", "DM2"), "type 2 diabetes mellitus (DM2)");
    assert_eq!(of("frequent urination", "poliuria"), "frequent urination (poliuria)");
    assert_eq!(of("asthma", "Asthma"), "asthma", "the same word is not repeated");
    assert_eq!(of("insomnia", &"no duermo ".repeat(20)), "insomnia", "a long quotation is left to the evidence");
}

#[test]
fn a_document_says_when_it_was_and_who_speaks() {
    let at = DateTime::UNIX_EPOCH;
    assert_eq!(document_label(DocumentType::ClinicalNote, at, &[]), "document: clinical_note, 1970-01-01");
    let label = document_label(DocumentType::ChatMessage, at, &[Speaker::Patient, Speaker::Unknown]);
    assert_eq!(label, "document: chat_message, 1970-01-01 (patient)");
}
