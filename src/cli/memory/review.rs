//! `memory uncertain|orphans|review`: memories that a person should review (seed 001, section 8; seed 002, section 8).

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde::Serialize;

use crate::cli::app::App;
use crate::cli::output::{self, OutputFormat};
use crate::cli::patient::{PatientArgs, TimePoint, when};
use crate::cli::{CliError, Context, Exit, render};
use anamnesis_core::confidence::{ConfidenceBasis, DecayPolicy, uncertain, uncertain_at};
use anamnesis_core::ids::MemoryId;
use anamnesis_core::memory::{Kind, State};
use anamnesis_search::MemoryItem;
use anamnesis_store::read::{Memory, MemoryFilter};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    of: PatientArgs,
    /// The state at the end of this date, or at this instant.
    #[arg(long, value_name = "DATE")]
    as_of: Option<TimePoint>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct UncertainArgs {
    #[command(flatten)]
    args: Args,
    /// Confidence threshold. A memory that decayed to exactly this value counts as below [default: the policy's].
    #[arg(long, value_name = "0.0-1.0", value_parser = unit)]
    threshold: Option<f64>,
}

fn unit(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|value| (0.0..=1.0).contains(value)).ok_or_else(|| "a number from 0 to 1".to_owned())
}

/// A memory with why it is shown.
#[derive(Serialize)]
struct ReviewItem {
    /// decay, evidence_against, given_by_the_source, cognitive_state, inferred, as_recorded, age, contradiction, sources_gone, quarantined,
    /// no_source, read_doubtfully.
    cause: &'static str,
    since: Option<DateTime<Utc>>,
    #[serde(flatten)]
    item: MemoryItem,
}

impl ReviewItem {
    fn new(memory: &Memory, cause: &'static str, since: Option<DateTime<Utc>>) -> Self {
        Self { cause, since, item: MemoryItem::conversational(memory) }
    }
}

async fn memories(args: &Args, states: Vec<State>, app: &App) -> Result<Vec<Memory>, CliError> {
    let filter = MemoryFilter { states, ..MemoryFilter::default() };
    let mut all = app.store.read().memories(args.of.scope()?, &filter, when(args.as_of)).await?;
    // Raw captures are never used for decisions: no one is asked about them.
    all.retain(|memory| memory.kind != Kind::Raw);
    Ok(all)
}

/// Active memories with an effective confidence below the threshold, least sure first.
pub(crate) async fn uncertain_ones(asked: UncertainArgs, context: &Context) -> Result<Exit, CliError> {
    let app = App::open(context).await?;
    let threshold = asked.threshold.unwrap_or(app.store.decay().uncertain_below);
    let mut found = memories(&asked.args, vec![State::Active], &app).await?;
    found.retain(|m| uncertain(m.status.effective_confidence, m.confidence, threshold));
    found.sort_by(|a, b| a.status.effective_confidence.total_cmp(&b.status.effective_confidence).then(a.id.cmp(&b.id)));
    let listed = found.iter().map(|m| {
        let (cause, since) = doubt(&app, m, threshold);
        ReviewItem::new(m, cause, since)
    });
    print(listed.collect(), "No uncertain memories.", context)
}

/// Memories without any provenance: no known source, nothing they were made from, no evidence.
pub(crate) async fn orphans(args: Args, context: &Context) -> Result<Exit, CliError> {
    let app = App::open(context).await?;
    let all = memories(&args, Vec::new(), &app).await?;
    let ids: Vec<_> = all.iter().map(|m| m.id).collect();
    let origins = app.store.read().origins(args.of.scope()?, &ids).await?;
    let is_orphan = |m: &&Memory| origins.get(&m.id).is_none_or(|origins| origins.is_orphan());
    let listed = all.iter().filter(is_orphan).map(|m| ReviewItem::new(m, "no_source", Some(m.recorded_at)));
    print(listed.collect(), "No orphans.", context)
}

/// Everything that waits for a person, the longest waiting first.
pub(crate) async fn review(args: Args, context: &Context) -> Result<Exit, CliError> {
    let app = App::open(context).await?;
    let all = memories(&args, vec![State::Active, State::Stale, State::Quarantined], &app).await?;
    // A person who may not end it stated that it is over: it stays active, and waits for one who may.
    let known = app.store.read().contradictions(args.of.scope()?).await?;
    let disputed: HashMap<MemoryId, DateTime<Utc>> = known
        .iter()
        .filter(|one| one.kept == one.claim && one.state == "open")
        .map(|one| (one.kept, one.found_at))
        .collect();
    let mut listed: Vec<ReviewItem> = all.iter().filter_map(|m| waiting(&app, m, disputed.get(&m.id))).collect();
    listed.sort_by_key(|l| (l.since, l.item.memory_id));
    print(listed, "Nothing waits for review.", context)
}

fn waiting(app: &App, m: &Memory, disputed: Option<&DateTime<Utc>>) -> Option<ReviewItem> {
    let (cause, since) = if m.status.state == State::Quarantined {
        ("quarantined", m.status.since)
    } else if m.contested {
        ("contradiction", Some(m.said_at))
    } else if let Some(at) = disputed {
        ("contradiction", Some(*at))
    } else if m.status.reconfirm_due {
        ("age", m.reconfirm_due_at.or(m.last_confirmed_at))
    } else if m.ungrounded {
        ("sources_gone", m.status.since)
    } else if m.status.read_doubtfully && m.status.state == State::Active {
        ("read_doubtfully", Some(m.recorded_at))
    } else if m.status.low_confidence && m.status.state == State::Active {
        doubt(app, m, app.store.decay().uncertain_below)
    } else {
        return None;
    };
    Some(ReviewItem::new(m, cause, since))
}

/// Why a memory is not certain enough, and since when: by its statement, or by the time since. A threshold of the
/// caller is applied like the policy's.
fn doubt(app: &App, m: &Memory, threshold: f64) -> (&'static str, Option<DateTime<Utc>>) {
    if m.confidence < threshold && m.confidence < m.initial_confidence {
        return ("evidence_against", Some(m.recorded_at));
    }
    if m.confidence < threshold {
        let cause = match m.confidence_basis {
            ConfidenceBasis::Given => "given_by_the_source",
            ConfidenceBasis::CognitiveState => "cognitive_state",
            ConfidenceBasis::Formed => "inferred",
            ConfidenceBasis::Proxy | ConfidenceBasis::Default => "as_recorded",
        };
        return (cause, Some(m.recorded_at));
    }
    let since = m.last_verified.unwrap_or(m.recorded_at);
    let protected = anamnesis_core::confidence::is_protected(m.is_protected, m.class);
    let policy = DecayPolicy { uncertain_below: threshold, ..*app.store.decay() };
    let fell = uncertain_at(&policy, m.kind, m.confidence, protected, since);
    ("decay", fell.filter(|at| *at <= app.clock.now()))
}

fn print(listed: Vec<ReviewItem>, none: &str, context: &Context) -> Result<Exit, CliError> {
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => output::json(&listed)?,
        OutputFormat::Table if listed.is_empty() => output::line(none)?,
        OutputFormat::Table => {
            let rows = listed.iter().map(|l| {
                let [statement, source, use_, confidence, _] = render::row(&l.item);
                let since = l.since.map(|at| at.date_naive().to_string()).unwrap_or_default();
                [l.item.memory_id.to_string(), statement, source, use_, confidence, l.cause.to_owned(), since]
            });
            output::table(&["id", "statement", "source", "use", "confidence", "why", "since"], rows)?;
        }
    }
    Ok(Exit::Done)
}
