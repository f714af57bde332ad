//! Documents whose source may go, and patients whose record is past its term: found by index, with all that decides when and
//! how.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::consents;
use crate::statements::retention as sql;
use crate::{PageRequest, StoreError};
use anamnesis_core::document::DocumentType;
use anamnesis_core::ids::{DocumentId, OrgId, PatientId};
use anamnesis_core::retention::PrivacyTier;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::KeyStore;
use anamnesis_sql::{Arg, DbError, Row, Sql, Transaction};

/// A queue of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RetentionQueue {
    /// All that still have their source, in the order of their keys.
    All,
    /// Those of which it is not noted yet when they are due. Cursors of stored runs have the name of version 0.1.0.
    #[serde(rename = "unreckoned")]
    Unevaluated,
    /// Those that are due, by the instant at which they were.
    Due,
    /// No documents: patients whose denial is in force now, and was not when it was recorded ([`withdrawn`]).
    Withdrawn,
    /// No documents: patients whose whole record is past its term ([`dormant`]).
    Records,
}

/// The last row of the page before: when it was due in microseconds, and its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetentionKey(pub i64, pub Uuid, pub Uuid, pub u32);

impl RetentionKey {
    /// Before every row.
    pub const START: RetentionKey = RetentionKey(i64::MIN, Uuid::nil(), Uuid::nil(), 0);
}

/// A document as far as keeping it matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetainedSource {
    pub place: RetentionKey,
    pub patient: PatientId,
    pub document: DocumentId,
    pub revision: u32,
    pub document_type: DocumentType,
    pub recorded_at: DateTime<Utc>,
    /// As noted before.
    pub due_at: Option<DateTime<Utc>>,
    pub is_evaluated: bool,
    pub patient_tier: Option<PrivacyTier>,
    pub country: Option<String>,
    /// A legal hold keeps it.
    pub held: bool,
}

/// Documents of a queue after `after`, at most `limit`; `until` matters to those that are due.
///
/// # Errors
/// Of the database.
pub async fn sources(
    tx: &mut Transaction,
    org: OrgId,
    queue: RetentionQueue,
    until: DateTime<Utc>,
    PageRequest { after, limit }: PageRequest<RetentionKey>,
) -> Result<Vec<RetainedSource>, DbError> {
    let mut args: Vec<Arg> = vec![org.0.into(), after.1.into(), after.2.into(), after.3.into(), limit.into()];
    let sql: &Sql = match queue {
        RetentionQueue::Withdrawn | RetentionQueue::Records => return Ok(Vec::new()),
        RetentionQueue::All => &sql::ALL_SOURCES,
        RetentionQueue::Unevaluated => &sql::UNEVALUATED_SOURCES,
        RetentionQueue::Due => {
            args.extend([until.into(), after.0.into()]);
            &sql::DUE_SOURCES
        }
    };
    tx.fetch_all(sql, args).await?.iter().map(source).collect()
}

/// Documents of these patients of which it was noted when they are due.
///
/// # Errors
/// Of the database.
pub async fn sources_of(tx: &mut Transaction, org: OrgId, patients: &[Uuid]) -> Result<Vec<RetainedSource>, DbError> {
    let args = vec![org.0.into(), Arg::Uuids(patients.to_vec())];
    let rows = tx.fetch_all(&sql::EVALUATED_SOURCES_OF_PATIENTS, args).await?;
    rows.iter().map(source).collect()
}

/// Marks these documents for a new computation of their due date, because the stored one differs from the policy.
///
/// # Errors
/// Of the database.
pub async fn date_anew(
    tx: &mut Transaction,
    org: OrgId,
    documents: &[(PatientId, DocumentId)],
    now: DateTime<Utc>,
) -> Result<u64, DbError> {
    let pairs = documents.iter().map(|(patient, document)| (patient.0, document.0.as_bytes().to_vec())).collect();
    tx.execute(&sql::MARK_UNEVALUATED, vec![org.0.into(), Arg::Pairs(pairs), now.into()]).await
}

