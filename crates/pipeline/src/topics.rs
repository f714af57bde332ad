//! `forget` and `recover` by topic: which memories are meant is looked up once, before the work, and a preview changes
//! nothing (seed 000, `/olvidar`; model.md, "Forgetting and erasing are two verbs").

use super::{Admitted, Pipeline, PipelineError};
use anamnesis_core::memory::State;
use anamnesis_core::scope::Scope;
use anamnesis_messages::Message;
use anamnesis_messages::contract::{Command, MemoryCommand};
use anamnesis_store::read::Memory;

impl Pipeline {
    /// Puts the ids of what a topic speaks of in the place of the topic.
    ///
    /// # Errors
    /// When the store cannot say what is meant.
    pub(super) async fn find_topics(&self, admitted: &mut [Admitted]) -> Result<(), PipelineError> {
        let now = self.store.clock().now();
        for entry in admitted.iter_mut().filter(|entry| !entry.ephemeral) {
            let at = match &entry.envelope.message {
                Message::MemoryCommand(command) if speaks_of_a_topic(command) => {
                    super::admit::issued_at(command, &entry.envelope, now)
                }
                _ => continue,
            };
            let Message::MemoryCommand(command) = &mut entry.envelope.message else { continue };
            let topic = command.topic.as_ref().map(|topic| topic.as_str().to_owned()).unwrap_or_default();
            let found = self.on_topic(entry.scope, command.command, &topic).await?;
            // A command acts on what was recorded up to its own time.
            let meant = found.into_iter().filter(|memory| memory.said_at <= at).map(|memory| memory.id);
            command.memory_ids = Some(meant.collect());
        }
        Ok(())
    }

    /// What a topic speaks of: of what can be forgotten, or of what was.
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
        self.store.on_topic(scope, topic, self.concept_of(scope.org(), topic).as_deref(), states).await
    }
}

fn speaks_of_a_topic(command: &MemoryCommand) -> bool {
    let by_topic = matches!(command.command, Command::Forget | Command::Recover);
    let named = command.memory_ids.as_ref().is_some_and(|ids| !ids.is_empty());
    by_topic && !named && command.topic.as_ref().is_some_and(|topic| !topic.is_blank())
}

#[cfg(test)]
#[path = "topics_tests.rs"]
mod tests;
