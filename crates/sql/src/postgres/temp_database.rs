//! A temporary database on an existing server, for benchmarks: created by an administrator, migrated, and dropped.

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _};
use uuid::Uuid;

use super::super::{DbError, Location, PostgresOptions, ROLES, migrate};
use super::rows::error;
use anamnesis_config::store::PostgresConfig;

/// Only [`TempDatabase::remove`] drops it, because a destructor cannot wait for a server.
#[derive(Debug)]
pub struct TempDatabase {
    admin: PgConnectOptions,
    /// Of the database, and of the role that works in it.
    name: String,
    password: String,
    options: PostgresOptions,
}

impl TempDatabase {
    /// `id` is unique on the server; `url` is an administrator's.
    ///
    /// # Errors
    /// When the server cannot be reached or does not let this role make databases and roles.
    pub async fn make(url: &str, id: Uuid, config: &PostgresConfig) -> Result<Self, DbError> {
        let options = PostgresOptions::new(url, config)?;
        let name = format!("anamnesis_scratch_{}", id.simple());
        let scratch = Self { admin: options.connect.clone(), password: id.simple().to_string(), name, options };
        scratch.administer(format!("CREATE DATABASE {}", scratch.name)).await?;
        let made = scratch.fill().await;
        if made.is_err() {
            scratch.remove().await?;
        }
        made.map(|()| scratch)
    }

    async fn fill(&self) -> Result<(), DbError> {
        let mut inside = connected(&self.admin.clone().database(&self.name)).await?;
        sqlx::raw_sql(ROLES).execute(&mut inside).await.map_err(|e| error(&e))?;
        inside.close().await.map_err(|e| error(&e))?;
        let (role, password) = (&self.name, &self.password);
        self.administer(format!("CREATE ROLE {role} LOGIN PASSWORD '{password}' IN ROLE anamnesis_app")).await?;
        migrate(&self.owner()).await?;
        Ok(())
    }

    /// The location for the owner of the schema.
    pub fn owner(&self) -> Location {
        let mut owner = self.options.clone();
        owner.connect = owner.connect.database(&self.name);
        Location::Postgres(Box::new(owner))
    }

    /// The location for the program's own role.
    pub fn location(&self) -> Location {
        let mut options = self.options.clone();
        options.connect = options.connect.database(&self.name).username(&self.name).password(&self.password);
        Location::Postgres(Box::new(options))
    }

    /// The same for a configuration: `store.url`.
    pub fn url(&self) -> String {
        let options = self.options.connect.clone().database(&self.name).username(&self.name).password(&self.password);
        options.to_url_lossy().to_string()
    }

    /// As the administrator, for programs that create tables.
    pub fn administrators_url(&self) -> String {
        self.admin.clone().database(&self.name).to_url_lossy().to_string()
    }

    /// A connection that nothing binds.
    pub(super) async fn administrator(&self) -> Result<PgConnection, DbError> {
        let options = self.admin.clone().database(&self.name).options([("search_path", "anamnesis,public")]);
        connected(&options).await
    }

    /// # Errors
    /// When the server cannot be reached.
    pub async fn remove(&self) -> Result<(), DbError> {
        self.administer(format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name)).await?;
        self.administer(format!("DROP ROLE IF EXISTS {}", self.name)).await
    }

    /// Names are generated here, from digits and letters: no input of a caller is in a statement.
    async fn administer(&self, sql: String) -> Result<(), DbError> {
        let mut connection = connected(&self.admin).await?;
        connection.execute(AssertSqlSafe(sql)).await.map_err(|e| error(&e))?;
        connection.close().await.map_err(|e| error(&e))
    }
}

async fn connected(options: &PgConnectOptions) -> Result<PgConnection, DbError> {
    PgConnection::connect_with(options).await.map_err(|e| error(&e))
}
