//! `[jobs]`: scheduled jobs.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Folder of the policies, and which process starts the jobs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct JobsConfig {
    /// Folder of `NAME.toml` files that replace built-in policies of the same name; empty: none.
    pub(crate) directory: PathBuf,
    /// Whether the worker plans and runs the jobs itself; off where CronJobs call `anamnesis job run`.
    pub scheduler: bool,
}

impl JobsConfig {
    /// The directory, if one is configured.
    pub fn directory(&self) -> Option<&std::path::Path> {
        (!self.directory.as_os_str().is_empty()).then_some(self.directory.as_path())
    }
}

impl Default for JobsConfig {
    fn default() -> Self {
        Self { directory: PathBuf::new(), scheduler: true }
    }
}
