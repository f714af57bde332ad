//! `job run NAME`; without a name, what there is to run.

use std::sync::Arc;

use chrono::{NaiveDate, TimeDelta};
use indicatif::ProgressBar;

use super::{JobName, RunSelectionArgs, counters, job_failure, list, open, organizations};
use crate::cli::output::{self, OutputFormat};
use crate::cli::{CliError, Context, Exit};
use anamnesis_jobs::driver::{JobOutcome, JobReport};
use anamnesis_jobs::ledger::Trigger;
use anamnesis_jobs::metrics::JobObserver;
use anamnesis_jobs::planner::{self, DueRun, PlannedOrganization, RunKey};
use anamnesis_jobs::scheduler::JobScheduler;
use anamnesis_observability::metrics::Metrics;

/// More job runs than this at once are a mistyped year.
const LONGEST_RANGE: i64 = 3_660;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The job. Without it, lists all jobs with their last runs, and runs nothing.
    name: Option<JobName>,
    /// Run for this local date of each organisation, even if it ran before [default: all due runs].
    #[arg(long, value_name = "DATE", conflicts_with_all = ["from", "to"])]
    as_of: Option<NaiveDate>,
    #[command(flatten)]
    selection: RunSelectionArgs,
    /// Show the effects and write nothing; the date may be in the future.
    #[arg(long)]
    dry_run: bool,
}

/// Rows that were read, on a terminal; and the metrics of the runs, as in a worker.
struct RunProgressBar {
    bar: ProgressBar,
    metrics: Arc<Metrics>,
}

impl JobObserver for RunProgressBar {
    fn began(&self, job: JobName) {
        self.metrics.began(job);
    }
    fn batch(&self, run: &RunKey, examined: u64, changed: u64) {
        self.bar.set_position(examined);
        self.bar.set_message(format!("{} {}: {changed} changed", run.job, run.as_of));
    }
    fn forged(&self) {
        self.metrics.forged();
    }
    fn ended(&self, report: &JobReport, took: TimeDelta) {
        self.metrics.ended(report, took);
    }
    fn ticked(&self, _: chrono::DateTime<chrono::Utc>, _: &[(JobName, chrono::DateTime<chrono::Utc>)]) {}
}

/// # Errors
/// When the store cannot be opened or the selection makes no sense. What becomes of the runs is in the exit code.
pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    match args.name {
        Some(job) => run_one(job, &args, context).await,
        None => list::last_runs(context).await,
    }
}

async fn run_one(job: JobName, args: &Args, context: &Context) -> Result<Exit, CliError> {
    let progress = output::progress_count(None);
    // Jobs that embed or compare vectors.
    let models = matches!(job, JobName::EmbedBatch | JobName::Reembedding | JobName::Reconciliation);
    let watched = |metrics: &Arc<Metrics>| {
        Arc::new(RunProgressBar { bar: progress.clone(), metrics: Arc::clone(metrics) }) as Arc<dyn JobObserver>
    };
    let scheduler = open(context, models, watched).await?;
    let mut reports = Vec::new();
    for (due, asked) in selected(&scheduler, job, args).await? {
        if scheduler.driver.shutdown.is_cancelled() {
            break;
        }
        let report = if args.dry_run { scheduler.preview(due).await } else { scheduler.offer(due, asked).await };
        reports.push(report.map_err(job_failure)?);
    }
    progress.finish_and_clear();
    print(&reports, context)?;
    let exit = exit_of(reports.iter().map(|report| &report.outcome));
    if scheduler.driver.shutdown.is_cancelled() { Ok(Exit::Partial) } else { Ok(exit) }
}

/// The runs that are meant, oldest first, and how they are asked for.
async fn selected(scheduler: &JobScheduler, job: JobName, args: &Args) -> Result<Vec<(DueRun, Trigger)>, CliError> {
    let organizations = organizations(scheduler, args.selection.org).await?;
    let dates = match (args.as_of, args.selection.from) {
        (Some(date), _) => Some((date, Some(date))),
        (None, Some(from)) => Some((from, args.selection.to)),
        (None, None) => None,
    };
    let mut runs = match dates {
        Some((from, to)) => {
            let mut runs = Vec::new();
            for organization in &organizations {
                let due = range(scheduler, job, organization, (from, to))?;
                runs.extend(due.into_iter().map(|due| (due, Trigger::Manual)));
            }
            runs
        }
        None => what_is_due(scheduler, job, &organizations).await?,
    };
    runs.sort_by_key(|(due, _)| (due.cutoff, due.key));
    Ok(runs)
}

/// All job runs that are due or, if there is none, the latest one. A store that was filled today has none due, and a
/// person who requests a run means it.
async fn what_is_due(
    scheduler: &JobScheduler,
    job: JobName,
    organizations: &[PlannedOrganization],
) -> Result<Vec<(DueRun, Trigger)>, CliError> {
    let now = scheduler.driver.clock.now();
    let mut due = scheduler.due().await.map_err(job_failure)?;
    due.retain(|due| due.key.job == job && organizations.iter().any(|known| known.org == due.key.org));
    for organization in organizations {
        let latest = planner::latest(job, scheduler.policies.get(job), organization, now);
        due.extend(latest.filter(|latest| !due.iter().any(|due| due.key.org == latest.key.org)));
    }
    Ok(due.into_iter().map(|due| (due, Trigger::Scheduled)).collect())
}

