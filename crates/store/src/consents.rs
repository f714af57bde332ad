//! Consents as they are stored, and what follows of them: of whom nothing may be stored, and of whom nothing may be shown.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use serde::Serialize;
use uuid::Uuid;

use super::admission::{AdmissionQuery, AdmissionState};
use super::encrypted_columns::open_text;
use super::{Keys, OrganizationStore, StoreError};
use crate::statements::consents as sql;
use anamnesis_core::consent::{Consent, ConsentScope, Consents, Provision};
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{ColumnRef, KeyStore, PatientKeys};
use anamnesis_sql::{Access, Arg, Row, Transaction};

/// The rows that decide whether anything of a patient may be stored, by patient, as admission read them.
pub type CheckedConsents = HashMap<PatientId, BTreeSet<Uuid>>;

/// A consent whose scope is only known by its keyed hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordedConsent {
    pub(crate) id: Uuid,
    pub(crate) scope_hash: [u8; 32],
    pub(crate) provision: Provision,
    pub(crate) from: DateTime<Utc>,
    pub(crate) until: Option<DateTime<Utc>>,
    /// Older rows without it were stated when they begin, but not after they arrived.
    pub(crate) stated_at: DateTime<Utc>,
}

/// A permission or its withdrawal.
#[derive(Debug, Clone, PartialEq)]
pub struct NewConsent {
    pub scope: Scope,
    pub id: Uuid,
    pub consent_scope: String,
    pub provision: Provision,
    pub from: DateTime<Utc>,
    pub until: Option<DateTime<Utc>>,
    /// When the person stated it.
    pub stated_at: DateTime<Utc>,
    pub recorded_by: Uuid,
    /// Redacted.
    pub reason: Option<String>,
    /// It denies memory.
    pub closes: bool,
    /// The organisation has memories forgotten after a withdrawal.
    pub forgets: bool,
}

/// A consent as people see it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConsentRow {
    pub id: Uuid,
    /// `None` for a scope without meaning here that was recorded before its name was stored.
    pub scope: Option<String>,
    pub provision: Provision,
    pub from: DateTime<Utc>,
    pub until: Option<DateTime<Utc>>,
    /// When the person stated it: a permit does not withdraw a denial that was stated after it.
    pub(crate) stated_at: DateTime<Utc>,
    pub reason: Option<String>,
    pub(crate) recorded_by: Uuid,
    pub(crate) recorded_at: DateTime<Utc>,
    /// Whether it is the one that decides for its scope at this moment.
    pub decides: bool,
}

/// A scope's name as the store keeps it.
pub(super) fn scope_hash(keys: &PatientKeys, scope: &str) -> [u8; 32] {
    keys.hash("consent", scope.as_bytes())
}

/// Cells of a consent.
pub(super) fn consent_cell(id: Uuid, column: &'static str) -> ColumnRef {
    ColumnRef { table: "consent", row: id, column }
}

/// The consents of these rows. A scope without meaning here has no effect.
pub(crate) fn consents(rows: &[RecordedConsent], keys: &PatientKeys) -> Consents {
    if rows.is_empty() {
        return Consents::default();
    }
    let named: HashMap<[u8; 32], ConsentScope> =
        ConsentScope::ALL.iter().map(|scope| (scope_hash(keys, scope.code()), *scope)).collect();
    let meant = rows.iter().filter_map(|row| named.get(&row.scope_hash).map(|scope| row.consent(*scope)));
    meant.collect()
}

/// A denial of memory: its row, and since when it has been in force without a break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Denial {
    pub(crate) id: Uuid,
    pub(crate) since: DateTime<Utc>,
}

/// The consent by which memory is denied at an instant; `None` where it is not.
pub(crate) fn denying(rows: &[RecordedConsent], keys: &PatientKeys, at: DateTime<Utc>) -> Option<Denial> {
    let all = consents(rows, keys);
    let since = all.denied_since(ConsentScope::Memory, at)?;
    let memory = scope_hash(keys, ConsentScope::Memory.code());
    let denies =
        |row: &&RecordedConsent| row.scope_hash == memory && all.decides(&row.consent(ConsentScope::Memory), at);
    rows.iter().filter(denies).max_by_key(|row| row.id).map(|row| Denial { id: row.id, since })
}

