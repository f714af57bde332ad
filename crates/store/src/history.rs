//! Lines of a memory's history: what people did (input of the fold), what the fold tells and what time did (derived).

use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use anamnesis_sql::{Arg, Bulk, Column, ColumnType, Sql};

pub(super) const COLUMNS: [Column; 14] = [
    ("org_id", ColumnType::Uuid),
    ("patient_id", ColumnType::Uuid),
    ("id", ColumnType::Uuid),
    ("memory_id", ColumnType::Uuid),
    ("derived", ColumnType::Bool),
    ("at", ColumnType::Int),
    ("action", ColumnType::Text),
    ("source", ColumnType::Text),
    ("old_confidence", ColumnType::Float),
    ("new_confidence", ColumnType::Float),
    ("evidence_kind", ColumnType::Text),
    ("evidence_id", ColumnType::Uuid),
    ("created_at", ColumnType::Int),
    ("updated_at", ColumnType::Int),
];

/// Lines already there stay as they are: their ids are derived from what they tell.
pub(super) static INSERT: LazyLock<Bulk> =
    LazyLock::new(|| Bulk::new("memory_event", &COLUMNS, "ON CONFLICT (org_id, patient_id, id) DO NOTHING"));

/// What people did, each with the hash that covers it.
pub(super) static INSERT_ACTS: LazyLock<Bulk> = LazyLock::new(|| {
    let columns = [&COLUMNS[..], &[("mac", ColumnType::Bytes)]].concat();
    Bulk::new("memory_event", &columns, "ON CONFLICT (org_id, patient_id, id) DO NOTHING")
});

/// One line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    pub(crate) org: Uuid,
    pub(crate) patient: Uuid,
    pub(crate) id: Uuid,
    pub(crate) memory: Uuid,
    /// Told by the fold or by time, rather than done by somebody.
    pub(crate) derived: bool,
    pub(crate) at: DateTime<Utc>,
    pub(crate) action: &'a str,
    /// `fold`, `time`, or the role of who did it.
    pub(crate) source: &'a str,
    pub(crate) old_confidence: Option<f64>,
    pub(crate) new_confidence: Option<f64>,
    /// The entry of the log that brought it about.
    pub(crate) cause: Option<Uuid>,
}

impl Line<'_> {
    /// In the order of the columns.
    pub(crate) fn row(&self, now: DateTime<Utc>) -> Vec<Arg> {
        vec![
            self.org.into(),
            self.patient.into(),
            self.id.into(),
            self.memory.into(),
            self.derived.into(),
            self.at.into(),
            self.action.into(),
            self.source.into(),
            self.old_confidence.into(),
            self.new_confidence.into(),
            self.cause.map(|_| "log").into(),
            self.cause.into(),
            now.into(),
            now.into(),
        ]
    }
}

pub(super) fn statements() -> [&'static Sql; 2] {
    [INSERT.sql(), INSERT_ACTS.sql()]
}
