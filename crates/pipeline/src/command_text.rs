//! `correct` and `answer`: the words with which a person replaces a memory (seed 000, rights; seed 002, section 8). A
//! yes and a no are acts on the memory. Any other words are a separate document: they pass redaction, are quoted as
//! evidence and have a lineage like all statements.

use chrono::{DateTime, Utc};

use super::manual_memory::{ManualMemory, trust_of_memory};
use super::{AdmittedMessage, Pipeline, PipelineError};
use anamnesis_core::document::DocumentType;
use anamnesis_core::ids::{DocumentId, derive};
use anamnesis_core::memory::{Class, Kind, SetBy};
use anamnesis_core::projection::MemoryAction;
use anamnesis_core::provenance::Trust;
use anamnesis_core::scope::Scope;
use anamnesis_messages::Message;
use anamnesis_messages::contract::{ActorRole, Command, DocumentSubmitted, MemoryCommand};
use anamnesis_store::read::ReadInstant;
use anamnesis_text::fold;

/// Answers that are nothing but a yes, folded.
const YES: [&str; 17] = [
    "yes",
    "y",
    "yep",
    "true",
    "correct",
    "right",
    "still",
    "it does",
    "si",
    "claro",
    "correcto",
    "cierto",
    "asi es",
    "sigue",
    "sigue igual",
    "todavia",
    "igual",
];
/// Answers that are nothing but a no, folded.
const NO: [&str; 13] = [
    "no",
    "n",
    "nope",
    "false",
    "not any more",
    "not anymore",
    "no longer",
    "it does not",
    "ya no",
    "falso",
    "nunca",
    "para nada",
    "ya paso",
];

/// The class of a repeated statement, and when it ends.
type Repeated = (Class, Option<DateTime<Utc>>);

/// The words of a command, as a document that is read next to it.
#[derive(Debug, Clone)]
pub(crate) struct CommandText {
    pub(crate) document: DocumentSubmitted,
    /// The subject, if the words alone do not name it ("100 mg").
    pub(crate) subject: Option<String>,
    /// For a manual memory that is made from the words.
    pub(crate) made: Option<ManualMemory>,
}

/// The effect of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommandIntent<'a> {
    Act(MemoryAction),
    /// Something else holds.
    Words(&'a str),
}

/// `None` for commands that neither act on single memories nor say anything.
pub(super) fn intent_of(command: &MemoryCommand) -> Option<CommandIntent<'_>> {
    let text = command.text.as_ref().map(|text| text.as_str().trim()).filter(|text| !text.is_empty());
    let deed = match command.command {
        Command::Verify => MemoryAction::Verified,
        Command::Confirm => MemoryAction::Confirmed,
        Command::End => MemoryAction::Ended,
        Command::Protect => MemoryAction::Protected,
        Command::Forget => MemoryAction::Forgotten,
        Command::Recover => MemoryAction::Recovered,
        Command::Reinforce => MemoryAction::Reinforced,
        // Without words, an episode supports the belief.
        Command::Revise => {
            return Some(text.map_or(CommandIntent::Act(MemoryAction::Reinforced), CommandIntent::Words));
        }
        Command::Correct | Command::Add | Command::Promote | Command::Supersede => {
            return text.map(CommandIntent::Words);
        }
        Command::Answer => match text {
            None => MemoryAction::Confirmed,
            Some(text) => match plain(text) {
                word if YES.contains(&word.as_str()) => MemoryAction::Confirmed,
                word if NO.contains(&word.as_str()) => MemoryAction::Denied,
                _ => return Some(CommandIntent::Words(text)),
            },
        },
        _ => return None,
    };
    Some(CommandIntent::Act(deed))
}

/// Folded, without punctuation at its ends.
fn plain(text: &str) -> String {
    fold(text).trim_matches(|c: char| !c.is_alphanumeric()).to_owned()
}

/// The actor of an act on a memory.
pub(super) fn actor(command: &MemoryCommand) -> (SetBy, &'static str) {
    match command.actor.role {
        ActorRole::Patient => (SetBy::Patient, "patient"),
        ActorRole::Clinician => (SetBy::Clinician, "clinician"),
        ActorRole::System => (SetBy::Unknown, "system"),
    }
}

/// The words as a document. A patient's correction is a conversation, which changes nothing that a clinician set and no
/// allergy; an answer to a question that was asked does (model.md, "Clinical wins"). A program's words have no teller.
fn document(command: &MemoryCommand, message: &[u8; 32], at: DateTime<Utc>, text: &str) -> DocumentSubmitted {
    let document_type = match (command.actor.role, command.command) {
        (ActorRole::Clinician, _) => DocumentType::ClinicalNote,
        (ActorRole::Patient, Command::Answer) => DocumentType::IntakeForm,
        (ActorRole::Patient, _) => DocumentType::ChatMessage,
        (ActorRole::System, _) => DocumentType::UploadedDocument,
    };
    DocumentSubmitted {
        organization_id: command.organization_id,
        patient_id: command.patient_id,
        document_id: DocumentId(derive("spoken", &[message])),
        revision: 1,
        document_type,
        occurred_at: at.fixed_offset(),
        language: None,
        therapist_id: None,
        session_key: None,
        text: Some(text.into()),
        turns: None,
        participants: None,
        metadata: None,
        known_identities: None,
        provenance: command.provenance.clone(),
        file: None,
    }
}

