//! The AsyncAPI 3.1 document: made from the types of messages and events and from the topology that workers declare.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::examples;
use anamnesis_core::event::{EventData as _, EventKind, MessageQuarantined};
use anamnesis_messages::MessageType;
use anamnesis_messages::contract::schema::ENVELOPE;
use anamnesis_rabbitmq::{HEADER_PREFIX, Names, Queue, definitions, keys_of};

/// docs/schemas/asyncapi.json, for an installation with this prefix.
pub fn text(prefix: &str) -> String {
    format!("{:#}\n", document(prefix))
}

/// The document. Described from the side of this program: it receives what producers send, and it sends events.
fn document(prefix: &str) -> Value {
    let names = Names::new(prefix);
    let mut parts = Parts::default();
    for kind in MessageType::ALL {
        parts.inbound(*kind, &names);
    }
    for kind in EventKind::ALL {
        parts.event(kind, &names);
    }
    let queues = parts.queues(&names);
    parts.channels.extend(queues);
    json!({
        "asyncapi": "3.1.0",
        "id": "urn:anamnesis",
        "info": {
            "title": "Anamnesis",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Clinical memory pipeline. Producers publish documents, signals, profiles, consents and commands as \
                CloudEvents to one exchange; events leave through another. Events hold ids and codes only.",
            "license": {"name": env!("CARGO_PKG_LICENSE")},
        },
        "defaultContentType": "application/json",
        "servers": {"rabbitmq": {
            "host": "{host}",
            "protocol": "amqps",
            "protocolVersion": "0.9.1",
            "description": "RabbitMQ 4.x. `broker.url` of the configuration names the virtual host.",
            "variables": {"host": {"description": "Host and port.", "examples": ["rabbitmq.example.org:5671"]}},
        }},
        "channels": parts.channels,
        "operations": parts.operations,
        "components": {"schemas": parts.schemas, "messages": parts.messages},
    })
}

/// The parts of the document.
#[derive(Default)]
struct Parts {
    schemas: BTreeMap<String, Value>,
    messages: BTreeMap<String, Value>,
    channels: BTreeMap<String, Value>,
    operations: BTreeMap<String, Value>,
}

impl Parts {
    /// A message that producers send: in binary mode and in structured mode.
    fn inbound(&mut self, kind: MessageType, names: &Names) {
        let (name, title) = (camel(kind.name()), kind.name());
        let about = kind.schema().get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.schema(&name, kind.schema().to_value());
        let example = examples::get(kind);
        let attributes = attributes(title, "urn:clinic:records");
        let binary = json!({
            "name": title, "title": format!("{title} (binary mode)"), "contentType": "application/json",
            "summary": about, "headers": headers(title), "payload": reference("schemas", &name),
            "bindings": amqp(&json!({"messageType": title})),
            "examples": [{"name": "binary", "headers": prefixed(&attributes), "payload": example}],
        });
        let mut event = attributes;
        event.insert("data".to_owned(), example);
        let structured = json!({
            "name": title, "title": format!("{title} (structured mode)"), "contentType": "application/cloudevents+json",
            "summary": about, "payload": envelope(title, &name),
            "bindings": amqp(&json!({"messageType": title})),
            "examples": [{"name": "structured", "payload": event}],
        });
        let both = [(name.clone(), binary), (format!("{name}Structured"), structured)];
        let of_channel: Map<String, Value> =
            both.iter().map(|(name, _)| (name.clone(), reference("messages", name))).collect();
        self.messages.extend(both);
        let queues: Vec<&str> = keys_of(title).iter().map(|queue| queue.name()).collect();
        let parameters = if queues.len() > 1 {
            json!({"queue": {"enum": queues, "default": Queue::Bulk.name(),
                "description": "`realtime` for documents of type chat_message, `bulk` for others."}})
        } else {
            json!({})
        };
        let address = if queues.len() > 1 { format!("{{queue}}.{title}") } else { format!("{}.{title}", queues[0]) };
        let channel = json!({"address": address, "title": title, "messages": of_channel, "parameters": parameters,
            "description": "Published by producers. The address is the routing key.",
            "bindings": amqp(&exchange(&names.ingest()))});
        self.operation("receive", &name, &channel, "Published mandatory, persistent and confirmed by the producer.");
        self.channels.insert(name, channel);
    }

