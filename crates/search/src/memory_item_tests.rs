//! How a memory reads.

use super::*;
use crate::fixture::{about, at, memory};

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
fn a_reader_finds_the_words_of_the_document_next_to_the_preferred_name() {
    let of = |concept: &str, mention: &str| {
        let words = FindingWords { concept: concept.into(), mention: mention.into(), ..FindingWords::default() };
        details(&words, as_said(&words, EntityType::Condition).as_deref())
    };
    assert_eq!(of("type 2 diabetes mellitus", "DM2"), "type 2 diabetes mellitus (DM2)");
    assert_eq!(of("frequent urination", "poliuria"), "frequent urination (poliuria)");
    assert_eq!(of("asthma", "Asthma"), "asthma", "the same word is not repeated");
    assert_eq!(of("insomnia", &"no duermo ".repeat(20)), "insomnia", "a long quotation is left to the evidence");
}

#[test]
fn a_document_names_its_date_and_its_speakers() {
    let at = DateTime::UNIX_EPOCH;
    assert_eq!(document_label(DocumentType::ClinicalNote, at, &[]), "document: clinical_note, 1970-01-01");
    let label = document_label(DocumentType::ChatMessage, at, &[Speaker::Patient, Speaker::Unknown]);
    assert_eq!(label, "document: chat_message, 1970-01-01 (patient)");
}

#[test]
fn a_relatives_word_is_labelled_as_theirs_and_a_chat_as_a_chat() {
    for (set_by, document_type, wanted) in [
        (SetBy::Family, Some(DocumentType::ClinicalNote), Some("family")),
        (SetBy::Family, Some(DocumentType::ChatMessage), Some("family")),
        (SetBy::Patient, Some(DocumentType::ChatMessage), Some("chat")),
        (SetBy::Patient, Some(DocumentType::SessionTranscript), None),
        (SetBy::Patient, None, None),
        (SetBy::Clinician, Some(DocumentType::ChatMessage), None),
    ] {
        let m = memory(|m| (m.set_by, m.document_type) = (set_by, document_type));
        assert_eq!(reported_by(&m), wanted, "{set_by} {document_type:?}");
    }
}

#[test]
fn a_source_names_all_people_between_the_patient_and_the_page() {
    let label = |change: fn(&mut Memory)| source(&memory(change), "clinical").label;
    assert_eq!(label(|_| ()), "clinician, clinical_note, 2026-03-02");
    assert_eq!(label(|m| m.document_type = None), "clinician, 2026-03-02");
    let all = label(|m| {
        (m.set_by, m.is_proxy, m.source_entity) = (SetBy::Family, true, said("[SOURCE_1A2B]"));
        m.signed_by = Some(Uuid::from_u128(6));
        m.file = Some(FilePlace { sha256: "ab".into(), page: Some(3) });
    });
    let signed = "signed by 00000000-0000-0000-0000-000000000006";
    assert_eq!(all, format!("family, [SOURCE_1A2B], proxy, clinical_note, {signed}, page 3, 2026-03-02"));
    assert_eq!(page_of(Some(&FilePlace { sha256: "ab".into(), page: None })), "");
}

#[test]
fn a_denial_and_another_persons_fact_begin_with_that() {
    let line = |change: fn(&mut Memory)| statement(&about(EntityType::Condition, "asthma", change));
    assert_eq!(line(|_| ()), "Condition: asthma");
    assert_eq!(line(|m| m.negated = true), "Denied — Condition: asthma");
    assert_eq!(line(|m| m.experiencer = Experiencer::Family), "Family — Condition: asthma");
    assert_eq!(line(|m| m.words = None), "Condition");
    let named = |m: &mut Memory, experiencer| {
        (m.experiencer, m.negated) = (experiencer, true);
        m.words.as_mut().unwrap().person = said("mother");
    };
    let family = about(EntityType::Condition, "asthma", |m| named(m, Experiencer::Family));
    assert_eq!(statement(&family), "Denied — Family (mother) — Condition: asthma");
    let other = about(EntityType::Condition, "asthma", |m| named(m, Experiencer::Other));
    assert!(statement(&other).ends_with(" (mother) — Condition: asthma"));
    assert!(!statement(&other).contains("Family"));
}

#[test]
fn who_was_lost_is_part_of_what_happened() {
    let lost = |m: &mut Memory| m.words.as_mut().unwrap().person = said("grandmother");
    let death = about(EntityType::Event, "bereavement", lost);
    assert_eq!(statement(&death), "Event: bereavement, grandmother");
    assert_eq!(MemoryItem::conversational(&death).subject.as_deref(), Some("grandmother"));
    let visit = about(EntityType::Appointment, "cardiology", |_| ());
    assert_eq!(MemoryItem::conversational(&visit).subject.as_deref(), Some("cardiology"));
    let condition = about(EntityType::Condition, "asthma", lost);
    assert_eq!((statement(&condition).as_str(), subject(&condition)), ("Condition: asthma", None));
}

#[test]
fn only_a_denial_of_everything_is_an_absence() {
    let of = |entity, concept: &str, negated| absence(&about(entity, concept, |m| m.negated = negated));
    assert_eq!(of(EntityType::Allergy, "*", true), Some("No known allergies"));
    assert_eq!(of(EntityType::Medication, "*", true), Some("Takes no medication"));
    assert_eq!(of(EntityType::Allergy, "*", false), None);
    assert_eq!(of(EntityType::Allergy, "penicillin", true), None);
    assert_eq!(of(EntityType::Condition, "*", true), None);
    let none = about(EntityType::Allergy, "*", |m| m.negated = true);
    assert_eq!(statement(&none), "No known allergies");
    assert!(MemoryItem::conversational(&none).absence);
}

