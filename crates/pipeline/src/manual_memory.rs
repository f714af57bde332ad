//! Memories that a person creates with a command: added, promoted from a capture, superseding another, revised from an
//! episode (seed 001, sections 4, 5 and 10). Their text is a document like any other: redacted, quoted as evidence,
//! searched. The memories they derive from are named once, when they are created.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::command_text::{CommandIntent, intent_of};
use super::origin::StatementOrigin;
use super::{AdmittedMessage, Pipeline, PipelineError};
use anamnesis_core::document::DocumentType;
use anamnesis_core::ids::{MemoryEventId, MemoryId, derive};
use anamnesis_core::memory::{Class, Kind};
use anamnesis_core::outcome::speaks_against;
use anamnesis_core::projection::{KeyHash, MemoryAction};
use anamnesis_core::provenance::Trust;
use anamnesis_core::scope::Scope;
use anamnesis_messages::contract::{Command, DocumentSubmitted, MemoryCommand};
use anamnesis_store::read::{Memory, MemoryFilter, ReadInstant};

/// A memory that a command creates from its text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ManualMemory {
    pub(crate) kind: Kind,
    /// The attribute whose value it replaces, and its unit of folding.
    pub(crate) place: Option<(KeyHash, KeyHash)>,
    /// The class of a repetition in the person's own words.
    pub(crate) repeats: Option<Class>,
}

/// A memory that a command names as what its words, or its act, come from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ReferencedMemory {
    pub(crate) kind: Kind,
    pub(crate) id: MemoryId,
    pub(crate) trust: Trust,
}

/// The memories that a command refers to.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct CommandReferences {
    pub(crate) named: Vec<ReferencedMemory>,
    /// Of these, the one that the text replaces.
    replaced: Option<MemoryId>,
    /// The field with an id that this patient does not have: nothing is made or done.
    pub(crate) lost: Option<&'static str>,
    /// Of these, the episodes about something that did not work.
    pub(crate) failed: Vec<MemoryId>,
    /// When a model's words end, which are only said again.
    pub(crate) until: Option<DateTime<Utc>>,
}

impl CommandReferences {
    /// Whether a source is a model's inference or of unknown origin: such a source is no evidence.
    pub(crate) fn are_weak(&self) -> bool {
        self.parents().any(|trust| trust >= Trust::T4)
    }

    /// Trust of the sources of the words or of the act.
    fn parents(&self) -> impl Iterator<Item = Trust> {
        self.named.iter().filter(|one| Some(one.id) != self.replaced).map(|one| one.trust)
    }
}

impl AdmittedMessage {
    /// Where the statements of its document come from.
    pub(crate) fn origin<'a>(&self, document: &'a DocumentSubmitted) -> StatementOrigin<'a> {
        let replaced = self.references.named.iter().find(|one| Some(one.id) == self.references.replaced);
        StatementOrigin::from_document(document, self.references.parents().collect(), replaced.map(|one| one.trust))
    }
}

/// A capture of a model's document from before captures stored their trust is no better than a new one.
pub(super) fn trust_of_memory(memory: &Memory) -> Trust {
    let of_model = memory.document_type == Some(DocumentType::Analysis) && memory.signed_by.is_none();
    if memory.kind == Kind::Raw && of_model { memory.trust.max(Trust::T4) } else { memory.trust }
}

/// The id of the action by which evidence supports or weakens a memory: one per memory and evidence, whichever message says
/// so. Weakening is per role, since one role may weaken what another may not.
pub(super) fn evidence_action_id(deed: MemoryAction, memory: MemoryId, evidence: Uuid, role: &str) -> MemoryEventId {
    let about = [memory.0.as_bytes().as_slice(), evidence.as_bytes(), role.as_bytes()];
    let of = if deed == MemoryAction::Weakened { &about[..] } else { &about[..2] };
    MemoryEventId(derive(deed.code(), of))
}

impl Pipeline {
    /// The sources that a command names, as far as the patient has them. Its result also derives from the memories that
    /// it acts on.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(super) async fn references(
        &self,
        scope: Scope,
        command: &MemoryCommand,
    ) -> Result<CommandReferences, PipelineError> {
        let acted = command.memory_ids.clone().unwrap_or_default();
        let parents = command.derived_from.clone().unwrap_or_default();
        let speaks = matches!(intent_of(command), Some(CommandIntent::Words(_)));
        let mut wanted = parents.clone();
        wanted.extend(acted.iter().filter(|_| speaks));
        wanted.sort_unstable();
        wanted.dedup();
        if wanted.is_empty() {
            return Ok(CommandReferences::default());
        }
        let known = self.store.read().memories(scope, &MemoryFilter::ids(wanted), ReadInstant::Now).await?;
        let lacks = |ids: &[MemoryId]| ids.iter().any(|id| !known.iter().any(|memory| memory.id == *id));
        let lost = match () {
            () if lacks(&parents) => Some("derived_from"),
            () if speaks && command.command.makes() && lacks(&acted) => Some("memory_ids"),
            () => None,
        };
        let puts_right = speaks && !matches!(command.command, Command::Add | Command::Promote);
        let replaced = acted.first().copied().filter(|_| puts_right);
        let named =
            |memory: &Memory| ReferencedMemory { kind: memory.kind, id: memory.id, trust: trust_of_memory(memory) };
        let fails = |memory: &&Memory| {
            let words = memory.words.as_ref().is_some_and(|words| speaks_against(&words.concept));
            memory.kind == Kind::Episode && parents.contains(&memory.id) && words
        };
        let failed = known.iter().filter(fails).map(|memory| memory.id).collect();
        Ok(CommandReferences { named: known.iter().map(named).collect(), replaced, lost, failed, until: None })
    }

    /// The memory that a command creates; `None` for one that corrects a clinical fact, which is analyzed like any
    /// other text.
    ///
    /// # Errors
    /// When the store cannot resolve its sources.
    pub(super) async fn resolve_manual_memory(
        &self,
        scope: Scope,
        command: &MemoryCommand,
    ) -> Result<Option<ManualMemory>, PipelineError> {
        if !command.command.makes() {
            return Ok(None);
        }
        let first = command.memory_ids.as_deref().and_then(<[MemoryId]>::first);
        let replaced = match (command.command, first) {
            (Command::Supersede | Command::Revise, Some(id)) => {
                self.store.read().memory(scope, *id, ReadInstant::Now).await?
            }
            _ => None,
        };
        if replaced.as_ref().is_some_and(|memory| memory.entity.is_some_and(|entity| entity.is_clinical())) {
            return Ok(None);
        }
        let place = match &replaced {
            Some(memory) => self.store.read().place_of(scope, memory.id).await?,
            None => None,
        };
        let kind = command.kind.or(replaced.as_ref().map(|memory| memory.kind)).unwrap_or(Kind::Note);
        Ok(Some(ManualMemory { kind, place, repeats: None }))
    }

    /// The words of a promoted memory, for a command without words.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(super) async fn own_words(&self, scope: Scope, memory: &Memory) -> Result<Option<String>, PipelineError> {
        let Some(document) = memory.document_id.filter(|_| memory.kind == Kind::Raw) else {
            return Ok(memory.words.as_ref().map(|words| words.concept.clone()));
        };
        let held = self.store.read().revisions(scope, &[document]).await?;
        let revision = held.into_iter().find(|held| Some(held.revision) == memory.revision);
        Ok(revision.map(|held| held.content.text).filter(|text| !text.is_empty()))
    }
}

#[cfg(test)]
#[path = "manual_memory_tests.rs"]
mod tests;
