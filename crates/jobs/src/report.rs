//! The result of an offered run: how it ended, and what it did.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::JobName;
use super::planner::DueRun;
use super::status::JobStatus;
use anamnesis_core::ids::OrgId;

/// How an offer ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum JobOutcome {
    Done,
    /// Stopped between two batches; the next offer continues from there.
    Partial,
    Failed {
        error: &'static str,
    },
    /// Another owner has it.
    #[serde(rename = "held")]
    LeasedElsewhere {
        until: DateTime<Utc>,
    },
    /// It failed before and rests.
    #[serde(rename = "resting")]
    BackingOff {
        until: DateTime<Utc>,
    },
    /// Done before.
    #[serde(rename = "settled")]
    AlreadyDone,
    /// Failed too often: a person must look.
    Exhausted,
    /// Its instant has not come: a memory must not expire early, and the run itself must not be skipped.
    #[serde(rename = "ahead")]
    NotDue,
    /// Nothing was written.
    Preview,
}

impl JobOutcome {
    pub fn code(&self) -> &'static str {
        match self {
            JobOutcome::Done => "done",
            JobOutcome::Partial => "partial",
            JobOutcome::Failed { .. } => "failed",
            JobOutcome::LeasedElsewhere { .. } => "held",
            JobOutcome::BackingOff { .. } => "resting",
            JobOutcome::AlreadyDone => "settled",
            JobOutcome::Exhausted => "exhausted",
            JobOutcome::NotDue => "ahead",
            JobOutcome::Preview => "preview",
        }
    }
}

/// The outcome of an offer.
#[derive(Debug, Clone, Serialize)]
pub struct JobReport {
    pub job: JobName,
    #[serde(rename = "organization_id")]
    pub org: OrgId,
    pub as_of: chrono::NaiveDate,
    pub cutoff: DateTime<Utc>,
    #[serde(flatten)]
    pub outcome: JobOutcome,
    pub examined: u64,
    pub changed: u64,
    pub batches: u64,
    /// The job's own counters for this attempt.
    pub status: serde_json::Value,
}

/// The report of an attempt that did this much.
pub(super) fn report<S: JobStatus>(due: &DueRun, outcome: JobOutcome, status: &S, batches: u64) -> JobReport {
    JobReport {
        job: due.key.job,
        org: due.key.org,
        as_of: due.key.as_of,
        cutoff: due.cutoff,
        outcome,
        examined: status.examined(),
        changed: status.changed(),
        batches,
        status: serde_json::to_value(status).unwrap_or_default(),
    }
}
