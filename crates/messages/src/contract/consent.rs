//! `anamnesis.consent.recorded.v1`: a patient's permission, or its withdrawal (seed 002 §9).

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::SensitiveText;
use super::rules::{self, Checked};
use crate::rejection::Problem;
use anamnesis_core::consent::Provision;
use anamnesis_core::ids::{OrgId, PatientId};

/// One consent row: in force from `from` (inclusive) to `until` (exclusive; open when absent).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConsentRecorded {
    pub organization_id: OrgId,
    pub patient_id: PatientId,
    /// What it is about: `memory`, `recall` or `research`. Another scope is recorded; it opens and closes nothing.
    pub scope: SensitiveText,
    pub provision: Provision,
    pub from: DateTime<Utc>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<DateTime<Utc>>,
    /// When the person stated it, where the event's own `time` does not say so. A permit takes back no denial that was stated
    /// after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated_at: Option<DateTime<Utc>>,
    /// Who wrote it down.
    pub recorded_by: Uuid,
    /// The reason, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<SensitiveText>,
}

impl ConsentRecorded {
    pub(super) fn check(&self) -> Checked {
        rules::scope(self.organization_id, self.patient_id)?;
        rules::filled(&self.scope, "scope")?;
        rules::instant(self.from, "from")?;
        if let Some(until) = self.until {
            rules::instant(until, "until")?;
            rules::ensure(until > self.from, Problem::OutOfRange, "until")?;
        }
        if let Some(stated) = self.stated_at {
            rules::instant(stated, "stated_at")?;
        }
        rules::id(self.recorded_by, "recorded_by")
    }
}
