//! Lines of a memory's history: acts of people (input of the projection), and changes by the projection and by time
//! (derived).

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::statements::memory_history as sql;
use anamnesis_sql::Arg;

pub(super) use sql::INSERT_ACTS;
pub(super) use sql::insert_acts::COLUMNS;

/// One line.
#[derive(Debug, Clone, Copy)]
pub(super) struct HistoryLine<'a> {
    pub(crate) org: Uuid,
    pub(crate) patient: Uuid,
    pub(crate) id: Uuid,
    pub(crate) memory: Uuid,
    /// Said by the fold or by time, rather than done by a person.
    pub(crate) derived: bool,
    pub(crate) at: DateTime<Utc>,
    pub(crate) action: &'a str,
    /// `fold`, `time`, or the role of who did it.
    pub(crate) source: &'a str,
    pub(crate) old_confidence: Option<f64>,
    pub(crate) new_confidence: Option<f64>,
    /// The log entry that caused it.
    pub(crate) cause: Option<Uuid>,
}

impl HistoryLine<'_> {
    /// As [`sql::INSERT`] writes it; for [`INSERT_ACTS`], its hash comes last.
    pub(crate) fn row(&self, now: DateTime<Utc>) -> Vec<Arg> {
        sql::insert::Row {
            org_id: self.org.into(),
            patient_id: self.patient.into(),
            id: self.id.into(),
            memory_id: self.memory.into(),
            derived: self.derived.into(),
            at: self.at.into(),
            action: self.action.into(),
            source: self.source.into(),
            old_confidence: self.old_confidence.into(),
            new_confidence: self.new_confidence.into(),
            evidence_kind: self.cause.map(|_| "log").into(),
            evidence_id: self.cause.into(),
            created_at: now.into(),
            updated_at: now.into(),
        }
        .into()
    }
}
