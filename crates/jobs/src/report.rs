//! What became of an offer: how it ended, and what the run did.

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::JobName;
use super::planner::Due;
use super::status::Status;
use anamnesis_core::ids::OrgId;

/// How an offer ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    Done,
    /// Stopped between two batches; the next offer goes on from there.
    Partial,
    Failed {
        error: &'static str,
    },
    /// Another owner has it.
    Held {
        until: DateTime<Utc>,
    },
    /// It failed before and rests.
    Resting {
        until: DateTime<Utc>,
    },
    /// Done before.
    Settled,
    /// Failed too often: a person must look.
    Exhausted,
    /// Its instant has not come: a memory must not expire early, and the night itself must not be skipped.
    Ahead,
    /// Nothing was written.
    Preview,
}

impl Outcome {
    pub fn code(&self) -> &'static str {
        match self {
            Outcome::Done => "done",
            Outcome::Partial => "partial",
            Outcome::Failed { .. } => "failed",
            Outcome::Held { .. } => "held",
            Outcome::Resting { .. } => "resting",
            Outcome::Settled => "settled",
            Outcome::Exhausted => "exhausted",
            Outcome::Ahead => "ahead",
            Outcome::Preview => "preview",
        }
    }
}

/// What became of an offer.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub job: JobName,
    #[serde(rename = "organization_id")]
    pub org: OrgId,
    pub as_of: chrono::NaiveDate,
    pub cutoff: DateTime<Utc>,
    #[serde(flatten)]
    pub outcome: Outcome,
    pub examined: u64,
    pub changed: u64,
    pub batches: u64,
    /// The job's own counters for this attempt.
    pub status: serde_json::Value,
}

/// The report of an attempt that did this much.
pub(super) fn report<S: Status>(due: &Due, outcome: Outcome, status: &S, batches: u64) -> Report {
    Report {
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
