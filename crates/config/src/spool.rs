//! `[spool]`: what becomes of files that a worker takes from its spool.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SpoolConfig {
    /// What happens to a file once each message in it is stored or quarantined.
    pub after: After,
    /// Folder of sealed originals; empty: `.archive` below the spool.
    pub archive: PathBuf,
    /// Retries of a file before its failing messages are quarantined as `transient_exhausted`.
    pub max_retries: u32,
    /// Time before the first retry of a file; each further pause is twice as long, an hour at most.
    pub(crate) retry_ms: u64,
    /// Term of a sealed original.
    #[schemars(range(min = 1, max = 36500))]
    pub archive_days: u32,
    /// Term of a file that could not be read.
    #[schemars(range(min = 1, max = 36500))]
    pub unreadable_days: u32,
}

/// What becomes of an original.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum After {
    #[default]
    Delete,
    /// Sealed under the platform key.
    Archive,
}

impl SpoolConfig {
    /// The pause after so many attempts, at most an hour.
    pub fn pause(&self, attempts: u32) -> Duration {
        let first = self.retry_ms.max(1);
        let doubled = first.saturating_mul(1_u64.checked_shl(attempts.saturating_sub(1)).unwrap_or(u64::MAX));
        Duration::from_millis(doubled).min(Duration::from_secs(3_600))
    }
}

impl Default for SpoolConfig {
    fn default() -> Self {
        Self {
            after: After::default(),
            archive: PathBuf::new(),
            max_retries: 26,
            retry_ms: 5_000,
            archive_days: 30,
            unreadable_days: 30,
        }
    }
}
