//! `job status` and `job history`.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, NaiveDate, Utc};
use serde::Serialize;
use serde_json::Value;

use super::{JobName, Selection, counters, job_failure, open, organizations};
use crate::cli::output::{self, Format};
use crate::cli::{Context, Exit, Failure};
use anamnesis_core::ids::OrgId;
use anamnesis_jobs::ledger::{Run, rows};
use anamnesis_jobs::planner::{self, Organization};

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
    selection: Selection,
    /// At most so many runs.
    #[arg(long, default_value_t = 50)]
    limit: u32,
}

/// How one job stands in one organisation.
#[derive(Serialize)]
struct Standing {
    job: JobName,
    organization_id: OrgId,
    time_zone: String,
    /// The last night in the ledger within the time that is made up; without one, the job never ran there.
    last: Option<Night>,
    /// Nights that are due and not settled.
    waiting: usize,
    next_at: Option<DateTime<Utc>>,
}

/// A row of the ledger.
#[derive(Serialize)]
struct Night {
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

impl From<&Run> for Night {
    fn from(run: &Run) -> Self {
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
pub(crate) async fn status(args: StatusArgs, context: &Context) -> Result<Exit, Failure> {
    let night = open(context, false, |_| Arc::new(())).await?;
    let now = night.driver.clock.now();
    let organizations = organizations(&night, args.org).await?;
    let due = night.due().await.map_err(job_failure)?;
    let filter = rows::Filter { from: Some(planner::horizon(&night.policies, now)), ..rows::Filter::default() };
    let runs = night.history(&filter, u32::MAX).await.map_err(job_failure)?;
    let mut last: HashMap<(JobName, OrgId), &Run> = HashMap::new();
    for run in &runs {
        last.entry((run.key.job, run.key.org)).or_insert(run);
    }
    let standing = |organization: &Organization, job: JobName| Standing {
        job,
        organization_id: organization.org,
        time_zone: night.policies.of(job).time_zone.zone(organization.zone).name().to_owned(),
        last: last.get(&(job, organization.org)).map(|run| Night::from(*run)),
        waiting: due.iter().filter(|due| due.key.job == job && due.key.org == organization.org).count(),
        next_at: planner::next(job, night.policies.of(job), organization, now).map(|due| due.cutoff),
    };
    let jobs = || JobName::ALL.iter().copied().filter(|job| args.name.is_none_or(|name| name == *job));
    let all = organizations.iter().flat_map(|organization| jobs().map(move |job| (organization, job)));
    let all = all.map(|(organization, job)| standing(organization, job));
    if context.format_or(Format::Table) == Format::Json {
        for standing in all {
            output::json(&standing)?;
        }
    } else {
        let header = ["job", "organisation", "last run", "state", "counts", "waiting", "next"];
        output::table(&header, all.map(|standing| standing_row(&standing)))?;
    }
    Ok(Exit::Done)
}

fn standing_row(standing: &Standing) -> [String; 7] {
    let (night, state, counts) = match &standing.last {
        Some(night) => (night.as_of.to_string(), told(night), counters(&night.status)),
        None => ("–".to_owned(), "never ran".to_owned(), String::new()),
    };
    let next = standing.next_at.map_or_else(|| "never".to_owned(), |at| at.to_string());
    let waiting = standing.waiting.to_string();
    [standing.job.to_string(), standing.organization_id.to_string(), night, state, counts, waiting, next]
}

/// # Errors
/// When the store cannot be read.
pub(crate) async fn history(args: HistoryArgs, context: &Context) -> Result<Exit, Failure> {
    let night = open(context, false, |_| Arc::new(())).await?;
    let Selection { org, from, to } = args.selection;
    let filter = rows::Filter { job: args.name, org: org.map(OrgId), from, to };
    let runs = night.history(&filter, args.limit).await.map_err(job_failure)?;
    let nights = runs.iter().map(Night::from);
    if context.format_or(Format::Table) == Format::Json {
        for night in nights {
            output::json(&night)?;
        }
    } else {
        let rows = nights.map(|night| {
            let finished = night.finished_at.map_or_else(|| "–".to_owned(), |at| at.to_string());
            let (state, counts) = (told(&night), counters(&night.status));
            [night.as_of.to_string(), night.job.to_string(), night.organization_id.to_string(), state, counts, finished]
        });
        output::table(&["date", "job", "organisation", "state", "counts", "finished"], rows)?;
    }
    Ok(Exit::Done)
}

fn told(night: &Night) -> String {
    night.error.as_ref().map_or_else(|| night.state.to_owned(), |error| format!("{}: {error}", night.state))
}