impl Pipeline {
    /// Resolves the references of commands, and makes documents of the words of corrections and answers.
    ///
    /// # Errors
    /// When the store cannot resolve them.
    pub(super) async fn resolve_commands(&self, admitted: &mut [AdmittedMessage]) -> Result<(), PipelineError> {
        for entry in admitted {
            let Message::MemoryCommand(command) = &mut entry.envelope.message else { continue };
            let repeated = self.promoted(entry.scope, command).await?;
            let Message::MemoryCommand(command) = &entry.envelope.message else { continue };
            entry.references = self.references(entry.scope, command).await?;
            let Some(CommandIntent::Words(text)) = intent_of(command) else { continue };
            let mut made = self.resolve_manual_memory(entry.scope, command).await?;
            if let (Some((class, until)), Some(made)) = (repeated, &mut made) {
                (made.repeats, entry.references.until) = (Some(class), until);
            }
            let at = super::admit::issued_at(command, &entry.envelope, self.store.clock().now());
            let document = document(command, &entry.message, at, text);
            let known = match command.memory_ids.as_deref() {
                Some([id, ..]) => self.store.read().memory(entry.scope, *id, ReadInstant::Now).await?,
                _ => None,
            };
            let subject = known.and_then(|memory| memory.words).map(|words| words.concept);
            let subject = subject.filter(|_| made.is_none());
            entry.words = Some(CommandText { document, subject, made });
        }
        Ok(())
    }
}

impl Pipeline {
    /// A promotion of a capture without words means the capture's own. The class of these, and when they end: a
    /// repetition does not extend the life of a model's words.
    async fn promoted(&self, scope: Scope, command: &mut MemoryCommand) -> Result<Option<Repeated>, PipelineError> {
        let silent = command.text.as_ref().is_none_or(|text| text.is_blank());
        let (Command::Promote, true, Some([id, ..])) = (command.command, silent, command.memory_ids.as_deref()) else {
            return Ok(None);
        };
        let Some(memory) = self.store.read().memory(scope, *id, ReadInstant::Now).await? else { return Ok(None) };
        command.text = self.own_words(scope, &memory).await?.map(Into::into);
        let of_model =
            memory.class == Class::Inference || (memory.kind == Kind::Raw && trust_of_memory(&memory) >= Trust::T4);
        let class = if of_model { Class::Inference } else { memory.class };
        let said = memory.recorded_at.min(memory.said_at);
        let ends = memory.expires_at.or_else(|| self.store.policy().expires_at(class, said, None));
        Ok(Some((class, ends.filter(|_| of_model))))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn command(command: &str, text: Option<&str>) -> MemoryCommand {
        let id = "00000000-0000-4000-8000-000000000001";
        serde_json::from_value(json!({"organization_id": id, "patient_id": id, "actor": {"id": id, "role": "patient"},
            "command": command, "memory_ids": [id], "text": text}))
        .unwrap()
    }

    #[test]
    fn a_yes_and_a_no_are_acts_in_both_languages_and_anything_else_is_words() {
        for yes in [None, Some("Sí."), Some("yes"), Some("¡Así es!"), Some("  ")] {
            assert_eq!(
                intent_of(&command("answer", yes)),
                Some(CommandIntent::Act(MemoryAction::Confirmed)),
                "{yes:?}"
            );
        }
        for no in ["No.", "ya no", "Not any more"] {
            assert_eq!(intent_of(&command("answer", Some(no))), Some(CommandIntent::Act(MemoryAction::Denied)), "{no}");
        }
        for words in ["no, ahora 100 mg", "sí, pero menos", "100 mg"] {
            assert_eq!(intent_of(&command("answer", Some(words))), Some(CommandIntent::Words(words)));
        }
        assert_eq!(
            intent_of(&command("correct", Some("no"))),
            Some(CommandIntent::Words("no")),
            "a correction always says something"
        );
    }

    #[test]
    fn a_patients_correction_is_a_conversation_and_an_answer_is_not() {
        let of = |c: &MemoryCommand| document(c, &[0; 32], DateTime::UNIX_EPOCH, "x").document_type;
        assert!(of(&command("correct", Some("x"))).is_conversational());
        assert!(!of(&command("answer", Some("x"))).is_conversational());
    }
}
