//! `events list|replay|drop`: the contents of the outbox, and the possible acts on an undelivered event. Every replay
//! and every drop is audited with its actor.

use chrono::{DateTime, Utc};
use clap::{Subcommand, ValueEnum};
use serde_json::json;
use uuid::Uuid;

use super::app::App;
use super::output::{self, OutputFormat};
use super::{CliError, Context, Exit, audited};
use anamnesis_config::BrokerConfig;
use anamnesis_core::ids::OrgId;
use anamnesis_outbox::{EXCHANGE, webhook_name};
use anamnesis_store::StoreError;
use anamnesis_store::outbox_admin::{OutboxEntry, OutboxFilter};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: EventsSubcommand,
}

#[derive(Debug, Subcommand)]
enum EventsSubcommand {
    /// List events with ids, types and destinations; no content
    List {
        /// Only events in this state.
        #[arg(long, value_enum, default_value_t = EventStateArg::Waiting)]
        state: EventStateArg,
        #[command(flatten)]
        among: EventSelectionArgs,
        /// Maximum number of events.
        #[arg(long, default_value_t = 100)]
        limit: u32,
    },
    /// Deliver events again under the same ids: the given ones, or all that match the options
    Replay {
        ids: Vec<Uuid>,
        /// Without ids: only events in this state.
        #[arg(long, value_enum)]
        state: Option<EventStateArg>,
        #[command(flatten)]
        among: EventSelectionArgs,
        /// Deliver to this destination only (`events destinations` lists the names).
        #[arg(long, value_name = "NAME")]
        only: Option<String>,
        #[command(flatten)]
        by: EventActorArgs,
    },
    /// Drop waiting events: they are not delivered any more
    Drop {
        #[arg(required = true)]
        ids: Vec<Uuid>,
        #[command(flatten)]
        by: EventActorArgs,
    },
    /// List the configured destinations
    Destinations,
}

/// How far an event has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EventStateArg {
    Waiting,
    Delivered,
    /// A callback answered 410.
    Refused,
    Dropped,
    /// Its patient was erased.
    Gone,
    All,
}

impl EventStateArg {
    fn code(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Delivered => "delivered",
            Self::Refused => "refused",
            Self::Dropped => "dropped",
            Self::Gone => "gone",
            Self::All => "all",
        }
    }
}

#[derive(Debug, clap::Args)]
struct EventSelectionArgs {
    /// Only events of this organisation.
    #[arg(long, value_name = "UUID")]
    org: Option<Uuid>,
    /// Only events of this type, such as `risk.flagged.v1`.
    #[arg(long = "type", value_name = "TYPE", default_value = "", hide_default_value = true)]
    event_type: String,
    /// Only events from this instant (RFC 3339).
    #[arg(long, value_name = "TIME")]
    since: Option<DateTime<Utc>>,
    /// Only events before this instant (RFC 3339).
    #[arg(long, value_name = "TIME")]
    until: Option<DateTime<Utc>>,
}

impl EventSelectionArgs {
    fn event_type(&self) -> String {
        match self.event_type.as_str() {
            "" => String::new(),
            short if !short.starts_with("anamnesis.") => format!("anamnesis.{short}"),
            whole => whole.to_owned(),
        }
    }
}

#[derive(Debug, clap::Args)]
struct EventActorArgs {
    /// Who acts, for the audit trail [default: the operating system's user].
    #[arg(long, env = "ANAMNESIS_ACTOR", default_value_t = audited::user(), value_name = "NAME")]
    actor: String,
}

/// # Errors
/// When the store cannot be opened, or the arguments name nothing.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let format = context.format_or(OutputFormat::Table);
    context.block_on(async {
        let app = App::open(context).await?;
        match args.what {
            EventsSubcommand::List { state, among, limit } => list(&app, state, &among, limit, format).await,
            EventsSubcommand::Replay { ids, state, among, only, by } => {
                let chosen = match state {
                    _ if !ids.is_empty() => by_id(&app, &ids).await,
                    Some(state) => found(&app, state, &among, i64::MAX).await,
                    None => Err(CliError::usage("give ids, or --state to say which events")),
                };
                replay(&app, chosen?, only.as_deref(), ids.len(), &by.actor, format).await
            }
            EventsSubcommand::Drop { ids, by } => give_up(&app, &ids, &by.actor, format).await,
            EventsSubcommand::Destinations => destinations(&app.settings.broker, format),
        }
    })
}

fn failed(error: StoreError) -> CliError {
    CliError::failed(error.to_string())
}

async fn organizations(app: &App) -> Result<Vec<OrgId>, CliError> {
    app.store.stats().every_organization().await.map_err(failed)
}

