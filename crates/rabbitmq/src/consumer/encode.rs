//! A message of a file as it travels to the broker: an event in binary or structured mode, bare data as it is.

use chrono::{DateTime, Utc};
use lapin::BasicProperties;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::names::routing_key;
use crate::{OutboundMessage, event_message};
use anamnesis_messages::MessageType;

/// The parts of a line that decide how it travels.
#[derive(Deserialize)]
struct Line<'a> {
    specversion: Option<String>,
    id: Option<String>,
    source: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    time: Option<String>,
    partitionkey: Option<String>,
    traceparent: Option<String>,
    signaturekey: Option<String>,
    signedat: Option<String>,
    signature: Option<String>,
    document_type: Option<String>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

/// An event as headers and data, or as it is; bare data and what cannot be read as it is, for the consumer to judge. Its
/// body and attributes stay as they are, since quarantine knows a message by them; where it has no `time`, the message's own
/// timestamp is `now`, from which the worker measures how long it waited.
pub fn encode_message(exchange: &str, body: Vec<u8>, structured: bool, now: DateTime<Utc>) -> OutboundMessage {
    let line: Option<Line> = serde_json::from_slice(&body).ok();
    let Some(line) = line else {
        return plain(exchange, routing_key("", None), "application/json", body);
    };
    let inner = |data: &RawValue| {
        #[derive(Deserialize)]
        struct Data {
            document_type: Option<String>,
        }
        serde_json::from_str::<Data>(data.get()).ok().and_then(|data| data.document_type)
    };
    let document_type = line.data.and_then(inner).or(line.document_type.clone());
    let kind = line.kind.clone().or_else(|| bare_kind(&body)).unwrap_or_default();
    let key = routing_key(&kind, document_type.as_deref());
    let stamped = |mut message: OutboundMessage| {
        if line.time.is_none() {
            message.properties = message.properties.with_timestamp(u64::try_from(now.timestamp()).unwrap_or_default());
        }
        message
    };
    stamped(match (line.data, line.specversion.is_some()) {
        (Some(data), true) if !structured => {
            let attributes = [
                ("specversion", &line.specversion),
                ("id", &line.id),
                ("source", &line.source),
                ("type", &line.kind),
                ("time", &line.time),
                ("partitionkey", &line.partitionkey),
                ("traceparent", &line.traceparent),
                ("signaturekey", &line.signaturekey),
                ("signedat", &line.signedat),
                ("signature", &line.signature),
            ];
            let attributes: Vec<(&str, &str)> =
                attributes.into_iter().filter_map(|(name, value)| Some((name, value.as_deref()?))).collect();
            event_message(exchange.to_owned(), &key, &attributes, data.get().as_bytes().to_vec())
        }
        (_, true) => plain(exchange, key, "application/cloudevents+json", body),
        (_, false) => plain(exchange, key, "application/json", body),
    })
}

/// The type of bare data, by its fields.
fn bare_kind(body: &[u8]) -> Option<String> {
    let fields: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(body).ok()?;
    MessageType::from_fields(|name| fields.contains_key(name)).map(|kind| kind.name().to_owned())
}

fn plain(exchange: &str, routing_key: String, content_type: &str, body: Vec<u8>) -> OutboundMessage {
    let properties = BasicProperties::default().with_content_type(content_type.into());
    OutboundMessage { exchange: exchange.to_owned(), routing_key, properties, body }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::consumer::InboundMessage;

    fn now() -> DateTime<Utc> {
        "2026-03-02T10:00:01Z".parse().unwrap()
    }

    #[test]
    fn an_event_travels_as_headers_and_arrives_as_it_was() {
        let event = json!({"specversion": "1.0", "id": "e-1", "source": "urn:a", "time": "2026-03-02T10:00:00Z",
            "type": "anamnesis.document.submitted.v1", "data": {"document_type": "chat_message", "text": "x"}});
        let sent = encode_message("in", event.to_string().into_bytes(), false, now());
        assert_eq!(sent.routing_key, "realtime.anamnesis.document.submitted.v1");
        let message = InboundMessage::new(1, false, &sent.routing_key, sent.properties, sent.body, 1 << 20);
        let attributes = message.attributes.unwrap();
        assert_eq!((attributes.id.as_deref(), attributes.source.as_deref()), (Some("e-1"), Some("urn:a")));
        assert_eq!(serde_json::from_slice::<serde_json::Value>(&message.body).unwrap(), event["data"]);
    }

    #[test]
    fn a_structured_event_and_what_cannot_be_read_travel_untouched() {
        let event = json!({"specversion": "1.0", "id": "e-1", "type": "anamnesis.memory.command.v1", "data": {},
            "time": "2026-03-02T10:00:00Z"});
        let sent = encode_message("in", event.to_string().into_bytes(), true, now());
        assert_eq!(sent.routing_key, "realtime.anamnesis.memory.command.v1");
        assert_eq!(sent.body, event.to_string().into_bytes());
        let broken = encode_message("in", b"{not json".to_vec(), false, now());
        assert_eq!((broken.routing_key.as_str(), broken.body.as_slice()), ("bulk.unknown", &b"{not json"[..]));
    }

    #[test]
    fn a_message_without_time_is_stamped_with_the_present_and_stays_as_it_is() {
        let sent = |event: &serde_json::Value, structured| {
            let sent = encode_message("in", event.to_string().into_bytes(), structured, now());
            InboundMessage::new(1, false, &sent.routing_key, sent.properties, sent.body, 1 << 20)
        };
        let mut event = json!({"specversion": "1.0", "id": "e-1", "source": "urn:a", "type": "anamnesis.memory.command.v1",
            "data": {}});
        for structured in [false, true] {
            assert_eq!(sent(&event, structured).sent_at(), Some(now()));
        }
        assert_eq!(sent(&event, false).attributes.unwrap().time, None);
        assert_eq!(sent(&event, true).body, event.to_string().into_bytes());
        event["time"] = json!("2026-03-02T10:00:00Z");
        assert_eq!((sent(&event, false).sent_at(), sent(&event, true).sent_at()), (None, None));
    }

    #[test]
    fn bare_data_finds_its_queue_by_its_fields() {
        let chat = json!({"document_id": "x", "document_type": "chat_message", "text": "y", "revision": 1});
        assert!(encode_message("in", chat.to_string().into_bytes(), false, now()).routing_key.starts_with("realtime."));
    }
}
