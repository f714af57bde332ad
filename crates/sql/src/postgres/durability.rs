//! Checks that the server stores what it confirmed. With one of these settings off it answers COMMIT before the data is
//! on disk, or can leave torn pages: a message would be acknowledged and lost.

use sqlx::Row as _;
use sqlx::postgres::PgConnection;

use super::super::DbError;
use super::super::options::PostgresOptions;
use super::rows::error;

const NEEDED: [&str; 3] = ["fsync", "full_page_writes", "synchronous_commit"];
static SETTINGS: &str =
    "SELECT current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit')";

/// Reads the settings of this session, so that those of the role and the database count too.
///
/// # Errors
/// [`DbError::NotDurable`] with the first setting that is off, unless the configuration allows it.
pub(crate) async fn check(connection: &mut PgConnection, options: &PostgresOptions) -> Result<(), DbError> {
    if options.allow_not_durable {
        return Ok(());
    }
    let row = sqlx::query(SETTINGS).persistent(false).fetch_one(connection).await.map_err(|e| error(&e))?;
    for (at, name) in NEEDED.into_iter().enumerate() {
        let value: String = row.try_get(at).map_err(|e| error(&e))?;
        if value == "off" {
            return Err(DbError::NotDurable(name));
        }
    }
    Ok(())
}
