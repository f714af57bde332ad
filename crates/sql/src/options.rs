//! How to reach PostgreSQL.

use std::str::FromStr as _;
use std::time::Duration;

use secrecy::ExposeSecret as _;
use sqlx::ConnectOptions as _;
use sqlx::postgres::PgConnectOptions;

use super::{DbError, Location};
use anamnesis_config::StoreConfig;
use anamnesis_config::store::PostgresConfig;

/// How prepared statements are cached on a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Statements {
    /// Prepared once per connection. Directly, through PgBouncer 1.21 or newer, or one that pools sessions.
    Named,
    /// Prepared each time: through older poolers that pool transactions.
    Unnamed,
}

/// A server, with the limits of its use.
#[derive(Debug, Clone)]
pub struct PostgresOptions {
    pub(super) connect: PgConnectOptions,
    pub(super) max_connections: u32,
    pub(super) acquire_timeout: Duration,
    pub(super) statement_timeout: Duration,
    pub(super) lock_timeout: Duration,
    pub(super) idle_transaction_timeout: Duration,
    pub(super) statements: Statements,
    pub(super) ann_min_passages: usize,
    pub(super) allow_not_durable: bool,
}

impl PostgresOptions {
    /// # Errors
    /// [`DbError::Url`] when the URL cannot be read, [`DbError::Tls`] when it would go unencrypted over a network.
    pub fn new(url: &str, config: &PostgresConfig) -> Result<Self, DbError> {
        let connect = PgConnectOptions::from_str(url).map_err(|_| DbError::Url)?;
        let ms = |millis: u64| Duration::from_millis(millis);
        Ok(Self {
            connect: config
                .encrypted(connect)
                .ok_or(DbError::Tls)?
                .application_name("anamnesis")
                // Poolers refuse unknown startup parameters, and numbers are sent in binary anyway.
                .extra_float_digits(None)
                .disable_statement_logging(),
            max_connections: config.max_connections.into(),
            acquire_timeout: ms(config.acquire_timeout_ms),
            statement_timeout: ms(config.statement_timeout_ms),
            lock_timeout: ms(config.lock_timeout_ms),
            idle_transaction_timeout: ms(config.idle_transaction_timeout_ms),
            ann_min_passages: usize::try_from(config.ann_min_passages).unwrap_or(usize::MAX),
            allow_not_durable: config.allow_not_durable,
            statements: if config.prepared_statements { Statements::Named } else { Statements::Unnamed },
        })
    }
}

impl Location {
    /// Where the configuration says that memory lives: a server where `store.url` names one, else a file.
    ///
    /// # Errors
    /// As [`PostgresOptions::new`].
    pub fn from_config(config: &StoreConfig) -> Result<Self, DbError> {
        match config.url.expose_secret() {
            "" => Ok(Self::File(config.path.clone())),
            url => Ok(Self::Postgres(Box::new(PostgresOptions::new(url, &config.postgres)?))),
        }
    }
}
