//! A retried message has the same endpoint as at its first arrival.

use super::*;

fn instant(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn broker(received: Option<&str>) -> MessageOrigin {
    MessageOrigin::Broker { user: Some("his".to_owned()), received: received.map(instant) }
}

fn again(raw: &RawMessage, now: &str) -> RawMessage {
    let kept = QuarantineMetadata::from_message(raw, instant(now)).written().unwrap();
    RawMessage::kept(raw.body.to_vec(), Some(&kept)).unwrap()
}

#[test]
fn a_message_keeps_its_endpoint_its_attributes_and_its_first_arrival() {
    let attributes = Some(Attributes { id: Some("m-7".to_owned()), ..Attributes::default() });
    let raw = RawMessage { attributes, origin: broker(None), ..RawMessage::from_body(b"{}".to_vec()) };
    let first = again(&raw, "2026-03-02T10:00:00Z");
    assert_eq!(first.origin, broker(Some("2026-03-02T10:00:00Z")));
    assert_eq!((&first.attributes, &first.body), (&raw.attributes, &raw.body));
    assert_eq!(again(&first, "2026-04-01T10:00:00Z"), first, "quarantined twice, it came once");
}

#[test]
fn a_file_and_an_operator_stay_what_they_were() {
    for raw in [RawMessage::from_body(b"{}".to_vec()), RawMessage::from_file(b"{}".to_vec())] {
        assert_eq!(again(&raw, "2026-03-02T10:00:00Z"), raw);
    }
}

#[test]
fn a_body_without_a_record_is_a_files_and_an_old_record_is_an_unknown_senders() {
    let stripped = RawMessage::kept(vec![1], None).unwrap();
    assert_eq!(
        stripped.origin,
        MessageOrigin::Broker { user: None, received: None },
        "no door gives the rights of none"
    );
    let old = serde_json::to_vec(&Attributes { id: Some("m-7".to_owned()), ..Attributes::default() }).unwrap();
    let raw = RawMessage::kept(vec![1], Some(&old)).unwrap();
    assert_eq!(raw.origin, MessageOrigin::Broker { user: None, received: None });
    assert_eq!(raw.attributes.and_then(|attributes| attributes.id).as_deref(), Some("m-7"));
}

#[test]
fn a_record_that_cannot_be_read_lends_nothing() {
    assert_eq!(RawMessage::kept(vec![1], Some(b"no JSON")), None);
    let stranger = br#"{"attributes": null, "origin": {"door": "window"}}"#;
    assert_ne!(RawMessage::kept(vec![1], Some(stranger)).map(|raw| raw.origin), Some(MessageOrigin::Operator));
}
