//! `memory add|promote|supersede|reinforce|revise`: memories made by hand (seed 001, sections 4, 5, 8 and 10). Each is a
//! command message on its way through the same pipeline as everything else.

use std::collections::BTreeSet;

use serde::Serialize;

use super::act::{By, message};
use crate::cli::output::{self, Format};
use crate::cli::patient::{Of, known};
use crate::cli::world::World;
use crate::cli::{Context, Exit, Failure, sections};
use anamnesis_core::ids::MemoryId;
use anamnesis_core::memory::{Kind, State};
use anamnesis_core::provenance::Trust;
use anamnesis_messages::contract::{Command, Provenance};
use anamnesis_pipeline::{Disposition, Raw};
use anamnesis_search::Item;
use anamnesis_store::read::{Filter, When};

/// Words, and where they come from.
#[derive(Debug, clap::Args)]
struct Made {
    /// Where it comes from, in words, such as "reported by Claire".
    #[arg(long, value_name = "TEXT")]
    source: Option<String>,
    /// What it is made from; may be given several times. Named once, never changed.
    #[arg(long, value_name = "ID")]
    derived_from: Vec<MemoryId>,
    #[command(flatten)]
    of: Of,
    #[command(flatten)]
    by: By,
}

fn kind(text: &str) -> Result<Kind, String> {
    let kinds: Vec<Kind> = Kind::ALL.iter().copied().filter(|kind| *kind != Kind::Raw).collect();
    known(text, &kinds, Kind::code)
}

#[derive(Debug, clap::Args)]
pub(crate) struct Add {
    /// What to keep. Passes redaction and becomes evidence like everything that is said.
    #[arg(long, value_name = "TEXT")]
    text: String,
    /// episode, note, belief, value, goal, drive or relationship.
    #[arg(long, default_value = "note", value_parser = kind)]
    kind: Kind,
    #[command(flatten)]
    made: Made,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Promote {
    /// The capture or memory.
    #[arg(value_name = "ID")]
    id: MemoryId,
    /// As what.
    #[arg(long, value_parser = kind)]
    kind: Kind,
    /// In these words [default: its own].
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    #[command(flatten)]
    made: Made,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Supersede {
    /// The memory that is replaced.
    #[arg(value_name = "ID")]
    id: MemoryId,
    /// What holds in its place.
    #[arg(long, value_name = "TEXT")]
    text: String,
    #[command(flatten)]
    made: Made,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Reinforce {
    /// The memory that something else speaks for. `--derived-from` names what does; each counts once.
    #[arg(value_name = "ID")]
    id: MemoryId,
    #[command(flatten)]
    made: Made,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Revise {
    /// The belief.
    #[arg(value_name = "ID")]
    id: MemoryId,
    /// The episode that taught it.
    #[arg(long, value_name = "ID")]
    from_episode: MemoryId,
    /// What holds now [default: the episode speaks for the belief as it is].
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
    #[command(flatten)]
    made: Made,
}

/// What somebody asks for, whichever verb it was.
struct Asked {
    command: Command,
    ids: Vec<MemoryId>,
    kind: Option<Kind>,
    text: Option<String>,
    made: Made,
}

pub(crate) async fn add(args: Add, context: &Context) -> Result<Exit, Failure> {
    let Add { text, kind, made } = args;
    run(Asked { command: Command::Add, ids: Vec::new(), kind: Some(kind), text: Some(text), made }, context).await
}

pub(crate) async fn promote(args: Promote, context: &Context) -> Result<Exit, Failure> {
    let Promote { id, kind, text, made } = args;
    run(Asked { command: Command::Promote, ids: vec![id], kind: Some(kind), text, made }, context).await
}

pub(crate) async fn supersede(args: Supersede, context: &Context) -> Result<Exit, Failure> {
    let Supersede { id, text, made } = args;
    run(Asked { command: Command::Supersede, ids: vec![id], kind: None, text: Some(text), made }, context).await
}

pub(crate) async fn reinforce(args: Reinforce, context: &Context) -> Result<Exit, Failure> {
    let Reinforce { id, made } = args;
    run(Asked { command: Command::Reinforce, ids: vec![id], kind: None, text: None, made }, context).await
}

pub(crate) async fn revise(args: Revise, context: &Context) -> Result<Exit, Failure> {
    let Revise { id, from_episode, text, mut made } = args;
    made.derived_from.push(from_episode);
    run(Asked { command: Command::Revise, ids: vec![id], kind: None, text, made }, context).await
}

/// What came of it: the memories that were named, and those that are new.
#[derive(Serialize)]
struct Done<'a> {
    command: Command,
    disposition: &'static str,
    memories: &'a [Item],
}

async fn run(asked: Asked, context: &Context) -> Result<Exit, Failure> {
    let Asked { command, ids, kind, text, made } = asked;
    let (scope, actor) = (made.of.scope()?, made.by.actor()?);
    let world = World::open(context).await?;
    let all = Filter { states: State::ALL.to_vec(), ..Filter::default() };
    let held = world.store.memories(scope, &all, When::Now).await?;
    let before: BTreeSet<MemoryId> = held.iter().map(|memory| memory.id).collect();
    let speaks = !matches!(command, Command::Reinforce | Command::Revise) || text.is_some();
    if !speaks && held.iter().any(|m| made.derived_from.contains(&m.id) && m.trust >= Trust::T4) {
        return Err(Failure::failed("what was only inferred is no evidence: name a statement of a person"));
    }
    if ids.iter().chain(&made.derived_from).any(|id| !before.contains(id)) {
        return Err(super::unknown());
    }
    let named: BTreeSet<MemoryId> = ids.iter().copied().collect();
    let mut message = message(scope, actor, ids, command, world.clock.now());
    message.text = text.map(Into::into);
    message.kind = kind;
    message.derived_from = (!made.derived_from.is_empty()).then_some(made.derived_from);
    message.provenance = made.source.map(|source| Provenance { source: Some(source.into()), ..Provenance::default() });
    let body = serde_json::to_vec(&message).map_err(|_| Failure::failed("the command cannot be written"))?;
    let done = world.pipeline()?.run(vec![Raw::of(body)]).await;
    let disposition = done.first().copied().unwrap_or(Disposition::Retry);
    let after = world.store.memories(scope, &all, When::Now).await?;
    let of_interest = after.iter().filter(|m| m.kind != Kind::Raw);
    let of_interest = of_interest.filter(|m| named.contains(&m.id) || !before.contains(&m.id));
    let items: Vec<Item> = of_interest.map(Item::conversational).collect();
    match context.format_or(Format::Table) {
        Format::Json => output::json(&Done { command, disposition: disposition.code(), memories: &items })?,
        Format::Table => {
            let rows = items.iter().map(|item| {
                let [statement, source, use_, confidence, notes] = sections::row(item);
                let kind = item.kind.to_string();
                [item.memory_id.to_string(), kind, statement, source, item.state.to_string(), use_, confidence, notes]
            });
            output::table(&["id", "kind", "statement", "source", "state", "use", "confidence", "notes"], rows)?;
        }
    }
    super::act::ended(disposition)
}
