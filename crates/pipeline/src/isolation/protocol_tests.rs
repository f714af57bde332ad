//! Values cross the pipe unchanged, and those of another version are refused.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn raw() -> RawMessage {
    RawMessage {
        body: "{\"text\": \"Mañana viene su madre.\u{0}\"}".as_bytes().to_vec().into(),
        attributes: Some(Attributes { id: Some("m-1".into()), source: Some("clinic".into()), ..Attributes::default() }),
        refused: Some(Rejection::malformed(Problem::Missing, "text")),
        sent_at: None,
        origin: MessageOrigin::Broker {
            user: Some("his".into()),
            received: Some("2026-03-02T10:00:00Z".parse().unwrap()),
        },
    }
}

fn written(queue: Queue, raw: &RawMessage) -> Value {
    serde_json::from_slice(&IsolatedRequest::new(queue, raw).written().unwrap()).unwrap()
}

fn asked(value: Value) -> Option<(Queue, RawMessage)> {
    serde_json::from_value::<IsolatedRequest>(value).unwrap().read()
}

#[test]
fn a_message_crosses_the_pipe_with_its_queue_its_door_and_its_refusal() {
    for queue in [Queue::File, Queue::Spool, Queue::Realtime, Queue::Bulk, Queue::Poison] {
        assert_eq!(asked(written(queue, &raw())), Some((queue, raw())));
    }
    let plain = RawMessage::from_file(b"not even text: \xff\xfe".to_vec());
    assert_eq!(asked(written(Queue::File, &plain)), Some((Queue::File, plain)));
}

#[test]
fn a_message_is_measured_to_the_byte_before_it_is_written() {
    let bytes = IsolatedRequest::new(Queue::Bulk, &raw()).written().unwrap();
    assert_eq!(bytes.capacity(), bytes.len(), "the buffer did not grow");
    assert!(!bytes.windows(6).any(|part| part == b"madre."), "the body is encoded");
}

#[test]
fn a_question_of_another_version_is_not_read() {
    let mut other = written(Queue::Bulk, &raw());
    other["queue"] = json!("express");
    assert_eq!(asked(other), None);
    let mut other = written(Queue::Bulk, &raw());
    other["body"] = json!("%% no base64 %%");
    assert_eq!(asked(other), None);
}

#[test]
fn every_answer_comes_back_as_it_was_given() {
    let reasons = Reason::ALL.iter().map(|reason| Disposition::Quarantined(*reason));
    let plain = [Disposition::Stored, Disposition::Duplicate, Disposition::Ephemeral];
    for one in plain.into_iter().chain([Disposition::Retry, Disposition::Waits]).chain(reasons) {
        let line = serde_json::to_string(&IsolatedResponse::from_disposition(one)).unwrap();
        let answer: IsolatedResponse = serde_json::from_str(&line).unwrap();
        assert_eq!(answer.disposition(), Some(one), "{line}");
    }
}

#[test]
fn a_wait_is_no_retry_on_the_wire() {
    let word = |one| serde_json::to_value(IsolatedResponse::from_disposition(one)).unwrap()["disposition"].clone();
    assert_eq!((word(Disposition::Waits), word(Disposition::Retry)), (json!("waits"), json!("retry")));
}

#[test]
fn an_answer_without_its_reason_or_with_an_unknown_word_is_none() {
    for line in [
        json!({"disposition": "quarantined", "reason": null}),
        json!({"disposition": "postponed", "reason": null}),
        json!({"disposition": "", "reason": "malformed"}),
    ] {
        let answer: IsolatedResponse = serde_json::from_value(line.clone()).unwrap();
        assert_eq!(answer.disposition(), None, "{line}");
    }
}

proptest! {
    #[test]
    fn any_bytes_cross_the_pipe(body in proptest::collection::vec(any::<u8>(), 0..400)) {
        let raw = RawMessage::from_body(body);
        prop_assert_eq!(asked(written(Queue::Realtime, &raw)), Some((Queue::Realtime, raw)));
    }
}
