//! `[broker]`: RabbitMQ. Without a URL there is none: the worker then takes work from its spool alone.

use std::path::PathBuf;
use std::time::Duration;

use reqwest::Url;
use schemars::JsonSchema;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use super::embedding::InvalidSetting;
use super::rules::Rules;
use anamnesis_core::failpoints;
use anamnesis_transport::{AddressError, Endpoint, apart, is_protected};

const NO_URL: &str = "is not an AMQP URL: amqps://user:password@host:5671/vhost";

/// See `default.toml` for the meaning of each key. Serialised without its secrets.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BrokerConfig {
    /// RabbitMQ's address, `amqps://user:password@host:5671/vhost`, or `amqp` on loopback; empty: no broker.
    #[serde(skip_serializing)]
    #[schemars(with = "String")]
    pub url: SecretString,
    /// File that holds `broker.url`; empty: none.
    pub url_file: PathBuf,
    /// First word of every exchange and queue.
    pub prefix: String,
    /// Whether the worker declares what is missing on the broker when it starts.
    pub declare: bool,
    /// Certificates (PEM) of an authority that is trusted, with the machine's own, for broker and management API.
    pub ca_file: PathBuf,
    /// Certificate (PEM) by which the broker recognises this program; empty: none.
    pub certificate_file: PathBuf,
    /// Key (PEM, PKCS#8) of `broker.certificate_file`; empty: none.
    pub key_file: PathBuf,
    /// RabbitMQ's management API, `https://user:password@host:15671`, for `topology check` and `doctor`; `http` on loopback.
    #[serde(skip_serializing)]
    #[schemars(with = "String")]
    pub management_url: SecretString,
    /// File that holds `broker.management_url`; empty: none.
    pub management_url_file: PathBuf,
    /// Batches of real-time messages that are processed at the same time.
    pub realtime_concurrency: usize,
    /// Batches of bulk messages that are processed at the same time.
    pub bulk_concurrency: usize,
    /// Longest time for which a batch waits for more messages.
    #[schemars(range(min = 0, max = 1000))]
    pub linger_ms: u64,
    /// Memory that the bodies in progress may take; it bounds the prefetch.
    pub memory_mb: usize,
    /// Interval of heartbeats; silence of twice as long ends the connection.
    #[schemars(range(min = 1, max = 60))]
    pub heartbeat_seconds: u16,
    /// Longest handshake with the broker.
    #[schemars(range(min = 100, max = 60000))]
    pub connect_timeout_ms: u64,
    /// Longest wait for a confirm or a reply on an open connection.
    #[schemars(range(min = 100, max = 60000))]
    pub rpc_timeout_ms: u64,
    /// Retries of a message before it is quarantined as `transient_exhausted`.
    pub max_retries: u32,
    /// Time between two polls of the outbox.
    #[schemars(range(min = 20, max = 60000))]
    pub outbox_poll_ms: u64,
    /// HTTP callbacks that receive events, signed.
    pub webhooks: Vec<Webhook>,
}

/// One receiver of events over HTTP.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// Address of the callback: https, or http on loopback.
    pub url: String,
    /// Key of the signature, at least 16 characters.
    #[serde(default, skip_serializing)]
    #[schemars(with = "String")]
    pub secret: SecretString,
    /// Certificates (PEM) of an authority that is trusted with the machine's own; empty: none.
    #[serde(default)]
    pub ca_file: PathBuf,
    /// File that holds `secret`; empty: none.
    #[serde(default)]
    pub secret_file: PathBuf,
    /// Types of events that are sent; empty: all.
    #[serde(default)]
    pub events: Vec<String>,
}

impl BrokerConfig {
    /// Whether a broker is configured.
    pub fn is_set(&self) -> bool {
        !self.url.expose_secret().is_empty()
    }

    /// The broker's address, read; `None` without a broker.
    ///
    /// # Errors
    /// The key and the rule that it breaks: not an AMQP URL, or not encrypted beyond this machine.
    pub fn address(&self) -> Result<Option<Url>, InvalidSetting> {
        if !self.is_set() {
            return Ok(None);
        }
        let invalid = |rule| InvalidSetting { key: "broker.url", rule };
        let url = Url::parse(&apart(self.url.expose_secret()).0).map_err(|_| invalid(NO_URL))?;
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or(invalid(NO_URL))?;
        match url.scheme() {
            "amqps" => {}
            "amqp" if is_protected(false, host) || failpoints::is("amqp_plain") => {}
            "amqp" => return Err(invalid("must be amqps (amqp is for loopback only)")),
            _ => return Err(invalid(NO_URL)),
        }
        Ok(Some(url))
    }

