//! The message contract as producers see it: committed schemas, the documented examples, the shipped samples.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anamnesis_messages::contract::{MessageType, schema};
use anamnesis_messages::{Decoder, Envelope, Limits, Message};
use anamnesis_pipeline::intake::spool::{LineContent, Spool};
use serde_json::{Value, json};

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn validator(kind: MessageType) -> jsonschema::Validator {
    jsonschema::validator_for(&kind.schema().to_value()).expect("the schema is a schema")
}

/// The messages of the contract's own pages, one of each type.
fn examples() -> Vec<(MessageType, Value)> {
    let (org, patient) = ("0f5c3a52-6d0e-4c43-9a55-0a4f6c1d2e3f", "1f9a6f1c-2f0e-4a3b-9c7d-5e8f00000001");
    let someone = "3c1c5f4e-8e5b-4b0e-b7a2-6a0d11111111";
    let scoped = |mut data: Value| {
        data["organization_id"] = json!(org);
        data["patient_id"] = json!(patient);
        data
    };
    vec![
        (
            MessageType::DocumentSubmitted,
            scoped(json!({"document_id": someone, "revision": 1, "document_type": "session_transcript",
                "occurred_at": "2026-03-02T10:00:00-05:00", "language": "es", "therapist_id": someone, "session_key": "s-1",
                "turns": [{"speaker": "patient", "text": "Bien.", "at_ms": 1200}],
                "metadata": {"sentiment": "negative", "risk_level": "medium", "themes": ["trabajo", "pérdida"]},
                "known_identities": [{"role": "patient", "names": ["Ana"], "phones": [], "emails": [], "ids": [],
                    "addresses": [], "birth_date": "1980-05-01"}],
                "provenance": {"source": "told by Claire", "source_type": null, "is_proxy": false, "proxy_agent": null,
                    "confidence": null, "cognitive_state": 80}})),
        ),
        (
            MessageType::DocumentSubmitted,
            scoped(json!({"document_id": someone, "document_type": "uploaded_document",
                "occurred_at": "2026-03-02T10:00:00Z", "text": "Hemograma normal.",
                "file": {"name": "h.pdf", "media_type": "application/pdf", "sha256": "0".repeat(64), "uri": "s3://a/b", "pages": [0]}})),
        ),
        (
            MessageType::HealthSignalRecorded,
            scoped(json!({"metric": "sleep_hours", "unit": "h", "value": 6.5, "trend": "falling",
                "window": {"from": "2026-03-01T00:00:00Z", "to": "2026-03-08T00:00:00Z"}, "device": "watch",
                "synced_at": "2026-03-08T06:00:00Z"})),
        ),
        (
            MessageType::ProfileUpdated,
            scoped(json!({"actor": someone, "recorded_at": "2026-03-08T06:00:00Z", "cognitive_state": 80,
                "conditions": [{"name": "depresión", "code": "F32.1", "status": "active", "since": "2024-05"}],
                "allergies": [{"substance": "penicilina", "reaction": "urticaria"}],
                "medications": [{"name": "sertralina", "dose": "50 mg", "route": "oral", "frequency": "1/day", "status": "active"}],
                "emergency_contacts": [{"reference": "c-1"}], "preferences": {"key": "value"},
                "disclaimer_accepted_at": null, "region": "eu", "privacy_tier": "full"})),
        ),
        (
            MessageType::MemoryCommand,
            scoped(json!({"actor": {"id": someone, "role": "patient"}, "command": "forget", "memory_ids": [someone],
                "topic": null, "preview": false, "reason": "ya no"})),
        ),
        (
            MessageType::ConsentRecorded,
            scoped(json!({"scope": "memory", "provision": "permit", "from": "2026-01-01T00:00:00Z", "until": null,
                "recorded_by": someone})),
        ),
    ]
}

#[test]
fn the_committed_schemas_are_those_of_the_types() {
    for kind in MessageType::ALL {
        let path = root("docs/schemas").join(schema::file_name(*kind));
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        let drift = committed != schema::file_text(*kind);
        assert!(!drift, "{} differs: run `anamnesis contract schemas --out docs/schemas`", path.display());
    }
}

