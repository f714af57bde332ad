//! `job status` and `job history`.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serialize;
use serde_json::Value;

use super::{JobName, RunSelectionArgs, counters, job_failure, open, organizations};
use crate::cli::output::{self, OutputFormat};
use crate::cli::{CliError, Context, Exit};
use anamnesis_core::ids::OrgId;
use anamnesis_jobs::ledger::{JobRun, rows};
use anamnesis_jobs::planner::{self, PlannedOrganization};

#[derive(Debug, clap::Args)]
pub(crate) struct StatusArgs {
    /// Only this job.
    name: Option<JobName>,
    /// Only this organisation.
    #[arg(long, value_name = "UUID")]
    org: Option<uuid::Uuid>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct HistoryArgs {
    /// Only this job.
    name: Option<JobName>,
    #[command(flatten)]
    selection: RunSelectionArgs,
    /// Maximum number of runs.
    #[arg(long, default_value_t = 50)]
    limit: u32,
}

/// The state of one job in one organisation.
#[derive(Serialize)]
struct JobStatusRow {
    job: JobName,
    organization_id: OrgId,
    time_zone: String,
    /// The last run in the ledger within the catch-up period; without one, the job never ran there.
    last: Option<JobHistoryRow>,
    /// Runs that are due and not finished.
    waiting: usize,
    next_at: Option<DateTime<Utc>>,
}

/// A row of the ledger.
#[derive(Serialize)]
struct JobHistoryRow {
    job: JobName,
    organization_id: OrgId,
    as_of: NaiveDate,
    cutoff: DateTime<Utc>,
    state: &'static str,
    attempts: u32,
    started_at: Option<DateTime<Utc>>,
    finished_at: Option<DateTime<Utc>>,
    error: Option<String>,
    status: Value,
}

impl From<&JobRun> for JobHistoryRow {
    fn from(run: &JobRun) -> Self {
        Self {
            job: run.key.job,
            organization_id: run.key.org,
            as_of: run.key.as_of,
            cutoff: run.cutoff,
            state: run.state.code(),
            attempts: run.attempts,
            started_at: run.started_at,
            finished_at: run.finished_at,
            error: run.error.clone(),
            status: run.status.as_deref().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default(),
        }
    }
}

/// # Errors
/// When the store cannot be read.
pub(crate) async fn status(args: StatusArgs, context: &Context) -> Result<Exit, CliError> {
    let scheduler = open(context, false, |_| Arc::new(())).await?;
    let now = scheduler.driver.clock.now();
    let organizations = organizations(&scheduler, args.org).await?;
    let due = scheduler.due().await.map_err(job_failure)?;
    let filter =
        rows::RunFilter { from: Some(planner::horizon(&scheduler.policies, now)), ..rows::RunFilter::default() };
    let runs = scheduler.history(&filter, u32::MAX).await.map_err(job_failure)?;
    let mut last: HashMap<(JobName, OrgId), &JobRun> = HashMap::new();
    for run in &runs {
        last.entry((run.key.job, run.key.org)).or_insert(run);
    }
    let status_of = |organization: &PlannedOrganization, job: JobName| JobStatusRow {
        job,
        organization_id: organization.org,
        time_zone: scheduler.policies.get(job).time_zone.zone(organization.zone).name().to_owned(),
        last: last.get(&(job, organization.org)).map(|run| JobHistoryRow::from(*run)),
        waiting: due.iter().filter(|due| due.key.job == job && due.key.org == organization.org).count(),
        next_at: planner::next(job, scheduler.policies.get(job), organization, now).map(|due| due.cutoff),
    };
    let jobs = || JobName::ALL.iter().copied().filter(|job| args.name.is_none_or(|name| name == *job));
    let all = organizations.iter().flat_map(|organization| jobs().map(move |job| (organization, job)));
    let all = all.map(|(organization, job)| status_of(organization, job));
    if context.format_or(OutputFormat::Table) == OutputFormat::Json {
        for row in all {
            output::json(&row)?;
        }
    } else {
        let header = ["job", "organisation", "last run", "state", "counts", "waiting", "next"];
        output::table(&header, all.map(|row| status_row(&row)))?;
    }
    Ok(Exit::Done)
}

fn status_row(status: &JobStatusRow) -> [String; 7] {
    let (date, state, counts) = match &status.last {
        Some(run) => (run.as_of.to_string(), state_text(run), counters(&run.status)),
        None => ("–".to_owned(), "never ran".to_owned(), String::new()),
    };
    let next = status.next_at.map_or_else(|| "never".to_owned(), |at| at.to_string());
    let waiting = status.waiting.to_string();
    [status.job.to_string(), status.organization_id.to_string(), date, state, counts, waiting, next]
}

/// # Errors
/// When the store cannot be read.
pub(crate) async fn history(args: HistoryArgs, context: &Context) -> Result<Exit, CliError> {
    let scheduler = open(context, false, |_| Arc::new(())).await?;
    let RunSelectionArgs { org, from, to } = args.selection;
    let filter = rows::RunFilter { job: args.name, org: org.map(OrgId), from, to };
    let runs = scheduler.history(&filter, args.limit).await.map_err(job_failure)?;
    let rows = runs.iter().map(JobHistoryRow::from);
    if context.format_or(OutputFormat::Table) == OutputFormat::Json {
        for row in rows {
            output::json(&row)?;
        }
    } else {
        let rows = rows.map(|row| {
            let finished = row.finished_at.map_or_else(|| "–".to_owned(), |at| at.to_string());
            let (state, counts) = (state_text(&row), counters(&row.status));
            [row.as_of.to_string(), row.job.to_string(), row.organization_id.to_string(), state, counts, finished]
        });
        output::table(&["date", "job", "organisation", "state", "counts", "finished"], rows)?;
    }
    Ok(Exit::Done)
}

fn state_text(row: &JobHistoryRow) -> String {
    row.error.as_ref().map_or_else(|| row.state.to_owned(), |error| format!("{}: {error}", row.state))
}