    /// Every address of the section, and what belongs to it.
    pub(crate) fn check(&self, rules: &mut Rules) {
        rules.note(self.address().map(drop));
        let half = self.certificate_file.as_os_str().is_empty() != self.key_file.as_os_str().is_empty();
        rules.rule(!half, "broker.certificate_file", "and broker.key_file belong together: give both or none");
        let invalid = |key| move |error: AddressError| InvalidSetting { key, rule: error.rule() };
        if !self.management_url.expose_secret().is_empty() {
            let url = Endpoint::with_credentials(self.management_url.expose_secret());
            rules.note(url.map(drop).map_err(invalid("broker.management_url")));
        }
        rules.each(&self.webhooks, |rules, webhook| {
            rules.note(Endpoint::parse(&webhook.url).map(drop).map_err(invalid("broker.webhooks.url")));
        });
    }

    #[cfg(test)]
    fn validate(&self) -> Result<(), InvalidSetting> {
        Rules::first(|rules| self.check(rules))
    }

    pub fn connect_timeout(&self) -> Duration {
        Duration::from_millis(self.connect_timeout_ms.clamp(100, 60_000))
    }

    pub fn rpc_timeout(&self) -> Duration {
        Duration::from_millis(self.rpc_timeout_ms.clamp(100, 60_000))
    }

    pub fn linger(&self) -> Duration {
        Duration::from_millis(self.linger_ms.min(1_000))
    }

    pub fn outbox_poll(&self) -> Duration {
        Duration::from_millis(self.outbox_poll_ms.clamp(20, 60_000))
    }
}

impl Default for BrokerConfig {
    fn default() -> Self {
        Self {
            url: SecretString::default(),
            url_file: PathBuf::new(),
            prefix: "anamnesis".to_owned(),
            declare: true,
            ca_file: PathBuf::new(),
            certificate_file: PathBuf::new(),
            key_file: PathBuf::new(),
            management_url: SecretString::default(),
            management_url_file: PathBuf::new(),
            realtime_concurrency: 1,
            bulk_concurrency: 2,
            linger_ms: 5,
            memory_mb: 96,
            heartbeat_seconds: 10,
            connect_timeout_ms: 10_000,
            rpc_timeout_ms: 5_000,
            max_retries: 26,
            outbox_poll_ms: 500,
            webhooks: Vec::new(),
        }
    }
}

impl PartialEq for BrokerConfig {
    /// By everything that may be shown.
    fn eq(&self, other: &Self) -> bool {
        serde_json::to_value(self).ok() == serde_json::to_value(other).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_of_the_broker_is_never_written_out() {
        let config = BrokerConfig {
            url: "amqp://user:hunter2@localhost/%2f".into(),
            management_url: "http://user:hunter2@localhost".into(),
            webhooks: vec![Webhook {
                url: "https://a".into(),
                secret: "hunter2".into(),
                ca_file: PathBuf::new(),
                secret_file: PathBuf::new(),
                events: Vec::new(),
            }],
            ..BrokerConfig::default()
        };
        let shown = format!("{config:?}{}", serde_json::to_string(&config).unwrap());
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(config.is_set() && !BrokerConfig::default().is_set());
    }

    #[test]
    fn the_broker_is_reached_by_amqps_or_on_this_machine() {
        let of = |url: &str| BrokerConfig { url: url.into(), ..BrokerConfig::default() }.validate();
        for good in
            ["", "amqps://u:p@rabbit.example/%2f", "amqp://localhost", "amqp://u:p@[::1]:5672/v", "amqp://127.0.0.9"]
        {
            assert_eq!(of(good), Ok(()), "{good}");
        }
        for bad in [
            "amqp://u:p@rabbit.example:5672/%2f",
            "amqp://10.0.0.7",
            "amqp://[fd00::7]:5672",
            "amqp://localhost.example",
            "amqp://127.0.0.1.example",
            "http://localhost",
            "rabbit.example:5672",
            "amqps:///vhost",
        ] {
            assert_eq!(of(bad).map_err(|error| error.key), Err("broker.url"), "{bad}");
        }
    }

    #[test]
    fn management_and_callbacks_are_https_beyond_this_machine() {
        let management = |url: &str| BrokerConfig { management_url: url.into(), ..BrokerConfig::default() }.validate();
        assert_eq!(management("http://u:p@127.0.0.1:15672"), Ok(()));
        assert_eq!(management("https://u:p@rabbit.example:15671"), Ok(()));
        let refused = management("http://u:p@rabbit.example:15672").unwrap_err().to_string();
        assert_eq!(refused, "broker.management_url: must be https (http is for loopback only)");
        let webhook = |url: &str| {
            let webhooks: Vec<Webhook> =
                vec![serde_json::from_value(serde_json::json!({"url": url, "secret": "x"})).unwrap()];
            BrokerConfig { webhooks, ..BrokerConfig::default() }.validate()
        };
        assert_eq!(webhook("https://clinic.example/hook"), Ok(()));
        assert_eq!(webhook("http://clinic.example/hook").map_err(|error| error.key), Err("broker.webhooks.url"));
    }

    #[test]
    fn a_certificate_and_its_key_belong_together() {
        let half = BrokerConfig { key_file: "key.pem".into(), ..BrokerConfig::default() };
        assert_eq!(half.validate().map_err(|error| error.key), Err("broker.certificate_file"));
    }
}
