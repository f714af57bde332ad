//! Permissions of producers per organisation (contract.md, "Messages in"). The organisation is taken from the data; the
//! sender from the intake endpoint: the broker's user, a signature, or the folder. The sender that a message names only
//! selects the binding that it must then prove.

use chrono::{DateTime, TimeDelta, Utc};

use super::grant::{Grant, not_permitted};
use anamnesis_config::intake::{IntakeConfig, Producer, UnboundProducers, UnknownOrganizations};
use anamnesis_config::secrets::{self, SecretFile};
use anamnesis_core::ids::OrgId;
use anamnesis_core::reason::Reason;
use anamnesis_messages::Envelope;
use anamnesis_messages::origin::MessageOrigin;
use anamnesis_messages::rejection::{Problem, Rejection};
use anamnesis_messages::signature::SigningKey;
use secrecy::ExposeSecret as _;

/// Whether a message's organisation is admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrganizationAdmission {
    /// It is registered.
    Known,
    /// It is new and the configuration allows it: register it first.
    Register,
}

/// A producer's key that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("intake.producers.key_file: {0}")]
pub struct KeyDefect(#[from] SecretFile);

/// One producer with its key.
#[derive(Debug, Clone)]
struct BoundProducer {
    producer: Producer,
    key: Option<SigningKey>,
}

/// The bindings of the configuration, ready to be asked for each message.
#[derive(Debug, Clone)]
pub(crate) struct ProducerPolicy {
    bound: Vec<BoundProducer>,
    files: String,
    allow_unbound: bool,
    window: TimeDelta,
    unknown: UnknownOrganizations,
}

impl ProducerPolicy {
    /// # Errors
    /// When a key cannot be read.
    pub(crate) fn new(config: &IntakeConfig) -> Result<Self, KeyDefect> {
        let mut bound = Vec::with_capacity(config.producers.len());
        for producer in &config.producers {
            let key = match producer.key_file.as_os_str().is_empty() {
                true => None,
                false => {
                    let secret = secrets::read(&producer.key_file)?;
                    Some(SigningKey::new(&producer.key_id, secret.expose_secret().as_bytes()))
                }
            };
            bound.push(BoundProducer { producer: producer.clone(), key });
        }
        Ok(Self {
            bound,
            files: config.files.source.clone(),
            allow_unbound: config.unbound_producers == UnboundProducers::Allow,
            window: TimeDelta::seconds(i64::from(config.replay_window_seconds)),
            unknown: config.unknown_organizations,
        })
    }

    /// The permissions of the producer of a message, if they cover this message.
    ///
    /// # Errors
    /// `not_permitted` when no binding matches the sender, or it lacks type, document type or role;
    /// `organization_mismatch` when it is bound to other organisations.
    pub(crate) fn grant(&self, envelope: &Envelope, now: DateTime<Utc>) -> Result<Grant, Rejection> {
        let source = match &envelope.origin {
            MessageOrigin::Operator => return Ok(Grant::everything()),
            MessageOrigin::Files => &self.files,
            MessageOrigin::Broker { .. } => &envelope.source,
        };
        let mut refused = None;
        for bound in self.bound.iter().filter(|bound| bound.producer.source == *source) {
            match self.grant_from_binding(bound, envelope, now) {
                Ok(grant) => return Ok(grant),
                // Of several bindings of one source, the last one that matches the sender gives the reason.
                Err(refusal) => refused = Some(refusal),
            }
        }
        match (refused, &envelope.origin) {
            (Some(refusal), _) => Err(refusal),
            (None, _) if self.bound.is_empty() && self.allow_unbound => Ok(Grant::everything()),
            (None, _) => Err(not_permitted("source")),
        }
    }

    fn grant_from_binding(
        &self,
        bound: &BoundProducer,
        envelope: &Envelope,
        now: DateTime<Utc>,
    ) -> Result<Grant, Rejection> {
        if let MessageOrigin::Broker { user, received } = &envelope.origin {
            self.prove(bound, envelope, user.as_deref(), received.unwrap_or(now))?;
        }
        if !bound.producer.organizations.include(envelope.organization()) {
            return Err(organization(Reason::OrganizationMismatch, Problem::UnboundProducer));
        }
        let grant = Grant::from_producer(&bound.producer);
        grant.permits(&envelope.message).map(|()| grant)
    }

    /// Each proof that the binding names must be there: the broker's user and the signature.
    fn prove(
        &self,
        bound: &BoundProducer,
        envelope: &Envelope,
        user: Option<&str>,
        came: DateTime<Utc>,
    ) -> Result<(), Rejection> {
        let wanted = bound.producer.broker_user.as_str();
        if !wanted.is_empty() && user != Some(wanted) {
            return Err(not_permitted("user_id"));
        }
        match &bound.key {
            Some(key) => key.verify(envelope, came, self.window).map_err(not_permitted),
            None if wanted.is_empty() && !self.allow_unbound => Err(not_permitted("user_id")),
            None => Ok(()),
        }
    }

    /// Whether a message of this organisation is admitted. `registered` queries the store.
    ///
    /// # Errors
    /// `unknown_organization` when it is not registered and may not be.
    pub(crate) fn admit(
        &self,
        organization_id: OrgId,
        registered: impl FnOnce(OrgId) -> bool,
    ) -> Result<OrganizationAdmission, Rejection> {
        match (registered(organization_id), self.unknown) {
            (true, _) => Ok(OrganizationAdmission::Known),
            (false, UnknownOrganizations::Register) => Ok(OrganizationAdmission::Register),
            (false, UnknownOrganizations::Refuse) => {
                Err(organization(Reason::UnknownOrganization, Problem::UnregisteredOrganization))
            }
        }
    }
}

fn organization(reason: Reason, problem: Problem) -> Rejection {
    Rejection { reason, problem, field: Some("organization_id".to_string()) }
}

#[cfg(test)]
#[path = "producer_policy_tests.rs"]
mod tests;
