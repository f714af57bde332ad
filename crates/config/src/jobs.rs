//! `[jobs]`: the nights.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where the policies are and who rings the bell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JobsConfig {
    /// Directory of `NAME.toml` files that replace the embedded policies of the same name; empty: none.
    pub(crate) directory: PathBuf,
    /// Whether the worker plans and runs the jobs itself, once a minute. Off where CronJobs call `anamnesis job run`;
    /// with both, the ledger still runs each night once.
    pub tick: bool,
}

impl JobsConfig {
    /// The directory, if one is configured.
    pub fn directory(&self) -> Option<&std::path::Path> {
        (!self.directory.as_os_str().is_empty()).then_some(self.directory.as_path())
    }
}

impl Default for JobsConfig {
    fn default() -> Self {
        Self { directory: PathBuf::new(), tick: true }
    }
}
