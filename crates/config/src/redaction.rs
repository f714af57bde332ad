//! `[redaction]`: what organisations have of their own: a policy, recognisers, a key for tokens, additional services.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::embedding::InvalidSetting;
use anamnesis_core::ids::OrgId;
use anamnesis_transport::Endpoint;

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
    /// Address of a Presidio analyzer; https beyond loopback.
    #[serde(default)]
    pub presidio: String,
    /// Google Sensitive Data Protection: `projects/P/locations/L`.
    #[serde(default)]
    pub google: String,
    #[serde(default = "google_url")]
    pub google_url: String,
    /// File with Google's bearer token; read again whenever it changes and whenever the service refuses it.
    #[serde(default)]
    pub google_token_file: PathBuf,
    /// Certificates (PEM) of an own authority, trusted with the machine's.
    #[serde(default)]
    pub ca_file: PathBuf,
    /// How long one service may take for one text, in milliseconds, 1–60000.
    #[serde(default = "usual_timeout")]
    pub timeout_ms: u64,
}

impl RedactionConfig {
    /// Every address of the section.
    ///
    /// # Errors
    /// The first that is not https beyond this machine: unredacted text would go there.
    pub(crate) fn validate(&self) -> Result<(), InvalidSetting> {
        let check = |key: &'static str, address: &str| match address {
            "" => Ok(()),
            address => Endpoint::parse(address)
                .and_then(Endpoint::bare)
                .map(drop)
                .map_err(|error| InvalidSetting { key, rule: error.rule() }),
        };
        for own in &self.organizations {
            check("redaction.organizations.presidio", &own.presidio)?;
            check("redaction.organizations.google_url", &own.google_url)?;
        }
        Ok(())
    }
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
