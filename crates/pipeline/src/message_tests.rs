//! The document of a message, and the disposition of a message without an outcome.

use serde_json::json;

use super::*;
use crate::fixture::{admitted, command, document, document_message, envelope};

#[test]
fn a_body_comes_from_an_operator_unless_a_file_held_it() {
    assert_eq!(RawMessage::from_body(vec![1]).origin, MessageOrigin::Operator);
    assert_eq!(RawMessage::from_file(vec![1]).origin, MessageOrigin::Files);
    assert_eq!(
        (RawMessage::from_body(vec![1]).body, RawMessage::from_file(vec![1]).body),
        (Bytes::from(vec![1]), Bytes::from(vec![1]))
    );
    assert!(RawMessage::from_file(vec![1]).attributes.is_none() && RawMessage::from_body(vec![1]).refused.is_none());
}

#[test]
fn the_document_that_is_read_is_the_messages_own_or_the_words_of_a_command() {
    let note = admitted(document_message("clinical_note", &json!({"text": "Duerme mal."})));
    assert_eq!(note.document().and_then(|d| d.text.as_deref()), Some("Duerme mal."));
    let says = command("correct", "patient", &json!({"memory_ids": [crate::fixture::DOCUMENT], "text": "Ya no."}));
    let mut entry = admitted(envelope("memory.command.v1", &serde_json::to_value(&says).unwrap()));
    assert!(entry.document().is_none());
    let words = document("chat_message", &json!({"text": "Ya no."}));
    entry.words = Some(CommandText { document: words, subject: None, made: None });
    assert_eq!(entry.document().and_then(|d| d.text.as_deref()), Some("Ya no."));
}

#[test]
fn a_message_without_an_outcome_is_what_the_batch_says_of_it() {
    let of = |outcome| {
        let kind = MessageType::Document;
        BatchMessage {
            raw: RawMessage::default(),
            kind,
            sent_at: None,
            organization: None,
            patient: None,
            trace: TraceIds::default(),
            span: anamnesis_observability::traces::TraceSpan::none(),
            outcome,
        }
        .disposition(Disposition::Waits)
    };
    assert_eq!(of(None), Disposition::Waits);
    assert_eq!(of(Some(MessageOutcome::new(3, Disposition::Stored))), Disposition::Stored);
    let quarantined = MessageOutcome::quarantined(3, Reason::IdReused, Some("id".to_owned()));
    assert_eq!((quarantined.place, quarantined.field.as_deref(), quarantined.unkept), (3, Some("id"), false));
    assert_eq!(of(Some(quarantined)), Disposition::Quarantined(Reason::IdReused));
}
