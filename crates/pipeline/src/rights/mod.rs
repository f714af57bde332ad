//! What a person asks for by a message and is answered: a report of what is held, an export of it, or what a
//! command would forget. The answer is made after all that its batch brings, kept sealed, and announced by a reference; it never travels in an event.

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
use words::Language;

/// What a command asks to be answered.
pub(super) fn asked(command: &MemoryCommand) -> Option<AnswerKind> {
    match command.command {
        Command::PrivacyReport => Some(AnswerKind::PrivacyReport),
        Command::Export => Some(AnswerKind::Export),
        Command::Forget | Command::Recover if command.preview == Some(true) => Some(AnswerKind::Preview),
        _ => None,
    }
}

/// The answer to what a patient asks for and the batch itself carries out: what was forgotten or taken back, the ephemeral
/// mode, a consent. `None` for what others do in a patient's name: they read what they did where they did it.
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

/// What a patient reads of what came of a request: what is so now, where another one was stored before it.
fn came(kind: AnswerKind, came: &AnswerOutcome) -> Value {
    both(|language| match (kind, came.in_force) {
        (AnswerKind::Forget, _) => words::went(came, language),
        (AnswerKind::Recover, _) => words::came_back(came.done, language),
        (AnswerKind::EphemeralOn, _) if came.is_ephemeral => vec![language.of(words::EPHEMERAL_ON).to_owned()],
        (AnswerKind::EphemeralOff, _) if came.is_ephemeral => vec![language.of(words::EPHEMERAL_IS_ON).to_owned()],
        (_, Some((scope, provision))) if kind == AnswerKind::Consent || !came.is_permitted => {
            vec![words::consent(scope, provision, language)]
        }
        (AnswerKind::EphemeralOff, _) => vec![language.of(words::EPHEMERAL_OFF).to_owned()],
        _ => vec![language.of(words::EPHEMERAL_IS_OFF).to_owned()],
    })
}

impl Pipeline {
    /// Answers a request. The same message again has its answer already.
    pub(super) async fn answer(&self, admitted: AdmittedMessage) -> Result<MessageOutcome, PipelineError> {
        let done = |disposition| Ok(MessageOutcome::new(admitted.place, disposition));
        let Message::MemoryCommand(command) = &admitted.envelope.message else { return done(Disposition::Stored) };
        let Some(kind) = asked(command) else { return done(Disposition::Stored) };
        let (scope, id) = (admitted.scope, derive("answer", &[&admitted.message]));
        if self.store.was_answered(scope, id).await? {
            return done(Disposition::Duplicate);
        }
        let body = content(&self.store, scope, kind, command).await?;
        let answer = AnswerHeader { id, kind, asked_by: command.actor.id, answered_at: self.store.clock().now() };
        match self.store.keep_answer(scope, &answer, &body).await? {
            true => done(Disposition::Stored),
            false => done(Disposition::Duplicate),
        }
    }
}

async fn content(store: &Store, scope: Scope, kind: AnswerKind, command: &MemoryCommand) -> Result<Value, StoreError> {
    Ok(match kind {
        AnswerKind::PrivacyReport => {
            let held = store.privacy_report(scope, command.actor.id).await?;
            json!({"text": both(|language| words::report(&held, language)), "report": held})
        }
        AnswerKind::Export => {
            let records = export::records(store, scope).await?;
            json!({"text": both(|language| vec![language.of(words::EXPORTED).to_owned()]), "records": records})
        }
        // All other kinds that are asked for are previews: what is carried out is answered where it is.
        _ => preview(store, scope, command).await?,
    })
}

/// The same lines in both languages.
fn both(of: impl Fn(Language) -> Vec<String>) -> Value {
    json!({"en": of(Language::En), "es": of(Language::Es)})
}

/// Whether a memory stays when anybody but a clinician asks to have it forgotten: an allergy that holds.
pub fn stays(memory: &Memory) -> bool {
    let is_allergy = matches!(memory.entity, Some(EntityType::Allergy | EntityType::Intolerance));
    is_allergy && !memory.negated && memory.status.state == State::Active
}

/// The memories that are meant, with their words: what was looked up for a topic, or named by id.
async fn preview(store: &Store, scope: Scope, command: &MemoryCommand) -> Result<Value, StoreError> {
    let ids = command.memory_ids.clone().unwrap_or_default();
    let meant = match ids.is_empty() {
        true => Vec::new(),
        false => store.memories(scope, &MemoryFilter::ids(ids), ReadInstant::Now).await?,
    };
    let text = |language: Language| {
        if meant.is_empty() {
            return vec![language.of(words::NOTHING_MEANT).to_owned()];
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
