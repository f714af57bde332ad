//! One message of each type for the AsyncAPI document: out of `samples/` where there is one.

use serde_json::{Value, json};

use anamnesis_messages::{Decoder, MessageType};

const SAMPLES: &str = include_str!("../../../samples/daniel.ndjson");

/// The shortest sample of a type, or a made one.
pub(super) fn get(kind: MessageType) -> Value {
    let decoder = Decoder::default();
    let of_kind = |line: &&str| decoder.decode(line.as_bytes()).is_ok_and(|envelope| envelope.kind() == kind);
    let sample = SAMPLES.lines().filter(of_kind).min_by_key(|line| line.len());
    sample.and_then(|line| serde_json::from_str(line).ok()).unwrap_or_else(|| made(kind))
}

const ORG: &str = "d178aba0-1217-5b49-8a70-ece3fdf27ded";
const PATIENT: &str = "cc89ab5f-1636-5605-acf9-0af630924673";

/// Of the types that no sample has.
fn made(kind: MessageType) -> Value {
    match kind {
        MessageType::ConsentRecorded => json!({"organization_id": ORG, "patient_id": PATIENT, "scope": "memory",
            "provision": "permit", "from": "2026-01-01T00:00:00Z", "recorded_by": PATIENT}),
        MessageType::MemoryCommand => json!({"organization_id": ORG, "patient_id": PATIENT,
            "actor": {"id": PATIENT, "role": "patient"}, "command": "forget", "topic": "my brother", "preview": true}),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_an_example_that_decodes_as_that_type() {
        for kind in MessageType::ALL {
            let envelope = Decoder::default().decode(get(*kind).to_string().as_bytes()).expect("decodes");
            assert_eq!(envelope.kind(), *kind);
        }
    }
}
