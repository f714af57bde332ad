//! Quarantine and crash suspects: reading the envelope of single messages, finding those whose attempts never ended, and
//! quarantining them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::{Pipeline, RawMessage};
use anamnesis_core::ids::OrgId;
use anamnesis_core::projection::KeyHash;
use anamnesis_core::reason::Reason;
use anamnesis_core::scope::Scope;
use anamnesis_messages::{Attributes, Envelope, MessageOrigin, Problem, Rejection};
use anamnesis_store::StoreError;
use anamnesis_store::quarantine::RejectedMessage;

/// Unfinished attempts after which a message is handled in isolation.
const SUSPECT: i64 = 2;

/// The data that quarantine stores next to a body.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct QuarantineMetadata {
    attributes: Option<Attributes>,
    origin: MessageOrigin,
}

impl QuarantineMetadata {
    fn from_message(raw: &RawMessage, now: DateTime<Utc>) -> Self {
        let origin = match raw.origin.clone() {
            // A signature is held against the time at which the message came, however late it is offered again.
            MessageOrigin::Broker { user, received } => {
                MessageOrigin::Broker { user, received: received.or(Some(now)) }
            }
            other => other,
        };
        Self { attributes: raw.attributes.clone(), origin }
    }

    fn written(&self) -> Option<Vec<u8>> {
        serde_json::to_vec(self).ok()
    }
}

impl RawMessage {
    /// A message from quarantine; `None` if it cannot be read. Older versions stored only the attributes, which only
    /// broker messages have, or nothing, so the sender is unknown. It is unknown, too, if the stored endpoint was
    /// removed.
    pub fn kept(body: Vec<u8>, kept: Option<&[u8]>) -> Option<Self> {
        let unknown = || MessageOrigin::Broker { user: None, received: None };
        let Some(kept) = kept else { return Some(Self { body: body.into(), origin: unknown(), ..Self::default() }) };
        let (attributes, origin) = match serde_json::from_slice::<QuarantineMetadata>(kept) {
            Ok(QuarantineMetadata { attributes, origin }) => (attributes, origin),
            Err(_) => (Some(serde_json::from_slice(kept).ok()?), unknown()),
        };
        Some(Self { body: body.into(), attributes, origin, ..Self::default() })
    }
}

impl Pipeline {
    /// Whether the key of the message's patient is missing from the key store: neither erased nor new.
    pub async fn lacks_keys(&self, raw: &RawMessage) -> bool {
        let Ok(envelope) = self.read_envelope(raw) else { return false };
        let Ok(scope) = Scope::new(envelope.organization(), envelope.patient()) else { return false };
        matches!(self.store.key_binding().lookup(scope).await, Err(StoreError::Key(_)))
    }

    /// Bytes to a typed message, whichever way the attributes came.
    pub(super) fn read_envelope(&self, raw: &RawMessage) -> Result<Envelope, Rejection> {
        let envelope = match (&raw.refused, &raw.attributes) {
            (Some(refusal), _) => Err(refusal.clone()),
            (None, Some(attributes)) => self.decoder.decode_with(attributes.clone(), &raw.body),
            (None, None) => self.decoder.decode(&raw.body),
        }?;
        Ok(Envelope { origin: raw.origin.clone(), ..envelope })
    }

    /// Messages with two unfinished attempts (crash suspects); they are retried in an isolated process.
    ///
    /// # Errors
    /// Of the store.
    pub(crate) async fn suspects(&self, raws: &[RawMessage]) -> Result<Vec<bool>, StoreError> {
        let keys: Vec<Option<KeyHash>> = raws.iter().map(|raw| self.key_of(raw)).collect();
        let known: Vec<KeyHash> = keys.iter().flatten().copied().collect();
        let begun = self.store.intake().attempts(&known).await?;
        let suspect = |key: &KeyHash| begun.get(key).is_some_and(|attempts| *attempts >= SUSPECT);
        Ok(keys.iter().map(|key| key.as_ref().is_some_and(suspect)).collect())
    }

    /// Whether any message has two unfinished attempts.
    ///
    /// # Errors
    /// Of the store.
    pub async fn has_crash_suspects(&self) -> Result<bool, StoreError> {
        self.store.intake().was_any_begun(SUSPECT).await
    }

    /// Quarantines one message for a reason outside its contract.
    ///
    /// # Errors
    /// Of the store: then it is not quarantined and must not be acknowledged.
    pub async fn quarantine_message(&self, raw: &RawMessage, reason: Reason) -> Result<(), StoreError> {
        let envelope = self.read_envelope(raw).ok();
        let org = envelope.as_ref().map(Envelope::organization);
        let refusal = Rejection::new(reason, Problem::Conflict);
        let mut rejected = self.rejected(org, raw.clone(), &refusal);
        if let Some(envelope) = envelope {
            rejected.patient = patient_of(&envelope);
            if self.is_unkept(&envelope).await? {
                rejected = rejected.without_content();
            }
        }
        self.store.quarantined().quarantine(&[rejected]).await?;
        self.metrics.ingest.quarantined.with_labels(reason).inc();
        match self.key_of(raw) {
            Some(key) => self.store.intake().end_attempts(None, &[key]).await,
            None => Ok(()),
        }
    }

    fn key_of(&self, raw: &RawMessage) -> Option<KeyHash> {
        self.read_envelope(raw).ok().map(|envelope| self.message_key(&envelope))
    }

    /// The quarantined form: the same body with another id is another message. Its endpoint is stored with it, so that
    /// a retry does not give it rights that its sender did not have.
    pub(super) fn rejected(&self, org: Option<OrgId>, raw: RawMessage, refusal: &Rejection) -> RejectedMessage {
        let named = raw.attributes.as_ref().and_then(|attributes| serde_json::to_vec(attributes).ok());
        let platform = self.store.keys().platform();
        let user = match &raw.origin {
            MessageOrigin::Broker { user, .. } => user.as_deref().unwrap_or_default(),
            MessageOrigin::Operator | MessageOrigin::Files => "",
        };
        let message = match (&named, user) {
            (None, "") => platform.hash("body", &[&raw.body]),
            (Some(named), "") => platform.hash("body", &[&raw.body, named]),
            (named, user) => platform.hash("body", &[&raw.body, named.as_deref().unwrap_or_default(), user.as_bytes()]),
        };
        let attributes = QuarantineMetadata::from_message(&raw, self.store.clock().now()).written();
        let (reason, field) = (refusal.reason, refusal.field.clone());
        RejectedMessage { org, patient: None, message, reason, field, body: Some(raw.body.into()), attributes }
    }
}

/// The patient of a readable message.
pub(super) fn patient_of(envelope: &Envelope) -> Option<Scope> {
    Scope::new(envelope.organization(), envelope.patient()).ok()
}

#[cfg(test)]
#[path = "quarantine_tests.rs"]
mod tests;