#[test]
fn a_heading_names_a_memory_for_what_it_is() {
    let of = |class, kind, entity| {
        heading(&memory(|m| {
            (m.class, m.kind, m.entity) = (class, kind, entity);
        }))
    };
    let event = Class::Event;
    assert_eq!(of(Class::Inference, Kind::Belief, Some(EntityType::Condition)), "Hypothesis");
    assert_eq!(of(Class::Inference, Kind::Note, Some(EntityType::Condition)), "Condition");
    assert_eq!(of(Class::Pattern, Kind::Belief, Some(EntityType::Condition)), "Pattern");
    assert_eq!(of(Class::Pattern, Kind::Note, None), "Summary");
    assert_eq!(of(event, Kind::Note, Some(EntityType::Preference)), "Note");
    assert_eq!(of(event, Kind::Belief, Some(EntityType::Preference)), "Preference");
    assert_eq!(of(event, Kind::Raw, None), "Document as captured");
    assert_eq!(of(event, Kind::Belief, None), "Belief");
    for entity in [EntityType::Intolerance, EntityType::Measurement, EntityType::Procedure, EntityType::Goal] {
        assert_eq!(of(event, Kind::Note, Some(entity)).to_lowercase(), entity.code());
    }
    let mut stated = memory(|m| {
        m.class = Class::Pattern;
        m.kind = Kind::Belief;
        m.words.as_mut().unwrap().status = said(STATED);
    });
    assert_eq!((heading(&stated), is_preference(&stated)), ("Preference", true));
    stated.class = Class::Preference;
    assert!(!is_preference(&stated));
}

#[test]
fn a_line_says_the_date_to_its_precision_and_every_flag() {
    let dated = |precision| {
        let day = NaiveDate::from_ymd_opt(2026, 2, 9).unwrap();
        MemoryItem::conversational(&about(EntityType::Event, "fall", |m| {
            m.words.as_mut().unwrap().at = Some(FactDate::new(day, precision));
        }))
    };
    for (precision, when) in [
        (DatePrecision::Day, "2026-02-09"),
        (DatePrecision::Week, "week of 2026-02-09"),
        (DatePrecision::Month, "2026-02"),
        (DatePrecision::Year, "2026"),
    ] {
        assert_eq!(dated(precision).when().as_deref(), Some(when));
        assert!(dated(precision).line().ends_with(&format!(", dated {when}")));
    }
    let plain = MemoryItem::conversational(&memory(|_| ()));
    assert_eq!((plain.when(), plain.flags().len()), (None, 0));
    let flagged = MemoryItem {
        low_confidence: true,
        contested: true,
        allergy_on_record: true,
        ungrounded: true,
        reconfirm_due: true,
        state: State::Stale,
        unconfirmed: true,
        reported_by: Some("family"),
        ..plain.clone()
    };
    let flags = "verify: low confidence, contested, allergy on record, sources gone, reconfirm, outdated, unconfirmed, \
                 reported by family";
    assert_eq!(flagged.flags().join(", "), flags);
    assert!(flagged.line().ends_with(flags));
    assert_eq!(MemoryItem { reported_by: Some("chat"), ..plain }.flags(), ["reported in chat"]);
}

#[test]
fn an_end_is_said_of_what_is_in_force_and_does_not_end_by_its_class() {
    let ends = |class, state| {
        let end = Some(at("2026-04-01T09:30:00Z"));
        let m = memory(|m| (m.class, m.status.state, m.expires_at) = (class, state, end));
        MemoryItem::conversational(&m)
    };
    let shown = ends(Class::LongLivedFact, State::Active);
    assert!(shown.line().ends_with(", ends 2026-04-01 09:30 UTC"), "{}", shown.line());
    assert_eq!(ends(Class::LongLivedFact, State::Resolved).ends(), None);
    assert_eq!(ends(Class::TimeBoundState, State::Active).ends(), None);
    assert_eq!(ends(Class::Event, State::Active).ends(), None);
}

#[test]
fn a_measurement_is_shown_as_its_value_and_as_numbers() {
    let measured =
        Measured { value: "8.2".into(), unit: said("%"), low: said("4.0"), high: said("high"), previous: said("7.1") };
    let day = FactDate::new(NaiveDate::from_ymd_opt(2026, 2, 9).unwrap(), DatePrecision::Day);
    let hba1c = about(EntityType::Measurement, "hba1c", |m| {
        let words = m.words.as_mut().unwrap();
        (words.measured, words.at) = (Some(measured), Some(day));
    });
    assert_eq!(statement(&hba1c), "Measurement: hba1c 8.2 % (before 7.1), 2026-02-09");
    let item = MemoryItem::conversational(&hba1c);
    assert_eq!((item.value.as_deref(), item.unit.as_deref()), (Some("8.2"), Some("%")));
    assert_eq!((item.low, item.high), (Some(4.0), None), "a word is no number");
    assert!(!item.line().contains("dated"), "the day is said once");
}

#[test]
fn a_clinical_row_keeps_its_status_and_its_date() {
    let when = Some(at("2026-05-01T09:00:00Z"));
    let mut row = crate::fixture::row(EntityType::Appointment, "cardiology", |_| ());
    (row.status, row.at) = ("active", when);
    let item = MemoryItem::clinical(&row);
    assert_eq!((item.status, item.at, item.source.section), (Some("active"), when, "clinical"));
    let item = MemoryItem::conversational(&row.memory);
    assert_eq!((item.status, item.at, item.source.section), (None, None, "conversational"));
}
