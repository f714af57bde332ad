//! Compares state that acts of people created with the trail: a legal hold that is missing without a release, an
//! erasure that was done without a request, a quarantined message that looks retried. A writer of rows without the keys
//! of the store can create state that no entry explains, but no entry.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Datelike as _, TimeDelta, Utc};
use uuid::Uuid;

use super::{AuditedAction, runs, write};
use crate::StoreError;
use crate::covered::UncoveredRow;
use crate::erasure::{self, ErasureRequest};
use crate::organizations::{self, PolicyAuthenticity};
use crate::quarantine;
use crate::statements::audit_trail::acts as sql;
use anamnesis_core::audit::Actor;
use anamnesis_core::failpoints;
use anamnesis_core::ids::{OrgId, PatientId, derive};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::PlatformKey;
use anamnesis_sql::{Arg, DbError, Row, Sql, Transaction};

/// Quarantined messages per read.
const PAGE: i64 = 1_000;

/// The table of an organisation's policy.
const ORGANIZATION: &str = "organization";

const QUARANTINE: &str = "quarantine";

/// How rows and trail differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrailDifferences {
    /// Rows without an entry, and entries without a row.
    pub forged: u64,
    /// Receipts of versions before they had a hash, each with the one that it gets.
    pub uncovered: Vec<UncoveredRow>,
}

/// The trail's entries on holds, erasures and quarantined messages. An erased entry keeps its id and action.
#[derive(Debug, Default)]
struct TrailEntries {
    /// Entries before this may have expired.
    horizon: Option<DateTime<Utc>>,
    /// Ids of entries, each derived from its subject, with their time.
    entries: BTreeMap<Uuid, DateTime<Utc>>,
    /// Holds that were set, or in force at the start of a year, with their patients.
    set: BTreeMap<Uuid, Uuid>,
    /// Erased patients, and what of others was erased or was to be, with the time.
    gone: BTreeMap<(Uuid, Option<Uuid>), DateTime<Utc>>,
    retried: BTreeSet<Uuid>,
    /// Entries of messages that were offered again, which do not say any more of which.
    retried_of_erased: u64,
}

impl TrailEntries {
    /// Of the whole organisation, or the entries on holds of some patients.
    async fn read(tx: &mut Transaction, org: OrgId, patients: Option<&[Uuid]>) -> Result<Self, StoreError> {
        let mut said = Self { horizon: horizon(tx, org).await?, ..Self::default() };
        for row in fetch_rows(tx, [&sql::ACTS, &sql::ACTS_OF], org, patients).await? {
            let (action, patient) = (row.text(sql::acts::ACTION)?, row.uuid(sql::acts::PATIENT_ID)?);
            let (subject, entry) = (row.opt_uuid(sql::acts::SUBJECT_ID)?, row.uuid(sql::acts::ID)?);
            let (outcome, at) = (row.text(sql::acts::OUTCOME)?, row.time(sql::acts::AT)?);
            said.entries.insert(entry, at);
            match (action.as_str(), subject) {
                ("hold_set", Some(hold)) => drop(said.set.insert(hold, patient)),
                ("quarantined_retried", Some(message)) => drop(said.retried.insert(message)),
                ("quarantined_retried", None) => said.retried_of_erased += 1,
                ("erase", subject)
                    if ["done", "begun", "restored"].contains(&outcome.as_str()) && !patient.is_nil() =>
                {
                    said.gone.insert((patient, subject), at);
                }
                _ => {}
            }
        }
        Ok(said)
    }

    /// Whether an entry of this time may have been removed by its term.
    fn may_be_gone(&self, at: DateTime<Utc>) -> bool {
        self.horizon.is_some_and(|horizon| at < horizon)
    }
}

/// Entries before this may have expired; `None`: none has.
///
/// # Errors
/// Of the database.
pub(crate) async fn horizon(tx: &mut Transaction, org: OrgId) -> Result<Option<DateTime<Utc>>, DbError> {
    let row = tx.fetch_optional(&sql::HORIZON, vec![org.0.into()]).await?;
    Ok(row.map(|row| row.opt_time(sql::horizon::HORIZON)).transpose()?.flatten())
}

/// Since when acts are compared, of two kinds.
#[derive(Debug, Clone, Copy)]
pub struct ComparedSince {
    /// Erasures before this may have lost their receipt to its term.
    pub receipts: DateTime<Utc>,
    /// All rows are covered since: messages that were offered again before this may have no entry. `None`: they are not yet.
    pub covered: Option<DateTime<Utc>>,
}

/// Compares the rows of holds, receipts and quarantined messages of an organisation with its trail, and its policy and its runs of
/// jobs with their hashes.
/// What differs is looked at again before it is said: another process may write between two statements.
///
/// # Errors
/// Of the database.
pub async fn unfounded(
    tx: &mut Transaction,
    org: OrgId,
    (key, now): (&PlatformKey, DateTime<Utc>),
    since: ComparedSince,
) -> Result<TrailDifferences, StoreError> {
    if failpoints::is("acts_unread") {
        return Ok(TrailDifferences::default());
    }
    let first = compared(tx, org, (key, now), since).await?;
    if first.forged == 0 {
        return Ok(first);
    }
    let again = compared(tx, org, (key, now), since).await?;
    Ok(if again.forged < first.forged { again } else { first })
}

