//! The findings of a document's statements: class, status, end, evidence and hashes.

use chrono::NaiveDate;
use serde_json::{Value, json};

use super::*;
use crate::analyze::{AnalyzedMessage, tests as reading};
use crate::fixture::{admitted, document, document_message, instant, keys};
use anamnesis_core::fact_date::DatePrecision;
use anamnesis_core::memory::SetBy;
use anamnesis_core::provenance::{SourceType, Trust};

const NOW: &str = "2026-03-02T12:00:00Z";

fn work(document_type: &str, fields: &Value) -> EmbeddedMessage {
    let text = Some(Box::new(reading::read(&document(document_type, fields))));
    let admitted = admitted(document_message(document_type, fields));
    let analyzed = AnalyzedMessage { admitted, text, unread: None, field_redactor: reading::field_redactor() };
    EmbeddedMessage { analyzed, passages: Vec::new(), generation: 1 }
}

fn stated(document_type: &str, fields: &Value) -> Vec<NewFinding> {
    let (work, keys) = (work(document_type, fields), keys());
    let document = work.analyzed.admitted.document().unwrap();
    FindingBuilder::new(document, &work, &keys, instant(NOW), "rules 1").findings()
}

fn note(text: &str) -> Vec<NewFinding> {
    stated("clinical_note", &json!({"text": text}))
}

fn one(found: &[NewFinding], kind: EntityType) -> &NewFinding {
    found.iter().find(|finding| finding.assertion.entity == kind).unwrap_or_else(|| panic!("{found:?}"))
}

#[test]
fn every_finding_quotes_the_sentence_that_states_it() {
    let text = "Toma sertralina 50 mg cada mañana. Alergia a la penicilina. No tiene fiebre.";
    let found = note(text);
    assert!(found.len() >= 3, "{found:?}");
    for finding in &found {
        let evidence = finding.evidence.as_ref().unwrap();
        assert_eq!(evidence.quote, evidence.span.slice(text), "{finding:?}");
        assert!(evidence.quote.contains(&finding.words.mention));
        assert_eq!(
            (finding.assertion.asserted_at, finding.assertion.recorded_at),
            (instant("2026-03-02T10:00:00Z"), instant(NOW))
        );
        assert_eq!((finding.assertion.set_by, finding.assertion.trust), (SetBy::Clinician, Trust::T1));
        assert_eq!(finding.extractor_version, "rules 1");
    }
    let medicine = one(&found, EntityType::Medication);
    assert_eq!((medicine.words.concept.as_str(), medicine.words.dose.as_deref()), ("sertraline", Some("50 mg")));
    assert_eq!(medicine.assertion.polarity, Polarity::Affirmed);
    assert_eq!(one(&found, EntityType::Symptom).assertion.polarity, Polarity::Negated);
}

#[test]
fn a_medicine_that_was_stopped_ends_and_one_that_was_only_proposed_does_not_begin() {
    let stopped = note("Dejó de tomar sertralina en enero.");
    let stopped = one(&stopped, EntityType::Medication);
    assert!(stopped.assertion.ending && stopped.assertion.source_type != SourceType::Inference, "{stopped:?}");
    let proposed = note("Se le propone empezar con sertralina 50 mg.");
    let proposed = one(&proposed, EntityType::Medication);
    assert_eq!(proposed.words.status.as_deref(), Some("suggested"));
    assert_eq!(proposed.assertion.source_type, SourceType::Inference);
    assert_ne!(proposed.group, proposed.assertion.attribute, "it is apart from what is taken");
}

#[test]
fn a_lifelong_illness_of_a_history_is_there_still_and_another_is_past() {
    let history = note("Antecedentes personales: diabetes mellitus tipo 2.");
    let diabetes = one(&history, EntityType::Condition);
    assert_eq!((diabetes.temporality, diabetes.assertion.past), (Temporality::Recent, false));
    let history = note("Antecedentes personales: neumonía en 2015.");
    let pneumonia = one(&history, EntityType::Condition);
    assert_eq!((pneumonia.temporality, pneumonia.assertion.past), (Temporality::Historical, true));
}

#[test]
fn a_relatives_illness_is_theirs_and_has_another_attribute() {
    let own = note("Tiene diabetes.");
    let mothers = note("Su madre tiene diabetes.");
    let (own, mothers) = (one(&own, EntityType::Condition), one(&mothers, EntityType::Condition));
    assert_eq!((own.assertion.experiencer, own.words.person.as_deref()), (Experiencer::Patient, None));
    assert_eq!((mothers.assertion.experiencer, mothers.words.person.as_deref()), (Experiencer::Family, Some("mother")));
    assert_ne!(own.assertion.attribute, mothers.assertion.attribute);
}

#[test]
fn a_blanket_statement_denies_everything_of_its_type() {
    let found = note("Sin alergias conocidas.");
    let blanket = found.iter().find(|finding| finding.assertion.blanket).unwrap();
    assert_eq!((blanket.words.concept.as_str(), blanket.assertion.entity), (EVERY, EntityType::Allergy));
    assert_eq!(blanket.assertion.polarity, Polarity::Negated);
    let allergy = note("Alergia a la penicilina.");
    assert_eq!(blanket.group, one(&allergy, EntityType::Allergy).group, "all allergies fold together");
}