    fn event(&mut self, kind: &EventKind, names: &Names) {
        let name = camel(kind.name);
        self.schema(&name, kind.schema().to_value());
        let message = json!({
            "name": kind.name, "title": kind.name, "contentType": "application/json", "summary": kind.about.trim(),
            "headers": headers(kind.name), "payload": reference("schemas", &name),
            "bindings": amqp(&json!({"messageType": kind.name})),
        });
        self.messages.insert(name.clone(), message);
        let channel = json!({"address": kind.name, "title": kind.name, "description": kind.about.trim(),
            "messages": {name.clone(): reference("messages", &name)},
            "bindings": amqp(&exchange(&names.events()))});
        self.operation(
            "send",
            &name,
            &channel,
            "Sent mandatory, persistent and confirmed. Delivered at least once: the id of an \
            event is stable. An event that no queue takes goes to the catch-all queue.",
        );
        self.channels.insert(name, channel);
    }

    /// One operation over a channel with all its messages.
    fn operation(&mut self, action: &str, name: &str, channel: &Value, about: &str) {
        let messages: Vec<Value> = channel["messages"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(message, _)| json!({"$ref": format!("#/channels/{name}/messages/{message}")}))
            .collect();
        let bindings =
            if action == "send" { json!({"deliveryMode": 2, "mandatory": true}) } else { json!({"ack": true}) };
        let operation = json!({"action": action, "channel": {"$ref": format!("#/channels/{name}")}, "summary": about,
            "messages": messages, "bindings": amqp(&bindings)});
        let mut letters = name.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase()).into_iter();
        self.operations.insert(format!("{action}{}", first.chain(letters).collect::<String>()), operation);
    }

    /// A channel for each queue that workers declare, with the bindings of the queue.
    fn queues(&self, names: &Names) -> BTreeMap<String, Value> {
        let shipped = definitions::shipped(names);
        let list = |part: &str| shipped[part].as_array().cloned().unwrap_or_default();
        let bound = |queue: &Value| -> Vec<Value> {
            let own = list("bindings").into_iter().filter(|binding| binding["destination"] == queue["name"]);
            own.map(|binding| json!({"exchange": binding["source"], "routingKey": binding["routing_key"]})).collect()
        };
        let channel = |queue: Value| {
            let name = queue["name"].as_str().unwrap_or_default().to_owned();
            let binding = json!({"is": "queue", "queue": {"name": name, "durable": true, "exclusive": false,
                "autoDelete": false, "vhost": "/"}});
            let messages: Map<String, Value> = carried(&name, names)
                .iter()
                .map(|title| (camel(title), reference("messages", &camel(title))))
                .collect();
            let channel = json!({"address": name, "title": name, "description": "A queue that workers declare.",
                "messages": messages, "bindings": amqp(&binding),
                "x-arguments": queue["arguments"], "x-bindings": bound(&queue)});
            (format!("queue.{name}"), channel)
        };
        list("queues").into_iter().map(channel).collect()
    }

    /// A schema with its definitions next to it, since a reference within the document starts at its top.
    fn schema(&mut self, name: &str, mut schema: Value) {
        let definitions = schema.as_object_mut().and_then(|object| object.remove("$defs"));
        let definitions: Vec<(String, Value)> =
            definitions.and_then(|found| found.as_object().cloned()).into_iter().flatten().collect();
        for field in ["$schema", "$id"] {
            schema.as_object_mut().and_then(|object| object.remove(field));
        }
        // Two messages may have a definition of one name and of two forms.
        let mut renamed = BTreeMap::new();
        for (of, definition) in &definitions {
            let mut own = definition.clone();
            rebase(&mut own, &BTreeMap::new());
            let taken = self.schemas.get(of).is_some_and(|there| *there != own);
            renamed.insert(of.clone(), if taken { format!("{name}{of}") } else { of.clone() });
        }
        for (of, mut definition) in definitions {
            rebase(&mut definition, &renamed);
            self.schemas.insert(renamed[&of].clone(), definition);
        }
        rebase(&mut schema, &renamed);
        self.schemas.insert(name.to_owned(), schema);
    }
}

/// The types of messages that a queue can hold.
fn carried(queue: &str, names: &Names) -> Vec<&'static str> {
    let inbound = || MessageType::ALL.iter().map(|kind| kind.name());
    if queue == names.quarantine() {
        return vec![MessageQuarantined::TYPE];
    }
    if queue == names.catch_all() {
        return EventKind::ALL.iter().map(|kind| kind.name).collect();
    }
    let home = [Queue::Realtime, Queue::Bulk].into_iter().find(|home| names.queue(*home) == queue);
    // The poison queue and the delay queues hold messages of any type.
    home.map_or_else(|| inbound().collect(), |home| inbound().filter(|title| keys_of(title).contains(&home)).collect())
}

