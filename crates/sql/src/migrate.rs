//! The schema of a store, checked and migrated separately from normal work.

use super::postgres::{self, Applied};
use super::{Database, DbError, Location, sqlite_read_only};

/// Statements that the administrator of the database must run once, before the first migration.
pub const ROLES: &str = include_str!("../../../migrations/postgres/roles.sql");

/// How a schema compares with this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SchemaState {
    Current,
    /// These migrations have not been applied.
    Behind(Vec<i64>),
    /// A newer program applied this one.
    Newer(i64),
    /// Not the migration that this program knows, or one that ended half-way.
    Changed(i64),
}

/// Applies missing migrations and returns them. An embedded store is migrated when it is opened, so the list is empty.
///
/// # Errors
/// See [`DbError`]; an unknown version is refused.
pub async fn migrate(location: &Location) -> Result<Vec<i64>, DbError> {
    match location {
        Location::Postgres(options) => postgres::migrate(options).await.map(|Applied(versions)| versions),
        Location::File(_) | Location::Memory => {
            Database::open(location).await?.close().await;
            Ok(Vec::new())
        }
    }
}

/// Applies migrations other than this program's to a server: for tests of how they are applied.
///
/// # Errors
/// As [`migrate`]; an embedded store takes none.
pub async fn migrate_by(location: &Location, migrations: &sqlx::migrate::Migrator) -> Result<Vec<i64>, DbError> {
    match location {
        Location::Postgres(options) => {
            postgres::migrate_by(options, migrations, None).await.map(|Applied(versions)| versions)
        }
        Location::File(_) | Location::Memory => Err(DbError::Schema),
    }
}

/// Whether a server's store has rows that a migration could ruin. An embedded store is copied anyway.
///
/// # Errors
/// When the server cannot be queried.
pub async fn holds_rows(location: &Location) -> Result<bool, DbError> {
    match location {
        Location::Postgres(options) => postgres::holds_rows(options).await,
        Location::File(_) | Location::Memory => Ok(false),
    }
}

/// Makes or drops the approximate index over vectors of a dimension, while others work.
///
/// # Errors
/// [`DbError::Approximate`] where there can be none; an embedded store has none.
pub async fn approximate(location: &Location, dimension: usize, make: bool) -> Result<(), DbError> {
    match location {
        Location::Postgres(options) => postgres::approximate(options, dimension, make).await,
        Location::File(_) | Location::Memory => Err(DbError::Approximate),
    }
}

/// As [`schema_state`], without making or migrating an embedded store.
///
/// # Errors
/// When the store is not there or cannot be read.
pub async fn found_schema(location: &Location) -> Result<SchemaState, DbError> {
    match location {
        Location::Postgres(options) => postgres::state(options).await,
        Location::File(path) => sqlite_read_only::state(path).await,
        Location::Memory => Ok(SchemaState::Current),
    }
}

/// Whether work may begin, without changing anything on a server.
///
/// # Errors
/// When the server cannot be asked.
pub async fn schema_state(location: &Location) -> Result<SchemaState, DbError> {
    match location {
        Location::Postgres(options) => postgres::state(options).await,
        Location::File(_) | Location::Memory => {
            Database::open(location).await?.close().await;
            Ok(SchemaState::Current)
        }
    }
}
