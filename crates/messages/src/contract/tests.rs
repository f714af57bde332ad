//! Bad values of every type but the document (whose table stands with the decoder): each names its field.

use serde_json::{Value, json};

use crate::{Decoder, Rejection};

const ID: &str = "3c1c5f4e-8e5b-4b0e-b7a2-6a0d11111111";
const NIL: &str = "00000000-0000-0000-0000-000000000000";
/// Stands in every bad text: it must never come back.
const CANARY: &str = "Zalduendo";

fn decode(data: &Value) -> Result<Vec<String>, Rejection> {
    Decoder::default().decode(data.to_string().as_bytes()).map(|envelope| envelope.unknown_fields)
}

/// Sets one top-level field after another and expects each to be refused with the given text.
fn refused(good: &Value, cases: Vec<(&str, Value, &str)>) {
    assert_eq!(decode(good), Ok(Vec::new()), "the good message is good");
    for (field, value, expected) in cases {
        let mut bad = good.clone();
        bad[field] = value;
        let refusal = decode(&bad).expect_err(expected);
        assert_eq!(refusal.to_string(), format!("malformed: {expected}"));
        assert!(!format!("{refusal:?}").contains(CANARY));
    }
}

#[test]
fn a_bad_health_signal_is_refused_by_field() {
    let good = json!({"organization_id": ID, "patient_id": ID, "metric": "sleep_hours", "unit": "h", "value": 6.5,
        "window": {"from": "2026-03-01T00:00:00Z", "to": "2026-03-08T00:00:00Z"}, "synced_at": "2026-03-08T06:00:00Z"});
    refused(
        &good,
        vec![
            ("metric", json!(""), "empty at metric"),
            ("metric", json!(7), "mistyped at metric"),
            ("value", json!(null), "missing at value"),
            ("value", json!(CANARY), "mistyped at value"),
            ("synced_at", json!(CANARY), "mistyped at synced_at"),
            ("synced_at", json!("1526-03-08T06:00:00Z"), "out_of_range at synced_at"),
            ("window", json!({"from": "2026-03-01T00:00:00Z"}), "missing at window.to"),
            (
                "window",
                json!({"from": "2026-03-09T00:00:00Z", "to": "2026-03-08T00:00:00Z"}),
                "out_of_range at window.to",
            ),
            ("patient_id", json!(NIL), "nil_id at patient_id"),
        ],
    );
}

#[test]
fn a_bad_profile_is_refused_by_field() {
    let good = json!({"organization_id": ID, "patient_id": ID, "actor": ID, "recorded_at": "2026-03-08T06:00:00Z",
        "conditions": [{"name": "asma", "status": "active", "since": "2024-05"}], "allergies": [{"substance": "látex"}],
        "medications": [{"name": "sertralina", "status": "on-hold"}], "preferences": {"canal": "chat"}});
    refused(
        &good,
        vec![
            ("actor", json!(NIL), "nil_id at actor"),
            ("cognitive_state", json!(-1), "out_of_range at cognitive_state"),
            ("conditions", json!([{"name": CANARY, "status": CANARY}]), "mistyped at conditions[0].status"),
            ("conditions", json!([{"name": "asma"}, {"name": " "}]), "empty at conditions[1].name"),
            ("conditions", json!([{"name": "asma", "since": "mayo de 2024"}]), "mistyped at conditions[0].since"),
            ("allergies", json!([{"reaction": CANARY}]), "missing at allergies[0].substance"),
            ("allergies", json!(CANARY), "mistyped at allergies"),
            ("medications", json!([{"name": "sertralina", "status": CANARY}]), "mistyped at medications[0].status"),
            ("medications", json!([{"name": "sertralina", "dose": 50}]), "mistyped at medications[0].dose"),
            ("emergency_contacts", json!([{"reference": ""}]), "empty at emergency_contacts[0].reference"),
            ("preferences", json!({CANARY: 1}), "mistyped at preferences.*"),
            ("disclaimer_accepted_at", json!("0001-01-01T00:00:00Z"), "out_of_range at disclaimer_accepted_at"),
        ],
    );
}

#[test]
fn a_bad_consent_is_refused_by_field() {
    let good = json!({"organization_id": ID, "patient_id": ID, "scope": "memory", "provision": "permit",
        "from": "2026-01-01T00:00:00Z", "until": null, "recorded_by": ID});
    refused(
        &good,
        vec![
            ("scope", json!(" "), "empty at scope"),
            ("provision", json!("maybe"), "mistyped at provision"),
            ("until", json!("2026-01-01T00:00:00Z"), "out_of_range at until"),
            ("recorded_by", json!(NIL), "nil_id at recorded_by"),
        ],
    );
}

#[test]
fn a_command_that_does_not_say_what_it_is_about_is_refused() {
    let good = json!({"organization_id": ID, "patient_id": ID, "actor": {"id": ID, "role": "patient"},
        "command": "confirm", "memory_ids": [ID]});
    refused(
        &good,
        vec![
            ("actor", json!({"id": NIL, "role": "patient"}), "nil_id at actor.id"),
            ("actor", json!({"id": ID, "role": CANARY}), "mistyped at actor.role"),
            ("command", json!("remember"), "mistyped at command"),
            ("memory_ids", json!([]), "missing at memory_ids"),
            ("memory_ids", json!([ID, NIL]), "nil_id at memory_ids[1]"),
            ("command", json!("correct"), "missing at text"),
        ],
    );
    let by_topic = json!({"organization_id": ID, "patient_id": ID, "actor": {"id": ID, "role": "patient"},
        "command": "forget", "topic": "mi padre"});
    refused(&by_topic, vec![("topic", json!(" "), "missing at topic"), ("topic", json!(null), "missing at topic")]);
    let whole =
        json!({"organization_id": ID, "patient_id": ID, "actor": {"id": ID, "role": "system"}, "command": "erase"});
    assert_eq!(decode(&whole), Ok(Vec::new()), "erasing a patient needs neither");
}
