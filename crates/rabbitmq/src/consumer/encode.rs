//! A message of a file as it travels to the broker: an event in binary or structured mode, bare data as it is.

use chrono::{DateTime, SecondsFormat, Utc};
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

/// An event as headers and data, or as it is; bare data and what cannot be read as it is, for the consumer to judge. An event
/// without `time` that nobody signed gets `now`: from there the worker measures how long it waited.
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
    let is_dated = line.time.is_some() || line.signature.is_some();
    let time = (!is_dated).then(|| now.to_rfc3339_opts(SecondsFormat::Millis, true)).or(line.time.clone());
    match (line.data, line.specversion.is_some()) {
        (Some(data), true) if !structured => {
            let attributes = [
                ("specversion", &line.specversion),
                ("id", &line.id),
                ("source", &line.source),
                ("type", &line.kind),
                ("time", &time),
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
        (_, true) if is_dated => plain(exchange, key, "application/cloudevents+json", body),
        (_, true) => {
            plain(exchange, key, "application/cloudevents+json", dated(&body, time.as_deref().unwrap_or_default()))
        }
        (_, false) => plain(exchange, key, "application/json", body),
    }
}

/// A JSON object with `time` as its first field.
fn dated(body: &[u8], time: &str) -> Vec<u8> {
    let open = body.iter().position(|byte| *byte == b'{').map_or(0, |at| at + 1);
    [&body[..open], format!("\"time\":\"{time}\",").as_bytes(), &body[open..]].concat()
}

/// The type of bare data, by its fields.
fn bare_kind(body: &[u8]) -> Option<String> {
    let fields: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(body).ok()?;
    MessageType::of_fields(|name| fields.contains_key(name)).map(|kind| kind.name().to_owned())
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
    fn an_event_without_time_gets_the_present_unless_it_is_signed() {
        let time = |event: &serde_json::Value, structured| {
            let sent = encode_message("in", event.to_string().into_bytes(), structured, now());
            let message = InboundMessage::new(1, false, &sent.routing_key, sent.properties, sent.body, 1 << 20);
            match message.attributes {
                Some(attributes) => attributes.time.map(|time| time.to_rfc3339()),
                None => {
                    let body: serde_json::Value = serde_json::from_slice(&message.body).unwrap();
                    body.get("time").and_then(|time| time.as_str()).map(str::to_owned)
                }
            }
        };
        let mut event = json!({"specversion": "1.0", "id": "e-1", "source": "urn:a", "type": "anamnesis.memory.command.v1",
            "data": {}});
        assert_eq!(time(&event, false).as_deref(), Some("2026-03-02T10:00:01+00:00"));
        assert_eq!(time(&event, true).as_deref(), Some("2026-03-02T10:00:01.000Z"));
        event["signature"] = json!("bm9uZQ");
        assert_eq!((time(&event, false), time(&event, true)), (None, None));
    }

    #[test]
    fn bare_data_finds_its_queue_by_its_fields() {
        let chat = json!({"document_id": "x", "document_type": "chat_message", "text": "y", "revision": 1});
        assert!(encode_message("in", chat.to_string().into_bytes(), false, now()).routing_key.starts_with("realtime."));
    }
}
