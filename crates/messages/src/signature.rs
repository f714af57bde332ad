//! Signatures of producers: HMAC-SHA-256 under a key that producer and store share (docs/producers/README.md).

use std::fmt;

use aws_lc_rs::hmac;
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::Envelope;

/// First line of what is signed: another scheme has another one.
const SCHEME: &str = "anamnesis-signature-v1";

/// The attributes `signaturekey`, `signedat` and `signature` of an event, as they came.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    pub(crate) key: String,
    /// RFC 3339.
    pub(crate) at: String,
    /// 64 hexadecimal digits.
    pub(crate) mac: String,
}

impl Signature {
    /// `None` where the event has none of the three: what is half there fails when it is looked at.
    pub fn from_parts(key: Option<String>, at: Option<String>, mac: Option<String>) -> Option<Self> {
        if key.is_none() && at.is_none() && mac.is_none() {
            return None;
        }
        Some(Self { key: key.unwrap_or_default(), at: at.unwrap_or_default(), mac: mac.unwrap_or_default() })
    }
}

impl fmt::Debug for Signature {
    /// The producer's words do not show.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signature").finish_non_exhaustive()
    }
}

/// A producer's key with its name.
#[derive(Clone)]
pub struct SigningKey {
    id: String,
    key: hmac::Key,
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("id", &self.id).finish_non_exhaustive()
    }
}

impl SigningKey {
    pub fn new(id: &str, secret: &[u8]) -> Self {
        Self { id: id.to_owned(), key: hmac::Key::new(hmac::HMAC_SHA256, secret) }
    }

    /// Whether the event is signed by this key, at a time that lies within the window around when it came.
    ///
    /// # Errors
    /// The attribute that is wrong.
    pub fn verify(&self, envelope: &Envelope, came: DateTime<Utc>, window: TimeDelta) -> Result<(), &'static str> {
        let signature = envelope.signature.as_ref().ok_or("signature")?;
        if signature.key != self.id {
            return Err("signaturekey");
        }
        let mac = hex::decode(&signature.mac).map_err(|_| "signature")?;
        let signed = signed(envelope, &signature.key, &signature.at);
        hmac::verify(&self.key, signed.as_bytes(), &mac).map_err(|_| "signature")?;
        let at = DateTime::parse_from_rfc3339(&signature.at).map_err(|_| "signedat")?;
        if (came - at.with_timezone(&Utc)).abs() > window { Err("signedat") } else { Ok(()) }
    }
}

/// What is signed, line by line: scheme, key, time, source, id, and the hash of the type and the canonical data.
fn signed(envelope: &Envelope, key: &str, at: &str) -> String {
    let hash = hex::encode(envelope.body_hash);
    [SCHEME, key, at, &envelope.source, &envelope.id, &hash].join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::Decoder;

    const AT: &str = "2026-03-02T10:00:00Z";

    fn event() -> Value {
        let id = "7d0f4d3e-9a52-4a55-8d3c-0d6d7c6c2b11";
        let data = json!({"organization_id": id, "patient_id": id, "document_id": id, "revision": 1,
            "document_type": "chat_message", "occurred_at": AT, "text": "no puedo dormir — €"});
        json!({"specversion": "1.0", "id": "e-1", "source": "urn:chat", "type": "anamnesis.document.submitted.v1",
            "data": data, "signaturekey": "k1", "signedat": AT})
    }

    fn read(event: &Value) -> Envelope {
        Decoder::default().decode(event.to_string().as_bytes()).expect("an event")
    }

    fn with_signature(mut event: Value, secret: &[u8]) -> Value {
        let envelope = read(&event);
        let signed = signed(&envelope, "k1", AT);
        let mac = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), signed.as_bytes());
        event["signature"] = json!(hex::encode(mac.as_ref()));
        event
    }

    fn verified(event: &Value, minutes: i64) -> Result<(), &'static str> {
        let came = AT.parse::<DateTime<Utc>>().expect("a time") + TimeDelta::minutes(minutes);
        SigningKey::new("k1", b"secret").verify(&read(event), came, TimeDelta::minutes(10))
    }

    #[test]
    fn a_signature_holds_for_its_key_its_words_and_its_time_alone() {
        let good = with_signature(event(), b"secret");
        assert_eq!(verified(&good, 0), Ok(()));
        assert_eq!((verified(&good, 11), verified(&good, -11)), (Err("signedat"), Err("signedat")));
        assert_eq!(verified(&event(), 0), Err("signature"));
        assert_eq!(verified(&with_signature(event(), b"another"), 0), Err("signature"));
        let changed = |field: &str, value: Value| {
            let mut event = good.clone();
            event[field] = value;
            verified(&event, 0)
        };
        assert_eq!(changed("id", json!("e-2")), Err("signature"));
        assert_eq!(changed("source", json!("urn:ehr")), Err("signature"));
        assert_eq!(changed("signedat", json!("2026-03-02T10:01:00Z")), Err("signature"));
        assert_eq!(changed("signaturekey", json!("k2")), Err("signaturekey"));
        assert_eq!(changed("signature", json!("not hex")), Err("signature"));
        let mut other = good.clone();
        other["data"]["document_type"] = json!("clinical_note");
        assert_eq!(verified(&other, 0), Err("signature"));
    }

    #[test]
    fn what_is_signed_can_be_put_together_by_a_producer() {
        use sha2_of::sha256;
        let envelope = read(&event());
        let data = &event()["data"];
        // serde_json keeps keys sorted here: the canonical form of a producer's own library.
        let canonical = format!("anamnesis.document.submitted.v1\0{data}");
        assert_eq!(hex::encode(envelope.body_hash), sha256(canonical.as_bytes()));
    }

    mod sha2_of {
        use aws_lc_rs::digest::{SHA256, digest};

        pub(crate) fn sha256(bytes: &[u8]) -> String {
            hex::encode(digest(&SHA256, bytes).as_ref())
        }
    }
}
