//! Redaction of fields, and analysis of the words of commands.

use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::fixture::{admitted, document, document_message};
use crate::redactors::Redactors;
use anamnesis_observability::metrics::Identity;
use anamnesis_redaction::remote::RemoteError;

/// The guard of a message under the policy of an organisation without other rules.
pub(crate) fn field_redactor() -> FieldRedactor {
    let redactors = Redactors::built_in();
    let redactor = redactors.get(OrgId(Uuid::from_u128(9)), "safe_harbor").unwrap();
    FieldRedactor {
        redactor: Arc::clone(redactor),
        surrogate: [3; 32],
        people: Arc::new(KnownPeople::default()),
        metrics: Arc::new(Metrics::new(&Identity::default()).unwrap()),
        span: Default::default(),
    }
}

/// A document after redaction and extraction, by the program's own rules.
pub(crate) fn read(document: &DocumentSubmitted) -> (Redacted, Extraction) {
    let source = source_of(document);
    let redacted = field_redactor().redact_with(&source, &[]).unwrap();
    let dates = dates_of(&source, &redacted, document.day());
    let input = input_of(document, &redacted, &dates);
    let extraction = Extractor::shared().extract(&input);
    (redacted, extraction)
}

#[test]
fn a_field_keeps_its_words_and_loses_its_identifiers() {
    let field_redactor = field_redactor();
    assert_eq!(field_redactor.clean("insomnio de conciliación").unwrap(), "insomnio de conciliación");
    let clean = field_redactor.clean("avisar a marta.ruiz@correo.es").unwrap();
    assert!(clean.starts_with("avisar a ") && !clean.contains("marta.ruiz"), "{clean}");
    assert_eq!(field_redactor.clean_option(None).unwrap(), None);
    assert_eq!(field_redactor.clean_option(Some("sueño ligero")).unwrap().as_deref(), Some("sueño ligero"));
}

#[test]
fn a_field_that_no_rule_can_read_is_refused() {
    let refused = Disposition::Quarantined(Reason::UnsupportedLanguage);
    let text = "Пациентка плохо спит и жалуется на головную боль";
    assert_eq!(field_redactor().clean(text).err(), Some(refused));
    assert_eq!(field_redactor().clean_option(Some(text)).err(), Some(refused));
}

#[test]
fn an_unreachable_service_is_a_retry_and_any_other_failure_a_quarantine() {
    let field_redactor = field_redactor();
    assert_eq!(field_redactor.failed(&RedactionError::ServiceAway(RemoteError::Overloaded)), Disposition::Retry);
    let counted: u64 =
        ServiceFailure::ALL.iter().map(|one| field_redactor.metrics.redaction.services.with_labels(*one).get()).sum();
    assert_eq!(counted, 1);
    let quarantined = Disposition::Quarantined(Reason::RedactionFailed);
    for error in [RedactionError::Timeout, RedactionError::Offsets, RedactionError::Service(RemoteError::Document)] {
        assert_eq!(field_redactor.failed(&error), quarantined, "{error}");
    }
}

#[test]
fn what_a_person_writes_of_a_memory_is_read_with_at_least_its_confidence() {
    let note = document("clinical_note", &json!({"text": "Toma sertralina 50 mg. Alergia a la penicilina."}));
    let (_, mut extraction) = read(&note);
    assert!(extraction.entities.len() >= 2, "{:?}", extraction.entities);
    extraction.entities[0].confidence = 0.3;
    extraction.entities[1].confidence = 0.97;
    believe_command(&mut extraction);
    assert_eq!(extraction.entities[0].confidence, COMMAND_CONFIDENCE);
    assert_eq!(extraction.entities[1].confidence, 0.97);
}

#[test]
fn a_name_alone_says_nothing_of_what_it_names() {
    let note = document("clinical_note", &json!({"text": "Sertralina."}));
    let (_, extraction) = read(&note);
    let mut bare = extraction.entities.into_iter().find(|e| e.value == "sertraline").unwrap();
    (bare.dose, bare.frequency, bare.route, bare.severity, bare.status) = (None, None, None, None, None);
    bare.context.negated = false;
    let with = |change: fn(&mut Entity)| {
        let mut one = bare.clone();
        change(&mut one);
        says_more_than_its_name(&one)
    };
    let status = |status: &str| {
        let mut one = bare.clone();
        one.status = Some(status.to_owned());
        says_more_than_its_name(&one)
    };
    assert!(!with(|_| ()));
    assert!(["active", "started", "changed"].into_iter().all(|code| !status(code)));
    assert!(["stopped", "resolved", "ended", "not_taken"].into_iter().all(status));
    assert!(with(|one| one.dose = Some("50 mg".into())));
    assert!(with(|one| one.frequency = Some("daily".into())));
    assert!(with(|one| one.route = Some("oral".into())));
    assert!(with(|one| one.severity = Some("mild".into())));
    assert!(with(|one| one.context.negated = true));
}

#[test]
fn a_text_without_a_language_is_read_in_the_one_that_it_is_in() {
    let language = |tag: serde_json::Value, text: &str| {
        source_of(&document("clinical_note", &json!({"text": text, "language": tag}))).language
    };
    let english = "The patient sleeps badly and has stopped taking her pills since Monday.";
    let spanish = "La paciente duerme mal y dejó de tomar las pastillas desde el lunes.";
    assert_eq!(language(json!(null), english), Language::English);
    assert_eq!(language(json!(null), spanish), Language::Spanish);
    assert_eq!(language(json!("es"), english), Language::Spanish, "the producer's word counts");
}

#[test]
fn only_a_document_names_people() {
    let people = json!([{"role": "patient", "names": ["Ximena Larralde"]}]);
    let note = document_message("clinical_note", &json!({"text": "Duerme mal.", "known_identities": people}));
    let named = identities(&admitted(note));
    assert_eq!(named.iter().flat_map(|one| &one.names).collect::<Vec<_>>(), ["Ximena Larralde"]);
    let signal = json!({"metric": "sleep_hours", "value": 6.5, "synced_at": "2026-03-02T10:00:00Z"});
    assert!(identities(&admitted(crate::fixture::envelope("health_signal.recorded.v1", &signal))).is_empty());
}