impl RecordedConsent {
    fn consent(&self, scope: ConsentScope) -> Consent {
        Consent { scope, provision: self.provision, from: self.from, until: self.until, stated_at: self.stated_at }
    }
}

/// A row of `of_patients` or `of_patient`: common columns have the same positions.
fn recorded(row: &Row) -> Result<RecordedConsent, StoreError> {
    Ok(RecordedConsent {
        id: row.uuid(sql::of_patients::ID)?,
        scope_hash: row.bytes(sql::of_patients::SCOPE_HASH)?,
        provision: Provision::from_code(&row.text(sql::of_patients::PROVISION)?).ok_or(StoreError::Shape)?,
        from: row.time(sql::of_patients::FROM_AT)?,
        until: row.opt_time(sql::of_patients::UNTIL_AT)?,
        stated_at: row.time(sql::of_patients::STATED_AT)?,
    })
}

/// All consents of these patients.
pub(super) async fn rows_of(
    tx: &mut Transaction,
    org: OrgId,
    patients: Arg,
) -> Result<HashMap<PatientId, Vec<RecordedConsent>>, StoreError> {
    let mut found: HashMap<PatientId, Vec<RecordedConsent>> = HashMap::new();
    for row in tx.fetch_all(&sql::OF_PATIENTS, vec![org.0.into(), patients]).await? {
        found.entry(PatientId(row.uuid(sql::of_patients::PATIENT_ID)?)).or_default().push(recorded(&row)?);
    }
    Ok(found)
}

/// Whether the deciding rows are still those that admission read.
///
/// # Errors
/// [`StoreError::Race`] when another worker recorded one since.
pub(super) async fn still(
    tx: &mut Transaction,
    org: OrgId,
    patients: Vec<Uuid>,
    looked: &CheckedConsents,
) -> Result<(), StoreError> {
    for row in tx.fetch_all(&sql::DECIDING, vec![org.0.into(), Arg::Uuids(patients)]).await? {
        let (patient, id) = (PatientId(row.uuid(sql::deciding::PATIENT_ID)?), row.uuid(sql::deciding::ID)?);
        if looked.get(&patient).is_none_or(|known| !known.contains(&id)) {
            return Err(StoreError::Race);
        }
    }
    Ok(())
}

/// The consents of each of these patients, within a transaction; empty for erased ones.
///
/// # Errors
/// Of the database or the key store.
pub(crate) async fn within(
    tx: &mut Transaction,
    org: OrgId,
    keys: &dyn KeyStore,
    patients: &[PatientId],
) -> Result<HashMap<PatientId, Consents>, StoreError> {
    let rows = rows_of(tx, org, Arg::Uuids(patients.iter().map(|patient| patient.0).collect())).await?;
    let scopes: Vec<Scope> = rows.keys().filter_map(|patient| Scope::new(org, *patient).ok()).collect();
    if scopes.is_empty() {
        return Ok(HashMap::new());
    }
    let keys = keys.find(&scopes).await?.known;
    let of = |scope: &Scope| Some((scope.patient(), consents(rows.get(&scope.patient())?, keys.get(scope)?)));
    Ok(scopes.iter().filter_map(of).collect())
}

/// Whether an organisation keeps nothing without a permit.
pub(crate) async fn is_required(tx: &mut Transaction, org: OrgId) -> Result<bool, StoreError> {
    let row = tx.fetch_optional(&sql::REQUIRED, vec![org.0.into()]).await?;
    Ok(row.map(|row| row.bool(sql::required::CONSENT_REQUIRED)).transpose()?.unwrap_or(false))
}

