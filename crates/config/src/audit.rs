//! `[audit]`: how reads are written down, and where heads of the audit trail are kept.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use anamnesis_core::coded_enum::codes;

/// See `default.toml` for the meaning of each key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AuditConfig {
    /// When a read of a patient's record is written to the audit trail.
    pub reads: Reads,
    /// Whether a read needs `--reader` and `--purpose`.
    pub require_reader: bool,
    /// Whether a denial of recall also refuses staff commands (`memory list` and others), except with a stated purpose.
    pub denial_closes_tools: bool,
    /// Seconds between two sealed blocks of the audit trail.
    #[schemars(range(min = 5, max = 86400))]
    pub seal_seconds: u64,
    /// File on another volume to which a worker appends the head of each block; empty: none.
    pub head_file: PathBuf,
}

codes!(
    /// When a read is written down.
    Reads {
        /// Before anything is shown: a read that cannot be written down shows nothing.
        Before = "before",
        /// After the answer, with how it ended.
        After = "after",
    }
);

impl Default for AuditConfig {
    fn default() -> Self {
        Self {
            reads: Reads::After,
            require_reader: false,
            denial_closes_tools: true,
            seal_seconds: 60,
            head_file: PathBuf::new(),
        }
    }
}
