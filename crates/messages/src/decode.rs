//! Bytes to an [`Envelope`]: size, encoding, structure, envelope, type, fields, rules, in this order, so that the first
//! thing wrong is the thing named. Nothing here panics on any input and nothing keeps a value of a refused message.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chrono::Datelike;
use serde::de::DeserializeOwned;

use super::Limits;
use super::canonical_json::{CanonicalJson, canonicalize};
use super::contract::MessageType;
use super::envelope::{Attributes, BARE_SOURCE, Envelope, EventForm, bare_id, body_hash, traceparent};
use super::origin::MessageOrigin;
use super::rejection::{Problem, Rejection};
use super::signature::Signature;
use anamnesis_core::reason::Reason;

/// Longest CloudEvents id or source: they are keys of the inbox.
const MAX_ATTRIBUTE_BYTES: usize = 512;

/// Reads messages under given limits.
#[derive(Debug, Clone, Default)]
pub struct Decoder {
    limits: Limits,
}

impl Decoder {
    pub fn new(limits: Limits) -> Self {
        Self { limits }
    }

    /// Reads a body that describes itself: a CloudEvent in structured mode, or bare data.
    ///
    /// # Errors
    /// The first thing that breaks the contract.
    pub fn decode(&self, body: &[u8]) -> Result<Envelope, Rejection> {
        let outer = self.structure(body).map_err(Rejection::inside_data)?;
        if !["specversion", "data", "data_base64"].iter().any(|name| outer.has(name)) {
            return self.bare(&outer);
        }
        let attributes = Attributes {
            specversion: attribute(&outer, "specversion")?,
            id: attribute(&outer, "id")?,
            source: attribute(&outer, "source")?,
            kind: attribute(&outer, "type")?,
            time: attribute(&outer, "time")?,
            content_type: attribute(&outer, "datacontenttype")?,
            partition_key: attribute(&outer, "partitionkey")?,
            traceparent: attribute(&outer, "traceparent")?,
            signature: Signature::from_parts(
                attribute(&outer, "signaturekey")?,
                attribute(&outer, "signedat")?,
                attribute(&outer, "signature")?,
            ),
        };
        let encoded: Option<String> = attribute(&outer, "data_base64")?;
        match (outer.value("data"), encoded) {
            (Some(data), None) => self.event(attributes, data),
            (Some(_), Some(_)) => Err(Rejection::malformed(Problem::Conflict, "data_base64")),
            (None, None) => Err(Rejection::malformed(Problem::Missing, "data")),
            (None, Some(encoded)) => {
                let data =
                    STANDARD.decode(encoded).map_err(|_| Rejection::malformed(Problem::Mistyped, "data_base64"))?;
                self.event(attributes, self.structure(&data)?.canonical())
            }
        }
    }

    /// Reads data whose attributes travelled next to it (CloudEvents binary mode).
    ///
    /// # Errors
    /// The first thing that breaks the contract.
    pub fn decode_with(&self, attributes: Attributes, body: &[u8]) -> Result<Envelope, Rejection> {
        self.event(attributes, self.structure(body)?.canonical())
    }

    /// Size, encoding and structure: everything that can be said without knowing the type.
    fn structure(&self, body: &[u8]) -> Result<CanonicalJson, Rejection> {
        if body.len() > self.limits.max_body_bytes {
            return Err(Rejection::new(Reason::TooLarge, Problem::Size));
        }
        let text = std::str::from_utf8(body).map_err(|_| Rejection::new(Reason::Malformed, Problem::Encoding))?;
        canonicalize(text, self.limits.max_depth)
    }

    fn event(&self, attributes: Attributes, data: &[u8]) -> Result<Envelope, Rejection> {
        let version = required(attributes.specversion, "specversion")?;
        if version != "1.0" {
            return Err(Rejection::malformed(Problem::OutOfRange, "specversion"));
        }
        let id = required(attributes.id, "id")?;
        let source = required(attributes.source, "source")?;
        let name = required(attributes.kind, "type")?;
        if attributes.content_type.is_some_and(|media| !is_json(&media)) {
            return Err(Rejection::malformed(Problem::Mistyped, "datacontenttype"));
        }
        if attributes.time.is_some_and(|time| !(1900..=2200).contains(&time.year())) {
            return Err(Rejection::malformed(Problem::OutOfRange, "time"));
        }
        let Some(kind) = MessageType::from_name(&name) else {
            let field = Some("type".to_string());
            return Err(Rejection { reason: Reason::SchemaUnknown, problem: Problem::UnknownType, field });
        };
        let mut envelope = self.message(kind, data)?;
        envelope.id = id;
        envelope.source = source;
        envelope.form = EventForm::Event;
        envelope.time = attributes.time;
        envelope.partition_key = attributes.partition_key;
        envelope.traceparent = traceparent(attributes.traceparent);
        envelope.signature = attributes.signature;
        Ok(envelope)
    }

    fn bare(&self, data: &CanonicalJson) -> Result<Envelope, Rejection> {
        let Some(kind) = MessageType::from_fields(|name| data.has(name)) else {
            return Err(Rejection::new(Reason::SchemaUnknown, Problem::UnknownType));
        };
        self.message(kind, data.canonical())
    }

    /// Data of a known type, as if it had come bare.
    fn message(&self, kind: MessageType, data: &[u8]) -> Result<Envelope, Rejection> {
        if data.first() != Some(&b'{') {
            return Err(Rejection::malformed(Problem::Mistyped, "data"));
        }
        let (message, unknown_fields) = kind.read(data)?;
        message.check(&self.limits)?;
        let body_hash = body_hash(kind, data);
        Ok(Envelope {
            source: BARE_SOURCE.to_string(),
            id: bare_id(&message, &body_hash),
            time: None,
            partition_key: None,
            traceparent: None,
            body_hash,
            form: EventForm::Bare,
            signature: None,
            origin: MessageOrigin::default(),
            message,
            unknown_fields,
        })
    }
}

/// An attribute of a structured event; null counts as absent.
fn attribute<T: DeserializeOwned>(outer: &CanonicalJson, name: &str) -> Result<Option<T>, Rejection> {
    let Some(json) = outer.value(name) else { return Ok(None) };
    serde_json::from_slice(json).map_err(|_| Rejection::malformed(Problem::Mistyped, name))
}

/// A required attribute: there, not blank, not longer than a key may be.
fn required(value: Option<String>, name: &str) -> Result<String, Rejection> {
    let value = value.ok_or_else(|| Rejection::malformed(Problem::Missing, name))?;
    if value.trim().is_empty() {
        return Err(Rejection::malformed(Problem::Empty, name));
    }
    if value.len() > MAX_ATTRIBUTE_BYTES {
        return Err(Rejection::malformed(Problem::OutOfRange, name));
    }
    Ok(value)
}

/// `application/json`, or any type with the suffix `+json`, whatever its parameters.
fn is_json(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    essence == "application/json" || essence == "text/json" || essence.ends_with("+json")
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