fn range(
    scheduler: &JobScheduler,
    job: JobName,
    organization: &PlannedOrganization,
    (from, to): (NaiveDate, Option<NaiveDate>),
) -> Result<Vec<DueRun>, CliError> {
    let policy = scheduler.policies.get(job);
    let latest = || planner::latest(job, policy, organization, scheduler.driver.clock.now());
    let Some(to) = to.or_else(|| latest().map(|due| due.key.as_of)) else { return Ok(Vec::new()) };
    if to < from || (to - from).num_days() > LONGEST_RANGE {
        return Err(CliError::usage("the range of dates is empty or longer than ten years"));
    }
    // One date is run whether or not the schedule names it; of a range, those that it names.
    let meant = |date: &NaiveDate| from == to || policy.schedule.fires_on(*date);
    let dates = from.iter_days().take_while(|date| *date <= to).filter(meant);
    Ok(dates.filter_map(|date| planner::run_of(job, policy, organization, date)).collect())
}

fn print(reports: &[JobReport], context: &Context) -> Result<(), CliError> {
    if context.format_or(OutputFormat::Table) == OutputFormat::Json {
        return reports.iter().try_for_each(output::json);
    }
    if reports.is_empty() {
        return output::line("Nothing to run: the store knows no organisation yet.");
    }
    let rows = reports.iter().map(|report| {
        [
            report.job.to_string(),
            report.org.to_string(),
            report.as_of.to_string(),
            outcome_text(report),
            report.changed.to_string(),
            counters(&report.status),
        ]
    });
    output::table(&["job", "organisation", "date", "outcome", "changed", "counts"], rows)
}

fn outcome_text(report: &JobReport) -> String {
    let code = report.outcome.code();
    match &report.outcome {
        JobOutcome::Failed { error } => format!("{code}: {error}"),
        JobOutcome::LeasedElsewhere { until } => format!("{code} by another owner until {until}"),
        JobOutcome::BackingOff { until } => format!("{code} after a failure until {until}"),
        JobOutcome::AlreadyDone => "done before".to_owned(),
        JobOutcome::Exhausted => "failed too often; run it with --as-of".to_owned(),
        JobOutcome::NotDue => format!("not before {}; --dry-run looks ahead", report.cutoff),
        JobOutcome::Done | JobOutcome::Partial | JobOutcome::Preview => code.to_owned(),
    }
}

/// The exit code of several runs (contract.md): 0 all are done; 1 all failed; 2 all lie ahead; 4 nothing went wrong but
/// that another owner holds some; else 3.
fn exit_of<'a>(outcomes: impl Iterator<Item = &'a JobOutcome>) -> Exit {
    let (mut well, mut failed, mut held, mut ahead, mut open) = (0, 0, 0, 0, 0);
    for outcome in outcomes {
        match outcome {
            JobOutcome::Done | JobOutcome::AlreadyDone | JobOutcome::Preview => well += 1,
            JobOutcome::Failed { .. } => failed += 1,
            JobOutcome::LeasedElsewhere { .. } => held += 1,
            JobOutcome::NotDue => ahead += 1,
            JobOutcome::Partial | JobOutcome::BackingOff { .. } | JobOutcome::Exhausted => open += 1,
        }
    }
    match (well, failed, held, ahead, open) {
        (_, 0, 0, 0, 0) => Exit::Done,
        (0, _, 0, 0, 0) => Exit::Failed,
        (0, 0, 0, _, 0) => Exit::Usage,
        (_, 0, _, 0, 0) => Exit::Held,
        _ => Exit::Partial,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_distinguish_done_failed_ahead_held_and_partial() {
        let until = chrono::DateTime::UNIX_EPOCH;
        let held = JobOutcome::LeasedElsewhere { until };
        let failed = JobOutcome::Failed { error: "schema" };
        for (outcomes, exit) in [
            (vec![], Exit::Done),
            (vec![JobOutcome::Done, JobOutcome::AlreadyDone], Exit::Done),
            (vec![failed.clone(), failed.clone()], Exit::Failed),
            (vec![JobOutcome::Done, failed.clone()], Exit::Partial),
            (vec![failed, held.clone()], Exit::Partial),
            (vec![held.clone()], Exit::Held),
            (vec![JobOutcome::Done, held], Exit::Held),
            (vec![JobOutcome::NotDue], Exit::Usage),
            (vec![JobOutcome::Done, JobOutcome::NotDue], Exit::Partial),
            (vec![JobOutcome::Partial], Exit::Partial),
            (vec![JobOutcome::Exhausted], Exit::Partial),
        ] {
            assert_eq!(exit_of(outcomes.iter()), exit, "{outcomes:?}");
        }
    }
}
