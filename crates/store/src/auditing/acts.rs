//! State that acts of people made, against the trail: a legal hold that nobody lifted and that is not there any more, an erasure
//! that was done without being asked for, a quarantined message that looks as if it had been offered again. Whoever can write rows
//! and lacks the keys of the store can do what no entry says, and make no entry.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::statements::FIRST;
use crate::StoreError;
use crate::covered::Uncovered;
use crate::erasing::{self, Request};
use crate::organizations::{self, Policy};
use anamnesis_core::ids::{OrgId, derive};
use anamnesis_crypto::PlatformKey;
use anamnesis_sql::{Arg, Bulk, ColumnType, Sql, Transaction};

// The list of actions is that of the index `action_audit_acts`, in the words in which an engine finds it.
static ACTS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT action, patient_id, subject_id, id, outcome, at FROM action_audit WHERE org_id = $1 \
         AND action IN ('hold_set', 'hold_lifted', 'erase', 'quarantined_retried')",
    )
});
static HOLDS: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("SELECT patient_id, id, lifted_at, set_at FROM legal_hold WHERE org_id = $1"));
static RECEIPTS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT org_id, patient_id, id, what, subject_id, requested_by, requested_at, done_at, files_at, counts, mac FROM erasure \
         WHERE org_id = $1",
    )
});
// A body goes with a drop, and never before it.
static HIDDEN: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT id, state FROM quarantine WHERE org_id = $1 \
         AND (state = 'retried' OR (state = 'dropped' AND body_sealed IS NOT NULL))",
    )
});
static ADOPT: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "UPDATE erasure SET mac = r.mac FROM {rows} AS r WHERE erasure.org_id = r.org_id \
         AND erasure.patient_id = r.patient_id AND erasure.id = r.id AND erasure.mac IS NULL",
        &[
            ("org_id", ColumnType::Uuid),
            ("patient_id", ColumnType::Uuid),
            ("id", ColumnType::Uuid),
            ("mac", ColumnType::Bytes),
        ],
    )
});

pub(super) fn statements() -> Vec<&'static Sql> {
    vec![&ACTS, &HOLDS, &RECEIPTS, &HIDDEN, ADOPT.sql()]
}

/// The table of an organisation's policy.
const ORGANIZATION: &str = "organization";

/// How rows and trail differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unfounded {
    /// Rows that say what no entry says, and entries whose row is not there.
    pub forged: u64,
    /// Receipts of versions before they had a hash, each with the one that it gets.
    pub uncovered: Vec<Uncovered>,
}

/// What the trail says of holds, erasures and messages that were set aside. An entry that was erased keeps its id and action.
#[derive(Debug, Default)]
struct Said {
    /// When the first block was sealed: before that there may have been no trail.
    since: Option<DateTime<Utc>>,
    /// Ids of entries, each made from what it speaks of.
    entries: BTreeSet<Uuid>,
    set: BTreeSet<Uuid>,
    /// Erased patients, and what of others was erased, with the time.
    gone: BTreeMap<(Uuid, Option<Uuid>), DateTime<Utc>>,
    retried: BTreeSet<Uuid>,
    /// Entries of messages that were offered again, which do not say any more of which.
    retried_of_erased: u64,
}

impl Said {
    async fn read(tx: &mut Transaction, org: OrgId) -> Result<Self, StoreError> {
        let first = tx.fetch_optional(&FIRST, vec![org.0.into()]).await?;
        let since = first.map(|row| super::block(org, &row)).transpose()?.map(|block| block.sealed_at);
        let mut said = Self { since, ..Self::default() };
        for row in tx.fetch_all(&ACTS, vec![org.0.into()]).await? {
            let (action, patient, subject) = (row.text(0)?, row.uuid(1)?, row.opt_uuid(2)?);
            let (entry, outcome, at) = (row.uuid(3)?, row.text(4)?, row.time(5)?);
            said.entries.insert(entry);
            match (action.as_str(), subject) {
                ("hold_set", Some(hold)) => drop(said.set.insert(hold)),
                ("quarantined_retried", Some(message)) => drop(said.retried.insert(message)),
                ("quarantined_retried", None) => said.retried_of_erased += 1,
                ("erase", subject) if outcome == "done" && !patient.is_nil() => {
                    said.gone.insert((patient, subject), at);
                }
                _ => {}
            }
        }
        Ok(said)
    }

    /// Whether the trail says the same of an act as a row that was `made` after the trail began.
    fn agrees(&self, entry: Uuid, is_done: bool, made: DateTime<Utc>) -> bool {
        self.since.is_some_and(|since| made < since) || self.entries.contains(&entry) == is_done
    }
}

