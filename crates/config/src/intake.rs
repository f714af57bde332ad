//! `[intake]`: what is let in, and which producer may say what for which organisation.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rules::Rules;
use anamnesis_core::coded_enum::codes;
use anamnesis_core::document::DocumentType;
use anamnesis_core::ids::OrgId;
use anamnesis_core::producer::{ContractMessageType, ProducerRole};

/// See `default.toml` for the meaning of each key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct IntakeConfig {
    /// Size of one message body; a larger one is quarantined as `too_large`.
    pub max_body_bytes: usize,
    /// Outcome of messages of an organisation that is not registered.
    pub unknown_organizations: UnknownOrganizations,
    /// Outcome of messages that no binding proves to be a producer's.
    pub unbound_producers: UnboundProducers,
    /// Longest distance between the time of a signature and the time at which the message came.
    pub replay_window_seconds: u32,
    pub files: FilesConfig,
    /// Bindings: what each producer may send.
    pub producers: Vec<Producer>,
}

/// What happens to a message of an organisation that the store does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UnknownOrganizations {
    /// It is registered with the default policy.
    #[default]
    Register,
    /// The message is quarantined.
    Refuse,
}

/// What happens to a message that no binding proves to be a producer's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UnboundProducers {
    /// It is quarantined, and a worker of the broker does not start without a producer that is bound.
    #[default]
    Refuse,
    /// Everyone who may publish may say anything as anybody.
    Allow,
}

/// Under which producer files act.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FilesConfig {
    /// Source of the producer whose binding files have, whatever their lines say.
    pub source: String,
}

/// One producer's binding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Producer {
    /// The CloudEvents `source`, exactly; `urn:anamnesis:bare` for data without an envelope.
    pub source: String,
    /// Ids of the organisations for which the producer may send, or `any`.
    pub organizations: Organizations,
    /// RabbitMQ's user who publishes; messages carry it as `user_id`.
    #[serde(default)]
    pub broker_user: String,
    /// Name of the key that signs the producer's messages.
    #[serde(default)]
    pub key_id: String,
    /// File of the key that signs the producer's messages.
    #[serde(default)]
    pub key_file: PathBuf,
    /// Types of messages that the producer may send.
    pub types: Vec<ContractMessageType>,
    /// Types of documents that the producer may send.
    #[serde(default)]
    pub document_types: Vec<DocumentType>,
    /// Roles in which its commands may act and its speakers count.
    #[serde(default)]
    pub roles: Vec<ProducerRole>,
}

codes!(
    /// The word for all organisations.
    Every {
        Any = "any",
    }
);

/// For whom a producer may speak.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Organizations {
    /// Every organisation that this store has or registers.
    All(Every),
    Listed(Vec<OrgId>),
}

impl Organizations {
    pub fn include(&self, organization: OrgId) -> bool {
        match self {
            Self::All(Every::Any) => true,
            Self::Listed(listed) => listed.contains(&organization),
        }
    }
}

impl Producer {
    /// Whether something other than its own word shows that a message of the broker is this producer's.
    pub fn is_proven(&self) -> bool {
        !self.broker_user.is_empty() || !self.key_file.as_os_str().is_empty()
    }

    fn check(&self, rules: &mut Rules) {
        let brings = |sort| self.types.contains(&sort);
        rules.rule(!self.source.trim().is_empty(), "intake.producers.source", "is empty");
        let half = self.key_id.is_empty() != self.key_file.as_os_str().is_empty();
        rules.rule(!half, "intake.producers.key_id", "and key_file belong together: give both or none");
        rules.rule(!self.types.is_empty(), "intake.producers.types", "names no type of message");
        rules.rule(
            !brings(ContractMessageType::Document) || !self.document_types.is_empty(),
            "intake.producers.document_types",
            "names none, and types lets documents in",
        );
        rules.rule(
            !(brings(ContractMessageType::Document) || brings(ContractMessageType::Command)) || !self.roles.is_empty(),
            "intake.producers.roles",
            "names none, and types lets documents or commands in",
        );
        let chats =
            !self.document_types.is_empty() && self.document_types.iter().all(|t| *t == DocumentType::ChatMessage);
        rules.rule(
            !(chats && (self.roles.contains(&ProducerRole::Clinician) || brings(ContractMessageType::Profile))),
            "intake.producers.roles",
            "a producer of chat messages alone may be no clinician and send no profile: a chat is never a clinician",
        );
    }
}

impl IntakeConfig {
    /// Every binding.
    pub(crate) fn check(&self, rules: &mut Rules) {
        rules.each(&self.producers, |rules, producer| producer.check(rules));
    }

    /// Whether files have a binding of their own.
    fn binds_files(&self) -> bool {
        self.producers.iter().any(|producer| producer.source == self.files.source)
    }

    /// Whether files may bring anything: they are bound, or everybody is let in.
    pub fn lets_files_in(&self) -> bool {
        self.binds_files() || self.producers.is_empty() && self.unbound_producers == UnboundProducers::Allow
    }

    /// Sources that nothing but their own word shows on the broker. Files' own needs no proof.
    pub fn unproven(&self) -> Vec<&str> {
        let open = |producer: &&Producer| !producer.is_proven() && producer.source != self.files.source;
        self.producers.iter().filter(open).map(|producer| producer.source.as_str()).collect()
    }
}

impl Default for IntakeConfig {
    fn default() -> Self {
        Self {
            max_body_bytes: 1024 * 1024,
            unknown_organizations: UnknownOrganizations::default(),
            unbound_producers: UnboundProducers::default(),
            replay_window_seconds: 86_400,
            files: FilesConfig::default(),
            producers: Vec::new(),
        }
    }
}

impl Default for FilesConfig {
    fn default() -> Self {
        Self { source: "urn:anamnesis:files".to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> Option<&'static str> {
        let producer: Producer = toml::from_str(text).expect("a binding");
        Rules::first(|rules| producer.check(rules)).err().map(|error| error.key)
    }

    #[test]
    fn a_binding_names_what_it_lets_in_and_a_chat_is_never_bound_as_a_clinician() {
        let of = |more: &str| format!("source = 'urn:a'\norganizations = 'any'\n{more}");
        let chat = "types = ['anamnesis.document.submitted.v1']\ndocument_types = ['chat_message']\n";
        assert_eq!(refused(&of(&format!("{chat}roles = ['patient']"))), None);
        assert_eq!(refused(&of(&format!("{chat}roles = ['patient', 'clinician']"))), Some("intake.producers.roles"));
        let session = "types = ['anamnesis.document.submitted.v1']\ndocument_types = ['session_transcript']\n";
        assert_eq!(refused(&of(&format!("{session}roles = ['patient', 'clinician']"))), None);
        let profile = "types = ['anamnesis.document.submitted.v1', 'anamnesis.profile.updated.v1']\n\
                       document_types = ['chat_message']\nroles = ['patient']";
        assert_eq!(refused(&of(profile)), Some("intake.producers.roles"));
        assert_eq!(refused(&of("types = []")), Some("intake.producers.types"));
        let bare = "types = ['anamnesis.document.submitted.v1']\nroles = ['patient']";
        assert_eq!(refused(&of(bare)), Some("intake.producers.document_types"));
        assert_eq!(refused(&of("types = ['anamnesis.memory.command.v1']")), Some("intake.producers.roles"));
        let half = "types = ['anamnesis.consent.recorded.v1']\nkey_id = 'k1'";
        assert_eq!(refused(&of(half)), Some("intake.producers.key_id"));
        assert!(toml::from_str::<Producer>("source = 'urn:a'\norganizations = 'all'\ntypes = []").is_err());
    }
}
