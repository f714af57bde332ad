//! The runs of jobs. A CronJob's pod is gone before it is scraped: what it counted is added to the store, and workers show it
//! ([`super::samples`]).

use super::labels::{Action, JobName, RunOutcome};
use super::registrar::area;

/// Seconds of a run: without work, a usual run, a catch-up.
const RUN_SECONDS: &[f64] = &[0.01, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3_600.0];

/// The area whose counters and histograms are the store's.
pub(super) const AREA: &str = "jobs";

area! {
    /// Scheduled jobs.
    pub struct Jobs as "jobs" {
        /// Runs by outcome
        runs: Counters<(JobName, RunOutcome)> = "job_runs_total";
        /// Duration of a run, in seconds
        seconds: Histograms<JobName> = "job_duration_seconds" in RUN_SECONDS;
        /// Last success of the job, in seconds since 1970; 0 if it never succeeded
        last_success: Levels<JobName> = "job_last_success_timestamp_seconds";
        /// Rows by action of the job
        items: Counters<(JobName, Action)> = "job_items_total";
        /// Runs in progress
        running: Gauges<JobName> = "job_running";
        /// Last tick of the scheduler, in seconds since 1970
        last_tick: Levels<()> = "scheduler_last_tick_timestamp_seconds";
    }
}
