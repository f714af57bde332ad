//! What a person asks for by a message and is answered: a report of what is held, an export of it, or what a
//! command would forget. The answer is made after all that its batch brings, kept sealed, and announced by a reference; it never travels in an event.

pub mod export;
pub mod words;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::{Admitted, Disposition, Outcome, Pipeline, PipelineError};
use anamnesis_core::answer::AnswerKind;
use anamnesis_core::consent::ConsentScope;
use anamnesis_core::ids::derive;
use anamnesis_core::scope::Scope;
use anamnesis_messages::Message;
use anamnesis_messages::contract::{ActorRole, Command, MemoryCommand};
use anamnesis_store::answers::{Answered, NewAnswer};
use anamnesis_store::read::{Filter, When};
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
/// mode, a consent. `None` for what others do in a patient's name: they read what they did where they did it. `days` is how
/// long what is forgotten can be taken back.
pub(super) fn carried_out(admitted: &Admitted, days: u32, now: DateTime<Utc>) -> Option<NewAnswer> {
    let constant = |text: [&'static str; 2]| both(|language| vec![language.of(text).to_owned()]);
    let (kind, asked_by, text) = match &admitted.envelope.message {
        Message::ConsentRecorded(consent) if consent.recorded_by == admitted.scope.patient().0 => {
            let scope = ConsentScope::read(&consent.scope)?;
            let text = both(|language| vec![words::consent(scope, Some(consent.provision), language)]);
            (AnswerKind::Consent, consent.recorded_by, text)
        }
        Message::MemoryCommand(command) if command.actor.role == ActorRole::Patient => {
            let count = command.memory_ids.as_ref().map_or(0, Vec::len);
            let counted = |of: &dyn Fn(Language) -> String| match count {
                0 => constant(words::NOTHING_MEANT),
                _ => both(|language| vec![of(language)]),
            };
            let (kind, text) = match command.command {
                Command::Forget => {
                    (AnswerKind::Forget, counted(&|language| words::forgotten(count, days, language)))
                }
                Command::Recover => (AnswerKind::Recover, counted(&|language| words::recovered(count, language))),
                Command::EphemeralOn => (AnswerKind::EphemeralOn, constant(words::EPHEMERAL_ON)),
                Command::EphemeralOff => (AnswerKind::EphemeralOff, constant(words::EPHEMERAL_OFF)),
                _ => return None,
            };
            (kind, command.actor.id, text)
        }
        _ => return None,
    };
    let answered = Answered { id: derive("answer", &[&admitted.message]), kind, asked_by, answered_at: now };
    Some(NewAnswer { scope: admitted.scope, answered, body: json!({"text": text}) })
}

impl Pipeline {
    /// Answers a request. The same message again has its answer already.
    pub(super) async fn answer(&self, admitted: Admitted) -> Result<Outcome, PipelineError> {
        let done = |disposition| Ok(Outcome::new(admitted.place, disposition));
        let Message::MemoryCommand(command) = &admitted.envelope.message else { return done(Disposition::Stored) };
        let Some(kind) = asked(command) else { return done(Disposition::Stored) };
        let (scope, id) = (admitted.scope, derive("answer", &[&admitted.message]));
        if self.store.was_answered(scope, id).await? {
            return done(Disposition::Duplicate);
        }
        let body = content(&self.store, scope, kind, command).await?;
        let answer = Answered { id, kind, asked_by: command.actor.id, answered_at: self.store.clock().now() };
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

/// The memories that are meant, with their words: what was looked up for a topic, or named by id.
async fn preview(store: &Store, scope: Scope, command: &MemoryCommand) -> Result<Value, StoreError> {
    let ids = command.memory_ids.clone().unwrap_or_default();
    let meant = match ids.is_empty() {
        true => Vec::new(),
        false => store.memories(scope, &Filter::ids(ids), When::Now).await?,
    };
    let text = |language: Language| {
        if meant.is_empty() {
            return vec![language.of(words::NOTHING_MEANT).to_owned()];
        }
        let said = meant.iter().filter_map(|memory| Some(format!("  «{}»", memory.evidence.as_ref()?.text)));
        let count = match command.command {
            Command::Recover => words::would_recover(meant.len(), language),
            _ => words::would_forget(meant.len(), language),
        };
        said.chain([count]).collect()
    };
    let memories: Vec<Value> = meant
        .iter()
        .map(|memory| json!({"memory_id": memory.id, "state": memory.standing.state, "words": memory.words}))
        .collect();
    Ok(json!({"command": command.command, "text": both(text), "memories": memories}))
}