/// Compares the rows of holds, receipts and quarantined messages of an organisation with its trail. Acts before `since` may have
/// lost their rows to a term.
///
/// # Errors
/// Of the database.
pub async fn unfounded(
    tx: &mut Transaction,
    org: OrgId,
    key: &PlatformKey,
    since: DateTime<Utc>,
) -> Result<Unfounded, StoreError> {
    let said = Said::read(tx, org).await?;
    let mut found = Unfounded::default();
    holds(tx, org, &said, &mut found).await?;
    receipts(tx, org, (&said, since), key, &mut found).await?;
    let mut hidden = 0;
    for row in tx.fetch_all(&HIDDEN, vec![org.0.into()]).await? {
        let is_offered = row.text(1)? == "retried" && said.retried.contains(&row.uuid(0)?);
        hidden += u64::from(!is_offered);
    }
    found.forged += hidden.saturating_sub(said.retried_of_erased);
    match organizations::policy(tx, org, key).await? {
        Policy::Authentic => {}
        Policy::Forged => found.forged += 1,
        Policy::Uncovered => found.uncovered.push(Uncovered::new(ORGANIZATION, 2, (Uuid::nil(), org.0), [0; 16])),
    }
    Ok(found)
}

/// The entry of the lifting of a hold.
fn lifting(hold: Uuid) -> Uuid {
    derive("audit", &[hold.as_bytes(), b"hold_lifted"])
}

async fn holds(tx: &mut Transaction, org: OrgId, said: &Said, found: &mut Unfounded) -> Result<(), StoreError> {
    let mut there = BTreeSet::new();
    for row in tx.fetch_all(&HOLDS, vec![org.0.into()]).await? {
        let (id, is_lifted) = (row.uuid(1)?, row.opt_time(2)?.is_some());
        there.insert(id);
        found.forged += u64::from(!said.agrees(lifting(id), is_lifted, row.time(3)?));
    }
    let lost = said.set.iter().filter(|id| !there.contains(*id) && !said.entries.contains(&lifting(**id))).count();
    found.forged += lost as u64;
    Ok(())
}

async fn receipts(
    tx: &mut Transaction,
    org: OrgId,
    (said, since): (&Said, DateTime<Utc>),
    key: &PlatformKey,
    found: &mut Unfounded,
) -> Result<(), StoreError> {
    let mut there = BTreeSet::new();
    for row in tx.fetch_all(&RECEIPTS, vec![org.0.into()]).await? {
        let receipt = erasing::receipt(&row)?;
        let request = &receipt.request;
        let patient = request.scope.patient().0;
        there.insert((patient, request.subject.id()));
        let mac = mac(key, request);
        match row.opt_blob(10)? {
            None => found.uncovered.push(Uncovered::new("erasure", 2, (patient, request.id), mac)),
            Some(own) => found.forged += u64::from(own != mac),
        }
        // An erasure that is to be done again is done again.
        let done = derive("audit", &[request.id.as_bytes(), b"erase", b"done"]);
        let is_told = receipt.done_at.is_none() || said.agrees(done, true, request.requested_at);
        found.forged += u64::from(!is_told);
    }
    let lost = said.gone.iter().filter(|(of, at)| **at >= since && !there.contains(*of)).count();
    found.forged += lost as u64;
    Ok(())
}

/// The keyed hash of what an erasure asks for. Under the platform's key: it outlives the patient's.
pub(crate) fn mac(key: &PlatformKey, request: &Request) -> [u8; 16] {
    let (org, patient) = (request.scope.org().0, request.scope.patient().0);
    let subject = request.subject.id().unwrap_or_default();
    let at = anamnesis_core::clock::micros(request.requested_at).to_be_bytes();
    let parts: [&[u8]; 7] = [
        org.as_bytes(),
        patient.as_bytes(),
        request.id.as_bytes(),
        request.subject.code().as_bytes(),
        subject.as_bytes(),
        request.requested_by.as_bytes(),
        &at,
    ];
    anamnesis_crypto::first_half(key.hash("erasure", &parts))
}

/// Gives receipts and policies of versions before they were covered their hash.
///
/// # Errors
/// Of the database.
pub async fn adopt(
    tx: &mut Transaction,
    org: OrgId,
    key: &PlatformKey,
    uncovered: &[Uncovered],
) -> Result<(), StoreError> {
    if uncovered.iter().any(|row| row.table == ORGANIZATION) {
        organizations::cover_policy(tx, org, key).await?;
    }
    let own = uncovered.iter().filter(|row| row.table == "erasure");
    let rows = own.map(|row| vec![org.0.into(), row.patient.into(), row.id.into(), Arg::Blob(row.mac.to_vec())]);
    tx.bulk(&ADOPT, rows.collect()).await?;
    Ok(())
}
