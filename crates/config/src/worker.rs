//! `[worker]`: the long-running role.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WorkerConfig {
    /// Folder that is watched for NDJSON files; empty: none.
    pub spool: PathBuf,
    /// Time between two scans of the spool.
    #[schemars(range(min = 10, max = 60000))]
    pub poll_ms: u64,
    /// Time between two counts of the store's content, for the gauges.
    #[schemars(range(min = 1, max = 86400))]
    pub store_stats_interval_seconds: u64,
}

impl Default for WorkerConfig {
    fn default() -> Self {
        Self { spool: PathBuf::from("spool"), poll_ms: 500, store_stats_interval_seconds: 300 }
    }
}