async fn compared(
    tx: &mut Transaction,
    org: OrgId,
    (key, now): (&PlatformKey, DateTime<Utc>),
    since: ComparedSince,
) -> Result<TrailDifferences, StoreError> {
    let said = TrailEntries::read(tx, org, None).await?;
    let mut found = TrailDifferences::default();
    found.forged += doubtful(tx, org, None, &said).await?.len() as u64;
    receipts(tx, org, (&said, since), key, &mut found).await?;
    quarantined(tx, org, (&said, since), key, &mut found).await?;
    runs::compare(tx, org, (key, now), &mut found).await?;
    for sql in [&sql::UNKNOWN_OF_DOCUMENTS, &sql::UNKNOWN_OF_MEMORIES] {
        let row = tx.fetch_optional(sql, vec![org.0.into()]).await?;
        found.forged +=
            row.map(|row| row.i64(sql::unknown_of_documents::PATIENTS)).transpose()?.map_or(0, i64::unsigned_abs);
    }
    match organizations::policy(tx, org, key).await? {
        PolicyAuthenticity::Authentic => {}
        PolicyAuthenticity::Forged => found.forged += 1,
        PolicyAuthenticity::Uncovered => {
            found.uncovered.push(UncoveredRow::new(ORGANIZATION, 2, (Uuid::nil(), org.0), [0; 16]))
        }
    }
    Ok(found)
}

async fn quarantined(
    tx: &mut Transaction,
    org: OrgId,
    (said, since): (&TrailEntries, ComparedSince),
    key: &PlatformKey,
    found: &mut TrailDifferences,
) -> Result<(), StoreError> {
    let (mut after, mut hidden) = (Uuid::nil(), 0);
    loop {
        let rows = tx.fetch_all(&sql::QUARANTINED, vec![org.0.into(), after.into(), PAGE.into()]).await?;
        for row in &rows {
            let (id, of) = (row.uuid(sql::quarantined::ID)?, row.opt_uuid(sql::quarantined::ORG_ID)?);
            after = id;
            let mac = quarantine::mac(
                key,
                id,
                of,
                &row.text(sql::quarantined::REASON)?,
                row.i64(sql::quarantined::CREATED_AT)?,
            );
            match row.opt_blob(sql::quarantined::MAC)? {
                None => found.uncovered.push(UncoveredRow::new(QUARANTINE, 2, (Uuid::nil(), id), mac)),
                Some(own) => found.forged += u64::from(own != mac),
            }
            // Acts on a message of no one known are in the platform's chain.
            let is_hidden = of.is_some() && {
                let at = row.time(sql::quarantined::UPDATED_AT)?;
                let is_old = said.may_be_gone(at) || since.covered.is_none_or(|since| at < since);
                match row.text(sql::quarantined::STATE)?.as_str() {
                    "retried" => !is_old && !said.retried.contains(&id),
                    // A drop removes the body.
                    "dropped" => row.bool(sql::quarantined::HAS_BODY)?,
                    _ => false,
                }
            };
            hidden += u64::from(is_hidden);
        }
        if (rows.len() as u64) < PAGE as u64 {
            break;
        }
    }
    found.forged += hidden.saturating_sub(said.retried_of_erased);
    Ok(())
}

/// The entry of the lifting of a hold.
fn lifting(hold: Uuid) -> Uuid {
    derive("audit", &[hold.as_bytes(), b"hold_lifted"])
}

/// How far the time of a hold's release may be from that of its entry: older versions read the clock twice.
const LIFTED_WITHIN: TimeDelta = TimeDelta::minutes(1);

/// Holds of which rows and trail say different things, each with its patient.
async fn doubtful(
    tx: &mut Transaction,
    org: OrgId,
    patients: Option<&[Uuid]>,
    said: &TrailEntries,
) -> Result<Vec<Uuid>, StoreError> {
    let (mut there, mut found) = (BTreeSet::new(), Vec::new());
    for row in fetch_rows(tx, [&sql::HOLDS, &sql::HOLDS_OF], org, patients).await? {
        let (patient, id) = (row.uuid(sql::holds::PATIENT_ID)?, row.uuid(sql::holds::ID)?);
        let lifted_at = row.opt_time(sql::holds::LIFTED_AT)?;
        there.insert(id);
        // An entry that says that it held is no older than one that says that it was lifted.
        let is_old = |at| said.may_be_gone(at) && !said.set.contains_key(&id);
        let agrees = match (lifted_at, said.entries.get(&lifting(id))) {
            (Some(at), Some(entry)) => (at - *entry).abs() <= LIFTED_WITHIN,
            (Some(at), None) => is_old(at),
            (None, entry) => entry.is_none(),
        };
        found.extend((!agrees).then_some(patient));
    }
    let lost = said.set.iter().filter(|(id, _)| !there.contains(*id) && !said.entries.contains_key(&lifting(**id)));
    found.extend(lost.map(|(_, patient)| *patient));
    Ok(found)
}