/// Rewrites references to definitions into references to components.
fn rebase(schema: &mut Value, renamed: &BTreeMap<String, String>) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields.iter_mut() {
                let of = value.as_str().filter(|_| key == "$ref").and_then(|path| path.strip_prefix("#/$defs/"));
                match of.map(|of| renamed.get(of).cloned().unwrap_or_else(|| of.to_owned())) {
                    Some(of) => *value = Value::from(format!("#/components/schemas/{of}")),
                    None => rebase(value, renamed),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rebase(item, renamed)),
        _ => {}
    }
}

/// `anamnesis.document.submitted.v1` → `documentSubmittedV1`.
fn camel(name: &str) -> String {
    let mut camel = String::new();
    for word in name.split(['.', '_']).skip(1) {
        let mut letters = word.chars();
        match letters.next() {
            Some(first) if !camel.is_empty() => camel.push(first.to_ascii_uppercase()),
            Some(first) => camel.push(first),
            None => {}
        }
        camel.extend(letters);
    }
    camel
}

fn reference(part: &str, name: &str) -> Value {
    json!({"$ref": format!("#/components/{part}/{name}")})
}

/// An AMQP binding of the newest published version.
fn amqp(binding: &Value) -> Value {
    let mut binding = binding.clone();
    binding["bindingVersion"] = json!("0.3.0");
    json!({"amqp": binding})
}

fn exchange(name: &str) -> Value {
    json!({"is": "routingKey",
        "exchange": {"name": name, "type": "topic", "durable": true, "autoDelete": false, "vhost": "/"}})
}

/// The type of a CloudEvents attribute.
fn attribute(name: &str, title: &str) -> Option<Value> {
    Some(match name {
        "specversion" => json!({"type": "string", "const": "1.0"}),
        "type" => json!({"type": "string", "const": title}),
        "id" => {
            json!({"type": "string", "minLength": 1, "description": "With organisation and source the idempotency key."})
        }
        "source" => json!({"type": "string", "minLength": 1}),
        "time" => json!({"type": "string", "format": "date-time"}),
        "partitionkey" => {
            json!({"type": "string", "description": "The patient: consumers keep the order of one patient."})
        }
        "traceparent" => json!({"type": "string", "description": "W3C Trace Context."}),
        "datacontenttype" => json!({"type": "string", "const": "application/json"}),
        "signaturekey" => json!({"type": "string", "description": "Id of the shared key (docs/producers/README.md)."}),
        "signedat" => json!({"type": "string", "format": "date-time"}),
        "signature" => json!({"type": "string", "description": "HMAC over attributes and data."}),
        _ => return None,
    })
}

/// Attributes of a signed event.
const SIGNED: [&str; 3] = ["signaturekey", "signedat", "signature"];
const REQUIRED: [&str; 4] = ["specversion", "id", "source", "type"];

/// Headers of binary mode.
fn headers(title: &str) -> Value {
    let known = ENVELOPE.iter().chain(&SIGNED).filter(|name| **name != "datacontenttype");
    let properties: Map<String, Value> =
        known.filter_map(|name| Some((format!("{HEADER_PREFIX}{name}"), attribute(name, title)?))).collect();
    json!({"type": "object", "properties": properties, "required": REQUIRED.map(|name| format!("{HEADER_PREFIX}{name}"))})
}

/// The body of structured mode.
fn envelope(title: &str, schema: &str) -> Value {
    let mut properties: Map<String, Value> =
        ENVELOPE.iter().chain(&SIGNED).filter_map(|name| Some(((*name).to_owned(), attribute(name, title)?))).collect();
    properties.insert("data".to_owned(), reference("schemas", schema));
    json!({"type": "object", "properties": properties, "required": REQUIRED.iter().chain(&["data"]).collect::<Vec<_>>()})
}

/// Attributes of an example.
fn attributes(title: &str, source: &str) -> Map<String, Value> {
    let mut attributes = Map::new();
    for (name, value) in
        [("specversion", "1.0"), ("id", "e-1"), ("source", source), ("type", title), ("time", "2026-03-02T10:00:00Z")]
    {
        attributes.insert(name.to_owned(), json!(value));
    }
    attributes
}

fn prefixed(attributes: &Map<String, Value>) -> Map<String, Value> {
    attributes.iter().map(|(name, value)| (format!("{HEADER_PREFIX}{name}"), value.clone())).collect()
}
