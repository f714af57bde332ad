//! `[broker]`: RabbitMQ. Without a URL there is none: the worker then takes work from its spool alone.

use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

/// See `default.toml` for the meaning of each key. Serialised without its secrets.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BrokerConfig {
    /// `amqp://user:password@host:port/vhost`, or `amqps`. Empty: no broker.
    #[serde(skip_serializing)]
    pub url: SecretString,
    /// First word of every exchange and queue.
    pub prefix: String,
    /// Whether the worker declares what is missing when it starts. Off where its user may not configure.
    pub declare: bool,
    /// RabbitMQ's management API, `http://user:password@host:15672`, for `topology check` alone.
    #[serde(skip_serializing)]
    pub management_url: SecretString,
    /// Batches of real-time messages worked at once; they never wait behind bulk ones.
    pub realtime_slots: usize,
    /// Batches of bulk messages worked at once.
    pub bulk_slots: usize,
    /// Milliseconds that a batch waits for company.
    pub linger_ms: u64,
    /// Mebibytes that bodies in flight may take: bounds the prefetch.
    pub memory_mb: usize,
    pub heartbeat_seconds: u16,
    /// Longest handshake.
    pub connect_timeout_ms: u64,
    /// Longest wait for a confirm, an acknowledgement or an answer on an open connection.
    pub answer_timeout_ms: u64,
    /// How often a message is offered again before it is set aside as `transient_exhausted`.
    pub retries: u32,
    /// Milliseconds between two looks at the outbox.
    pub relay_ms: u64,
    /// HTTP callbacks that get events too, signed.
    pub webhooks: Vec<Webhook>,
}

/// One receiver of events over HTTP.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// https, or http on loopback.
    pub url: String,
    /// Key of the signature, at least 16 characters.
    #[serde(skip_serializing)]
    pub secret: SecretString,
    /// Event types wanted, as contract.md names them; empty: all.
    #[serde(default)]
    pub events: Vec<String>,
}

impl BrokerConfig {
    /// Whether a broker is configured.
    pub fn is_set(&self) -> bool {
        !self.url.expose_secret().is_empty()
    }

    pub fn connect_timeout(&self) -> Duration {
        Duration::from_millis(self.connect_timeout_ms.clamp(100, 60_000))
    }

    pub fn answer_timeout(&self) -> Duration {
        Duration::from_millis(self.answer_timeout_ms.clamp(100, 60_000))
    }

    pub fn linger(&self) -> Duration {
        Duration::from_millis(self.linger_ms.min(1_000))
    }

    pub fn relay_pause(&self) -> Duration {
        Duration::from_millis(self.relay_ms.clamp(20, 60_000))
    }
}

impl Default for BrokerConfig {
    fn default() -> Self {
        Self {
            url: SecretString::default(),
            prefix: "anamnesis".to_owned(),
            declare: true,
            management_url: SecretString::default(),
            realtime_slots: 1,
            bulk_slots: 2,
            linger_ms: 5,
            memory_mb: 96,
            heartbeat_seconds: 10,
            connect_timeout_ms: 10_000,
            answer_timeout_ms: 5_000,
            retries: 26,
            relay_ms: 500,
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
            webhooks: vec![Webhook { url: "https://a".into(), secret: "hunter2".into(), events: Vec::new() }],
            ..BrokerConfig::default()
        };
        let shown = format!("{config:?}{}", serde_json::to_string(&config).unwrap());
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(config.is_set() && !BrokerConfig::default().is_set());
    }
}