/// Those of these patients whose legal hold may have been removed outside the program. Nothing of theirs is deleted
/// until a person has looked.
///
/// # Errors
/// Of the database.
pub async fn doubtful_holds(
    tx: &mut Transaction,
    org: OrgId,
    patients: Vec<Uuid>,
) -> Result<BTreeSet<Uuid>, StoreError> {
    if patients.is_empty() {
        return Ok(BTreeSet::new());
    }
    // An entry whose persons were removed keeps its id.
    let named: Vec<Uuid> = patients.iter().copied().chain([Uuid::nil()]).collect();
    let said = TrailEntries::read(tx, org, Some(&named)).await?;
    Ok(doubtful(tx, org, Some(&patients), &said).await?.into_iter().collect())
}

/// Rows of the whole organisation, or of some patients: both statements have the same columns.
async fn fetch_rows(
    tx: &mut Transaction,
    [all, some]: [&Sql; 2],
    org: OrgId,
    patients: Option<&[Uuid]>,
) -> Result<Vec<Row>, DbError> {
    match patients {
        None => tx.fetch_all(all, vec![org.0.into()]).await,
        Some(patients) => tx.fetch_all(some, vec![org.0.into(), Arg::Uuids(patients.to_vec())]).await,
    }
}

async fn receipts(
    tx: &mut Transaction,
    org: OrgId,
    (said, since): (&TrailEntries, ComparedSince),
    key: &PlatformKey,
    found: &mut TrailDifferences,
) -> Result<(), StoreError> {
    let mut there = BTreeSet::new();
    for row in tx.fetch_all(&sql::RECEIPTS, vec![org.0.into()]).await? {
        // One that cannot be read was not written by this program.
        let Ok(receipt) = erasure::receipt(&row) else {
            found.forged += 1;
            continue;
        };
        let request = &receipt.request;
        let patient = request.scope.patient().0;
        there.insert((patient, request.subject.id()));
        let mac = mac(key, request);
        match row.opt_blob(sql::receipts::MAC)? {
            None => found.uncovered.push(UncoveredRow::new("erasure", 2, (patient, request.id), mac)),
            Some(own) => found.forged += u64::from(own != mac),
        }
        // An erasure that is to be done again is done again.
        let done = derive("audit", &[request.id.as_bytes(), b"erase", b"done"]);
        let is_in_trail =
            receipt.done_at.is_none() || said.entries.contains_key(&done) || said.may_be_gone(request.requested_at);
        found.forged += u64::from(!is_in_trail);
    }
    let lost = said.gone.iter().filter(|(of, at)| **at >= since.receipts && !there.contains(*of)).count();
    found.forged += lost as u64;
    Ok(())
}

/// Records the holds in force, once a year: an entry expires, and a hold does not.
///
/// # Errors
/// Of the database.
pub(crate) async fn renew_holds(
    tx: &mut Transaction,
    org: OrgId,
    key: &PlatformKey,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let year = now.year().to_be_bytes();
    let mut entries = Vec::new();
    for row in tx.fetch_all(&sql::HELD, vec![org.0.into()]).await? {
        let (patient, hold) = (PatientId(row.uuid(sql::held::PATIENT_ID)?), row.uuid(sql::held::ID)?);
        let Ok(scope) = Scope::new(org, patient) else { continue };
        let id = derive("audit", &[hold.as_bytes(), b"hold_set", &year]);
        entries.push(AuditedAction::to(scope, "hold_set").on(hold).ended("in_force").entry(
            id,
            now,
            &Actor::program("job"),
        ));
    }
    write(tx, key, &entries).await
}

/// The keyed hash of an erasure request, under the platform's key, because it outlives the patient's.
pub(crate) fn mac(key: &PlatformKey, request: &ErasureRequest) -> [u8; 16] {
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
    (key, now): (&PlatformKey, DateTime<Utc>),
    uncovered: &[UncoveredRow],
) -> Result<(), StoreError> {
    if uncovered.iter().any(|row| row.table == runs::TABLE) {
        runs::cover(tx, org, (key, now)).await?;
    }
    if uncovered.iter().any(|row| row.table == ORGANIZATION) {
        organizations::cover_policy(tx, org, key).await?;
    }
    let own = uncovered.iter().filter(|row| row.table == "erasure");
    let rows = own.map(|row| {
        let row = sql::adopt::Row {
            org_id: org.0.into(),
            patient_id: row.patient.into(),
            id: row.id.into(),
            mac: Arg::Blob(row.mac.to_vec()),
        };
        row.into()
    });
    tx.bulk(&sql::ADOPT, rows.collect()).await?;
    let quarantined: Vec<&UncoveredRow> = uncovered.iter().filter(|row| row.table == QUARANTINE).collect();
    for some in quarantined.chunks(PAGE as usize) {
        let rows = some
            .iter()
            .map(|row| sql::adopt_quarantined::Row { id: row.id.into(), mac: Arg::Blob(row.mac.to_vec()) }.into());
        tx.bulk(&sql::ADOPT_QUARANTINED, rows.collect()).await?;
    }
    Ok(())
}
