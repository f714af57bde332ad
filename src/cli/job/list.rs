//! `job list`, and the list that `job run` prints where no job is named.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{JobName, job_failure, open, policies, settings};
use crate::cli::output::{self, OutputFormat};
use crate::cli::{CliError, Context, Exit};
use anamnesis_jobs::ledger::{JobRun, rows};
use anamnesis_sql::Location;

#[derive(Serialize)]
struct JobListing<'a> {
    job: JobName,
    about: &'static str,
    schedule: &'a str,
    time_zone: String,
    catch_up_days: u16,
    batch_size: u32,
    lease_seconds: i64,
    max_attempts: u32,
}

/// # Errors
/// When the configuration or a policy is refused.
pub(crate) fn run(context: &Context) -> Result<Exit, CliError> {
    let policies = policies(&settings(context)?)?;
    let listed = JobName::ALL.iter().map(|job| {
        let policy = policies.get(*job);
        JobListing {
            job: *job,
            about: job.about(),
            schedule: policy.schedule.as_str(),
            time_zone: policy.time_zone.to_string(),
            catch_up_days: policy.catch_up_days,
            batch_size: policy.batch_size,
            lease_seconds: policy.lease.num_seconds(),
            max_attempts: policy.max_attempts,
        }
    });
    if context.format_or(OutputFormat::Table) == OutputFormat::Json {
        for job in listed {
            output::json(&job)?;
        }
    } else {
        let rows = listed.map(|job| {
            let days = job.catch_up_days.to_string();
            [job.job.to_string(), job.schedule.to_owned(), job.time_zone, days, job.about.to_owned()]
        });
        output::table(&["job", "schedule", "time zone", "catch-up days", "what it does"], rows)?;
    }
    Ok(Exit::Done)
}

#[derive(Serialize)]
struct LastJobRun {
    job: JobName,
    about: &'static str,
    /// `null`: it never ran, or only before the oldest row of the ledger.
    ended_at: Option<DateTime<Utc>>,
    state: Option<&'static str>,
}

/// Every job with its newest run of any organisation. Nothing is run, and no store is made.
///
/// # Errors
/// Always: a job must be named.
pub(crate) async fn last_runs(context: &Context) -> Result<Exit, CliError> {
    let none_yet =
        matches!(Location::from_config(&settings(context)?.store), Ok(Location::File(path)) if !path.exists());
    let runs = match none_yet {
        true => Vec::new(),
        false => open(context, false, |_| Arc::new(()))
            .await?
            .history(&rows::RunFilter::default(), u32::MAX)
            .await
            .map_err(job_failure)?,
    };
    let mut newest: HashMap<JobName, &JobRun> = HashMap::new();
    for run in &runs {
        let known = newest.entry(run.key.job).or_insert(run);
        if run.finished_at > known.finished_at {
            *known = run;
        }
    }
    let all = JobName::ALL.iter().map(|job| LastJobRun {
        job: *job,
        about: job.about(),
        ended_at: newest.get(job).and_then(|run| run.finished_at),
        state: newest.get(job).map(|run| run.state.code()),
    });
    if context.format_or(OutputFormat::Table) == OutputFormat::Json {
        for last in all {
            output::json(&last)?;
        }
    } else {
        let rows = all.map(|last| {
            let at = last.ended_at.map_or_else(|| "never".to_owned(), |at| at.format("%Y-%m-%d %H:%M UTC").to_string());
            [last.job.to_string(), at, last.state.unwrap_or("–").to_owned(), last.about.to_owned()]
        });
        output::table(&["job", "last ended", "state", "what it does"], rows)?;
    }
    Err(CliError::usage("name one of these jobs: `anamnesis job run NAME`"))
}
