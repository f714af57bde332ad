//! Facts about the server and our role, for diagnosis (`doctor`). Nothing is written.

use sqlx::Row as _;

use super::super::DbError;
use super::rows::error;
use super::{PostgresDatabase, schema};

/// Rights without which a worker's role fails at some message; grants.sql has them all.
const NEEDED: [(&str, &str); 16] = [
    ("organization", "INSERT"),
    ("inbox", "INSERT"),
    ("attempt", "INSERT"),
    ("attempt", "DELETE"),
    ("documents", "INSERT"),
    ("documents", "UPDATE"),
    ("passage", "INSERT"),
    ("embedding", "INSERT"),
    ("memory", "INSERT"),
    ("memory", "UPDATE"),
    ("memory_event", "INSERT"),
    ("outbox", "INSERT"),
    ("outbox", "UPDATE"),
    ("quarantine", "INSERT"),
    ("job_run", "INSERT"),
    ("action_audit", "INSERT"),
];

const READ_ONLY: &str = "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'";
const MISSING: &str = "SELECT asked.held || ' on ' || asked.name FROM unnest($1::text[], $2::text[]) AS asked (name, held) \
     WHERE to_regclass('anamnesis.' || asked.name) IS NULL \
     OR NOT has_table_privilege(current_user, 'anamnesis.' || asked.name, asked.held)";

/// Properties that the server reports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerInfo {
    /// A standby, or a server that was set so.
    pub read_only: bool,
    /// `INSERT on documents` and the like.
    pub missing_rights: Vec<String>,
}

impl PostgresDatabase {
    /// # Errors
    /// When the server cannot be asked.
    pub(crate) async fn server_info(&self) -> Result<ServerInfo, DbError> {
        let mut connection = schema::connect(&self.options).await?;
        let read_only: bool =
            sqlx::query_scalar(READ_ONLY).persistent(false).fetch_one(&mut connection).await.map_err(|e| error(&e))?;
        let (names, rights): (Vec<&str>, Vec<&str>) = NEEDED.into_iter().unzip();
        let asked = sqlx::query(MISSING).persistent(false).bind(names).bind(rights);
        let rows = asked.fetch_all(&mut connection).await.map_err(|e| error(&e))?;
        let missing: Result<Vec<String>, sqlx::Error> = rows.iter().map(|row| row.try_get(0)).collect();
        Ok(ServerInfo { read_only, missing_rights: missing.map_err(|e| error(&e))? })
    }
}
