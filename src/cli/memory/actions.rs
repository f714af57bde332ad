//! `memory verify|confirm|answer|end|correct|protect|forget|recover`: acts of a person on single memories. Each is the
//! contract's command message in the same pipeline, so that a terminal, a queue and a file do the same.

use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use super::unknown;
use crate::cli::app::App;
use crate::cli::language::{LanguageArgs, RightsLanguage};
use crate::cli::output::{self, OutputFormat};
use crate::cli::patient::{PatientArgs, known};
use crate::cli::{CliError, Context, Exit, render};
use anamnesis_core::ids::MemoryId;
use anamnesis_core::memory::State;
use anamnesis_core::scope::Scope;
use anamnesis_messages::contract::{ActorRole, Command, CommandActor, MemoryCommand};
use anamnesis_pipeline::rights::{self, words};
use anamnesis_pipeline::{Disposition, RawMessage};
use anamnesis_search::MemoryItem;
use anamnesis_store::answers::AnswerOutcome;
use anamnesis_store::read::{Memory, MemoryFilter, ReadInstant};

/// Who acts on which memories.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Ids of the memories.
    #[arg(value_name = "ID", required = true)]
    ids: Vec<MemoryId>,
    #[command(flatten)]
    of: PatientArgs,
    #[command(flatten)]
    by: ActorArgs,
}

/// As [`Args`], or by what the memories speak of.
#[derive(Debug, clap::Args)]
pub(crate) struct TopicActionArgs {
    /// Ids of the memories.
    #[arg(value_name = "ID", required_unless_present = "topic", conflicts_with = "topic")]
    ids: Vec<MemoryId>,
    /// All memories about this topic, found by keyword and by meaning. At most a hundred at once, newest first.
    #[arg(long, value_name = "TEXT")]
    topic: Option<String>,
    /// Show the selected memories and change nothing.
    #[arg(long)]
    preview: bool,
    #[command(flatten)]
    of: PatientArgs,
    #[command(flatten)]
    by: ActorArgs,
    #[command(flatten)]
    spoken: LanguageArgs,
}

/// As [`Args`], with words.
#[derive(Debug, clap::Args)]
pub(crate) struct TextActionArgs {
    #[command(flatten)]
    on: Args,
    /// The correct statement. It is redacted and stored as evidence like any other text.
    #[arg(long, value_name = "TEXT")]
    text: String,
}

/// As [`Args`], with an answer.
#[derive(Debug, clap::Args)]
pub(crate) struct AnswerActionArgs {
    #[command(flatten)]
    on: Args,
    /// yes, no, or the correct statement [default: yes].
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct ActorArgs {
    /// Id of the person who acts.
    #[arg(long, visible_alias = "actor", env = "ANAMNESIS_ACTOR", value_name = "UUID")]
    by: Option<Uuid>,
    /// Role of that person: patient, clinician or system. There is no default.
    #[arg(long, env = "ANAMNESIS_ROLE", value_parser = |text: &str| known(text, ActorRole::ALL, ActorRole::code))]
    role: Option<ActorRole>,
}

impl ActorArgs {
    /// # Errors
    /// When one of the two was not said: neither is assumed.
    pub(in crate::cli) fn actor(&self) -> Result<CommandActor, CliError> {
        let id = self.by.ok_or_else(|| {
            CliError::usage("who acts? Give --by UUID (the same for each person), or set ANAMNESIS_ACTOR")
        })?;
        let role = self.role.ok_or_else(|| {
            CliError::usage(
                "in which role? Give --role patient, clinician or system, or set ANAMNESIS_ROLE: none is assumed",
            )
        })?;
        Ok(CommandActor { id, role })
    }
}

/// The result of the act.
#[derive(Serialize)]
struct ActionResult<'a> {
    command: Command,
    disposition: &'static str,
    memories: &'a [MemoryItem],
}

pub(crate) async fn say(args: TextActionArgs, command: Command, context: &Context) -> Result<Exit, CliError> {
    Ok(act(args.on, command, Some(args.text), context).await?.exit)
}

pub(crate) async fn answer(args: AnswerActionArgs, context: &Context) -> Result<Exit, CliError> {
    Ok(act(args.on, Command::Answer, args.text, context).await?.exit)
}

pub(crate) async fn run(args: Args, command: Command, context: &Context) -> Result<Exit, CliError> {
    Ok(act(args, command, None, context).await?.exit)
}

