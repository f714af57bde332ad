//! Actor and action of a message, for the audit trail: ids and codes, no content.

use crate::admit::{ephemeral_switch, mode_id};
use crate::consent::consent_id;
use anamnesis_core::audit::{Actor, VIA};
use anamnesis_core::consent::Provision;
use anamnesis_messages::contract::{Command, MemoryCommand};
use anamnesis_messages::{Envelope, Message};
use anamnesis_store::records::MessageAct;
use uuid::Uuid;

/// Stored characters of a producer's source.
const MOST: usize = 128;

/// The actor of a message: for a document its producer, for a person's act the person and the channel. `bound` is the
/// verified sender; without a binding, the message's own claim counts. Free text is left out.
fn acted(envelope: &Envelope, bound: Option<&str>) -> MessageAct {
    let through = |actor: Actor| match bound.map(producer) {
        Some(producer) => Actor { id: format!("{}{VIA}{}", actor.id, producer.id), ..actor },
        None => actor,
    };
    let person = |id: Uuid| through(Actor { id: id.to_string(), ..Actor::default() });
    let brought = |action| MessageAct { actor: producer(bound.unwrap_or(&envelope.source)), action, subject: None };
    match &envelope.message {
        Message::DocumentSubmitted(document) => {
            MessageAct { subject: Some(document.document_id.0), ..brought("document_stored") }
        }
        Message::HealthSignalRecorded(_) => brought("signal_stored"),
        Message::ProfileUpdated(profile) => MessageAct { actor: person(profile.actor), ..brought("profile_updated") },
        Message::ConsentRecorded(consent) => {
            let action = match consent.provision {
                Provision::Permit => "consent_permit",
                Provision::Deny => "consent_deny",
            };
            MessageAct { actor: person(consent.recorded_by), ..brought(action) }
        }
        Message::MemoryCommand(command) => {
            MessageAct { actor: through(acting(command)), ..brought(commanded(command.command)) }
        }
    }
}

/// The person who gives a command, in the role that the command names and its producer may use.
pub(crate) fn acting(command: &MemoryCommand) -> Actor {
    Actor { id: command.actor.id.to_string(), role: Some(command.actor.role.code().to_owned()), ..Actor::default() }
}

/// The audit entry of a message, on the row that it became.
pub(crate) fn acted_on(envelope: &Envelope, bound: Option<&str>, message: &[u8; 32]) -> MessageAct {
    let acted = acted(envelope, bound);
    MessageAct { subject: row_of(envelope, message).or(acted.subject), ..acted }
}

/// The row that a consent or a switch becomes: its entry in the trail names it, so that a row that is deleted is missed.
fn row_of(envelope: &Envelope, message: &[u8; 32]) -> Option<Uuid> {
    match &envelope.message {
        Message::ConsentRecorded(_) => Some(consent_id(message)),
        Message::MemoryCommand(command) => ephemeral_switch(command.command).map(|_| mode_id(message)),
        _ => None,
    }
}

/// A source is a URI of the configuration. Anything else is free text of a producer and is not stored.
fn producer(source: &str) -> Actor {
    let uri = |c: char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&()*+,;=%".contains(c);
    let known = source.len() <= MOST && source.chars().all(uri);
    Actor {
        id: if known { source } else { "unnamed" }.to_owned(),
        role: Some("producer".to_owned()),
        ..Actor::default()
    }
}

/// The code of a command among all actions.
fn commanded(command: Command) -> &'static str {
    match command {
        Command::Verify => "command_verify",
        Command::Confirm => "command_confirm",
        Command::Answer => "command_answer",
        Command::End => "command_end",
        Command::Correct => "command_correct",
        Command::Forget => "command_forget",
        Command::Recover => "command_recover",
        Command::Erase => "command_erase",
        Command::EphemeralOn => "ephemeral_on",
        Command::EphemeralOff => "ephemeral_off",
        Command::Protect => "command_protect",
        Command::PrivacyReport => "command_privacy_report",
        Command::Export => "command_export",
        Command::Add => "command_add",
        Command::Promote => "command_promote",
        Command::Supersede => "command_supersede",
        Command::Reinforce => "command_reinforce",
        Command::Revise => "command_revise",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_acts_is_named_with_the_producer_that_was_shown_to_be_the_sender_and_not_as_the_message_calls_itself() {
        let id = uuid::Uuid::from_u128(9);
        let body = serde_json::json!({"specversion": "1.0", "id": "1", "source": "urn:ehr", "type": "anamnesis.consent.recorded.v1",
            "data": {"organization_id": id, "patient_id": id, "scope": "memory", "provision": "deny",
                "from": "2026-01-01T00:00:00Z", "recorded_by": id}});
        let envelope = anamnesis_messages::Decoder::default().decode(body.to_string().as_bytes()).unwrap();
        assert_eq!(acted(&envelope, Some("urn:chat")).actor.id, format!("{id} via urn:chat"));
        assert_eq!(acted(&envelope, None).actor.id, id.to_string());
    }

    #[test]
    fn a_source_that_is_no_uri_is_not_stored() {
        assert_eq!(producer("urn:clinic:chat").id, "urn:clinic:chat");
        for words in ["Ana López", "the patient said so", &"a".repeat(129)] {
            assert_eq!(producer(words).id, "unnamed");
        }
    }
}