async fn found(
    app: &App,
    state: EventStateArg,
    among: &EventSelectionArgs,
    most: i64,
) -> Result<Vec<OutboxEntry>, CliError> {
    let event_type = among.event_type();
    let mut found = Vec::new();
    for org in organizations(app).await?.into_iter().filter(|org| among.org.is_none_or(|only| org.0 == only)) {
        let which = OutboxFilter {
            state: state.code(),
            event_type: &event_type,
            since: among.since.unwrap_or(DateTime::UNIX_EPOCH),
            until: among.until.unwrap_or(DAY_OF_NEVER),
            most,
        };
        found.extend(app.store.outbox().events(org, &which).await.map_err(failed)?);
    }
    found.sort_by_key(|event| (event.created_at, event.id));
    found.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok(found)
}

/// After every instant that a store holds.
const DAY_OF_NEVER: DateTime<Utc> = DateTime::<Utc>::MAX_UTC;

async fn by_id(app: &App, ids: &[Uuid]) -> Result<Vec<OutboxEntry>, CliError> {
    let mut found = Vec::new();
    for org in organizations(app).await? {
        found.extend(app.store.outbox().events_of(org, ids).await.map_err(failed)?);
    }
    Ok(found)
}

async fn list(
    app: &App,
    state: EventStateArg,
    among: &EventSelectionArgs,
    limit: u32,
    format: OutputFormat,
) -> Result<Exit, CliError> {
    let found = found(app, state, among, i64::from(limit)).await?;
    if format == OutputFormat::Json {
        for one in &found {
            output::json(one)?;
        }
        return Ok(Exit::Done);
    }
    let rows = found.iter().map(|one| {
        let taken = one.taken.join(" ");
        let attempts = one.attempts.to_string();
        [one.id.to_string(), one.state.clone(), one.event_type.clone(), attempts, taken, one.created_at.to_rfc3339()]
    });
    output::table(&["Id", "State", "Type", "Attempts", "Taken by", "Since"], rows)?;
    Ok(Exit::Done)
}

async fn replay(
    app: &App,
    events: Vec<OutboxEntry>,
    only: Option<&str>,
    asked: usize,
    actor: &str,
    format: OutputFormat,
) -> Result<Exit, CliError> {
    let all = names(&app.settings.broker);
    let taken = match only {
        Some(only) if !all.iter().any(|name| name == only) => {
            return Err(CliError::usage("--only: no such destination; `anamnesis events destinations` names them"));
        }
        Some(only) => all.iter().filter(|name| *name != only).map(String::as_str).collect::<Vec<_>>().join(" "),
        None => String::new(),
    };
    let (mut replayed, mut not) = (0, asked.saturating_sub(events.len()) as u64);
    for event in &events {
        match app.store.outbox().replay_event(event, &taken, actor).await.map_err(failed)? {
            true => replayed += 1,
            false => not += 1,
        }
    }
    report("replayed", replayed, "not there, or of an erased patient", not, format)
}

async fn give_up(app: &App, ids: &[Uuid], actor: &str, format: OutputFormat) -> Result<Exit, CliError> {
    let mut dropped = 0;
    for event in by_id(app, ids).await? {
        dropped += u64::from(app.store.outbox().drop_event(&event, actor).await.map_err(failed)?);
    }
    report("dropped", dropped, "not there, or not waiting", (ids.len() as u64).saturating_sub(dropped), format)
}

/// The names of all destinations of this configuration.
fn names(config: &BrokerConfig) -> Vec<String> {
    let exchange = config.is_set().then(|| EXCHANGE.to_owned());
    exchange.into_iter().chain(config.webhooks.iter().map(webhook_name)).collect()
}

fn destinations(config: &BrokerConfig, format: OutputFormat) -> Result<Exit, CliError> {
    let kinds = names(config).into_iter().enumerate().map(|(at, name)| {
        let hook = at.checked_sub(usize::from(config.is_set())).and_then(|at| config.webhooks.get(at));
        let wants = match hook {
            Some(hook) if !hook.events.is_empty() => hook.events.join(" "),
            _ => "all".to_owned(),
        };
        (name, wants)
    });
    if format == OutputFormat::Json {
        for (name, events) in kinds {
            output::json(&json!({"name": name, "events": events}))?;
        }
    } else {
        output::table(&["Name", "Events"], kinds.map(|(name, events)| [name, events]))?;
    }
    Ok(Exit::Done)
}

/// The first count is that of the requested act.
fn report(what: &str, done: u64, other: &str, not: u64, format: OutputFormat) -> Result<Exit, CliError> {
    if format == OutputFormat::Json {
        output::json(&json!({what: done, "not_done": not}))?;
    } else {
        let rows = [(what, done), (other, not)].map(|(what, n)| [what.to_owned(), n.to_string()]);
        output::table(&["Events", "Number"], rows)?;
    }
    Ok(match (done, not) {
        (_, 0) => Exit::Done,
        (0, _) => Exit::Failed,
        _ => Exit::Partial,
    })
}
