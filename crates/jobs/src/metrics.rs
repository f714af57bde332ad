//! Progress reports of running jobs: to metrics in the worker, to a progress bar on a terminal, to no one in tests.

use chrono::{DateTime, TimeDelta, Utc};

use super::JobName;
use super::driver::{JobOutcome, JobReport};
use super::planner::RunKey;
use anamnesis_core::memory::Kind;
use anamnesis_observability::metrics::labels::{self, Action, RunOutcome};
use anamnesis_observability::metrics::{Metrics, Transition};
use anamnesis_store::stats::{FORGED, REPAIRED};

/// Receives the progress of runs: counts and codes only.
pub trait JobObserver: Send + Sync {
    fn began(&self, job: JobName);
    /// After a batch was committed: rows so far in this attempt.
    fn batch(&self, run: &RunKey, examined: u64, changed: u64);
    /// A row of the ledger was changed outside the program.
    fn forged(&self) {}
    /// After every run that began.
    fn ended(&self, report: &JobReport, took: TimeDelta);
    /// At every tick: when a run of a job last ended well, by whichever process.
    fn ticked(&self, now: DateTime<Utc>, last_done: &[(JobName, DateTime<Utc>)]);
    /// When a run of each job last ended well, in any process.
    fn succeeded(&self, _: &[(JobName, DateTime<Utc>)]) {}
}

/// No one listens.
impl JobObserver for () {
    fn began(&self, _: JobName) {}
    fn batch(&self, _: &RunKey, _: u64, _: u64) {}
    fn ended(&self, _: &JobReport, _: TimeDelta) {}
    fn ticked(&self, _: DateTime<Utc>, _: &[(JobName, DateTime<Utc>)]) {}
}

impl JobObserver for Metrics {
    fn began(&self, job: JobName) {
        self.jobs.running.with_labels(label(job)).inc();
    }

    fn batch(&self, _: &RunKey, _: u64, _: u64) {}

    fn forged(&self) {
        self.store.rows_forged.inc();
    }

    fn ended(&self, report: &JobReport, took: TimeDelta) {
        let job = label(report.job);
        self.jobs.running.with_labels(job).dec();
        self.jobs.seconds.with_labels(job).observe(took.as_seconds_f64());
        if let Some(outcome) = outcome_label(&report.outcome) {
            self.jobs.runs.with_labels((job, outcome)).inc();
        }
        self.jobs.items.with_labels((job, Action::Examined)).inc_by(report.examined);
        self.jobs.items.with_labels((job, Action::Changed)).inc_by(report.changed);
        for (counter, transition) in transitions(report.job) {
            self.memory.transitions.with_labels(*transition).inc_by(counted(report, counter));
        }
        if report.job == JobName::Reconciliation {
            self.store.rows_forged.inc_by(FORGED.map(|counter| counted(report, counter)).iter().sum());
            self.store.rows_repaired.inc_by(REPAIRED.map(|counter| counted(report, counter)).iter().sum());
        }
        if report.job == JobName::Decay {
            for kind in Kind::ALL {
                self.memory.decays.with_labels(*kind).inc_by(counted(report, kind.code()));
            }
        }
    }

    fn ticked(&self, now: DateTime<Utc>, last_done: &[(JobName, DateTime<Utc>)]) {
        self.jobs.last_tick.set(seconds(now));
        self.succeeded(last_done);
    }

    fn succeeded(&self, last_done: &[(JobName, DateTime<Utc>)]) {
        for (job, at) in last_done {
            self.jobs.last_success.with_labels(label(*job)).set(seconds(*at));
        }
    }
}

fn counted(report: &JobReport, counter: &str) -> u64 {
    report.status.get(counter).and_then(serde_json::Value::as_u64).unwrap_or(0)
}

fn label(job: JobName) -> labels::JobName {
    match job {
        JobName::Summaries => labels::JobName::Summaries,
        JobName::Consolidation => labels::JobName::Consolidation,
        JobName::Retention => labels::JobName::Retention,
        JobName::Expiry => labels::JobName::Expiry,
        JobName::Reconfirmation => labels::JobName::Reconfirmation,
        JobName::Decay => labels::JobName::Decay,
        JobName::Purge => labels::JobName::Purge,
        JobName::Upkeep => labels::JobName::Upkeep,
        JobName::Redaction => labels::JobName::Redaction,
        JobName::EmbedBatch => labels::JobName::EmbedBatch,
        JobName::ConfidenceAnalytics => labels::JobName::ConfidenceAnalytics,
        JobName::CohortPatterns => labels::JobName::CohortPatterns,
        JobName::Reembedding => labels::JobName::Reembedding,
        JobName::Reconciliation => labels::JobName::Reconciliation,
    }
}

fn outcome_label(outcome: &JobOutcome) -> Option<RunOutcome> {
    match outcome {
        JobOutcome::Done => Some(RunOutcome::Succeeded),
        JobOutcome::Partial => Some(RunOutcome::Partial),
        JobOutcome::Failed { .. } => Some(RunOutcome::Failed),
        JobOutcome::LeasedElsewhere { .. } => Some(RunOutcome::Held),
        JobOutcome::BackingOff { .. }
        | JobOutcome::AlreadyDone
        | JobOutcome::Exhausted
        | JobOutcome::NotDue
        | JobOutcome::Preview => None,
    }
}

/// The counters of a job's status that are changes of state.
fn transitions(job: JobName) -> &'static [(&'static str, Transition)] {
    match job {
        JobName::Expiry => &[
            ("resolved_unconfirmed", Transition::ResolvedUnconfirmed),
            ("expired", Transition::Expired),
            ("stale", Transition::Stale),
        ],
        JobName::Purge => &[("inactive", Transition::PurgedInactive), ("expired", Transition::PurgedExpired)],
        JobName::Summaries
        | JobName::Consolidation
        | JobName::Retention
        | JobName::Reconfirmation
        | JobName::Decay
        | JobName::Upkeep
        | JobName::Redaction
        | JobName::EmbedBatch
        | JobName::ConfidenceAnalytics
        | JobName::CohortPatterns
        | JobName::Reembedding
        | JobName::Reconciliation => &[],
    }
}

fn seconds(at: DateTime<Utc>) -> f64 {
    at.timestamp_micros() as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decay::DecayStatus;
    use crate::expiry::ExpiryStatus;
    use anamnesis_observability::metrics::labels::JobName as Label;

    #[test]
    fn the_labels_of_metrics_are_the_registered_jobs() {
        use anamnesis_observability::metrics::Label as _;
        let labels: Vec<&str> = Label::ALL.iter().map(|label| label.code()).collect();
        let jobs: Vec<&str> = JobName::ALL.iter().map(|job| job.code()).collect();
        assert_eq!(labels, jobs);
    }

    #[test]
    fn counters_of_changes_of_state_are_fields_of_the_status() {
        let status = serde_json::to_value(ExpiryStatus::default()).unwrap();
        for (counter, _) in transitions(JobName::Expiry) {
            assert!(status.get(counter).is_some(), "{counter}");
        }
        let status = serde_json::to_value(DecayStatus::default()).unwrap();
        for kind in Kind::ALL.iter().filter(|kind| **kind != Kind::Raw) {
            assert!(status.get(kind.code()).is_some(), "{kind}");
        }
    }
}
