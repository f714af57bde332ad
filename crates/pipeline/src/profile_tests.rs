//! Statements of profiles and devices.

use serde_json::{Value, json};

use super::*;
use crate::analyze::tests::field_redactor;
use crate::fixture::{ACTOR, admitted, envelope, instant, keys};
use anamnesis_core::reason::Reason;
use anamnesis_messages::Message;

const RECORDED: &str = "2026-03-02T10:00:00Z";
const NOW: &str = "2026-03-02T12:00:00Z";

fn with<T>(kind: &str, fields: &Value, look: impl FnOnce(&ProfileFindings<'_>, &Message) -> T) -> T {
    let (admitted, field_redactor, keys) = (admitted(envelope(kind, fields)), field_redactor(), keys());
    let message = admitted.envelope.message.clone();
    let concept = |name: &str| (name == "Prozac").then(|| "fluoxetine".to_owned());
    look(
        &ProfileFindings {
            admitted: &admitted,
            redactor: &field_redactor,
            keys: &keys,
            now: instant(NOW),
            concept: &concept,
        },
        &message,
    )
}

fn stated(mut fields: Value) -> Result<(ProfileChange, Vec<NewFinding>), Disposition> {
    (fields["actor"], fields["recorded_at"]) = (json!(ACTOR), json!(RECORDED));
    with("profile.updated.v1", &fields, |profile_findings, message| match message {
        Message::ProfileUpdated(profile) => profile_findings.profile(profile),
        other => panic!("{:?}", other.kind()),
    })
}

fn only(fields: Value) -> NewFinding {
    let (_, mut findings) = stated(fields).unwrap();
    assert_eq!(findings.len(), 1);
    findings.remove(0)
}

fn signal(mut fields: Value) -> NewFinding {
    fields["synced_at"] = json!(RECORDED);
    with("health_signal.recorded.v1", &fields, |profile_findings, message| match message {
        Message::HealthSignalRecorded(signal) => profile_findings.signal(signal).unwrap(),
        other => panic!("{:?}", other.kind()),
    })
}

#[test]
fn a_condition_is_in_force_from_its_day_until_its_status_ends_it() {
    let of = |status: Value, since: Value| {
        let fact = json!({"name": "Asma", "code": "J45.909", "status": status, "since": since});
        let found = only(json!({"conditions": [fact]}));
        assert_eq!((found.words.concept.as_str(), found.words.code.as_deref()), ("asma", Some("J45.909")));
        (found.assertion.ending, found.assertion.valid_from)
    };
    let recorded = instant(RECORDED);
    assert_eq!(of(Value::Null, Value::Null), (false, recorded));
    assert_eq!(of(json!("active"), json!("2015-06-01")), (false, instant("2015-06-01T00:00:00Z")));
    assert_eq!(of(json!("relapse"), json!("2015-06")), (false, instant("2015-06-01T00:00:00Z")));
    assert_eq!(of(json!("active"), json!("2015")), (false, instant("2015-01-01T00:00:00Z")));
    for ended in ["resolved", "inactive", "remission"] {
        assert!(of(json!(ended), Value::Null).0, "{ended}");
    }
}

#[test]
fn a_medicine_is_stated_unless_it_was_an_error_or_is_only_intended() {
    for (status, ending, polarity) in [
        ("active", false, Polarity::Affirmed),
        ("stopped", true, Polarity::Affirmed),
        ("completed", true, Polarity::Affirmed),
        ("on-hold", true, Polarity::Affirmed),
        ("not_taken", false, Polarity::Negated),
    ] {
        let found = only(json!({"medications": [{"name": "Prozac", "status": status}]}));
        assert_eq!((found.assertion.ending, found.assertion.polarity), (ending, polarity), "{status}");
        assert_eq!((found.words.concept.as_str(), found.words.mention.as_str()), ("fluoxetine", "Prozac"));
    }
    for status in ["entered_in_error", "intended", "unknown"] {
        let (_, found) = stated(json!({"medications": [{"name": "Prozac", "status": status}]})).unwrap();
        assert!(found.is_empty(), "{status}");
    }
    let silent = only(json!({"medications": [{"name": "Prozac", "dose": "20 mg", "frequency": "cada mañana"}]}));
    assert_eq!(silent.words.status.as_deref(), Some("active"));
    assert_eq!(silent.words.dose.as_deref(), Some("20 mg"));
    assert_eq!(silent.words.frequency.as_deref(), Some("cada mañana"));
}

#[test]
fn a_route_is_stored_as_it_was_written() {
    for route in ["oral", " Vía oral ", "p.o.", "Subcutánea", "IM", "transdérmica"] {
        let found = only(json!({"medications": [{"name": "insulina", "route": route}]}));
        assert_eq!(found.words.route.as_deref(), Some(route.trim()));
    }
    assert_eq!(only(json!({"medications": [{"name": "insulina"}]})).words.route, None);
}

#[test]
fn a_profile_has_a_clinicians_authority_and_full_confidence() {
    let found = only(json!({"allergies": [{"substance": "Penicilina", "reaction": "urticaria"}]}));
    let assertion = &found.assertion;
    assert_eq!((assertion.entity, assertion.class), (EntityType::Allergy, Class::LongLivedFact));
    assert_eq!(
        (assertion.set_by, assertion.trust, assertion.source_type),
        (SetBy::Profile, Trust::T1, SourceType::DirectExperience)
    );
    assert_eq!((assertion.initial_confidence, assertion.extraction_confidence), (1.0, 1.0));
    assert_eq!((assertion.recorded_at, assertion.asserted_at), (instant(NOW), instant(RECORDED)));
    assert_eq!(found.words.reaction.as_deref(), Some("urticaria"));
    assert!(found.evidence.is_none() && !found.uncertain);
}

#[test]
fn two_doses_of_one_medicine_are_two_findings_of_one_attribute() {
    let doses = json!([{"name": "Prozac", "dose": "20 mg"}, {"name": "Prozac", "dose": "40 mg"}]);
    let (_, found) = stated(json!({"medications": doses})).unwrap();
    assert_ne!(found[0].assertion.id, found[1].assertion.id);
    assert_eq!(found[0].assertion.attribute, found[1].assertion.attribute);
    let (_, again) = stated(json!({"medications": doses})).unwrap();
    assert_eq!(found, again, "the same message gives the same findings");
}

#[test]
fn a_profile_sets_what_is_no_finding_and_its_preferences_lose_identifiers() {
    let fields = json!({"cognitive_state": 70.0, "region": "ES", "privacy_tier": "strict",
        "emergency_contacts": [{"reference": "contacto/12"}],
        "preferences": {"contacto": "escribir a rosa.mora@correo.es", "tono": "directo"}});
    let (change, found) = stated(fields).unwrap();
    assert!(found.is_empty());
    assert_eq!((change.statement.stamp.0, change.actor.to_string()), (instant(RECORDED), ACTOR.to_owned()));
    assert_eq!((change.statement.cognitive_state, change.statement.region.as_deref()), (Some(70.0), Some("ES")));
    assert_eq!(change.statement.privacy_tier.as_deref(), Some("strict"));
    assert_eq!(change.statement.emergency_contacts, Some(vec!["contacto/12".to_owned()]));
    assert_eq!(change.preferences[1], ("tono".to_owned(), "directo".to_owned()));
    assert!(!change.preferences[0].1.contains("rosa.mora"), "{:?}", change.preferences);
    assert_eq!(stated(json!({})).unwrap().0.statement.emergency_contacts, None, "what is absent is not touched");
}

#[test]
fn a_text_that_cannot_be_redacted_stops_the_whole_profile() {
    let unread = json!({"conditions": [{"name": "Астма и бронхиальная гиперреактивность"}]});
    assert_eq!(stated(unread).err(), Some(Disposition::Quarantined(Reason::UnsupportedLanguage)));
}

#[test]
fn a_signal_says_its_number_its_unit_and_its_trend() {
    for (fields, value) in [
        (json!({"metric": "sleep_hours", "value": 6.5, "unit": "h"}), "6.5 h"),
        (json!({"metric": "sleep_hours", "value": 6.5, "unit": "h", "trend": "falling"}), "6.5 h, falling"),
        (json!({"metric": "sleep_hours", "value": 7.0}), "7"),
        (json!({"metric": "sleep_hours", "unit": "h", "trend": "stable"}), "stable"),
    ] {
        let found = signal(fields);
        assert_eq!(found.words.value.as_deref(), Some(value));
        assert_eq!((found.assertion.class, found.assertion.set_by), (Class::HealthSignal, SetBy::Device));
        assert_eq!((found.assertion.trust, found.assertion.source_type), (Trust::T2, SourceType::Observation));
    }
    let watch = signal(json!({"metric": "resting_heart_rate", "value": 61.0, "device": "reloj"}));
    assert_eq!(watch.words.source_entity.as_deref(), Some("reloj"));
}