/// `memory forget` and `memory recover`: for single memories, or for all on a topic.
pub(crate) async fn choose(args: TopicActionArgs, command: Command, context: &Context) -> Result<Exit, CliError> {
    let scope = args.of.scope()?;
    let TopicActionArgs { mut ids, topic, preview, of, by, spoken } = args;
    let app = App::open(context).await?;
    if let Some(topic) = &topic {
        let meant = app.pipeline()?.on_topic(scope, command, topic).await?;
        ids = meant.iter().map(|memory| memory.id).collect();
    }
    if preview || ids.is_empty() {
        let is_clinician = by.role == Some(ActorRole::Clinician);
        return previewed(&app, scope, (command, ids, is_clinician), (spoken.language, context)).await;
    }
    let days = app.store.policy().recoverable_days;
    drop(app);
    let acted = act(Args { ids, of, by }, command, None, context).await?;
    if context.format_or(OutputFormat::Table) == OutputFormat::Table {
        let lines = match command {
            Command::Recover => words::came_back(acted.turned(), spoken.language),
            _ => words::went(&acted.came(days), spoken.language),
        };
        lines.iter().try_for_each(|line| output::line(line))?;
    }
    Ok(acted.exit)
}

/// The memories that a command would act on.
#[derive(Serialize)]
struct ActionPreview<'a> {
    command: Command,
    preview: bool,
    count: usize,
    memories: &'a [MemoryItem],
}

async fn previewed(
    app: &App,
    scope: Scope,
    (command, ids, is_clinician): (Command, Vec<MemoryId>, bool),
    (language, context): (RightsLanguage, &Context),
) -> Result<Exit, CliError> {
    let held = match ids.is_empty() {
        true => Vec::new(),
        false => app.store.read().memories(scope, &MemoryFilter::ids(ids), ReadInstant::Now).await?,
    };
    let items: Vec<MemoryItem> = held.iter().map(MemoryItem::conversational).collect();
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => {
            output::json(&ActionPreview { command, preview: true, count: items.len(), memories: &items })?
        }
        OutputFormat::Table if items.is_empty() => output::line(language.select(words::NOTHING_MEANT))?,
        OutputFormat::Table => {
            let rows = items.iter().map(|item| {
                let [statement, source, ..] = render::row(item);
                [item.memory_id.to_string(), statement, source]
            });
            output::table(&["id", "statement", "source"], rows)?;
            let left = held.iter().filter(|memory| !is_clinician && rights::stays(memory)).count();
            let lines = words::would_go(command == Command::Recover, items.len(), left, language);
            lines.iter().try_for_each(|line| output::line(line))?;
        }
    }
    Ok(Exit::Done)
}

/// The effect of a command: the memories that it names, before and after it.
struct ActionOutcome {
    exit: Exit,
    before: Vec<Memory>,
    after: Vec<Memory>,
}

impl ActionOutcome {
    /// How many were forgotten or recovered.
    fn turned(&self) -> usize {
        let is_forgotten = |memory: &Memory| memory.status.state == State::Inactive;
        let was = |id| self.before.iter().any(|one| one.id == id && is_forgotten(one));
        self.after.iter().filter(|memory| is_forgotten(memory) != was(memory.id)).count()
    }

    /// The outcome of a request to forget.
    fn came(&self, days: u32) -> AnswerOutcome {
        let remembered = || self.after.iter().filter(|memory| memory.status.state != State::Inactive);
        let left = remembered().filter(|memory| rights::stays(memory)).count();
        AnswerOutcome { done: self.turned(), left, kept: remembered().count() - left, days, ..AnswerOutcome::default() }
    }
}

async fn act(args: Args, command: Command, text: Option<String>, context: &Context) -> Result<ActionOutcome, CliError> {
    let (scope, actor) = (args.of.scope()?, args.by.actor()?);
    let app = App::open(context).await?;
    let held = app.store.read().memories(scope, &MemoryFilter::ids(args.ids.clone()), ReadInstant::Now).await?;
    if args.ids.iter().any(|id| !held.iter().any(|memory| memory.id == *id)) {
        return Err(unknown());
    }
    let mut message = message(scope, actor, args.ids.clone(), command, app.clock.now());
    message.text = text.map(Into::into);
    let body = serde_json::to_vec(&message).map_err(|_| CliError::failed("the command cannot be written"))?;
    let done = app.pipeline()?.run(vec![RawMessage::from_body(body)]).await;
    let disposition = done.first().copied().unwrap_or(Disposition::Retry);
    let after = app.store.read().memories(scope, &MemoryFilter::ids(args.ids), ReadInstant::Now).await?;
    let items: Vec<MemoryItem> = after.iter().map(MemoryItem::conversational).collect();
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => {
            output::json(&ActionResult { command, disposition: disposition.code(), memories: &items })?;
        }
        OutputFormat::Table => {
            let rows = items.iter().map(|item| {
                let [statement, source, use_, confidence, notes] = render::row(item);
                [item.memory_id.to_string(), statement, source, item.state.to_string(), use_, confidence, notes]
            });
            output::table(&["id", "statement", "source", "state", "use", "confidence", "notes"], rows)?;
        }
    }
    Ok(ActionOutcome { exit: ended(disposition)?, before: held, after })
}

