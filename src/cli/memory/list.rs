//! `memory list` and `memory contradictions`.

use super::ContradictionArgs;
use crate::cli::app::App;
use crate::cli::output::{self, OutputFormat};
use crate::cli::patient::{PatientArgs, TimePoint, known, note_unknown, when};
use crate::cli::{CliError, Context, Exit, render};
use anamnesis_core::finding::EntityType;
use anamnesis_core::ids::MemoryId;
use anamnesis_core::memory::{Class, Kind, State};
use anamnesis_core::provenance::{SourceType, Trust};
use anamnesis_search::MemoryItem;
use anamnesis_store::read::MemoryFilter;

/// Which memories. Conditions add up; each may be given several times.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    of: PatientArgs,
    /// active, resolved, resolved_unconfirmed, expired, stale, superseded, inactive, quarantined [default: all except
    /// forgotten and quarantined ones].
    #[arg(long, value_parser = |text: &str| known(text, State::ALL, State::code))]
    state: Vec<State>,
    /// long_lived_fact, time_bound_state, event, inference, health_signal, preference, pattern.
    #[arg(long, value_parser = |text: &str| known(text, Class::ALL, Class::code))]
    class: Vec<Class>,
    /// raw, episode, note, belief, value, goal, drive, relationship.
    #[arg(long, value_parser = |text: &str| known(text, Kind::ALL, Kind::code))]
    kind: Vec<Kind>,
    /// condition, symptom, allergy, medication, appointment, event, health_signal, preference, goal, relationship.
    #[arg(long, value_parser = |text: &str| known(text, EntityType::ALL, EntityType::code))]
    entity: Vec<EntityType>,
    /// How the source knows it: direct_experience, inference, consolidation, external, seed, observation, unknown.
    #[arg(long, value_parser = |text: &str| known(text, SourceType::ALL, SourceType::code))]
    source_type: Vec<SourceType>,
    /// Trust level: T1 to T5.
    #[arg(long, value_parser = |text: &str| known(text, Trust::ALL, Trust::code))]
    trust: Vec<Trust>,
    /// Maximum number of memories.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// The state at the end of this date, or at this instant.
    #[arg(long, value_name = "DATE")]
    as_of: Option<TimePoint>,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let scope = args.of.scope()?;
    let app = App::open(context).await?;
    let filter = MemoryFilter {
        states: args.state,
        classes: args.class,
        kinds: args.kind,
        entities: args.entity,
        ids: Vec::new(),
        source_types: args.source_type,
        trusts: args.trust,
        limit: args.limit,
    };
    let when = when(args.as_of);
    let memories = app.store.read().memories(scope, &filter, when).await?;
    let charted = app.store.read().clinical(scope, when).await?;
    let chart = |id: MemoryId| charted.iter().find(|row| row.memory.id == id);
    let items: Vec<MemoryItem> = memories
        .iter()
        .map(|memory| chart(memory.id).map_or_else(|| MemoryItem::conversational(memory), MemoryItem::clinical))
        .collect();
    context.read.finds(items.is_empty());
    note_unknown(&app, scope, items.is_empty()).await?;
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => output::json(&items)?,
        OutputFormat::Table if items.is_empty() => output::line("No such memories.")?,
        OutputFormat::Table => {
            let rows = items.iter().map(|item| {
                let [statement, source, use_, confidence, notes] = render::row(item);
                [item.memory_id.to_string(), statement, source, item.state.to_string(), use_, confidence, notes]
            });
            output::table(&["id", "statement", "source", "state", "use", "confidence", "notes"], rows)?;
        }
    }
    Ok(Exit::Done)
}

pub(crate) async fn contradictions(args: ContradictionArgs, context: &Context) -> Result<Exit, CliError> {
    let scope = args.of.scope()?;
    let app = App::open(context).await?;
    let pairs = anamnesis_search::context::contradictions(&app.store, scope, when(args.as_of)).await?;
    note_unknown(&app, scope, pairs.is_empty()).await?;
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => output::json(&pairs)?,
        OutputFormat::Table if pairs.is_empty() => output::line("No contradictions.")?,
        OutputFormat::Table => render::contradictions(&pairs)?,
    }
    Ok(Exit::Done)
}