/// Of a row of [`sql::ALL_SOURCES`] or of those with the same columns.
fn source(row: &Row) -> Result<RetainedSource, DbError> {
    let decode = |index| DbError::Decode { index };
    let patient = row.uuid(sql::all_sources::PATIENT_ID)?;
    let document = row.uuid(sql::all_sources::DOCUMENT_ID)?;
    let revision = row.i64(sql::all_sources::REVISION)?;
    let revision = u32::try_from(revision).map_err(|_| decode(sql::all_sources::REVISION))?;
    let due_at = row.opt_i64(sql::all_sources::RETENTION_DUE_AT)?;
    Ok(RetainedSource {
        place: RetentionKey(due_at.unwrap_or(i64::MIN), patient, document, revision),
        patient: PatientId(patient),
        document: DocumentId(document),
        revision,
        document_type: DocumentType::from_code(&row.text(sql::all_sources::DOCUMENT_TYPE)?)
            .ok_or(decode(sql::all_sources::DOCUMENT_TYPE))?,
        recorded_at: row.time(sql::all_sources::RECORDED_AT)?,
        due_at: row.opt_time(sql::all_sources::RETENTION_DUE_AT)?,
        is_evaluated: row.bool(sql::all_sources::RETENTION_EVALUATED)?,
        patient_tier: row.opt_text(sql::all_sources::PRIVACY_TIER)?.as_deref().and_then(PrivacyTier::from_code),
        country: row.opt_text(sql::all_sources::COUNTRY)?,
        held: row.i64(sql::all_sources::HOLDS)? > 0,
    })
}

/// A patient of whom nothing came since a term began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DormantPatient {
    pub place: RetentionKey,
    pub patient: PatientId,
    /// A legal hold keeps the patient, or a document of theirs.
    pub held: bool,
}

/// Of a row of [`sql::DORMANT`] or [`sql::STILL_DORMANT`].
fn dormant_row(row: &Row) -> Result<DormantPatient, DbError> {
    let patient = row.uuid(sql::dormant::PATIENT_ID)?;
    Ok(DormantPatient {
        place: RetentionKey(row.i64(sql::dormant::CREATED_AT)?, patient, Uuid::nil(), 0),
        patient: PatientId(patient),
        held: row.i64(sql::dormant::HOLDS)? > 0,
    })
}

/// A patient with a denial, and memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithdrawnPatient {
    pub place: RetentionKey,
    pub patient: PatientId,
    /// Whether memories must be forgotten now: nothing was forgotten since the denial came into force. It may have
    /// begun after it was recorded, returned when a permit ended, or become relevant by a new setting of the
    /// organisation.
    pub forgets: bool,
}

/// Patients with a denial that began up to `until`, after `after`, at most `limit`, where the organisation has memories forgotten.
///
/// # Errors
/// Of the database or the key store.
pub async fn withdrawn(
    tx: &mut Transaction,
    (org, keys): (OrgId, &dyn KeyStore),
    until: DateTime<Utc>,
    PageRequest { after, limit }: PageRequest<RetentionKey>,
) -> Result<Vec<WithdrawnPatient>, StoreError> {
    let args = vec![org.0.into(), until.into(), after.0.into(), after.1.into(), after.2.into(), limit.into()];
    let rows = tx.fetch_all(&sql::WITHDRAWN, args).await?;
    let patients = rows.iter().map(|row| row.uuid(sql::withdrawn::PATIENT_ID)).collect::<Result<Vec<_>, DbError>>()?;
    let scopes: Vec<Scope> = patients.iter().filter_map(|patient| Scope::new(org, PatientId(*patient)).ok()).collect();
    if scopes.is_empty() {
        return Ok(Vec::new());
    }
    let keys = keys.find(&scopes).await?.known;
    let said = consents::rows_of(tx, org, Arg::Uuids(patients.clone())).await?;
    let denying_of = |(patient, all): (&PatientId, &Vec<consents::RecordedConsent>)| {
        let keys = keys.get(&Scope::new(org, *patient).ok()?)?;
        Some((*patient, consents::denying(all, keys, until)?))
    };
    let denying: HashMap<PatientId, consents::Denial> = said.iter().filter_map(denying_of).collect();
    let of = |(row, patient): (&Row, Uuid)| {
        let (consent, patient) = (row.uuid(sql::withdrawn::ID)?, PatientId(patient));
        let denying = denying.get(&patient).copied();
        let forgotten = row.opt_time(sql::withdrawn::FORGOTTEN_AT)?;
        let forgets = |denial: consents::Denial| denial.id == consent && forgotten.is_none_or(|at| at < denial.since);
        let place = RetentionKey(row.i64(sql::withdrawn::FROM_AT)?, patient.0, consent, 0);
        Ok(WithdrawnPatient { place, patient, forgets: denying.is_some_and(forgets) })
    };
    rows.iter().zip(patients).map(of).collect()
}

