//! `[redaction]`: what organisations have of their own: a policy, recognisers, a key for tokens, additional services.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::domain::ids::OrgId;

/// Organisations that are not listed have the policy of their row in the store and nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RedactionConfig {
    pub organizations: Vec<OrganizationRedaction>,
}

/// One organisation's own. An empty path or address: none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrganizationRedaction {
    pub organization: OrgId,
    /// A built-in policy's name or a policy file (`.toml`); it wins over the organisation's row.
    #[serde(default = "usual_policy")]
    pub policy: String,
    /// Recognisers and allowed words.
    #[serde(default)]
    pub custom: PathBuf,
    /// The key of a policy that seals values: a file with 128 hexadecimal digits.
    #[serde(default)]
    pub token_key: PathBuf,
    /// Address of a Presidio analyzer.
    #[serde(default)]
    pub presidio: String,
    /// Google Sensitive Data Protection: `projects/P/locations/L`.
    #[serde(default)]
    pub google: String,
    #[serde(default = "google_url")]
    pub google_url: String,
    /// File with Google's bearer token.
    #[serde(default)]
    pub google_token_file: PathBuf,
    /// How long one service may take for one text, in milliseconds, 1–60000.
    #[serde(default = "usual_timeout")]
    pub timeout_ms: u64,
}

fn usual_policy() -> String {
    "safe_harbor".to_owned()
}

fn google_url() -> String {
    "https://dlp.googleapis.com".to_owned()
}

fn usual_timeout() -> u64 {
    5_000
}
