//! `job simulate`: what the coming nights will do, on a copy of the store that is thrown away (row 6 of the nights: users
//! see the life of a memory before it happens).

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{counters, job_failure, policies};
use crate::cli::leftovers::{self, SIMULATION};
use crate::cli::output::{self, Format};
use crate::cli::world::World;
use crate::cli::{Context, Exit, Failure};
use anamnesis_core::clock::{Clock as _, ManualClock};
use anamnesis_core::ids::{MemoryId, OrgId, PatientId};
use anamnesis_core::memory::State;
use anamnesis_core::scope::Scope;
use anamnesis_jobs::JobName;
use anamnesis_jobs::driver::Report;
use anamnesis_jobs::night::Night;
use anamnesis_sql::{Database, Location};
use anamnesis_store::Store;
use anamnesis_store::read::{Filter, Memory, When};

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
    /// Tell what becomes of each memory of this patient.
    #[arg(long, value_name = "UUID", requires = "org")]
    patient: Option<Uuid>,
}

/// A night that would change something.
#[derive(Serialize)]
struct Simulated {
    as_of: NaiveDate,
    job: JobName,
    organization_id: OrgId,
    changed: u64,
    status: Value,
}

/// What would become of one memory.
#[derive(Serialize)]
struct Becomes {
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
pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let world = World::open(context).await?;
    let start = args.from.map_or(world.clock.now(), |date| date.and_time(chrono::NaiveTime::MIN).and_utc());
    let end = args.to.and_time(chrono::NaiveTime::MIN).and_utc() + TimeDelta::days(1);
    if end <= start || (end - start).num_days() > LONGEST {
        return Err(Failure::usage("the range of dates is empty or longer than ten years"));
    }
    if world.store.db().engine() != "sqlite" {
        return Err(Failure::usage(
            "only an embedded store can be copied: restore a dump of the server's elsewhere, and run there",
        ));
    }
    // Next to the store, under a name that is known, so that an erasure finds what a process that died left.
    let folder = tempfile::Builder::new().prefix(SIMULATION).tempdir_in(leftovers::folder(&world.settings))?;
    let copy = folder.path().join("store.db");
    world.store.db().copy_to(&copy).await.map_err(|error| Failure::failed(error.to_string()))?;
    let database = Database::open(&Location::File(copy)).await.map_err(|error| Failure::failed(error.to_string()))?;
    let clock = Arc::new(ManualClock::at(start));
    let policies = policies(&world.settings)?;
    let store = Store::new(database, Arc::clone(world.store.keys()), clock.clone(), Arc::clone(&world.entropy))
        .with_policy(policies.lifecycle())
        .with_decay(policies.decay.thresholds);
    let before = memories(&store, &args).await?;
    let night = Night::over(&store, policies, Arc::new(()), CancellationToken::new());
    let mut nights = Vec::new();
    let progress = output::progress_count(Some((end - start).num_days().unsigned_abs()));
    while clock.now() < end {
        let reports = rounds(&night, &args).await?;
        // Nights that are owed come first: they too will happen.
        nights.extend(reports.into_iter().filter(|report| report.changed > 0).map(simulated));
        clock.set((clock.now() + TimeDelta::hours(6)).min(end));
        progress.inc(1);
    }
    progress.finish_and_clear();
    let after = memories(&store, &args).await?;
    store.close().await;
    print(&nights, &changed(&before, &after), context)
}

/// Offers what is due at the simulated instant.
async fn rounds(night: &Night, args: &Args) -> Result<Vec<Report>, Failure> {
    let mut reports = Vec::new();
    for due in night.due().await.map_err(job_failure)? {
        let wanted =
            args.name.is_none_or(|name| name == due.key.job) && args.org.is_none_or(|org| org == due.key.org.0);
        if wanted {
            reports.push(night.offer(due, anamnesis_jobs::ledger::Asked::BySchedule).await.map_err(job_failure)?);
        }
    }
    Ok(reports)
}

fn simulated(report: Report) -> Simulated {
    Simulated {
        as_of: report.as_of,
        job: report.job,
        organization_id: report.org,
        changed: report.changed,
        status: report.status,
    }
}

async fn memories(store: &Store, args: &Args) -> Result<BTreeMap<MemoryId, Memory>, Failure> {
    let (Some(org), Some(patient)) = (args.org, args.patient) else { return Ok(BTreeMap::new()) };
    let scope = Scope::new(OrgId(org), PatientId(patient)).map_err(|error| Failure::usage(error.to_string()))?;
    let filter = Filter { states: State::ALL.to_vec(), ..Filter::default() };
    let all = store.memories(scope, &filter, When::Now).await?;
    Ok(all.into_iter().map(|memory| (memory.id, memory)).collect())
}

fn changed(before: &BTreeMap<MemoryId, Memory>, after: &BTreeMap<MemoryId, Memory>) -> Vec<Becomes> {
    let becomes = |now: &Memory| {
        let was = before.get(&now.id);
        let (from, sure) = was.map_or((now.standing.state, now.confidence), |was| {
            (was.standing.state, was.standing.effective_confidence)
        });
        let fell = now.standing.low_confidence && !was.is_some_and(|was| was.standing.low_confidence);
        let is_news = was.is_none() || from != now.standing.state || fell;
        is_news.then_some(Becomes {
            memory_id: now.id,
            from,
            to: now.standing.state,
            at: now.standing.since,
            confidence_before: sure,
            confidence_after: now.standing.effective_confidence,
            uncertain: now.standing.low_confidence,
        })
    };
    after.values().filter_map(becomes).collect()
}

fn print(nights: &[Simulated], memories: &[Becomes], context: &Context) -> Result<Exit, Failure> {
    if context.format_or(Format::Table) == Format::Json {
        output::json(&serde_json::json!({"nights": nights, "memories": memories}))?;
        return Ok(Exit::Done);
    }
    if nights.is_empty() {
        output::line("No job run would change anything.")?;
        return Ok(Exit::Done);
    }
    let rows = nights
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
