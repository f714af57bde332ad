//! Since when every row that is to have a keyed hash has one (`crate::covered`).

use std::collections::BTreeMap;

use chrono::{DateTime, Datelike as _, Utc};
use uuid::Uuid;

use super::{AuditedAction, acts, write};
use crate::StoreError;
use crate::covered;
use crate::statements::audit_trail::coverage as sql;
use anamnesis_core::audit::Actor;
use anamnesis_core::ids::{OrgId, derive};
use anamnesis_crypto::PlatformKey;
use anamnesis_sql::{Arg, DbError, Transaction};

/// The entry that says that every row is covered. A new one is made each year, since the trail has a term and this has none.
fn coverage(org: OrgId, version: u8, year: i32) -> Uuid {
    derive("audit.covered", &[org.0.as_bytes(), &[version], &year.to_be_bytes()])
}

/// Of which tables every row of an organisation has a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowCoverage {
    /// The version of covered tables ([`covered::VERSION`]); 0: none. A row that should have a hash and has none was
    /// changed.
    pub version: u8,
    /// Since when, as far as the trail reaches back, for all tables except the ledger of runs.
    pub since: Option<DateTime<Utc>>,
}

/// The coverage of an organisation.
///
/// # Errors
/// Of the database.
pub async fn rows_are_covered(tx: &mut Transaction, org: OrgId, now: DateTime<Utc>) -> Result<RowCoverage, DbError> {
    // The entry of last year is enough; years to come are those of a clock that was set back since.
    let years = || now.year() - 6..=now.year() + 1;
    let of = |version: u8| years().map(move |year| (coverage(org, version, year), version));
    let first = (derive("audit.covered", &[org.0.as_bytes()]), 1);
    let versions: BTreeMap<Uuid, u8> = (covered::WITH_ACTS..=covered::VERSION).flat_map(of).chain([first]).collect();
    let ids = Arg::Uuids(versions.keys().copied().collect());
    let mut found = RowCoverage::default();
    for row in tx.fetch_all(&sql::THOSE_THERE, vec![org.0.into(), Uuid::nil().into(), ids]).await? {
        let version = versions.get(&row.uuid(sql::those_there::ID)?).copied().unwrap_or_default();
        found.version = found.version.max(version);
        if version >= covered::WITH_ACTS {
            let at = row.time(sql::those_there::AT)?;
            found.since = Some(found.since.map_or(at, |since| since.min(at)));
        }
    }
    Ok(found)
}

/// Records that from now on every row has a hash, and which holds are in force. It is in the chain, so that no one
/// withdraws it unseen. Once a year.
///
/// # Errors
/// Of the database.
pub async fn rows_covered(
    tx: &mut Transaction,
    key: &PlatformKey,
    org: OrgId,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let id = coverage(org, covered::VERSION, now.year());
    if tx.fetch_optional(&sql::IS_THERE, vec![org.0.into(), Uuid::nil().into(), id.into()]).await?.is_some() {
        return Ok(());
    }
    let entry = AuditedAction::in_organization(org, "rows_covered").entry(id, now, &Actor::program("job"));
    write(tx, key, &[entry]).await?;
    acts::renew_holds(tx, org, key, now).await
}
