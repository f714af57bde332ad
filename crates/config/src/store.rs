//! `[store]`: where memory lives and where its keys live.

use std::path::PathBuf;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use sqlx::postgres::{PgConnectOptions, PgSslMode};

/// Serialised without its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreConfig {
    /// The embedded store's file.
    pub path: PathBuf,
    /// `postgres://…` for a store on a server; empty: the embedded one. May hold a password.
    #[serde(skip_serializing)]
    pub url: SecretString,
    /// A file that holds `url`; likewise below ([`super::secrets`]). Empty: none.
    pub(crate) url_file: PathBuf,
    /// The same for `anamnesis migrate`, whose role owns the schema; empty: `url`.
    #[serde(skip_serializing)]
    pub migrate_url: SecretString,
    pub(crate) migrate_url_file: PathBuf,
    /// The same for the jobs, with a member of anamnesis_jobs, which changes what is remembered and never what came in; empty: `url`.
    #[serde(skip_serializing, default)]
    pub jobs_url: SecretString,
    #[serde(default)]
    pub(crate) jobs_url_file: PathBuf,
    /// The key store's file: keep it out of the store's backups.
    pub keys: PathBuf,
    /// Master key as 64 hexadecimal digits; empty: the file beside the key store, made at first start.
    #[serde(skip_serializing)]
    pub master_key: SecretString,
    /// The file of the master key where `master_key` is empty; empty: `keys` with `.master` after it. Keep it on another
    /// volume than the key store.
    pub master_key_file: PathBuf,
    /// `postgres://…` of the key table, in another database than the store and with another role; empty: the file `keys`.
    #[serde(skip_serializing, default)]
    pub keys_url: SecretString,
    /// File that holds `keys_url`; empty: none.
    #[serde(default)]
    pub(crate) keys_url_file: PathBuf,
    /// Days for which copies that a migration or a restore left are kept, 1–36500.
    #[serde(default = "copy_days")]
    pub copy_days: u32,
    pub postgres: PostgresConfig,
}

fn copy_days() -> u32 {
    30
}

/// `[store.postgres]`: limits of what is asked of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PostgresConfig {
    /// Most connections of one process, 1–1000.
    pub max_connections: u16,
    /// Longest wait for a connection, milliseconds.
    pub acquire_timeout_ms: u64,
    /// Longest statement, milliseconds.
    pub statement_timeout_ms: u64,
    /// Longest wait for a row that another transaction holds, milliseconds.
    pub lock_timeout_ms: u64,
    /// After so many milliseconds of silence inside a transaction the server ends it.
    pub idle_transaction_timeout_ms: u64,
    /// Off behind a pooler that pools transactions and is older than PgBouncer 1.21.
    pub prepared_statements: bool,
    /// Passages of a patient from which a search asks the approximate index that `anamnesis migrate approximate` made;
    /// 0: never, every search compares all.
    pub approximate_from: u32,
    /// Work on a server that may lose committed transactions when its machine stops: tests and trials only.
    pub allow_not_durable: bool,
    pub tls: Tls,
    /// Certificates (PEM) trusted beside the machine's.
    pub ca_file: PathBuf,
}

/// How a connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tls {
    /// Beyond this machine as `verify_full`; on loopback as the URL says.
    Auto,
    /// Encrypted, and the server proves that it is the host of the URL.
    VerifyFull,
    /// Never; on loopback only.
    Off,
}

impl PostgresConfig {
    /// The connection as `tls` wants it: beyond this machine the server must prove its name, since anything less is open to
    /// anyone on the way. `None` where it would go unencrypted over a network.
    pub fn encrypted(&self, connect: PgConnectOptions) -> Option<PgConnectOptions> {
        let host = connect.get_host();
        let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
        let here = connect.get_socket().is_some()
            || host.starts_with('/')
            || host == "localhost"
            || address.is_ok_and(|address| address.is_loopback());
        let connect = match &self.ca_file {
            path if path.as_os_str().is_empty() => connect,
            path => connect.ssl_root_cert(path),
        };
        match self.tls {
            Tls::VerifyFull => Some(connect.ssl_mode(PgSslMode::VerifyFull)),
            Tls::Auto if here => Some(connect),
            Tls::Auto => Some(connect.ssl_mode(PgSslMode::VerifyFull)),
            Tls::Off if here => Some(connect.ssl_mode(PgSslMode::Disable)),
            Tls::Off => None,
        }
    }
}

impl PartialEq for StoreConfig {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
            && self.keys == other.keys
            && self.master_key_file == other.master_key_file
            && self.postgres == other.postgres
    }
}
