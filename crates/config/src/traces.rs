//! `[traces]`: where spans are sent, and how many.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use super::embedding::InvalidSetting;
use super::rules::Rules;
use anamnesis_core::coded_enum::codes;
use anamnesis_transport::{AddressError, Endpoint};

/// Spans of OpenTelemetry. A program that was built without the cargo feature `otel` sends none and says so.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TracesConfig {
    /// Address of a collector that takes OTLP over HTTP, without `/v1/traces`; https beyond loopback; empty: no traces.
    pub(crate) endpoint: String,
    /// Share of the traces that begin here and are recorded; a message with a `traceparent` brings its own decision.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub ratio: f64,
    /// Longest time for one request to the collector.
    #[schemars(range(min = 10, max = 60000))]
    pub(crate) timeout_ms: u64,
    /// Longest time that a finished span waits for others to be sent with it.
    #[schemars(range(min = 10, max = 60000))]
    pub(crate) interval_ms: u64,
    /// Finished spans that may wait; more are dropped and counted.
    #[schemars(range(min = 16, max = 1000000))]
    pub(crate) queue_spans: u64,
    /// Headers of each request, one `name: value` a line, such as a key of the collector; empty: none.
    #[serde(skip_serializing)]
    #[schemars(with = "String")]
    pub(crate) headers: SecretString,
    /// File that holds `traces.headers`; empty: none.
    pub(crate) headers_file: PathBuf,
    /// Certificates (PEM) that are trusted with the machine's own; empty: none.
    pub ca_file: PathBuf,
    /// Destinations that are sent the id of the trace as `traceparent`.
    pub propagate_to: Vec<Propagation>,
}

codes!(
    /// Who is sent a `traceparent`.
    Propagation {
        /// Subscribers of the events exchange.
        Events = "events",
        /// Receivers of the callbacks.
        Webhooks = "webhooks",
        /// The embedding provider.
        Embedding = "embedding",
    }
);

impl Default for TracesConfig {
    fn default() -> Self {
        Self {
            endpoint: String::new(),
            ratio: 1.0,
            timeout_ms: 5_000,
            interval_ms: 1_000,
            queue_spans: 8_192,
            headers: SecretString::default(),
            headers_file: PathBuf::new(),
            ca_file: PathBuf::new(),
            propagate_to: vec![Propagation::Events],
        }
    }
}

impl PartialEq for TracesConfig {
    /// By everything that may be shown.
    fn eq(&self, other: &Self) -> bool {
        serde_json::to_value(self).ok() == serde_json::to_value(other).ok()
    }
}

impl TracesConfig {
    /// Whether spans are to be sent.
    pub fn is_set(&self) -> bool {
        !self.endpoint.is_empty()
    }

    /// The limit of one request, held to its range.
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms.clamp(10, 60_000))
    }

    /// How long a span waits for others, held to its range.
    pub fn interval(&self) -> Duration {
        Duration::from_millis(self.interval_ms.clamp(10, 60_000))
    }

    /// How many spans may wait, held to its range.
    pub fn queue(&self) -> usize {
        usize::try_from(self.queue_spans.clamp(16, 1_000_000)).unwrap_or(16)
    }

    /// The collector's checked address.
    ///
    /// # Errors
    /// When it is no address, not encrypted beyond this machine, or more than an address and a path.
    pub fn address(&self) -> Result<Endpoint, InvalidSetting> {
        let refused = |error: AddressError| InvalidSetting { key: ENDPOINT, rule: error.rule() };
        Endpoint::parse(&self.endpoint).and_then(Endpoint::bare).map_err(refused)
    }

    /// The configured headers, name and value.
    ///
    /// # Errors
    /// When a line is none of `name: value`.
    pub fn header_lines(&self) -> Result<Vec<(&str, &str)>, InvalidSetting> {
        let refused = InvalidSetting { key: "traces.headers", rule: "must be lines of the form `name: value`" };
        let lines = self.headers.expose_secret().lines().map(str::trim).filter(|line| !line.is_empty());
        let pair = lines.map(|line| line.split_once(':').map(|(name, value)| (name.trim(), value.trim())));
        pair.map(|pair| pair.filter(|(name, _)| !name.is_empty()).ok_or(refused)).collect()
    }

    /// The address, and the form of the headers.
    pub(crate) fn check(&self, rules: &mut Rules) {
        if self.is_set() {
            rules.note(self.address().map(drop));
        }
        rules.note(self.header_lines().map(drop));
        rules.rule((0.0..=1.0).contains(&self.ratio), "traces.ratio", "must be 0.0–1.0");
    }
}

/// The key that switches traces on.
pub(crate) const ENDPOINT: &str = "traces.endpoint";

#[cfg(test)]
mod tests {
    use super::*;

    fn config(endpoint: &str, headers: &str) -> Result<(), InvalidSetting> {
        let config = TracesConfig { endpoint: endpoint.to_owned(), headers: headers.into(), ..TracesConfig::default() };
        Rules::first(|rules| config.check(rules))
    }

    #[test]
    fn spans_leave_this_machine_encrypted() {
        assert_eq!(config("", ""), Ok(()));
        assert_eq!(config("https://collector.example", ""), Ok(()));
        assert_eq!(config("http://127.0.0.1:4318", ""), Ok(()));
        for address in ["http://collector.example:4318", "collector:4318", "https://a:b@collector.example"] {
            assert_eq!(config(address, "").map_err(|error| error.key), Err(ENDPOINT), "{address}");
        }
    }

    #[test]
    fn headers_are_lines_of_a_name_and_a_value() {
        let headers = "authorization: Bearer a:b\n\n x-key : hunter2 \n";
        let config = TracesConfig { headers: headers.into(), ..TracesConfig::default() };
        assert_eq!(config.header_lines().unwrap(), [("authorization", "Bearer a:b"), ("x-key", "hunter2")]);
        for broken in ["x-key hunter2", ": hunter2"] {
            assert_eq!(self::config("", broken).map_err(|error| error.key), Err("traces.headers"), "{broken}");
        }
        assert!(!format!("{config:?}").contains("hunter2"));
    }
}