/// Patients of an organisation who may not be counted among others.
///
/// # Errors
/// As [`within`].
pub async fn left_out_of_research(
    tx: &mut Transaction,
    org: OrgId,
    keys: &dyn KeyStore,
    now: DateTime<Utc>,
) -> Result<Vec<PatientId>, StoreError> {
    let required = is_required(tx, org).await?;
    let rows = tx.fetch_all(&sql::PATIENTS, vec![org.0.into()]).await?;
    let patients = rows
        .iter()
        .map(|row| Ok(PatientId(row.uuid(sql::patients::PATIENT_ID)?)))
        .collect::<Result<Vec<_>, StoreError>>()?;
    let consents = within(tx, org, keys, &patients).await?;
    let nothing = Consents::default();
    let may = |patient: &PatientId| consents.get(patient).unwrap_or(&nothing).may_research(required, now);
    Ok(patients.into_iter().filter(|patient| !may(patient)).collect())
}

/// The use of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryUse {
    /// It is worked on: something is formed of it, asked about it or sent to a model.
    Work,
    /// It is worked on for those who are shown it.
    Show,
}

/// Those of these patients of whom memory may be used so.
///
/// # Errors
/// As [`within`].
pub async fn permitting(
    tx: &mut Transaction,
    org: OrgId,
    (keys, now): (&dyn KeyStore, DateTime<Utc>),
    of: MemoryUse,
    mut patients: BTreeSet<PatientId>,
) -> Result<BTreeSet<PatientId>, StoreError> {
    if patients.is_empty() {
        return Ok(patients);
    }
    let required = is_required(tx, org).await?;
    let asked: Vec<PatientId> = patients.iter().copied().collect();
    let consents = within(tx, org, keys, &asked).await?;
    let nothing = Consents::default();
    patients.retain(|patient| {
        let own = consents.get(patient).unwrap_or(&nothing);
        match of {
            MemoryUse::Work => own.may_remember(required, now, now),
            MemoryUse::Show => own.may_recall(required, now),
        }
    });
    Ok(patients)
}

impl AdmissionState {
    /// The consents of a patient, as far as the patient can be read.
    pub fn consents_of(&self, scope: Scope, keys: &Keys) -> Consents {
        let rows = self.consents.get(&scope.patient()).zip(keys.get(&scope));
        rows.map(|(rows, keys)| consents(rows, keys)).unwrap_or_default()
    }
}

