//! `[redaction]`: what organisations have of their own: a policy, recognisers, a key for tokens, additional services.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::embedding::InvalidSetting;
use super::rules::Rules;
use anamnesis_core::ids::OrgId;
use anamnesis_transport::Endpoint;

/// Organisations that are not listed have the policy of their row in the store and nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RedactionConfig {
    /// Policy, recognisers and services that organisations have apart from the others.
    pub organizations: Vec<OrganizationRedaction>,
}

/// One organisation's own. An empty path or address: none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrganizationRedaction {
    /// Id of the organisation.
    pub organization: OrgId,
    /// Name of a built-in policy, or a policy file (`.toml`).
    #[serde(default = "usual_policy")]
    pub policy: String,
    /// File of recognisers and allowed words; empty: none.
    #[serde(default)]
    pub custom: PathBuf,
    /// File of the key of a policy that seals values, 128 hexadecimal digits; empty: none.
    #[serde(default)]
    pub token_key: PathBuf,
    /// Address of a Presidio analyzer, https beyond loopback; empty: none.
    #[serde(default)]
    pub presidio: String,
    /// Google Sensitive Data Protection: `projects/P/locations/L`; empty: none.
    #[serde(default)]
    pub google: String,
    /// Address of Google's service.
    #[serde(default = "google_url")]
    pub google_url: String,
    /// File of Google's bearer token, read again when it changes or is refused.
    #[serde(default)]
    pub google_token_file: PathBuf,
    /// Certificates (PEM) that are trusted with the machine's own; empty: none.
    #[serde(default)]
    pub ca_file: PathBuf,
    /// Longest answer of one service for one text.
    #[serde(default = "usual_timeout")]
    #[schemars(range(min = 1, max = 60000))]
    pub timeout_ms: u64,
}

impl RedactionConfig {
    /// Every address of the section: https beyond this machine, since unredacted text goes there.
    pub(crate) fn check(&self, rules: &mut Rules) {
        let check = |key: &'static str, address: &str| match address {
            "" => Ok(()),
            address => Endpoint::parse(address)
                .and_then(Endpoint::bare)
                .map(drop)
                .map_err(|error| InvalidSetting { key, rule: error.rule() }),
        };
        rules.each(&self.organizations, |rules, own| {
            rules.note(check("redaction.organizations.presidio", &own.presidio));
            rules.note(check("redaction.organizations.google_url", &own.google_url));
            let waits = (1..=60_000).contains(&own.timeout_ms);
            rules.rule(waits, "redaction.organizations.timeout_ms", "must be 1–60000");
        });
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
