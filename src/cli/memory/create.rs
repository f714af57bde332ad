//! `memory add|promote|supersede|reinforce|revise`: memories made by hand (seed 001, sections 4, 5, 8 and 10). Each is a
//! command message on its way through the same pipeline as everything else.

use std::collections::BTreeSet;

use serde::Serialize;

use super::actions::{ActorArgs, message};
use crate::cli::app::App;
use crate::cli::output::{self, OutputFormat};
use crate::cli::patient::{PatientArgs, known};
use crate::cli::{CliError, Context, Exit, render};
use anamnesis_core::ids::MemoryId;
use anamnesis_core::memory::{Kind, State};
use anamnesis_core::provenance::Trust;
use anamnesis_messages::contract::{Command, Provenance};
use anamnesis_pipeline::{Disposition, RawMessage};
use anamnesis_search::MemoryItem;
use anamnesis_store::read::{MemoryFilter, ReadInstant};

/// Words, and where they come from.
#[derive(Debug, clap::Args)]
struct OriginArgs {
    /// The source as text, such as "reported by Claire".
    #[arg(long, value_name = "TEXT")]
    source: Option<String>,
    /// Id of a memory from which this one is derived; may be repeated. It cannot be changed later.
    #[arg(long, value_name = "ID")]
    derived_from: Vec<MemoryId>,
    #[command(flatten)]
    of: PatientArgs,
    #[command(flatten)]
    by: ActorArgs,
}

fn kind(text: &str) -> Result<Kind, String> {
    let kinds: Vec<Kind> = Kind::ALL.iter().copied().filter(|kind| *kind != Kind::Raw).collect();
    known(text, &kinds, Kind::code)
}

#[derive(Debug, clap::Args)]
pub(crate) struct AddArgs {
    /// The statement. It is redacted and stored as evidence like any other text.
    #[arg(long, value_name = "TEXT")]
    text: String,
    /// Kind: episode, note, belief, value, goal, drive or relationship.
    #[arg(long, default_value = "note", value_parser = kind)]
    kind: Kind,
    #[command(flatten)]
    made: OriginArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PromoteArgs {
    /// Id of the capture or memory.
    #[arg(value_name = "ID")]
    id: MemoryId,
    /// Kind of the new memory.
    #[arg(long, value_parser = kind)]
    kind: Kind,
    /// Text of the new memory [default: the text of the promoted one].
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    #[command(flatten)]
    made: OriginArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SupersedeArgs {
    /// Id of the memory that is replaced.
    #[arg(value_name = "ID")]
    id: MemoryId,
    /// The new statement.
    #[arg(long, value_name = "TEXT")]
    text: String,
    #[command(flatten)]
    made: OriginArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReinforceArgs {
    /// Id of the memory to reinforce. `--derived-from` names the evidence; each one counts once.
    #[arg(value_name = "ID")]
    id: MemoryId,
    #[command(flatten)]
    made: OriginArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReviseArgs {
    /// Id of the belief.
    #[arg(value_name = "ID")]
    id: MemoryId,
    /// Id of the episode.
    #[arg(long, value_name = "ID")]
    from_episode: MemoryId,
    /// New text of the belief [default: the episode reinforces the belief unchanged].
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    #[command(flatten)]
    made: OriginArgs,
}

/// The request of any of these verbs.
struct CreateRequest {
    command: Command,
    ids: Vec<MemoryId>,
    kind: Option<Kind>,
    text: Option<String>,
    made: OriginArgs,
}

pub(crate) async fn add(args: AddArgs, context: &Context) -> Result<Exit, CliError> {
    let AddArgs { text, kind, made } = args;
    run(CreateRequest { command: Command::Add, ids: Vec::new(), kind: Some(kind), text: Some(text), made }, context)
        .await
}

pub(crate) async fn promote(args: PromoteArgs, context: &Context) -> Result<Exit, CliError> {
    let PromoteArgs { id, kind, text, made } = args;
    run(CreateRequest { command: Command::Promote, ids: vec![id], kind: Some(kind), text, made }, context).await
}

pub(crate) async fn supersede(args: SupersedeArgs, context: &Context) -> Result<Exit, CliError> {
    let SupersedeArgs { id, text, made } = args;
    run(CreateRequest { command: Command::Supersede, ids: vec![id], kind: None, text: Some(text), made }, context).await
}

pub(crate) async fn reinforce(args: ReinforceArgs, context: &Context) -> Result<Exit, CliError> {
    let ReinforceArgs { id, made } = args;
    run(CreateRequest { command: Command::Reinforce, ids: vec![id], kind: None, text: None, made }, context).await
}

pub(crate) async fn revise(args: ReviseArgs, context: &Context) -> Result<Exit, CliError> {
    let ReviseArgs { id, from_episode, text, mut made } = args;
    made.derived_from.push(from_episode);
    run(CreateRequest { command: Command::Revise, ids: vec![id], kind: None, text, made }, context).await
}

/// The result: the memories that were named, and the new ones.
#[derive(Serialize)]
struct CreateResult<'a> {
    command: Command,
    disposition: &'static str,
    memories: &'a [MemoryItem],
}

async fn run(asked: CreateRequest, context: &Context) -> Result<Exit, CliError> {
    let CreateRequest { command, ids, kind, text, made } = asked;
    let (scope, actor) = (made.of.scope()?, made.by.actor()?);
    let app = App::open(context).await?;
    let all = MemoryFilter { states: State::ALL.to_vec(), ..MemoryFilter::default() };
    let held = app.store.read().memories(scope, &all, ReadInstant::Now).await?;
    let before: BTreeSet<MemoryId> = held.iter().map(|memory| memory.id).collect();
    let speaks = !matches!(command, Command::Reinforce | Command::Revise) || text.is_some();
    if !speaks && held.iter().any(|m| made.derived_from.contains(&m.id) && m.trust >= Trust::T4) {
        return Err(CliError::failed("what was only inferred is no evidence: name a statement of a person"));
    }
    if ids.iter().chain(&made.derived_from).any(|id| !before.contains(id)) {
        return Err(super::unknown());
    }
    let named: BTreeSet<MemoryId> = ids.iter().copied().collect();
    let mut message = message(scope, actor, ids, command, app.clock.now());
    message.text = text.map(Into::into);
    message.kind = kind;
    message.derived_from = (!made.derived_from.is_empty()).then_some(made.derived_from);
    message.provenance = made.source.map(|source| Provenance { source: Some(source.into()), ..Provenance::default() });
    let body = serde_json::to_vec(&message).map_err(|_| CliError::failed("the command cannot be written"))?;
    let done = app.pipeline()?.run(vec![RawMessage::from_body(body)]).await;
    let disposition = done.first().copied().unwrap_or(Disposition::Retry);
    let after = app.store.read().memories(scope, &all, ReadInstant::Now).await?;
    let of_interest = after.iter().filter(|m| m.kind != Kind::Raw);
    let of_interest = of_interest.filter(|m| named.contains(&m.id) || !before.contains(&m.id));
    let items: Vec<MemoryItem> = of_interest.map(MemoryItem::conversational).collect();
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => {
            output::json(&CreateResult { command, disposition: disposition.code(), memories: &items })?
        }
        OutputFormat::Table => {
            let rows = items.iter().map(|item| {
                let [statement, source, use_, confidence, notes] = render::row(item);
                let kind = item.kind.to_string();
                [item.memory_id.to_string(), kind, statement, source, item.state.to_string(), use_, confidence, notes]
            });
            output::table(&["id", "kind", "statement", "source", "state", "use", "confidence", "notes"], rows)?;
        }
    }
    super::actions::ended(disposition)
}
