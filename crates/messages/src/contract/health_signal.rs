//! `anamnesis.health_signal.recorded.v1`: what a device measured, as a value or a trend (seed 002 §5, §11).

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SensitiveText;
use super::rules::{self, Checked};
use crate::rejection::Problem;
use anamnesis_core::ids::{OrgId, PatientId};

/// A measurement or its trend over a window. At least one of `value` and `trend`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HealthSignalRecorded {
    pub(crate) organization_id: OrgId,
    pub(crate) patient_id: PatientId,
    /// `sleep_hours`, `resting_heart_rate` …
    pub metric: SensitiveText,
    /// Unit of `value`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<SensitiveText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// `rising`, `falling`, `stable` or the device's own summary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trend: Option<SensitiveText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) window: Option<Window>,
    /// The source: "watch".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<SensitiveText>,
    /// When the device last sent data: freshness counts from here.
    pub synced_at: DateTime<Utc>,
}

/// What the value or trend was computed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    pub(crate) from: DateTime<Utc>,
    pub(crate) to: DateTime<Utc>,
}

impl HealthSignalRecorded {
    pub(super) fn check(&self) -> Checked {
        rules::scope(self.organization_id, self.patient_id)?;
        rules::filled(&self.metric, "metric")?;
        let said = self.trend.as_ref().is_some_and(|trend| !trend.is_blank());
        rules::ensure(self.value.is_some() || said, Problem::Missing, "value")?;
        rules::instant(self.synced_at, "synced_at")?;
        if let Some(window) = &self.window {
            rules::instant(window.from, "window.from")?;
            rules::instant(window.to, "window.to")?;
            rules::ensure(window.from <= window.to, Problem::OutOfRange, "window.to")?;
        }
        Ok(())
    }
}
