//! The permissions of the producer of one message.

use anamnesis_config::intake::Producer;
use anamnesis_core::document::DocumentType;
use anamnesis_core::failpoints;
use anamnesis_core::memory::SetBy;
use anamnesis_core::producer::{ContractMessageType, ProducerRole};
use anamnesis_core::reason::Reason;
use anamnesis_messages::contract::{ActorRole, Message};
use anamnesis_messages::rejection::{Problem, Rejection};

/// Types, document types and roles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grant {
    /// The producer by its binding, not by the claim of the message; `None` without bindings, when everything is
    /// allowed.
    source: Option<String>,
    types: Vec<ContractMessageType>,
    document_types: Vec<DocumentType>,
    roles: Vec<ProducerRole>,
}

impl Grant {
    /// For those who hold the store and its keys.
    pub(crate) fn everything() -> Self {
        let (types, document_types) = (ContractMessageType::ALL.to_vec(), DocumentType::ALL.to_vec());
        Self { source: None, types, document_types, roles: ProducerRole::ALL.to_vec() }
    }

    pub(crate) fn from_producer(producer: &Producer) -> Self {
        let Producer { source, types, document_types, roles, .. } = producer.clone();
        Self { source: Some(source), types, document_types, roles }
    }

    /// The producer that was shown to have sent it, where one is bound.
    pub(crate) fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// # Errors
    /// `not_permitted`, with the forbidden field.
    pub(crate) fn permits(&self, message: &Message) -> Result<(), Rejection> {
        if !self.types.contains(&sort(message)) {
            return Err(not_permitted("type"));
        }
        match message {
            Message::DocumentSubmitted(data) if !self.document_types.contains(&data.document_type) => {
                Err(not_permitted("document_type"))
            }
            Message::MemoryCommand(data)
                if !self.roles.contains(&role(data.actor.role)) && !failpoints::is("role_from_body") =>
            {
                Err(not_permitted("actor.role"))
            }
            _ => Ok(()),
        }
    }

    /// Whether the producer may act in this role; otherwise the act has no known actor.
    pub(crate) fn lends(&self, set_by: SetBy) -> bool {
        ProducerRole::from_set_by(set_by).is_none_or(|role| self.roles.contains(&role))
    }

    /// Whether a revision of this producer may follow one of another type. Conversations and other documents never
    /// share an id: a chat that claims to be the next revision of a note must not withdraw what a clinician wrote in
    /// it.
    ///
    /// # Errors
    /// `not_permitted`.
    pub(crate) fn replaces(&self, old: DocumentType, new: DocumentType) -> Result<(), Rejection> {
        let crosses = new.is_conversational() != old.is_conversational();
        if crosses || !self.document_types.contains(&old) { Err(not_permitted("document_type")) } else { Ok(()) }
    }
}

/// A message beyond what its producer may send.
pub(super) fn not_permitted(field: &str) -> Rejection {
    Rejection { reason: Reason::NotPermitted, problem: Problem::NotPermitted, field: Some(field.to_owned()) }
}

fn sort(message: &Message) -> ContractMessageType {
    match message {
        Message::DocumentSubmitted(_) => ContractMessageType::Document,
        Message::HealthSignalRecorded(_) => ContractMessageType::HealthSignal,
        Message::ProfileUpdated(_) => ContractMessageType::Profile,
        Message::ConsentRecorded(_) => ContractMessageType::Consent,
        Message::MemoryCommand(_) => ContractMessageType::Command,
    }
}

fn role(actor: ActorRole) -> ProducerRole {
    match actor {
        ActorRole::Patient => ProducerRole::Patient,
        ActorRole::Clinician => ProducerRole::Clinician,
        ActorRole::System => ProducerRole::System,
    }
}

#[cfg(test)]
impl Grant {
    /// A folder of relatives' and patients' words: no note, and no role of a clinician.
    pub(crate) fn of_a_family() -> Self {
        let mut grant = Self { source: Some("urn:family".to_owned()), ..Self::everything() };
        grant.document_types.retain(|kind| *kind != DocumentType::ClinicalNote);
        grant.roles.retain(|role| matches!(role, ProducerRole::Patient | ProducerRole::Family));
        grant
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_messages::MessageType;

    #[test]
    fn configuration_and_contract_name_the_same_types() {
        let contract: Vec<&str> = MessageType::ALL.iter().map(|kind| kind.name()).collect();
        let configured: Vec<&str> = ContractMessageType::ALL.iter().map(|sort| sort.code()).collect();
        assert_eq!(configured, contract);
    }
}
