//! `[log]`: what is written about the program's own doing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a line of the log looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line, for collectors.
    Json,
}

/// The log. Whatever the filter says, libraries speak only at `warn` and `error` (telemetry.rs tells why).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LogConfig {
    /// Form of a line of the log.
    pub format: LogFormat,
    /// Directives of the log's levels, such as `info,anamnesis_pipeline=debug`.
    pub filter: String,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { format: LogFormat::Text, filter: "info".to_owned() }
    }
}
