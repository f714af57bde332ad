//! Since when every row that is to have a keyed hash has one (`crate::covered`).

use chrono::{DateTime, Datelike as _, Utc};
use uuid::Uuid;

use super::statements::{ANY_THERE, IS_THERE};
use super::{Done, acts, write};
use crate::StoreError;
use crate::covered;
use anamnesis_core::audit::Actor;
use anamnesis_core::ids::{OrgId, derive};
use anamnesis_crypto::PlatformKey;
use anamnesis_sql::{Arg, DbError, Transaction};

/// The entry that says that every row is covered. A new one is made each year, since the trail has a term and this has none.
fn coverage(org: OrgId, year: i32) -> Uuid {
    derive("audit.covered", &[org.0.as_bytes(), &[covered::VERSION], &year.to_be_bytes()])
}

/// Of which tables every row of an organisation has a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coverage {
    /// The version of covered tables ([`covered::VERSION`]); 0: none. What has no hash now was changed.
    pub version: u8,
    /// Since when, as far as the trail goes back, for the newest version.
    pub since: Option<DateTime<Utc>>,
}

/// What is covered of an organisation.
///
/// # Errors
/// Of the database.
pub async fn rows_are_covered(tx: &mut Transaction, org: OrgId, now: DateTime<Utc>) -> Result<Coverage, DbError> {
    let there = async |tx: &mut Transaction, ids: Vec<Uuid>| {
        tx.fetch_optional(&ANY_THERE, vec![org.0.into(), Uuid::nil().into(), Arg::Uuids(ids)]).await
    };
    // The entry of last year is enough; years to come are those of a clock that was set back since.
    let years = now.year() - 6..=now.year() + 1;
    if let Some(row) = there(tx, years.map(|year| coverage(org, year)).collect()).await? {
        return Ok(Coverage { version: covered::VERSION, since: Some(row.time(0)?) });
    }
    let first = derive("audit.covered", &[org.0.as_bytes()]);
    Ok(Coverage { version: u8::from(there(tx, vec![first]).await?.is_some()), since: None })
}

/// Writes down that from now on every row has a hash, and which holds are in force. In the chain, so that nobody takes it back
/// unseen. Once a year.
///
/// # Errors
/// Of the database.
pub async fn rows_covered(
    tx: &mut Transaction,
    key: &PlatformKey,
    org: OrgId,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let id = coverage(org, now.year());
    if tx.fetch_optional(&IS_THERE, vec![org.0.into(), Uuid::nil().into(), id.into()]).await?.is_some() {
        return Ok(());
    }
    let entry = Done::in_organization(org, "rows_covered").entry(id, now, &Actor::program("job"));
    write(tx, key, &[entry]).await?;
    acts::renew_holds(tx, org, key, now).await
}
