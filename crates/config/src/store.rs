//! `[store]`: where memory lives and where its keys live.

use std::path::PathBuf;

use schemars::JsonSchema;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use sqlx::postgres::{PgConnectOptions, PgSslMode};

/// Serialised without its secret.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StoreConfig {
    /// File of the embedded store.
    pub path: PathBuf,
    /// PostgreSQL's address, `postgres://user:password@host/database`; empty: the embedded store.
    #[serde(skip_serializing)]
    #[schemars(with = "String")]
    pub url: SecretString,
    /// File that holds `store.url`; empty: none.
    pub(crate) url_file: PathBuf,
    /// The same for `anamnesis migrate` and `restore`, with a member of anamnesis_owner; empty: `store.url`.
    #[serde(skip_serializing)]
    #[schemars(with = "String")]
    pub migrate_url: SecretString,
    /// File that holds `store.migrate_url`; empty: none.
    pub(crate) migrate_url_file: PathBuf,
    /// The same for the jobs, with a member of anamnesis_jobs; empty: `store.url`.
    #[serde(skip_serializing, default)]
    #[schemars(with = "String")]
    pub jobs_url: SecretString,
    /// File that holds `store.jobs_url`; empty: none.
    #[serde(default)]
    pub(crate) jobs_url_file: PathBuf,
    /// File of the key store: keep it out of the store's backups.
    pub keys: PathBuf,
    /// Master key, 64 hexadecimal digits; empty: the file of the next key.
    #[serde(skip_serializing)]
    #[schemars(with = "String")]
    pub master_key: SecretString,
    /// File of the master key, best on another volume; empty: `store.keys` with `.master` after it.
    pub master_key_file: PathBuf,
    /// Address of the key table, in another database and with another role than the store; empty: the file.
    #[serde(skip_serializing, default)]
    #[schemars(with = "String")]
    pub keys_url: SecretString,
    /// File that holds `store.keys_url`; empty: none.
    #[serde(default)]
    pub(crate) keys_url_file: PathBuf,
    /// Term of the copies that a migration or `restore --replace` leaves next to the store.
    #[serde(default = "copy_days")]
    #[schemars(range(min = 1, max = 36500))]
    pub copy_days: u32,
    pub postgres: PostgresConfig,
}

fn copy_days() -> u32 {
    30
}

/// `[store.postgres]`: limits of what is asked of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PostgresConfig {
    /// Most connections of one process.
    #[schemars(range(min = 1, max = 1000))]
    pub max_connections: u16,
    /// Longest wait for a connection.
    pub acquire_timeout_ms: u64,
    /// Longest statement.
    pub statement_timeout_ms: u64,
    /// Longest wait for a locked row.
    pub lock_timeout_ms: u64,
    /// Longest silence within a transaction.
    pub idle_transaction_timeout_ms: u64,
    /// Off for a pooler that pools transactions and is older than PgBouncer 1.21.
    pub prepared_statements: bool,
    /// Passages of a patient from which a search uses the approximate index; 0: never.
    pub ann_min_passages: u32,
    /// Work on a server that may lose committed documents; for tests and trials only.
    pub allow_not_durable: bool,
    /// Encryption of the connection.
    pub tls: Tls,
    /// Certificates (PEM) that are trusted with the machine's own; empty: none.
    pub ca_file: PathBuf,
}

/// How a connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
