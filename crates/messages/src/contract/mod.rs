//! The messages that producers send (contract.md, "Messages in"): one file per type. Required and optional fields,
//! units and ranges stand at the fields; the JSON Schemas under `docs/schemas` are generated from these types.
//!
//! Additive changes keep the version: a field that is not known here is ignored and counted. A field that is missing or
//! mistyped is refused. A breaking change is a new type of message.

mod command;
mod consent;
mod document;
mod health_signal;
mod profile;
mod rules;
mod scalars;
pub mod schema;
mod sensitive_text;

pub use command::{ActorRole, Command, CommandActor, MemoryCommand};
pub use consent::ConsentRecorded;
pub use document::{
    DocumentSubmitted, IdentityHint, IdentityRole, Metadata, Participant, Provenance, SourceFile, SpokenTurn,
};
pub use health_signal::{HealthSignalRecorded, Window};
pub use profile::{
    AllergyFact, ConditionFact, ConditionStatus, EmergencyContact, MedicationFact, MedicationStatus, ProfileUpdated,
};
pub use scalars::{LanguageTag, PartialDate};
pub use sensitive_text::SensitiveText;

use chrono::{DateTime, Utc};

use super::Limits;
use super::deserialize::{self, Deserialized};
use super::rejection::Rejection;
use anamnesis_core::ids::{OrgId, PatientId};

macro_rules! messages {
    ($($(#[$doc:meta])* $variant:ident($data:ty) = $name:literal),+ $(,)?) => {
        /// The types of messages that this version reads.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum MessageType { $($(#[$doc])* $variant),+ }

        impl MessageType {
            pub const ALL: &'static [MessageType] = &[$(MessageType::$variant),+];

            /// The CloudEvents `type`.
            pub fn name(self) -> &'static str {
                match self { $(MessageType::$variant => $name),+ }
            }

            /// Reads a message of this type from its JSON.
            pub(super) fn read(self, json: &[u8]) -> Result<(Message, Vec<String>), Rejection> {
                match self {
                    $(MessageType::$variant => {
                        let Deserialized { data, unknown } = deserialize::deserialize::<$data>(json)?;
                        Ok((Message::$variant(Box::new(data)), unknown))
                    })+
                }
            }

            /// The JSON Schema (draft 2020-12) of this type's data.
            pub fn schema(self) -> schemars::Schema {
                match self { $(MessageType::$variant => schema::generate::<$data>($name)),+ }
            }
        }

        /// A message that keeps the contract.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Message { $($variant(Box<$data>)),+ }

        impl Message {
            pub fn kind(&self) -> MessageType {
                match self { $(Message::$variant(_) => MessageType::$variant),+ }
            }

            pub fn organization(&self) -> OrgId {
                match self { $(Message::$variant(data) => data.organization_id),+ }
            }

            pub fn patient(&self) -> PatientId {
                match self { $(Message::$variant(data) => data.patient_id),+ }
            }
        }
    };
}

messages! {
    DocumentSubmitted(DocumentSubmitted) = "anamnesis.document.submitted.v1",
    HealthSignalRecorded(HealthSignalRecorded) = "anamnesis.health_signal.recorded.v1",
    ProfileUpdated(ProfileUpdated) = "anamnesis.profile.updated.v1",
    ConsentRecorded(ConsentRecorded) = "anamnesis.consent.recorded.v1",
    MemoryCommand(MemoryCommand) = "anamnesis.memory.command.v1",
}

impl MessageType {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// The type of bare data, recognised by its field names: each type is recognised by fields that no other has, the most
    /// telling first, so that data that lacks one of them is still refused by the name of what it lacks.
    pub fn from_fields(has: impl Fn(&str) -> bool) -> Option<Self> {
        let any = |names: &[&str]| names.iter().any(|name| has(name));
        if any(&["document_id", "document_type", "turns"]) {
            Some(MessageType::DocumentSubmitted)
        } else if any(&["command", "memory_ids"]) {
            Some(MessageType::MemoryCommand)
        } else if any(&["provision", "recorded_by"]) {
            Some(MessageType::ConsentRecorded)
        } else if any(&["metric", "synced_at"]) {
            Some(MessageType::HealthSignalRecorded)
        } else if any(&["recorded_at", "conditions", "allergies", "medications", "emergency_contacts", "preferences"]) {
            Some(MessageType::ProfileUpdated)
        } else {
            any(&["text", "occurred_at", "revision"]).then_some(MessageType::DocumentSubmitted)
        }
    }
}

impl Message {
    /// Rules that types alone cannot hold: ids that are not nil, ranges, either text or turns.
    pub(super) fn check(&self, limits: &Limits) -> Result<(), Rejection> {
        match self {
            Message::DocumentSubmitted(data) => data.check(limits),
            Message::HealthSignalRecorded(data) => data.check(),
            Message::ProfileUpdated(data) => data.check(),
            Message::ConsentRecorded(data) => data.check(),
            Message::MemoryCommand(data) => data.check(),
        }
    }

    /// When what it says happened, as the data itself tells.
    pub fn happened_at(&self) -> Option<DateTime<Utc>> {
        match self {
            Message::DocumentSubmitted(data) => Some(data.occurred_at.to_utc()),
            Message::HealthSignalRecorded(data) => Some(data.synced_at),
            Message::ProfileUpdated(data) => Some(data.recorded_at),
            Message::ConsentRecorded(data) => Some(data.from),
            Message::MemoryCommand(data) => data.issued_at,
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod field_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_is_found_by_its_exact_name_only() {
        for kind in MessageType::ALL {
            assert_eq!(MessageType::from_name(kind.name()), Some(*kind));
        }
        assert_eq!(MessageType::from_name("anamnesis.document.submitted.v2"), None);
        assert_eq!(MessageType::from_name("anamnesis.document.indexed.v1"), None);
    }

    #[test]
    fn bare_data_is_recognised_even_when_a_telling_field_is_missing() {
        let of = |fields: &[&str]| MessageType::from_fields(|name| fields.contains(&name));
        assert_eq!(of(&["docment_id", "document_type", "text"]), Some(MessageType::DocumentSubmitted));
        assert_eq!(of(&["text", "occurred_at"]), Some(MessageType::DocumentSubmitted));
        assert_eq!(of(&["actor", "command", "reason", "text"]), Some(MessageType::MemoryCommand));
        assert_eq!(of(&["actor", "recorded_at"]), Some(MessageType::ProfileUpdated));
        assert_eq!(of(&["scope", "provision", "from"]), Some(MessageType::ConsentRecorded));
        assert_eq!(of(&["metric", "value"]), Some(MessageType::HealthSignalRecorded));
        assert_eq!(of(&["organization_id", "patient_id"]), None);
    }
}
