//! Messages, documents and keys that the unit tests of this crate share.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::intake::grant::Grant;
use crate::manual_memory::CommandReferences;
use crate::message::AdmittedMessage;
use anamnesis_core::consent::Withdrawal;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::PatientKeys;
use anamnesis_messages::contract::{DocumentSubmitted, MemoryCommand};
use anamnesis_messages::{Decoder, Envelope, Message};

pub(crate) const ORG: &str = "5f3b1c52-6d0e-4c43-9a55-0a4f6c1d2e3f";
pub(crate) const PATIENT: &str = "0b9f4a6e-93a5-4d0e-8d5b-6d1f1b7f2c11";
pub(crate) const DOCUMENT: &str = "7c1f0a52-11d0-4c43-9a55-0a4f6c1d2e01";
/// The person who acts: a clinician unless a test says otherwise.
pub(crate) const ACTOR: &str = "9d2c7b10-4e55-4f0a-8c31-2f6a5b7c8d90";

pub(crate) fn instant(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// A message of the contract, with these fields beyond the patient's ids.
pub(crate) fn envelope(kind: &str, fields: &Value) -> Envelope {
    let mut body = json!({"type": kind, "organization_id": ORG, "patient_id": PATIENT});
    for (name, value) in fields.as_object().unwrap() {
        body[name] = value.clone();
    }
    Decoder::default().decode(body.to_string().as_bytes()).unwrap()
}

/// A document of a type, with these fields in addition to the required ones.
pub(crate) fn document_message(document_type: &str, fields: &Value) -> Envelope {
    let mut body = json!({"document_id": DOCUMENT, "document_type": document_type, "language": "es",
        "occurred_at": "2026-03-02T10:00:00Z"});
    for (name, value) in fields.as_object().unwrap() {
        body[name] = value.clone();
    }
    envelope("document.submitted.v1", &body)
}

pub(crate) fn document(document_type: &str, fields: &Value) -> DocumentSubmitted {
    match document_message(document_type, fields).message {
        Message::DocumentSubmitted(document) => *document,
        other => panic!("{:?} is no document", other.kind()),
    }
}

/// A command as its producer writes it, with these fields beyond its name and its actor's role.
pub(crate) fn command(name: &str, role: &str, fields: &Value) -> MemoryCommand {
    let mut body = json!({"organization_id": ORG, "patient_id": PATIENT, "command": name,
        "actor": {"id": ACTOR, "role": role}});
    for (name, value) in fields.as_object().unwrap() {
        body[name] = value.clone();
    }
    serde_json::from_value(body).unwrap()
}

pub(crate) fn scope() -> Scope {
    Scope::new(ORG.parse().unwrap(), PATIENT.parse().unwrap()).unwrap()
}

pub(crate) fn keys() -> PatientKeys {
    PatientKeys::derive(scope(), &[7; 32])
}

pub(crate) fn admitted(envelope: Envelope) -> AdmittedMessage {
    AdmittedMessage {
        place: 0,
        scope: scope(),
        message: [1; 32],
        body_hash: [2; 32],
        envelope: Box::new(envelope),
        policy: "safe_harbor".to_owned(),
        grant: Grant::everything(),
        withdrawal: Withdrawal::default(),
        ephemeral: false,
        words: None,
        references: CommandReferences::default(),
        span: Default::default(),
    }
}