#[test]
fn model_output_is_an_inference_until_a_clinician_signs_it() {
    let text = json!({"text": "Tiene diabetes mellitus tipo 2."});
    let unsigned = stated("analysis", &text);
    let assertion = &one(&unsigned, EntityType::Condition).assertion;
    assert_eq!((assertion.class, assertion.source_type), (Class::Inference, SourceType::Inference));
    assert_eq!(assertion.set_by, SetBy::Agent);
    let signed = json!({"text": text["text"], "provenance": {"signed_by": crate::fixture::ACTOR}});
    let signed = stated("analysis", &signed);
    let assertion = &one(&signed, EntityType::Condition).assertion;
    assert_eq!((assertion.class, assertion.set_by), (Class::LongLivedFact, SetBy::Clinician));
}

#[test]
fn the_same_document_gives_the_same_ids_and_another_revision_others() {
    let ids = |fields: &Value| -> Vec<_> {
        stated("clinical_note", fields).iter().map(|finding| finding.assertion.id).collect()
    };
    let first = json!({"text": "Insomnio. Toma melatonina. Insomnio."});
    assert_eq!(ids(&first), ids(&first));
    let all = ids(&first);
    let mut each = all.clone();
    each.sort();
    each.dedup();
    assert_eq!(all.len(), each.len(), "two mentions are two findings");
    let second = json!({"text": first["text"], "revision": 2});
    assert!(ids(&second).iter().all(|id| !all.contains(id)));
}

#[test]
fn what_is_made_by_hand_is_the_whole_of_its_words() {
    let (work, keys) = (work("chat_message", &json!({"text": "  Volver a correr con mi hermana.  "})), keys());
    let document = work.analyzed.admitted.document().unwrap();
    let builder = FindingBuilder::new(document, &work, &keys, instant(NOW), "rules 1");
    for (kind, entity, class) in [
        (Kind::Goal, EntityType::Goal, Class::Preference),
        (Kind::Relationship, EntityType::Relationship, Class::Preference),
        (Kind::Note, EntityType::Preference, Class::Event),
        (Kind::Episode, EntityType::Preference, Class::Event),
        (Kind::Belief, EntityType::Preference, Class::Preference),
        (Kind::Drive, EntityType::Preference, Class::Preference),
    ] {
        let made = builder.manual_memory(&ManualMemory { kind, place: None, repeats: None }).unwrap();
        assert_eq!((made.assertion.entity, made.assertion.class, made.assertion.kind), (entity, class, kind));
        assert_eq!(made.words.concept, "Volver a correr con mi hermana.");
        assert_eq!(made.assertion.attribute, made.group);
    }
    let place = Some(([4; 32], [5; 32]));
    let again = ManualMemory { kind: Kind::Note, place, repeats: Some(Class::Inference) };
    let again = builder.manual_memory(&again).unwrap();
    assert_eq!((again.assertion.attribute, again.group), ([4; 32], [5; 32]));
    assert_eq!(again.assertion.class, Class::Inference, "a model's words stay a model's");
}

#[test]
fn a_medicine_is_over_after_the_last_day_that_was_named() {
    let end = |day: &str, precision| over(FactDate::new(day.parse::<NaiveDate>().unwrap(), precision)).unwrap();
    assert_eq!(end("2026-02-28", DatePrecision::Day), instant("2026-03-01T00:00:00Z"));
    assert_eq!(end("2026-02-09", DatePrecision::Week), instant("2026-02-17T00:00:00Z"));
    assert_eq!(end("2026-02-09", DatePrecision::Month), instant("2026-03-01T00:00:00Z"));
    assert_eq!(end("2026-02-09", DatePrecision::Year), instant("2027-01-01T00:00:00Z"));
    assert_eq!(over(FactDate { day: NaiveDate::MAX, precision: DatePrecision::Day }), None);
}

#[test]
fn what_happens_is_an_episode_and_what_is_wanted_is_a_goal() {
    for (entity, kind) in [
        (EntityType::Goal, Kind::Goal),
        (EntityType::Relationship, Kind::Relationship),
        (EntityType::Preference, Kind::Belief),
        (EntityType::Appointment, Kind::Episode),
        (EntityType::Event, Kind::Episode),
        (EntityType::Procedure, Kind::Episode),
        (EntityType::Condition, Kind::Note),
        (EntityType::Measurement, Kind::Note),
    ] {
        assert_eq!(kind_of(entity), kind);
    }
    assert!(is_proposed(EntityType::Medication, Some("suggested")));
    assert!(!is_proposed(EntityType::Medication, Some("active")) && !is_proposed(EntityType::Medication, None));
    assert!(!is_proposed(EntityType::Procedure, Some("suggested")));
}

#[test]
fn only_words_dates_and_names_make_another_text() {
    let hash = |text: &str| {
        let (redacted, _) = reading::read(&document("clinical_note", &json!({"text": text})));
        text_hash(&redacted, &keys())
    };
    let first = hash("Duerme mal, y está cansada.");
    assert!(first.is_some());
    assert_eq!(first, hash("  DUERME mal — y esta   cansada"), "case, accents, signs and spacing");
    assert_ne!(first, hash("Duerme mal, y no está cansada."));
    assert_ne!(hash("Llamar a rosa@correo.es mañana."), hash("Llamar a luis@correo.es mañana."));
    assert_ne!(hash("Volver el 3 de mayo de 2026."), hash("Volver el 4 de mayo de 2026."), "dates look alike");
    assert_eq!(hash("… — !"), None, "no words");
}

#[test]
fn a_named_source_has_another_surrogate_for_each_patient() {
    let name = entity("Claire", &keys());
    assert_eq!(name, entity("CLAIRE", &keys()));
    assert_ne!(name, entity("Clara", &keys()));
    assert!(name.starts_with("[SOURCE_") && name.ends_with(']') && name.len() == 13, "{name}");
    let other = PatientKeys::derive(crate::fixture::scope(), &[8; 32]);
    assert_ne!(name, entity("Claire", &other));
}
