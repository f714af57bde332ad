//! `[keys]`: the root key that wraps the store key. Meanings and defaults: `default.toml`, `docs/key-services.md`.

mod services;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::embedding::{InvalidSetting, rule};
use super::rules::Rules;
use anamnesis_transport::Endpoint;
pub use services::{AwsConfig, AzureConfig, AzureIdentity, GoogleConfig, GoogleCredentials, VaultAuth, VaultConfig};

/// Which root key wraps the store key, and how to reach it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct KeysConfig {
    /// Root key that wraps the store key.
    pub root: RootKind,
    pub vault: VaultConfig,
    pub aws: AwsConfig,
    pub google: GoogleConfig,
    pub azure: AzureConfig,
    pub limits: KeyLimits,
}

/// Kinds of root keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RootKind {
    /// 32 bytes of this machine: a file or the environment.
    #[default]
    Local,
    /// HashiCorp Vault or OpenBao, Transit engine.
    Vault,
    /// AWS Key Management Service.
    Aws,
    /// Google Cloud Key Management Service.
    Google,
    /// Azure Key Vault or Managed HSM.
    Azure,
}

/// Limits of requests to a key service. Milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct KeyLimits {
    /// Longest connect to a key service.
    #[schemars(range(min = 1, max = 60000))]
    pub connect_ms: u64,
    /// Longest request to a key service.
    #[schemars(range(min = 1, max = 60000))]
    pub total_ms: u64,
    /// Requests in all for one call.
    #[schemars(range(min = 1, max = 20))]
    pub attempts: usize,
    /// Pause before the first retry.
    #[schemars(range(min = 1, max = 60000))]
    pub initial_backoff_ms: u64,
    /// Longest pause between two requests.
    #[schemars(range(min = 1, max = 60000))]
    pub max_backoff_ms: u64,
}

impl Default for KeyLimits {
    fn default() -> Self {
        Self { connect_ms: 3_000, total_ms: 10_000, attempts: 4, initial_backoff_ms: 250, max_backoff_ms: 5_000 }
    }
}

impl KeysConfig {
    /// # Errors
    /// The first setting that is missing or out of its range, for the configured root only.
    pub fn validate(&self) -> Result<(), InvalidSetting> {
        Rules::first(|rules| self.check(rules))
    }

    /// Every rule of the section that the configured root needs.
    pub(crate) fn check(&self, rules: &mut Rules) {
        let limits = &self.limits;
        rules.rule((1..=60_000).contains(&limits.connect_ms), "keys.limits.connect_ms", "must be 1–60000");
        rules.rule((1..=60_000).contains(&limits.total_ms), "keys.limits.total_ms", "must be 1–60000");
        rules.rule((1..=20).contains(&limits.attempts), "keys.limits.attempts", "must be 1–20");
        rules.rule(
            (1..=60_000).contains(&limits.initial_backoff_ms),
            "keys.limits.initial_backoff_ms",
            "must be 1–60000",
        );
        rules.rule((1..=60_000).contains(&limits.max_backoff_ms), "keys.limits.max_backoff_ms", "must be 1–60000");
        match self.root {
            RootKind::Local => {}
            RootKind::Vault => self.vault.check(rules),
            RootKind::Aws => rules.note(self.aws.validate()),
            RootKind::Google => rules.note(self.google.validate()),
            RootKind::Azure => self.azure.check(rules),
        }
    }
}

/// A service's address: https outside loopback, no credentials, no query.
fn address(key: &'static str, text: &str) -> Result<Endpoint, InvalidSetting> {
    Endpoint::parse(text).and_then(Endpoint::bare).map_err(|error| InvalidSetting { key, rule: error.rule() })
}

/// A part of a path: nothing that would lead elsewhere.
fn name(key: &'static str, text: &str) -> Result<(), InvalidSetting> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let plain =
        !text.is_empty() && text.chars().all(fits) && text.split('/').all(|part| !matches!(part, "" | "." | ".."));
    rule(plain, key, "must be a name of letters, digits, `-`, `_`, `.` and `/`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn validate(text: &str) -> Result<(), InvalidSetting> {
        toml::from_str::<KeysConfig>(text).unwrap().validate()
    }

    #[test]
    fn each_root_needs_its_own_settings_and_no_other() {
        validate("").unwrap();
        for (root, key) in [
            ("vault", "keys.vault.url"),
            ("aws", "keys.aws.key"),
            ("google", "keys.google.key"),
            ("azure", "keys.azure.vault_url"),
        ] {
            assert_eq!(validate(&format!("root = \"{root}\"")).unwrap_err().key, key);
        }
        let vault = "root = \"vault\"\n[vault]\nurl = \"https://v:8200\"\nkey = \"k\"\ntoken_file = \"/t\"\n";
        validate(vault).unwrap();
        validate("[aws]\nendpoint = \"http://elsewhere\"\n").unwrap();
    }

    #[test]
    fn plain_http_beyond_loopback_and_names_that_climb_are_refused() {
        let vault = |url: &str, key: &str| {
            validate(&format!("root = \"vault\"\n[vault]\nurl = \"{url}\"\nkey = \"{key}\"\ntoken_file = \"/t\"\n"))
        };
        vault("http://127.0.0.1:8200", "k").unwrap();
        vault("http://[::1]:8200", "k").unwrap();
        for url in ["http://vault.clinic.example", "http://127.0.0.1.example", "ftp://127.0.0.1", "vault:8200", ""] {
            assert_eq!(vault(url, "k").unwrap_err().key, "keys.vault.url", "{url}");
        }
        for key in ["", "../sys", "a//b", "k?x=1", "k#", "k e"] {
            assert_eq!(vault("https://v", key).unwrap_err().key, "keys.vault.key", "{key}");
        }
    }

    #[test]
    fn limits_are_held_to_their_ranges() {
        for line in ["attempts = 0", "attempts = 21", "connect_ms = 0", "total_ms = 60001"] {
            let key = validate(&format!("[limits]\n{line}\n")).unwrap_err().key;
            assert!(key.starts_with("keys.limits.") && key.ends_with(line.split(' ').next().unwrap()), "{key}");
        }
    }
}
