//! `forget` and `recover` by topic: the memories are looked up after the rest of the batch, and a preview changes nothing
//! (seed 000, `/olvidar`; model.md, "Forgetting and erasing are two verbs").

use super::{AdmittedMessage, BatchContext, MessageOutcome, Pipeline, PipelineError};
use anamnesis_core::ids::OrgId;
use anamnesis_core::memory::State;
use anamnesis_core::scope::Scope;
use anamnesis_messages::Message;
use anamnesis_messages::contract::{Command, MemoryCommand};
use anamnesis_store::read::Memory;

impl Pipeline {
    /// Processes admitted messages, and then commands with a topic one by one, so that each finds the results of those
    /// before it.
    pub(super) async fn process_in_order(
        &self,
        org: OrgId,
        admitted: Vec<AdmittedMessage>,
        by_topic: Vec<AdmittedMessage>,
        shared: &BatchContext,
    ) -> Result<Vec<MessageOutcome>, PipelineError> {
        let mut done = match admitted.is_empty() {
            true => Vec::new(),
            false => self.process(org, admitted, shared).await?,
        };
        for mut command in by_topic {
            self.find_topic(&mut command).await?;
            done.extend(self.process(org, vec![command], shared).await?);
        }
        Ok(done)
    }

    /// Replaces a topic by the ids of its memories.
    ///
    /// # Errors
    /// When the store cannot resolve the topic.
    pub(super) async fn find_topic(&self, entry: &mut AdmittedMessage) -> Result<(), PipelineError> {
        let now = self.store.clock().now();
        let Message::MemoryCommand(command) = &entry.envelope.message else { return Ok(()) };
        if entry.ephemeral || !speaks_of_a_topic(command) {
            return Ok(());
        }
        let at = super::admit::issued_at(command, &entry.envelope, now);
        let topic = command.topic.as_ref().map(|topic| topic.as_str().to_owned()).unwrap_or_default();
        let found = self.on_topic(entry.scope, command.command, &topic).await?;
        // A command acts on memories that were recorded before its own time.
        let meant = found.into_iter().filter(|memory| memory.said_at <= at).map(|memory| memory.id);
        if let Message::MemoryCommand(command) = &mut entry.envelope.message {
            command.memory_ids = Some(meant.collect());
        }
        Ok(())
    }

    /// Memories on a topic: those that can be forgotten, or those that were.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn on_topic(
        &self,
        scope: Scope,
        command: Command,
        topic: &str,
    ) -> Result<Vec<Memory>, anamnesis_store::StoreError> {
        let states = match command {
            Command::Recover => vec![State::Inactive],
            _ => State::ALL.iter().copied().filter(|state| state.is_visible()).collect(),
        };
        self.store.read().on_topic(scope, topic, self.concept_of(scope.org(), topic).as_deref(), states).await
    }
}

/// Whether a command names its target by words.
pub(super) fn speaks_of_a_topic(command: &MemoryCommand) -> bool {
    let by_topic = matches!(command.command, Command::Forget | Command::Recover);
    let named = command.memory_ids.as_ref().is_some_and(|ids| !ids.is_empty());
    by_topic && !named && command.topic.as_ref().is_some_and(|topic| !topic.is_blank())
}

#[cfg(test)]
#[path = "forget_by_topic_tests.rs"]
mod tests;
