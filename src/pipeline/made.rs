//! Memories that somebody makes by hand: added, promoted from a capture, put in the place of another, revised from an episode
//! (seed 001, sections 4, 5 and 10). Their words are a document like everything that is said: redacted, quoted as evidence,
//! searched. What they were made from is named once, at their making.

use super::{Pipeline, PipelineError};
use crate::domain::fold::KeyHash;
use crate::domain::ids::MemoryId;
use crate::domain::memory::Kind;
use crate::domain::provenance::Trust;
use crate::domain::scope::Scope;
use crate::intake::contract::{Command, MemoryCommand};
use crate::store::read::{Filter, Memory, When};

/// What somebody makes of words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HandMade {
    pub kind: Kind,
    /// What it was made from: kind, id, trust.
    pub parents: Vec<(Kind, MemoryId, Trust)>,
    /// The attribute whose value it replaces, and its unit of folding.
    pub place: Option<(KeyHash, KeyHash)>,
    /// A parent that this patient has not: nothing is made.
    pub orphaned: bool,
}

impl Pipeline {
    /// What a command makes by hand; `None` for one that corrects a clinical fact, which is read like any other text.
    ///
    /// # Errors
    /// When the store cannot say what it is made from.
    pub(super) async fn hand_made(
        &self,
        scope: Scope,
        command: &MemoryCommand,
    ) -> Result<Option<HandMade>, PipelineError> {
        if !command.command.makes() {
            return Ok(None);
        }
        let named = command.memory_ids.clone().unwrap_or_default();
        let mut wanted = command.derived_from.clone().unwrap_or_default();
        wanted.extend(&named);
        wanted.sort_unstable();
        wanted.dedup();
        let known = match wanted.is_empty() {
            true => Vec::new(),
            false => self.store.memories(scope, &Filter::ids(wanted.clone()), When::Now).await?,
        };
        let replaced = match command.command {
            Command::Supersede | Command::Revise => known.iter().find(|memory| Some(&memory.id) == named.first()),
            _ => None,
        };
        if replaced.is_some_and(|memory| memory.entity.is_some_and(|entity| entity.is_clinical())) {
            return Ok(None);
        }
        let place = match replaced {
            Some(memory) => self.store.place_of(scope, memory.id).await?,
            None => None,
        };
        let kind = command.kind.or(replaced.map(|memory| memory.kind)).unwrap_or(Kind::Note);
        let parents = known.iter().map(|memory| (memory.kind, memory.id, memory.trust)).collect();
        Ok(Some(HandMade { kind, parents, place, orphaned: known.len() < wanted.len() }))
    }

    /// The words of what is promoted without words of its own.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub(super) async fn own_words(&self, scope: Scope, memory: &Memory) -> Result<Option<String>, PipelineError> {
        let Some(document) = memory.document_id.filter(|_| memory.kind == Kind::Raw) else {
            return Ok(memory.words.as_ref().map(|words| words.concept.clone()));
        };
        let held = self.store.revisions(scope, &[document]).await?;
        let revision = held.into_iter().find(|held| Some(held.revision) == memory.revision);
        Ok(revision.map(|held| held.content.text).filter(|text| !text.is_empty()))
    }
}
