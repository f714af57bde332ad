//! A delivery, read: CloudEvents in binary mode (attributes as headers, either prefix) and in structured mode (the body
//! tells everything).

use bytes::Bytes;
use chrono::{DateTime, Utc};
use lapin::BasicProperties;
use lapin::types::{AMQPValue, FieldTable};

use crate::OutboundMessage;
use crate::publisher::CE_PREFIX;
use anamnesis_core::reason::Reason;
use anamnesis_messages::{Attributes, Problem, Rejection, Signature};

/// Prefixes of CloudEvents headers: of the AMQP binding, and of those that came before it.
const PREFIXES: [&str; 2] = [CE_PREFIX, "cloudEvents:"];
/// How often a message was offered again after a failure that counts.
pub(crate) const RETRIES: &str = "x-anamnesis-retries";
/// How often it was offered again after the store refused it as everybody else.
pub(crate) const WAITS: &str = "x-anamnesis-waits";
/// Shows that the counts are ours ([`super::MessageHandler::retry_proof`]).
pub(crate) const RETRIES_PROOF: &str = "x-anamnesis-retries-proof";
/// Who published a message that is offered again, and when it came first: believed with the counts.
const USER: &str = "x-anamnesis-user";
const RECEIVED: &str = "x-anamnesis-received";
/// Headers of the broker's own that must not travel on: it would take a second stay in a tier for a loop.
const BROKERS_OWN: [&str; 9] = [
    "x-death",
    "x-first-death-exchange",
    "x-first-death-queue",
    "x-first-death-reason",
    "x-last-death-exchange",
    "x-last-death-queue",
    "x-last-death-reason",
    "x-delivery-count",
    "x-acquired-count",
];

/// How often a message was offered again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OfferCounts {
    /// After failures that may be the message's: they are limited.
    pub retries: u32,
    /// After refusals of the store: they are not.
    pub waits: u32,
}

impl OfferCounts {
    /// How long the next pause is depends on all of them.
    pub fn total(self) -> u32 {
        self.retries.saturating_add(self.waits)
    }

    /// With one more, which counts or does not.
    #[must_use]
    pub(crate) fn and_one(self, counts: bool) -> Self {
        let one = |number: u32, more: bool| number.saturating_add(u32::from(more));
        Self { retries: one(self.retries, counts), waits: one(self.waits, !counts) }
    }
}

/// A message as it was delivered.
#[derive(Debug, Clone, PartialEq)]
pub struct InboundMessage {
    pub(crate) tag: u64,
    pub redelivered: bool,
    /// How often it was offered again: never until [`InboundMessage::believe`] has seen the proof.
    pub offers: OfferCounts,
    pub(crate) routing_key: String,
    /// CloudEvents attributes of binary mode; `None` where the body tells them.
    pub attributes: Option<Attributes>,
    /// What the headers already show to be wrong.
    pub refused: Option<Rejection>,
    pub body: Bytes,
    /// Who published it: `user_id`, which the broker compares with the connection. Of one that this program offers again, as
    /// its own proof says.
    pub user: Option<String>,
    /// When it came first, of one that is offered again.
    pub received: Option<DateTime<Utc>>,
    properties: BasicProperties,
}

impl InboundMessage {
    pub fn new(
        tag: u64,
        redelivered: bool,
        routing_key: &str,
        properties: BasicProperties,
        body: Vec<u8>,
        max_body_bytes: usize,
    ) -> Self {
        let (attributes, refused) = if body.len() > max_body_bytes {
            (None, Some(Rejection::new(Reason::TooLarge, Problem::Size)))
        } else {
            match attributes(&properties) {
                Ok(attributes) => (attributes, None),
                Err(refusal) => (None, Some(refusal)),
            }
        };
        let routing_key = routing_key.to_owned();
        let user = properties.user_id().as_ref().map(|user| user.as_str().to_owned());
        let (offers, received) = (OfferCounts::default(), None);
        Self {
            tag,
            redelivered,
            offers,
            routing_key,
            attributes,
            refused,
            body: body.into(),
            user,
            received,
            properties,
        }
    }

