//! `[http]`: where probes and metrics are served.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Probes and metrics. Nothing served there tells of a patient, but it has no authentication either: loopback unless
/// configured otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HttpConfig {
    /// Address and port of probes and metrics, which have no authentication; port 0 takes a free one.
    #[schemars(with = "String", extend("format" = "socket-address"))]
    pub bind: SocketAddr,
    /// Time after which a request is given up, below the limits of the probes.
    #[schemars(range(min = 1, max = 60))]
    pub(crate) timeout_seconds: u64,
}

impl HttpConfig {
    /// The limit of one request, held to its range.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds.clamp(1, 60))
    }
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self { bind: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)), timeout_seconds: 5 }
    }
}
