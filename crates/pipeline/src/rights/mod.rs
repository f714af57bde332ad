//! Answers to requests in messages: a report of the stored data, an export of it, or a preview of a command. An answer
//! is written after the rest of its batch, stored sealed, and announced by a reference; events never contain it.

pub mod export;
pub mod words;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::{AdmittedMessage, Disposition, MessageOutcome, Pipeline, PipelineError};
use anamnesis_core::answer::AnswerKind;
use anamnesis_core::consent::ConsentScope;
use anamnesis_core::finding::EntityType;
use anamnesis_core::ids::derive;
use anamnesis_core::memory::State;
use anamnesis_core::scope::Scope;
use anamnesis_messages::Message;
use anamnesis_messages::contract::{ActorRole, Command, MemoryCommand};
use anamnesis_store::answers::{AnswerHeader, AnswerOutcome, AnswerSubject, NewAnswer};
use anamnesis_store::read::{Memory, MemoryFilter, ReadInstant};
use anamnesis_store::{Store, StoreError};
use words::RightsLanguage;

/// The kind of answer that a command requests.
pub(super) fn asked(command: &MemoryCommand) -> Option<AnswerKind> {
    match command.command {
        Command::PrivacyReport => Some(AnswerKind::PrivacyReport),
        Command::Export => Some(AnswerKind::Export),
        Command::Forget | Command::Recover if command.preview == Some(true) => Some(AnswerKind::Preview),
        _ => None,
    }
}

/// The answer to a patient's request that the batch itself carries out: forgetting, recovery, the ephemeral mode, a
/// consent. `None` for acts of others in the patient's name, who see the result where they act.
pub(super) fn completion_answer(admitted: &AdmittedMessage, now: DateTime<Utc>) -> Option<NewAnswer> {
    let (kind, asked_by, on) = match &admitted.envelope.message {
        Message::ConsentRecorded(consent) if consent.recorded_by == admitted.scope.patient().0 => {
            (AnswerKind::Consent, consent.recorded_by, AnswerSubject::Consent(ConsentScope::read(&consent.scope)?))
        }
        Message::MemoryCommand(command) if command.actor.role == ActorRole::Patient => {
            let memories = || AnswerSubject::Memories(command.memory_ids.clone().unwrap_or_default());
            let (kind, on) = match command.command {
                Command::Forget => (AnswerKind::Forget, memories()),
                Command::Recover => (AnswerKind::Recover, memories()),
                Command::EphemeralOn => (AnswerKind::EphemeralOn, AnswerSubject::Everything),
                Command::EphemeralOff => (AnswerKind::EphemeralOff, AnswerSubject::Everything),
                _ => return None,
            };
            (kind, command.actor.id, on)
        }
        _ => return None,
    };
    let answered = AnswerHeader { id: derive("answer", &[&admitted.message]), kind, asked_by, answered_at: now };
    Some(NewAnswer { scope: admitted.scope, answered, on, words: came })
}

/// The outcome for the patient: the current state, if another state was stored before.
fn came(kind: AnswerKind, came: &AnswerOutcome) -> Value {
    both(|language| match (kind, came.in_force) {
        (AnswerKind::Forget, _) => words::went(came, language),
        (AnswerKind::Recover, _) => words::came_back(came.done, language),
        (AnswerKind::EphemeralOn, _) if came.is_ephemeral => vec![language.select(words::EPHEMERAL_ON).to_owned()],
        (AnswerKind::EphemeralOff, _) if came.is_ephemeral => vec![language.select(words::EPHEMERAL_IS_ON).to_owned()],
        (_, Some((scope, provision))) if kind == AnswerKind::Consent || !came.is_permitted => {
            vec![words::consent(scope, provision, language)]
        }
        (AnswerKind::EphemeralOff, _) => vec![language.select(words::EPHEMERAL_OFF).to_owned()],
        _ => vec![language.select(words::EPHEMERAL_IS_OFF).to_owned()],
    })
}

impl Pipeline {
    /// Answers a request. The same message again has its answer already.
    pub(super) async fn answer(&self, admitted: AdmittedMessage) -> Result<MessageOutcome, PipelineError> {
        let done = |disposition| Ok(MessageOutcome::new(admitted.place, disposition));
        let Message::MemoryCommand(command) = &admitted.envelope.message else { return done(Disposition::Stored) };
        let Some(kind) = asked(command) else { return done(Disposition::Stored) };
        let (scope, id) = (admitted.scope, derive("answer", &[&admitted.message]));
        if self.store.intake().was_answered(scope, id).await? {
            return done(Disposition::Duplicate);
        }
        let body = content(&self.store, scope, kind, command).await?;
        let answer = AnswerHeader { id, kind, asked_by: command.actor.id, answered_at: self.store.clock().now() };
        match self.store.intake().keep_answer(scope, &answer, &body).await? {
            true => done(Disposition::Stored),
            false => done(Disposition::Duplicate),
        }
    }
}

async fn content(store: &Store, scope: Scope, kind: AnswerKind, command: &MemoryCommand) -> Result<Value, StoreError> {
    Ok(match kind {
        AnswerKind::PrivacyReport => {
            let held = store.organization().privacy_report(scope, command.actor.id).await?;
            json!({"text": both(|language| words::report(&held, language)), "report": held})
        }
        AnswerKind::Export => {
            let records = export::records(store, scope).await?;
            json!({"text": both(|language| vec![language.select(words::EXPORTED).to_owned()]), "records": records})
        }
        // All other requested kinds are previews; acts are answered where they are carried out.
        _ => preview(store, scope, command).await?,
    })
}

/// The same lines in both languages.
fn both(of: impl Fn(RightsLanguage) -> Vec<String>) -> Value {
    json!({"en": of(RightsLanguage::En), "es": of(RightsLanguage::Es)})
}

/// Whether only a clinician can have a memory forgotten: an active allergy.
pub fn stays(memory: &Memory) -> bool {
    let is_allergy = matches!(memory.entity, Some(EntityType::Allergy | EntityType::Intolerance));
    is_allergy && !memory.negated && memory.status.state == State::Active
}

/// The target memories with their words: found by topic, or named by id.
async fn preview(store: &Store, scope: Scope, command: &MemoryCommand) -> Result<Value, StoreError> {
    let ids = command.memory_ids.clone().unwrap_or_default();
    let meant = match ids.is_empty() {
        true => Vec::new(),
        false => store.read().memories(scope, &MemoryFilter::ids(ids), ReadInstant::Now).await?,
    };
    let text = |language: RightsLanguage| {
        if meant.is_empty() {
            return vec![language.select(words::NOTHING_MEANT).to_owned()];
        }
        let said = meant.iter().filter_map(|memory| Some(format!("  «{}»", memory.evidence.as_ref()?.text)));
        let stays = |memory: &&Memory| command.actor.role != ActorRole::Clinician && stays(memory);
        let left = meant.iter().filter(stays).count();
        said.chain(words::would_go(command.command == Command::Recover, meant.len(), left, language)).collect()
    };
    let memories: Vec<Value> = meant
        .iter()
        .map(|memory| json!({"memory_id": memory.id, "state": memory.status.state, "words": memory.words}))
        .collect();
    Ok(json!({"command": command.command, "text": both(text), "memories": memories}))
}
