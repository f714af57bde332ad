//! `job list`.

use serde::Serialize;

use super::{JobName, policies, settings};
use crate::cli::output::{self, Format};
use crate::cli::{Context, Exit, Failure};

#[derive(Serialize)]
struct Listed<'a> {
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
pub(crate) fn run(context: &Context) -> Result<Exit, Failure> {
    let policies = policies(&settings(context)?)?;
    let listed = JobName::ALL.iter().map(|job| {
        let policy = policies.of(*job);
        Listed {
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
    if context.format_or(Format::Table) == Format::Json {
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
