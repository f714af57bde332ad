//! Compares rows with the audit trail. A row that was deleted outside the program leaves the entry that created it; a
//! row that was changed so that it looks finished has no entry.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::audit_trail::acts;
use crate::statements::missing_rows as sql;
use anamnesis_core::ids::OrgId;
use anamnesis_sql::{Arg, DbError, Sql, Transaction};

/// Rows of these patients that the trail names and that are not there, and rows that look done and of which it says nothing. Of the
/// latter those `since` which all rows are covered, and the trail is whole: `None` looks at none.
///
/// # Errors
/// Of the database.
pub(crate) async fn count(
    tx: &mut Transaction,
    org: OrgId,
    patients: &[Uuid],
    since: Option<DateTime<Utc>>,
) -> Result<u64, DbError> {
    let of = || vec![org.0.into(), Arg::Uuids(patients.to_vec())];
    let mut found = 0;
    for sql in [&sql::MISSING_CONSENTS, &sql::MISSING_SWITCHES, &sql::MISSING_DOCUMENTS, &sql::MISSING_ACTS] {
        found += counted(tx, sql, of()).await?;
    }
    let Some(since) = since else { return Ok(found) };
    let since = acts::horizon(tx, org).await?.map_or(since, |horizon| since.max(horizon));
    let mut silent = 0;
    for sql in [&sql::UNAUDITED_FATES, &sql::UNAUDITED_TOMBSTONES] {
        silent += counted(tx, sql, [of(), vec![since.into()]].concat()).await?;
    }
    if silent > 0 {
        let anonymous = counted(tx, &sql::ANONYMOUS_ENTRIES, vec![org.0.into(), Uuid::nil().into()]).await?;
        silent = silent.saturating_sub(anonymous);
    }
    Ok(found + silent)
}

/// The count of a statement of this file; each returns the same column.
async fn counted(tx: &mut Transaction, sql: &Sql, args: Vec<Arg>) -> Result<u64, DbError> {
    let row = tx.fetch_optional(sql, args).await?;
    Ok(row.map(|row| row.i64(sql::missing_consents::FOUND)).transpose()?.map_or(0, i64::unsigned_abs))
}