/// Patients of whom nothing came since `until`, after `after`, at most `limit`.
///
/// # Errors
/// Of the database.
pub async fn dormant(
    tx: &mut Transaction,
    org: OrgId,
    until: DateTime<Utc>,
    PageRequest { after, limit }: PageRequest<RetentionKey>,
) -> Result<Vec<DormantPatient>, DbError> {
    let args = vec![org.0.into(), until.into(), after.0.into(), after.1.into(), limit.into()];
    tx.fetch_all(&sql::DORMANT, args).await?.iter().map(dormant_row).collect()
}

/// Those of these patients who are dormant and not held now: their rows are locked.
///
/// # Errors
/// Of the database.
pub(crate) async fn still_dormant(
    tx: &mut Transaction,
    org: OrgId,
    until: DateTime<Utc>,
    patients: Vec<Uuid>,
) -> Result<Vec<PatientId>, DbError> {
    let rows = tx.fetch_all(&sql::STILL_DORMANT, vec![org.0.into(), until.into(), Arg::Uuids(patients)]).await?;
    let dormant = rows.iter().map(dormant_row).collect::<Result<Vec<_>, _>>()?;
    Ok(dormant.into_iter().filter(|one| !one.held).map(|one| one.patient).collect())
}

/// The settings of the organisation and its country.
///
/// # Errors
/// Of the database.
pub async fn organization(tx: &mut Transaction, org: OrgId) -> Result<(Option<PrivacyTier>, Option<String>), DbError> {
    let Some(row) = tx.fetch_optional(&sql::ORGANIZATION, vec![org.0.into()]).await? else { return Ok((None, None)) };
    let tier = row.opt_text(sql::organization::PRIVACY_TIER)?.as_deref().and_then(PrivacyTier::from_code);
    Ok((tier, row.opt_text(sql::organization::COUNTRY)?))
}

/// Notes when documents are due, or that they never are.
///
/// # Errors
/// Of the database.
pub async fn set_due_dates(
    tx: &mut Transaction,
    org: OrgId,
    due_dates: &[(&RetainedSource, Option<DateTime<Utc>>)],
    now: DateTime<Utc>,
) -> Result<u64, DbError> {
    let row = |(source, due): &(&RetainedSource, Option<DateTime<Utc>>)| -> Vec<Arg> {
        sql::set_due::Row {
            org_id: org.0.into(),
            patient_id: source.patient.0.into(),
            document_id: source.document.0.into(),
            revision: source.revision.into(),
            due: (*due).into(),
            now: now.into(),
        }
        .into()
    };
    tx.bulk(&sql::SET_DUE, due_dates.iter().map(row).collect()).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_sql::{Access, Database, Location};

    /// The column of SQLite's query plan that describes a step.
    const DETAIL: usize = 3;

    #[tokio::test]
    async fn what_is_due_and_what_is_new_are_found_by_index_in_order_without_sorting() {
        let db = Database::open(&Location::Memory).await.unwrap();
        let mut tx = db.begin(Access::Platform).await.unwrap();
        let key = || vec![Uuid::nil().into(), Uuid::nil().into(), Uuid::nil().into(), 0i64.into(), 1i64.into()];
        let due = [key(), vec![0i64.into(), 0i64.into()]].concat();
        for (sql, args, index) in [
            (&*sql::UNEVALUATED_SOURCES, key(), "documents_unevaluated"),
            (&*sql::DUE_SOURCES, due, "documents_retention_due"),
            (&*sql::ALL_SOURCES, key(), "sqlite_autoindex_documents_1"),
        ] {
            let explain = Sql::new(Box::leak(format!("EXPLAIN QUERY PLAN {}", sql.sqlite()).into_boxed_str()));
            let plan: Vec<String> =
                tx.fetch_all(&explain, args).await.unwrap().iter().map(|row| row.text(DETAIL).unwrap()).collect();
            assert!(plan[0].starts_with(&format!("SEARCH d USING INDEX {index} (org_id=?")), "{plan:?}");
            assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:?}");
        }
        let explain = Sql::new(Box::leak(format!("EXPLAIN QUERY PLAN {}", sql::DORMANT.sqlite()).into_boxed_str()));
        let args = vec![Uuid::nil().into(), 0i64.into(), 0i64.into(), Uuid::nil().into(), 1i64.into()];
        let rows = tx.fetch_all(&explain, args).await.unwrap();
        let plan: Vec<String> = rows.iter().map(|row| row.text(DETAIL).unwrap()).collect();
        assert!(plan[0].starts_with("SEARCH p USING COVERING INDEX patient_profile_age (org_id=?"), "{plan:?}");
        assert!(!plan.iter().any(|step| step.starts_with("SCAN") || step.contains("TEMP B-TREE")), "{plan:?}");
    }
}
