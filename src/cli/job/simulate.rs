//! `job simulate`: the effects of the coming runs, on a temporary copy of the store (row 6 of the jobs: users see the
//! life of a memory before it happens).

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{counters, job_failure, policies};
use crate::cli::app::App;
use crate::cli::leftovers::{self, SIMULATION};
use crate::cli::output::{self, OutputFormat};
use crate::cli::{CliError, Context, Exit};
use anamnesis_core::clock::{Clock as _, ManualClock};
use anamnesis_core::ids::{MemoryId, OrgId, PatientId};
use anamnesis_core::memory::State;
use anamnesis_core::scope::Scope;
use anamnesis_jobs::JobName;
use anamnesis_jobs::driver::JobReport;
use anamnesis_jobs::scheduler::JobScheduler;
use anamnesis_sql::{Database, Location};
use anamnesis_store::Store;
use anamnesis_store::read::{Memory, MemoryFilter, ReadInstant};

/// More days than this are a mistyped year.
const LONGEST: i64 = 3_660;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this job [default: all].
    name: Option<JobName>,
    /// First date of the simulation (UTC) [default: today].
    #[arg(long, value_name = "DATE")]
    from: Option<NaiveDate>,
    /// Last date of the simulation (UTC).
    #[arg(long, value_name = "DATE")]
    to: NaiveDate,
    /// Only this organisation.
    #[arg(long, value_name = "UUID")]
    org: Option<Uuid>,
    /// Show the effects on each memory of this patient.
    #[arg(long, value_name = "UUID", requires = "org")]
    patient: Option<Uuid>,
}

/// A job run that would change something.
#[derive(Serialize)]
struct SimulatedRun {
    as_of: NaiveDate,
    job: JobName,
    organization_id: OrgId,
    changed: u64,
    status: Value,
}

/// The simulated changes of one memory.
#[derive(Serialize)]
struct SimulatedTransition {
    memory_id: MemoryId,
    from: State,
    to: State,
    at: Option<DateTime<Utc>>,
    confidence_before: f64,
    confidence_after: f64,
    uncertain: bool,
}

/// # Errors
/// When the store cannot be copied: a server's cannot, an embedded one can.
pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let app = App::open(context).await?;
    let start = args.from.map_or(app.clock.now(), |date| date.and_time(chrono::NaiveTime::MIN).and_utc());
    let end = args.to.and_time(chrono::NaiveTime::MIN).and_utc() + TimeDelta::days(1);
    if end <= start || (end - start).num_days() > LONGEST {
        return Err(CliError::usage("the range of dates is empty or longer than ten years"));
    }
    if app.store.db().engine() != "sqlite" {
        return Err(CliError::usage(
            "only an embedded store can be copied: restore a dump of the server's elsewhere, and run there",
        ));
    }
    // Next to the store, under a known name, so that an erasure finds the remains of a process that died.
    let folder = tempfile::Builder::new().prefix(SIMULATION).tempdir_in(leftovers::folder(&app.settings))?;
    let copy = folder.path().join("store.db");
    app.store.db().copy_to(&copy).await.map_err(|error| CliError::failed(error.to_string()))?;
    let database = Database::open(&Location::File(copy)).await.map_err(|error| CliError::failed(error.to_string()))?;
    let clock = Arc::new(ManualClock::at(start));
    let policies = policies(&app.settings)?;
    let store = Store::new(database, Arc::clone(app.store.keys()), clock.clone(), Arc::clone(&app.entropy))
        .with_policy(policies.lifecycle())
        .with_decay(policies.decay.thresholds);
    let before = memories(&store, &args).await?;
    let scheduler = JobScheduler::over(&store, policies, Arc::new(()), CancellationToken::new());
    let mut simulated_runs = Vec::new();
    let progress = output::progress_count(Some((end - start).num_days().unsigned_abs()));
    while clock.now() < end {
        let reports = rounds(&scheduler, &args).await?;
        // Runs that are due come first: they too will happen.
        simulated_runs.extend(reports.into_iter().filter(|report| report.changed > 0).map(simulated));
        clock.set((clock.now() + TimeDelta::hours(6)).min(end));
        progress.inc(1);
    }
    progress.finish_and_clear();
    let after = memories(&store, &args).await?;
    store.close().await;
    print(&simulated_runs, &changed(&before, &after), context)
}