#[test]
fn the_documented_examples_keep_the_schema_and_decode_without_unknown_fields() {
    for (kind, example) in examples() {
        let wrong: Vec<String> = validator(kind).iter_errors(&example).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{}: {wrong:?}", kind.name());
        let envelope = Decoder::default().decode(example.to_string().as_bytes()).expect("decodes");
        assert_eq!(envelope.kind(), kind);
        assert_eq!(envelope.unknown_fields, Vec::<String>::new());
    }
}

#[test]
fn what_the_schema_requires_the_decoder_requires() {
    for (kind, example) in examples() {
        let required = kind.schema().get("required").and_then(Value::as_array).cloned().expect("a list");
        for field in required.iter().filter_map(Value::as_str) {
            let mut without = example.clone();
            without.as_object_mut().expect("an object").remove(field);
            assert!(!validator(kind).is_valid(&without));
            let event = json!({"specversion": "1.0", "id": "1", "source": "s", "type": kind.name(), "data": without});
            let refusal = Decoder::default().decode(event.to_string().as_bytes()).expect_err("refused");
            assert_eq!(refusal.to_string(), format!("malformed: missing at {field}"), "{}", kind.name());
        }
    }
}

#[test]
fn text_and_turns_exclude_each_other_in_the_schema_as_in_the_decoder() {
    let (kind, example) = examples().swap_remove(0);
    for (text, turns) in [(json!("a"), json!(null)), (json!(null), json!(null)), (json!("a"), example["turns"].clone())]
    {
        let mut message = example.clone();
        message["text"] = text;
        message["turns"] = turns;
        let decodes = Decoder::default().decode(message.to_string().as_bytes()).is_ok();
        assert_eq!(validator(kind).is_valid(&message), decodes, "{message}");
    }
}

/// Every message under `samples/`, decoded, next to its JSON.
pub(crate) fn samples() -> Vec<(Envelope, Value)> {
    let spool = Spool::find(&[root("samples")], Limits::default().max_body_bytes).expect("the samples are there");
    let decoder = Decoder::default();
    let mut messages = Vec::new();
    for record in spool.records() {
        let record = record.expect("readable");
        let LineContent::Line(line) = &record.content else { panic!("{}:{} is too long", record.source, record.line) };
        let envelope =
            decoder.decode(line).unwrap_or_else(|refusal| panic!("{}:{}: {refusal}", record.source, record.line));
        let json = serde_json::from_slice(line).expect("JSON, as it decoded");
        messages.push((envelope, json));
    }
    messages
}

#[test]
fn the_shipped_samples_keep_the_contract_to_the_letter() {
    let messages = samples();
    assert!(messages.len() >= 50, "only {} samples", messages.len());
    for (envelope, json) in &messages {
        assert_eq!(envelope.unknown_fields, Vec::<String>::new(), "{}", envelope.id);
        let wrong: Vec<String> = validator(envelope.kind()).iter_errors(json).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{}: {wrong:?}", envelope.id);
    }
    let mut ids: Vec<_> = messages.iter().map(|(envelope, _)| envelope.id.clone()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), messages.len(), "two samples have one id");
}

#[test]
fn the_samples_describe_four_patients_of_two_organisations_in_one_half_year() {
    let messages = samples();
    let count = |of: fn(&Envelope) -> String| messages.iter().map(|(e, _)| of(e)).collect::<BTreeSet<_>>().len();
    assert_eq!(count(|envelope| envelope.patient().to_string()), 4);
    assert_eq!(count(|envelope| envelope.organization().to_string()), 2);
    for (envelope, _) in &messages {
        let at = envelope.message.happened_at().expect("a document, profile or signal").to_rfc3339();
        assert!(("2026-01".."2026-07").contains(&at.as_str()), "{}: {at}", envelope.id);
    }
}

#[test]
fn the_story_of_a_lost_job_never_says_the_word_that_other_texts_use() {
    let texts = |envelope: &Envelope| match &envelope.message {
        Message::DocumentSubmitted(document) => document.to_document().text.to_lowercase(),
        _ => String::new(),
    };
    let all: Vec<String> = samples().iter().map(|(envelope, _)| texts(envelope)).collect();
    let reported: Vec<&String> = all.iter().filter(|text| text.contains("caja de cartón")).collect();
    assert!(!reported.is_empty() && reported.iter().all(|text| !text.contains("trabajo")));
    assert!(all.iter().filter(|text| text.contains("trabajo")).count() >= 5);
}