    /// When the program that sent it says that it did, to the second; `None` where it does not.
    pub fn sent_at(&self) -> Option<DateTime<Utc>> {
        self.properties.timestamp().and_then(|at| DateTime::from_timestamp(i64::try_from(at).ok()?, 0))
    }

    /// Takes over the counts that the headers state, if their proof is ours.
    pub fn believe(&mut self, proof: impl Fn(OfferCounts, &[u8]) -> [u8; 32]) {
        let Some(headers) = self.properties.headers().as_ref() else { return };
        let stated = OfferCounts { retries: number(headers, RETRIES), waits: number(headers, WAITS) };
        let shown = match headers.inner().get(RETRIES_PROOF) {
            Some(AMQPValue::LongString(shown)) => shown.as_bytes(),
            _ => return,
        };
        let (user, received) = (stated_text(headers, USER), stated_time(headers));
        let proven = covered(user.as_deref(), received, &self.body);
        if stated.total() > 0 && shown == hex::encode(proof(stated, &proven)).as_bytes() {
            self.offers = stated;
            // Ours was the connection that published it again.
            (self.user, self.received) = (user, received);
        }
    }

    /// The same message, as it leaves to be offered again, with the proof of its new counts, of who published it first and
    /// when it came. `user_id` is left out: the broker refuses another connection's.
    pub fn retry_message(
        &self,
        exchange: String,
        routing_key: String,
        counts: bool,
        now: Option<DateTime<Utc>>,
        proof: impl Fn(OfferCounts, &[u8]) -> [u8; 32],
    ) -> OutboundMessage {
        let mut headers = FieldTable::default();
        let old = self.properties.headers().as_ref();
        for (name, value) in old.into_iter().flat_map(|headers| headers.inner().iter()) {
            if !BROKERS_OWN.contains(&name.as_str()) && ![USER, RECEIVED].contains(&name.as_str()) {
                headers.insert(name.clone(), value.clone());
            }
        }
        let offers = self.offers.and_one(counts);
        headers.insert(RETRIES.into(), AMQPValue::LongUInt(offers.retries));
        headers.insert(WAITS.into(), AMQPValue::LongUInt(offers.waits));
        let received = self.received.or(now);
        if let Some(user) = &self.user {
            headers.insert(USER.into(), AMQPValue::LongString(user.as_str().into()));
        }
        if let Some(received) = received {
            headers.insert(RECEIVED.into(), AMQPValue::LongLongInt(received.timestamp_micros()));
        }
        let proof = hex::encode(proof(offers, &covered(self.user.as_deref(), received, &self.body)));
        headers.insert(RETRIES_PROOF.into(), AMQPValue::LongString(proof.into()));
        let properties = without_user(&self.properties).with_headers(headers);
        OutboundMessage { exchange, routing_key, properties, body: self.body.to_vec() }
    }
}

/// What the proof of a repetition covers: the body, and who published it when. Without these it is what older versions
/// covered. No body that is read holds the byte 255.
fn covered(user: Option<&str>, received: Option<DateTime<Utc>>, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(body.len() + 64);
    if user.is_some() || received.is_some() {
        bytes.push(u8::from(user.is_some()));
        bytes.extend_from_slice(user.unwrap_or_default().as_bytes());
        bytes.push(255);
        bytes.extend_from_slice(&received.map_or(0, |at| at.timestamp_micros()).to_be_bytes());
        bytes.push(255);
    }
    bytes.extend_from_slice(body);
    bytes
}

/// The properties of a message but for `user_id`, which the library sets and never takes back.
fn without_user(properties: &BasicProperties) -> BasicProperties {
    let mut copy = BasicProperties::default();
    macro_rules! copied {
        ($($get:ident => $set:ident),+ $(,)?) => {
            $(if let Some(value) = properties.$get() { copy = copy.$set(value.clone()); })+
        };
    }
    copied!(
        content_type => with_content_type,
        content_encoding => with_content_encoding,
        delivery_mode => with_delivery_mode,
        priority => with_priority,
        correlation_id => with_correlation_id,
        reply_to => with_reply_to,
        expiration => with_expiration,
        message_id => with_message_id,
        timestamp => with_timestamp,
        kind => with_type,
        app_id => with_app_id,
    );
    copy
}