/// Runs the jobs that are due at the simulated instant.
async fn rounds(scheduler: &JobScheduler, args: &Args) -> Result<Vec<JobReport>, CliError> {
    let mut reports = Vec::new();
    for due in scheduler.due().await.map_err(job_failure)? {
        let wanted =
            args.name.is_none_or(|name| name == due.key.job) && args.org.is_none_or(|org| org == due.key.org.0);
        if wanted {
            reports.push(scheduler.offer(due, anamnesis_jobs::ledger::Trigger::Scheduled).await.map_err(job_failure)?);
        }
    }
    Ok(reports)
}

fn simulated(report: JobReport) -> SimulatedRun {
    SimulatedRun {
        as_of: report.as_of,
        job: report.job,
        organization_id: report.org,
        changed: report.changed,
        status: report.status,
    }
}

async fn memories(store: &Store, args: &Args) -> Result<BTreeMap<MemoryId, Memory>, CliError> {
    let (Some(org), Some(patient)) = (args.org, args.patient) else { return Ok(BTreeMap::new()) };
    let scope = Scope::new(OrgId(org), PatientId(patient)).map_err(|error| CliError::usage(error.to_string()))?;
    let filter = MemoryFilter { states: State::ALL.to_vec(), ..MemoryFilter::default() };
    let all = store.read().memories(scope, &filter, ReadInstant::Now).await?;
    Ok(all.into_iter().map(|memory| (memory.id, memory)).collect())
}

fn changed(before: &BTreeMap<MemoryId, Memory>, after: &BTreeMap<MemoryId, Memory>) -> Vec<SimulatedTransition> {
    let becomes = |now: &Memory| {
        let was = before.get(&now.id);
        let (from, sure) =
            was.map_or((now.status.state, now.confidence), |was| (was.status.state, was.status.effective_confidence));
        let fell = now.status.low_confidence && !was.is_some_and(|was| was.status.low_confidence);
        let is_news = was.is_none() || from != now.status.state || fell;
        is_news.then_some(SimulatedTransition {
            memory_id: now.id,
            from,
            to: now.status.state,
            at: now.status.since,
            confidence_before: sure,
            confidence_after: now.status.effective_confidence,
            uncertain: now.status.low_confidence,
        })
    };
    after.values().filter_map(becomes).collect()
}

fn print(
    simulated_runs: &[SimulatedRun],
    memories: &[SimulatedTransition],
    context: &Context,
) -> Result<Exit, CliError> {
    if context.format_or(OutputFormat::Table) == OutputFormat::Json {
        // `nights` is the name of version 0.2, until 0.4.
        let answer = serde_json::json!({"job_runs": simulated_runs, "nights": simulated_runs, "memories": memories});
        output::json(&answer)?;
        return Ok(Exit::Done);
    }
    if simulated_runs.is_empty() {
        output::line("No job run would change anything.")?;
        return Ok(Exit::Done);
    }
    let rows = simulated_runs
        .iter()
        .map(|n| [n.as_of.to_string(), n.job.to_string(), n.organization_id.to_string(), counters(&n.status)]);
    output::table(&["date", "job", "organisation", "would do"], rows)?;
    if !memories.is_empty() {
        let rows = memories.iter().map(|m| {
            let at = m.at.map(|at| at.date_naive().to_string()).unwrap_or_default();
            let sure = format!("{:.2} → {:.2}", m.confidence_before, m.confidence_after);
            [m.memory_id.to_string(), m.from.to_string(), m.to.to_string(), at, sure]
        });
        output::table(&["memory", "is", "becomes", "on", "confidence"], rows)?;
    }
    Ok(Exit::Done)
}