/// How the command ended, for its user.
pub(in crate::cli) fn ended(disposition: Disposition) -> Result<Exit, CliError> {
    match disposition {
        Disposition::Stored | Disposition::Duplicate => Ok(Exit::Done),
        Disposition::Ephemeral => Err(CliError::failed("the patient is in ephemeral mode: nothing was stored")),
        Disposition::Quarantined(reason) => Err(CliError::failed(format!("quarantined: {}", reason.code()))),
        Disposition::Retry | Disposition::Waits => {
            Err(CliError::failed("the store could not be reached: run it again"))
        }
    }
}

pub(in crate::cli) fn message(
    scope: Scope,
    actor: CommandActor,
    ids: Vec<MemoryId>,
    command: Command,
    now: chrono::DateTime<chrono::Utc>,
) -> MemoryCommand {
    MemoryCommand {
        organization_id: scope.org(),
        patient_id: scope.patient(),
        actor,
        command,
        memory_ids: Some(ids),
        document_ids: None,
        topic: None,
        preview: None,
        reason: None,
        text: None,
        kind: None,
        derived_from: None,
        provenance: None,
        issued_at: Some(now),
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct SourceArgs {
    /// Id of the memory.
    #[arg(value_name = "ID")]
    id: MemoryId,
    #[command(flatten)]
    of: PatientArgs,
}

/// `memory source`: the lineage record of one memory (seed 001, section 8).
pub(crate) async fn source(args: SourceArgs, context: &Context) -> Result<Exit, CliError> {
    let scope = args.of.scope()?;
    let app = App::open(context).await?;
    let m = app.store.read().memory(scope, args.id, ReadInstant::Now).await?.ok_or_else(unknown)?;
    let origins = app.store.read().origins(scope, &[m.id]).await?.remove(&m.id).unwrap_or_default();
    let read_by = app.store.read().read_by(scope, m.id).await?;
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => output::json(&json!({
            "memory_id": m.id, "source_type": m.source_type, "source_entity": m.source_entity,
            "epistemic": m.epistemic, "trust": m.trust, "set_by": m.set_by, "is_proxy": m.is_proxy,
            "document_id": m.document_id, "revision": m.revision, "document_type": m.document_type,
            "file": m.file, "read_by": read_by,
            "derived_from": origins.derived_from, "source_episodes": origins.evidence,
            "confidence": m.confidence, "effective_confidence": m.status.effective_confidence,
            "confidence_basis": m.confidence_basis, "times_reinforced": m.times_reinforced,
            "verification_count": m.verification_count, "last_verified": m.last_verified,
            "is_orphan": origins.is_orphan(), "ungrounded": m.ungrounded,
        }))?,
        OutputFormat::Table => {
            let document = m.document_id.map(|id| format!("{id}, revision {}", m.revision.unwrap_or(0)));
            let rows = [
                ("source type", format!("{}, {}, {}", m.source_type, m.epistemic, m.trust)),
                ("stated by", m.source_entity.unwrap_or_else(|| m.set_by.to_string())),
                ("document", document.unwrap_or_else(|| "none".to_owned())),
                ("file", m.file.map_or_else(|| "none".to_owned(), |file| file.to_string())),
                ("read by", read_by.unwrap_or_else(|| "none".to_owned())),
                ("derived from", origins.derived_from.to_string()),
                ("evidence", origins.evidence.to_string()),
                ("confidence", format!("{:.2} stored, {:.2} now", m.confidence, m.status.effective_confidence)),
                ("reinforced, verified", format!("{}, {}", m.times_reinforced, m.verification_count)),
            ];
            output::table(&["", "source"], rows.map(|(name, value)| [name.to_owned(), value]))?;
        }
    }
    Ok(Exit::Done)
}
