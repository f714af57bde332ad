//! `anamnesis.memory.command.v1`: what a person tells the memory to do (seed 000, rights; seed 001 §8).

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::rules::{self, Checked};
use super::{Provenance, SensitiveText};
use crate::rejection::Problem;
use anamnesis_core::coded_enum::codes;
use anamnesis_core::ids::{DocumentId, MemoryId, OrgId, PatientId};
use anamnesis_core::memory::Kind;

/// One command. It acts on what was recorded up to its own time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryCommand {
    pub organization_id: OrgId,
    pub patient_id: PatientId,
    pub actor: CommandActor,
    pub command: Command,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_ids: Option<Vec<MemoryId>>,
    /// Documents that `erase` removes. With neither these nor memories it removes the patient.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document_ids: Option<Vec<DocumentId>>,
    /// What `forget` and `recover` search for instead of ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<SensitiveText>,
    /// Count only, change nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<SensitiveText>,
    /// What `correct` and `answer` say instead; what `add`, `promote`, `supersede` and `revise` say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<SensitiveText>,
    /// As what `add` and `promote` keep the words [default: note].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Memories that it is made from, or that `reinforce` and `revise` take for evidence. Named once, never changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub derived_from: Option<Vec<MemoryId>>,
    /// How the words came to be known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// When the person gave it, where the envelope has no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issued_at: Option<DateTime<Utc>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Actor")]
pub struct CommandActor {
    pub id: Uuid,
    pub role: ActorRole,
}

codes!(
    /// As whom the actor gives the command.
    ActorRole { Patient = "patient", Clinician = "clinician", System = "system" }
);

codes!(
    /// What is to be done.
    Command {
        Verify = "verify",
        Confirm = "confirm",
        Answer = "answer",
        End = "end",
        Correct = "correct",
        Forget = "forget",
        Recover = "recover",
        Erase = "erase",
        EphemeralOn = "ephemeral_on",
        EphemeralOff = "ephemeral_off",
        Protect = "protect",
        PrivacyReport = "privacy_report",
        Export = "export",
        /// Keep words as a memory of their own.
        Add = "add",
        /// Make an episode, a note or a belief of a capture (seed 001, section 4).
        Promote = "promote",
        /// Put words in the place of a memory.
        Supersede = "supersede",
        /// Something else speaks for it too.
        Reinforce = "reinforce",
        /// Update a belief from an episode: reinforce or reword it (seed 001, section 10).
        Revise = "revise",
    }
);

impl Command {
    /// Acts on single memories, so that ids are required.
    fn needs_ids(self) -> bool {
        use Command::{Answer, Confirm, Correct, End, Promote, Protect, Reinforce, Revise, Supersede, Verify};
        matches!(self, Verify | Confirm | Answer | End | Correct | Protect | Promote | Supersede | Reinforce | Revise)
    }

    /// Its words become a memory of their own.
    pub fn makes(self) -> bool {
        matches!(self, Self::Add | Self::Promote | Self::Supersede | Self::Revise)
    }
}

impl MemoryCommand {
    pub(super) fn check(&self) -> Checked {
        rules::scope(self.organization_id, self.patient_id)?;
        rules::id(self.actor.id, "actor.id")?;
        for (index, id) in self.memory_ids.iter().flatten().enumerate() {
            rules::ensure_at(!id.0.is_nil(), Problem::NilId, || format!("memory_ids[{index}]"))?;
        }
        for (index, id) in self.document_ids.iter().flatten().enumerate() {
            rules::ensure_at(!id.0.is_nil(), Problem::NilId, || format!("document_ids[{index}]"))?;
        }
        // A list that names nothing must not mean everything.
        let names_nothing = |list: Option<usize>| list == Some(0);
        let erases = self.command == Command::Erase;
        let none = names_nothing(self.memory_ids.as_ref().map(Vec::len));
        rules::ensure(!erases || !none, Problem::Missing, "memory_ids")?;
        let none = names_nothing(self.document_ids.as_ref().map(Vec::len));
        rules::ensure(!erases || !none, Problem::Missing, "document_ids")?;
        rules::ensure(!erases || self.topic.is_none(), Problem::OutOfRange, "topic")?;
        let some_ids = self.memory_ids.as_ref().is_some_and(|ids| !ids.is_empty());
        let topic = self.topic.as_ref().is_some_and(|topic| !topic.is_blank());
        rules::ensure(some_ids || !self.command.needs_ids(), Problem::Missing, "memory_ids")?;
        // Forgetting "everything" is erasure, and erasure is another verb.
        let by_topic = matches!(self.command, Command::Forget | Command::Recover);
        rules::ensure(some_ids || topic || !by_topic, Problem::Missing, "topic")?;
        let says = self.text.as_ref().is_some_and(|text| !text.is_blank());
        let must_say = matches!(self.command, Command::Correct | Command::Add | Command::Supersede);
        rules::ensure(says || !must_say, Problem::Missing, "text")?;
        rules::ensure(self.kind != Some(Kind::Raw), Problem::OutOfRange, "kind")?;
        for (index, id) in self.derived_from.iter().flatten().enumerate() {
            rules::ensure_at(!id.0.is_nil(), Problem::NilId, || format!("derived_from[{index}]"))?;
        }
        self.provenance.as_ref().map_or(Ok(()), Provenance::check)?;
        self.issued_at.map_or(Ok(()), |at| rules::instant(at, "issued_at"))
    }
}