fn stated_text(headers: &FieldTable, name: &str) -> Option<String> {
    match headers.inner().get(name) {
        Some(AMQPValue::LongString(text)) => std::str::from_utf8(text.as_bytes()).ok().map(str::to_owned),
        _ => None,
    }
}

fn stated_time(headers: &FieldTable) -> Option<DateTime<Utc>> {
    match headers.inner().get(RECEIVED) {
        Some(AMQPValue::LongLongInt(micros)) => DateTime::from_timestamp_micros(*micros),
        _ => None,
    }
}

fn number(headers: &FieldTable, name: &str) -> u32 {
    let count = match headers.inner().get(name) {
        Some(AMQPValue::LongUInt(count)) => i64::from(*count),
        Some(AMQPValue::LongInt(count)) => i64::from(*count),
        Some(AMQPValue::LongLongInt(count)) => *count,
        _ => 0,
    };
    u32::try_from(count).unwrap_or(0)
}

/// The attributes of binary mode, or `None` for a body that describes itself.
fn attributes(properties: &BasicProperties) -> Result<Option<Attributes>, Rejection> {
    let encoding = properties.content_encoding().as_ref().map_or("", |encoding| encoding.as_str());
    if !["", "identity", "utf-8", "UTF-8", "utf8"].contains(&encoding) {
        return Err(Rejection::malformed(Problem::Mistyped, "datacontenttype"));
    }
    let content_type = properties.content_type().as_ref().map_or("", |media| media.as_str());
    let essence = content_type.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    match essence.as_str() {
        "application/cloudevents+json" => return Ok(None),
        media if media.starts_with("application/cloudevents") => {
            return Err(Rejection::malformed(Problem::Mistyped, "datacontenttype"));
        }
        _ => {}
    }
    let Some(headers) = properties.headers().as_ref() else { return Ok(None) };
    if !headers.inner().keys().any(|name| PREFIXES.iter().any(|prefix| name.as_str().starts_with(prefix))) {
        return Ok(None);
    }
    let id = identity(text(headers, "id")?, properties.message_id().as_ref().map(|id| id.as_str()))?;
    let content_type = (!content_type.is_empty()).then(|| content_type.to_owned());
    Ok(Some(Attributes {
        specversion: text(headers, "specversion")?,
        id,
        source: text(headers, "source")?,
        kind: text(headers, "type")?,
        time: time(headers)?,
        content_type: content_type.or(text(headers, "datacontenttype")?),
        partition_key: text(headers, "partitionkey")?,
        traceparent: text(headers, "traceparent")?.or_else(|| stated_text(headers, "traceparent")),
        signature: Signature::from_parts(
            text(headers, "signaturekey")?,
            text(headers, "signedat")?,
            text(headers, "signature")?,
        ),
    }))
}

/// `message_id` is the event's id: either may be left out, but they must not differ.
fn identity(header: Option<String>, message_id: Option<&str>) -> Result<Option<String>, Rejection> {
    match (header, message_id) {
        (Some(header), Some(id)) if header != id => Err(Rejection::malformed(Problem::Conflict, "id")),
        (Some(header), _) => Ok(Some(header)),
        (None, id) => Ok(id.map(str::to_owned)),
    }
}

fn value<'a>(headers: &'a FieldTable, name: &str) -> Option<&'a AMQPValue> {
    PREFIXES.iter().find_map(|prefix| headers.inner().get(format!("{prefix}{name}").as_str()))
}

/// A header's text; `Void` counts as absent.
fn text(headers: &FieldTable, name: &str) -> Result<Option<String>, Rejection> {
    let wrong = || Rejection::malformed(Problem::Mistyped, name);
    match value(headers, name) {
        None | Some(AMQPValue::Void) => Ok(None),
        Some(AMQPValue::LongString(text)) => {
            std::str::from_utf8(text.as_bytes()).map(|text| Some(text.to_owned())).map_err(|_| wrong())
        }
        Some(AMQPValue::ShortString(text)) => Ok(Some(text.as_str().to_owned())),
        Some(_) => Err(wrong()),
    }
}