impl OrganizationStore<'_> {
    /// Of which of these messages nothing may be stored, in order: the patient was in ephemeral mode when they were
    /// sent, or does not permit it. For messages of unknown time, ephemeral mode at any time counts.
    ///
    /// # Errors
    /// When the store or the keys cannot be read.
    pub async fn barred(
        self,
        org: OrgId,
        asked: &[(PatientId, Option<DateTime<Utc>>)],
    ) -> Result<Vec<bool>, StoreError> {
        let now = self.clock.now();
        let mut patients: Vec<PatientId> = asked.iter().map(|(patient, _)| *patient).collect();
        patients.sort();
        patients.dedup();
        let scopes: Vec<Scope> = patients.iter().filter_map(|patient| Scope::new(org, *patient).ok()).collect();
        let known = self.intake().known(org, &AdmissionQuery { patients, ..AdmissionQuery::default() }).await?;
        let required = known.rules.as_ref().is_some_and(|rules| rules.consent_required);
        let keys = self.keys.find(&scopes).await?.known;
        let barred = |(patient, at): &(PatientId, Option<DateTime<Utc>>)| {
            let Ok(scope) = Scope::new(org, *patient) else { return false };
            let ephemeral = known.ephemeral.get(patient).is_some_and(|course| match at {
                Some(at) => course.at(*at).unwrap_or(false),
                None => course.ever(true),
            });
            ephemeral
                || known.erased.patients.contains(patient)
                || !known.consents_of(scope, &keys).may_remember(required, at.unwrap_or(now), now)
        };
        Ok(asked.iter().map(barred).collect())
    }

    /// The consents of a patient; empty for an unknown or erased patient.
    ///
    /// # Errors
    /// When the store or the keys cannot be read.
    pub async fn consents(self, scope: Scope) -> Result<Consents, StoreError> {
        let found = self.keys.find(&[scope]).await?.known;
        let Some(keys) = found.get(&scope) else { return Ok(Consents::default()) };
        let mut tx = self.db.read(Access::Organization(scope.org())).await?;
        let rows = rows_of(&mut tx, scope.org(), Arg::Uuids(vec![scope.patient().0])).await?;
        Ok(rows.get(&scope.patient()).map(|rows| consents(rows, keys)).unwrap_or_default())
    }

    /// Whether memories of a patient may be handed to readers.
    ///
    /// # Errors
    /// As [`OrganizationStore::consents`]; [`StoreError::NoConsent`] when the patient denies it, or has not permitted it where the
    /// organisation requires consent.
    pub async fn may_recall(self, scope: Scope) -> Result<(), StoreError> {
        let known = self.intake().organizations(&[scope.org()]).await?;
        let required = known.get(&scope.org()).is_some_and(|rules| rules.consent_required);
        // Of a patient who is not known there is nothing to withhold.
        let consents = self.consents(scope).await?;
        let required = required && !self.keys.find(&[scope]).await?.known.is_empty();
        match consents.may_recall(required, self.clock.now()) {
            true => Ok(()),
            false => Err(StoreError::NoConsent),
        }
    }

    /// Whether the patient forbids it: in an emergency, a permit that ended or never came closes nothing.
    ///
    /// # Errors
    /// As [`OrganizationStore::consents`]; [`StoreError::NoConsent`] when the patient denies it.
    pub async fn recall_is_not_denied(self, scope: Scope) -> Result<(), StoreError> {
        match self.consents(scope).await?.denies_recall(self.clock.now()) {
            false => Ok(()),
            true => Err(StoreError::NoConsent),
        }
    }

    /// All consents of a patient, by the instant from which they hold.
    ///
    /// # Errors
    /// When the store cannot be read or a cell does not open.
    pub async fn consent_rows(self, scope: Scope) -> Result<Vec<ConsentRow>, StoreError> {
        let Some(keys) = self.read().keys_of(scope).await? else { return Ok(Vec::new()) };
        let now = self.clock.now();
        let mut tx = self.db.read(Access::Organization(scope.org())).await?;
        let rows = tx.fetch_all(&sql::OF_PATIENT, vec![scope.org().0.into(), scope.patient().0.into()]).await?;
        let recorded = rows.iter().map(recorded).collect::<Result<Vec<_>, _>>()?;
        let all = consents(&recorded, &keys);
        let mut decided: BTreeSet<ConsentScope> = BTreeSet::new();
        let mut found = Vec::with_capacity(rows.len());
        for (row, one) in rows.iter().zip(&recorded).rev() {
            let open = |at: usize, column| -> Result<Option<String>, StoreError> {
                row.opt_blob(at)?.map(|sealed| open_text(&keys, consent_cell(one.id, column), &sealed)).transpose()
            };
            let known =
                ConsentScope::ALL.iter().copied().find(|known| scope_hash(&keys, known.code()) == one.scope_hash);
            // Of equal ones one decides.
            let decides = known.is_some_and(|known| all.decides(&one.consent(known), now) && decided.insert(known));
            found.push(ConsentRow {
                id: one.id,
                scope: match known {
                    Some(known) => Some(known.code().to_owned()),
                    None => open(sql::of_patient::SCOPE_SEALED, "scope")?,
                },
                provision: one.provision,
                from: one.from,
                until: one.until,
                stated_at: one.stated_at,
                reason: open(sql::of_patient::REASON_SEALED, "reason")?,
                recorded_by: row.uuid(sql::of_patient::RECORDED_BY)?,
                recorded_at: row.time(sql::of_patient::CREATED_AT)?,
                decides,
            });
        }
        found.reverse();
        Ok(found)
    }
}
