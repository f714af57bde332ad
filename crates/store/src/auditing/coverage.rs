//! Since when every row that is to have a keyed hash has one (`crate::covered`).

use chrono::{DateTime, Datelike as _, Utc};
use uuid::Uuid;

use super::statements::{ANY_THERE, IS_THERE};
use super::{Done, write};
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

/// Of which version of covered tables every row of an organisation has a hash: what has none now was changed.
///
/// # Errors
/// Of the database.
pub async fn rows_are_covered(tx: &mut Transaction, org: OrgId, now: DateTime<Utc>) -> Result<u8, DbError> {
    let there = async |tx: &mut Transaction, ids: Vec<Uuid>| {
        tx.fetch_optional(&ANY_THERE, vec![org.0.into(), Uuid::nil().into(), Arg::Uuids(ids)]).await
    };
    // The entry of last year is enough; years to come are those of a clock that was set back since.
    let years = now.year() - 6..=now.year() + 1;
    if there(tx, years.map(|year| coverage(org, year)).collect()).await?.is_some() {
        return Ok(covered::VERSION);
    }
    let first = derive("audit.covered", &[org.0.as_bytes()]);
    Ok(u8::from(there(tx, vec![first]).await?.is_some()))
}

/// Writes down that from now on every row has a hash. In the chain, so that nobody takes it back unseen. Once a year.
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
    write(tx, key, &[entry]).await
}
