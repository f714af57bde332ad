//! `[worker]`: the long-running role.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WorkerConfig {
    /// Folder that is watched for NDJSON files; empty: none. Producers write under a name that begins with a dot and
    /// rename when done. `[spool]` says what becomes of finished ones.
    pub spool: PathBuf,
    /// Milliseconds between two looks at the spool, 10–60000.
    pub poll_ms: u64,
    /// Seconds between two counts of what the store holds, for the gauges; 1–86400.
    pub census_seconds: u64,
}

impl Default for WorkerConfig {
    fn default() -> Self {
        Self { spool: PathBuf::from("spool"), poll_ms: 500, census_seconds: 300 }
    }
}