/// RFC 3339 text, or AMQP's own timestamp (seconds).
fn time(headers: &FieldTable) -> Result<Option<DateTime<Utc>>, Rejection> {
    let wrong = || Rejection::malformed(Problem::Mistyped, "time");
    if let Some(AMQPValue::Timestamp(seconds)) = value(headers, "time") {
        let at = i64::try_from(*seconds).ok().and_then(|seconds| DateTime::from_timestamp(seconds, 0));
        return at.map(Some).ok_or_else(wrong);
    }
    let Some(text) = text(headers, "time")? else { return Ok(None) };
    DateTime::parse_from_rfc3339(&text).map(|at| Some(at.with_timezone(&Utc))).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(entries: &[(&str, AMQPValue)]) -> BasicProperties {
        let mut table = FieldTable::default();
        for (name, value) in entries {
            table.insert((*name).into(), value.clone());
        }
        BasicProperties::default().with_headers(table).with_content_type("application/json".into())
    }

    fn long(text: &str) -> AMQPValue {
        AMQPValue::LongString(text.into())
    }

    fn read(properties: BasicProperties) -> InboundMessage {
        InboundMessage::new(1, false, "bulk.x", properties, b"{}".to_vec(), 1024)
    }

    #[test]
    fn both_header_prefixes_carry_the_attributes() {
        for prefix in PREFIXES {
            let names = ["specversion", "id", "source", "type", "time", "partitionkey"].map(|n| format!("{prefix}{n}"));
            let values = ["1.0", "e-1", "urn:clinic", "t.v1", "2026-03-02T10:00:00-05:00", "p"];
            let entries: Vec<_> = names.iter().map(String::as_str).zip(values.iter().map(|v| long(v))).collect();
            let attributes = read(headers(&entries)).attributes.unwrap();
            assert_eq!(attributes.id.as_deref(), Some("e-1"));
            assert_eq!(attributes.kind.as_deref(), Some("t.v1"));
            assert_eq!(attributes.time.unwrap().to_rfc3339(), "2026-03-02T15:00:00+00:00");
            assert_eq!(attributes.content_type.as_deref(), Some("application/json"));
            assert_eq!(attributes.partition_key.as_deref(), Some("p"));
        }
    }

    #[test]
    fn a_structured_event_and_bare_data_describe_themselves() {
        let structured =
            BasicProperties::default().with_content_type("application/cloudevents+json; charset=utf-8".into());
        assert_eq!(read(structured).attributes, None);
        assert_eq!(read(BasicProperties::default()).attributes, None);
        assert_eq!(read(headers(&[("x-other", long("1"))])).attributes, None);
    }

    #[test]
    fn the_message_id_is_the_id_of_the_event() {
        let named = headers(&[("cloudEvents_source", long("urn:a"))]).with_message_id("m-1".into());
        assert_eq!(read(named).attributes.unwrap().id.as_deref(), Some("m-1"));
        let differs = headers(&[("cloudEvents_id", long("e-1"))]).with_message_id("m-1".into());
        assert_eq!(read(differs).refused.unwrap().field.as_deref(), Some("id"));
    }

    #[test]
    fn headers_of_a_wrong_kind_are_refused_by_name() {
        for (name, value, field) in [
            ("cloudEvents_id", AMQPValue::LongInt(7), "id"),
            ("cloudEvents_time", long("yesterday"), "time"),
            ("cloudEvents_source", AMQPValue::LongString(vec![0xff].into()), "source"),
        ] {
            let refused = read(headers(&[(name, value)])).refused.unwrap();
            assert_eq!(refused.field.as_deref(), Some(field));
        }
        let packed = BasicProperties::default().with_content_encoding("gzip".into());
        assert!(read(packed).refused.is_some());
        let batch = BasicProperties::default().with_content_type("application/cloudevents-batch+json".into());
        assert!(read(batch).refused.is_some());
    }

    #[test]
    fn a_body_beyond_the_limit_is_refused_unread() {
        let message = InboundMessage::new(1, false, "", BasicProperties::default(), vec![b' '; 1025], 1024);
        assert_eq!(message.refused.unwrap().reason, Reason::TooLarge);
    }

    #[test]
    fn a_count_of_retries_that_a_producer_sends_is_not_believed() {
        for (count, proof) in [(25, None), (26, Some("0".repeat(64))), (4_000_000_000, Some(String::new()))] {
            let mut sent = vec![(RETRIES, AMQPValue::LongUInt(count))];
            sent.extend(proof.map(|proof| (RETRIES_PROOF, long(&proof))));
            let mut message = read(headers(&sent));
            message.believe(|_, _| [7; 32]);
            assert_eq!(message.offers, OfferCounts::default());
        }
    }

    #[test]
    fn a_retry_keeps_the_message_and_counts() {
        let properties = headers(&[("cloudEvents_id", long("e-1")), ("x-death", long("…"))]);
        let message = read(properties);
        let ours = |o: OfferCounts, body: &[u8]| [u8::try_from(3 * o.retries + o.waits).unwrap() + body[0]; 32];
        let again = |message: &InboundMessage, counts| {
            message.retry_message("retry".into(), "5s.bulk.x".into(), counts, None, ours)
        };
        let outbound = again(&message, true);
        let mut second = InboundMessage::new(2, false, "bulk.x", outbound.properties.clone(), outbound.body, 1024);
        assert_eq!(second.offers, OfferCounts::default(), "nothing is believed unseen");
        second.believe(|_, _| [0; 32]);
        assert_eq!(second.offers, OfferCounts::default(), "another one's proof");
        second.believe(ours);
        assert_eq!((second.offers, &second.attributes), (OfferCounts { retries: 1, waits: 0 }, &message.attributes));
        assert!(!outbound.properties.headers().as_ref().unwrap().contains_key("x-death"));
        // A refusal of the store lengthens the pause and is not held against the message.
        let outbound = again(&second, false);
        let mut third = InboundMessage::new(3, false, "bulk.x", outbound.properties, outbound.body, 1024);
        third.believe(ours);
        assert_eq!((third.offers, third.offers.total()), (OfferCounts { retries: 1, waits: 1 }, 2));
    }
    #[test]
    fn the_publisher_of_a_message_travels_with_its_repetition_and_cannot_be_forged() {
        let message = read(headers(&[("cloudEvents_id", long("e-1"))]).with_user_id("chat".into()));
        assert_eq!(message.user.as_deref(), Some("chat"));
        let ours = |offers: OfferCounts, covered: &[u8]| {
            let sum =
                covered.iter().fold(offers.retries, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)));
            [sum.to_be_bytes(); 8].as_flattened().try_into().unwrap()
        };
        let now = DateTime::from_timestamp_micros(1_770_000_000_000_001);
        let outbound = message.retry_message("retry".into(), "5s.bulk.x".into(), true, now, ours);
        assert_eq!(outbound.properties.user_id().as_ref(), None, "the broker refuses another connection's");
        let mut again =
            InboundMessage::new(2, false, "bulk.x", outbound.properties.clone(), outbound.body.clone(), 1024);
        assert_eq!(again.user, None, "nothing is believed unseen");
        again.believe(ours);
        assert_eq!((again.user.as_deref(), again.received), (Some("chat"), now));
        // A second repetition keeps the first time.
        let later = DateTime::from_timestamp_micros(1_780_000_000_000_000);
        let second = again.retry_message("retry".into(), "1m.bulk.x".into(), true, later, ours);
        let mut third = InboundMessage::new(3, false, "bulk.x", second.properties, second.body, 1024);
        third.believe(ours);
        assert_eq!((third.user.as_deref(), third.received, third.offers.retries), (Some("chat"), now, 2));
        // The same proof with another name.
        let mut forged = outbound.properties.headers().clone().unwrap();
        forged.insert(USER.into(), long("ehr"));
        let properties = outbound.properties.with_headers(forged).with_user_id("chat".into());
        let mut forged = InboundMessage::new(4, false, "bulk.x", properties, outbound.body, 1024);
        forged.believe(ours);
        assert_eq!((forged.user.as_deref(), forged.offers), (Some("chat"), OfferCounts::default()));
    }
}
