//! The key table's database: how it is reached, and that it is no place from which the store can be read. Anyone who
//! gets hold of one of the two must not hold the other.

use std::str::FromStr as _;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions as _, Postgres, Transaction};

use super::statements::{LIMITS, READS_STORE, STORE_HERE};
use crate::KeyError;
use anamnesis_config::store::PostgresConfig;

/// A database for keys, with the limits of what is asked of it.
#[derive(Debug, Clone)]
pub struct KeyDatabase {
    connect: PgConnectOptions,
    limits: PostgresConfig,
    place: String,
}

impl KeyDatabase {
    /// `url` names the keys' database, `store` the URLs of the store's (empty ones say nothing). Time limits and TLS are
    /// the store's. Nothing is connected yet.
    ///
    /// # Errors
    /// [`KeyError::Denied`] for a URL that cannot be read, that would go unencrypted over a network, or that names a
    /// database or a role of the store.
    pub fn new(url: &str, store: &[&str], limits: &PostgresConfig) -> Result<Self, KeyError> {
        let refused = |reason: &str| KeyError::Denied { place: "store.keys_url".to_owned(), reason: reason.to_owned() };
        let unreadable = || refused("it must be postgres://user:password@host/database");
        let connect = PgConnectOptions::from_str(url).map_err(|_| unreadable())?;
        let database = connect.get_database().ok_or_else(unreadable)?.to_owned();
        for other in store.iter().filter(|other| !other.is_empty()) {
            let Ok(other) = PgConnectOptions::from_str(other) else { continue };
            let server = |of: &PgConnectOptions| (of.get_host().to_ascii_lowercase(), of.get_port());
            if server(&other) == server(&connect) {
                if other.get_database() == Some(database.as_str()) {
                    return Err(refused("keys must lie in another database than the store"));
                }
                if other.get_username() == connect.get_username() {
                    return Err(refused("the keys' database needs another role than the store"));
                }
            }
        }
        let place = format!("postgres:{}:{}/{database}", connect.get_host(), connect.get_port());
        let connect = limits
            .encrypted(connect)
            .ok_or_else(|| refused("the connection must be encrypted beyond loopback"))?
            .application_name("anamnesis-keys")
            .extra_float_digits(None)
            .disable_statement_logging();
        Ok(Self { connect, limits: limits.clone(), place })
    }

    /// Server and database. No role, no password.
    pub(crate) fn place(&self) -> String {
        self.place.clone()
    }

    /// Connects and looks where it is.
    ///
    /// # Errors
    /// [`KeyError::Transient`] where the server does not answer, [`KeyError::Denied`] where it refuses us or where the
    /// store could be read from here.
    pub(super) async fn connect(&self) -> Result<PgPool, KeyError> {
        let pool = PgPoolOptions::new()
            .max_connections(u32::from(self.limits.max_connections).min(4))
            .acquire_timeout(Duration::from_millis(self.limits.acquire_timeout_ms))
            .idle_timeout(Duration::from_secs(300))
            .max_lifetime(Duration::from_secs(1_800))
            .connect_with(self.connect.clone())
            .await
            .map_err(|error| self.failed(&error))?;
        let asked = |statement: &'static str| sqlx::query_scalar::<_, Option<bool>>(statement).persistent(false);
        let here = asked(STORE_HERE).fetch_one(&pool).await.map_err(|error| self.failed(&error))?;
        if here != Some(false) {
            return Err(self.refused("the store lies in this database; keys must lie in another one"));
        }
        let reads = asked(READS_STORE).fetch_one(&pool).await.map_err(|error| self.failed(&error))?;
        if reads != Some(false) {
            return Err(
                self.refused("this role can read the store: it is a superuser or a member of a role of the store")
            );
        }
        Ok(pool)
    }

    /// Sets the time limits of a transaction.
    ///
    /// # Errors
    /// As [`KeyDatabase::connect`].
    pub(super) async fn limit(&self, tx: &mut Transaction<'static, Postgres>) -> Result<(), KeyError> {
        let limits = &self.limits;
        let query = sqlx::query(LIMITS).persistent(false).bind(limits.statement_timeout_ms.to_string());
        let query = query.bind(limits.lock_timeout_ms.to_string()).bind(limits.idle_transaction_timeout_ms.to_string());
        query.execute(&mut **tx).await.map(drop).map_err(|error| self.failed(&error))
    }

    fn refused(&self, reason: &str) -> KeyError {
        KeyError::Denied { place: self.place(), reason: reason.to_owned() }
    }

    /// What an error means. The server's own words never go further.
    pub(super) fn failed(&self, error: &sqlx::Error) -> KeyError {
        let code = error.as_database_error().and_then(|error| error.code()).unwrap_or_default().into_owned();
        match code.as_str() {
            "28000" | "28P01" => self.refused("the server does not accept this role or its password"),
            "3D000" => self.refused("there is no such database"),
            "42501" => self.refused("the role may not connect, or lacks rights on schema anamnesis_keys"),
            // A table or column that is not there, or a row that breaks a rule of the table.
            "42P01" | "42703" | "3F000" | "23514" | "XX001" | "XX002" => KeyError::Damaged { place: self.place() },
            _ if matches!(error, sqlx::Error::ColumnDecode { .. }) => KeyError::Damaged { place: self.place() },
            _ => KeyError::Transient,
        }
    }
}
