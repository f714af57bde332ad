//! The remains of an erased subject: receipts, and rows that should not exist.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::json;
use uuid::Uuid;

use super::statements::{HOLDINGS, LazySql, OF_DOCUMENT, OF_MEMORY};
use super::{ErasedIds, ErasureReceipt, ErasureRequest, ErasureSubject, scope_args};
use crate::audit_trail::acts;
use crate::consents::CheckedConsents;
use crate::statements::erasure::statements as sql;
use crate::{ErasureStore, StoreError, audit_trail, covered};
use anamnesis_core::failpoints;
use anamnesis_core::ids::{MemoryId, OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::PlatformKey;
use anamnesis_sql::{Access, Arg, DbError, Row, Sql, Transaction};

impl ErasureStore<'_> {
    /// Whether a legal hold covers the subject of an erasure: the patient's, or that of a document that contains it.
    pub(super) async fn is_held(self, tx: &mut Transaction, request: &ErasureRequest) -> Result<bool, StoreError> {
        let scope = request.scope;
        if !audit_trail::acts::doubtful_holds(tx, scope.org(), vec![scope.patient().0]).await?.is_empty() {
            return Ok(true);
        }
        let held = tx.fetch_all(&sql::HOLDS, scope_args(scope)).await?;
        let held = held.iter().map(|row| row.opt_uuid(sql::holds::DOCUMENT_ID)).collect::<Result<Vec<_>, DbError>>()?;
        let touched = match request.subject {
            ErasureSubject::Patient => return Ok(!held.is_empty()),
            ErasureSubject::Document(id) => vec![id.0],
            ErasureSubject::Memory(id) => said_in(tx, scope, id).await?,
        };
        Ok(held.iter().any(|held| held.is_none_or(|document| touched.contains(&document))))
    }

    /// The number of rows of a patient that each table still has, without empty tables. Rows that survive an erasure
    /// are a fault.
    ///
    /// # Errors
    /// Of the database.
    pub async fn rows_of_patient(self, scope: Scope) -> Result<BTreeMap<&'static str, u64>, StoreError> {
        let mut tx = self.db.read(Access::Organization(scope.org())).await?;
        rows_of(&mut tx, scope).await
    }

    /// The number of remaining rows of an erased part: of a document its revisions, passages, findings and archived
    /// texts; of a memory its row, links and history. Rows that survive an erasure are a fault.
    ///
    /// # Errors
    /// Of the database.
    pub async fn rows_of_part(
        self,
        scope: Scope,
        subject: ErasureSubject,
    ) -> Result<BTreeMap<&'static str, u64>, StoreError> {
        let mut tx = self.db.read(Access::Organization(scope.org())).await?;
        let (tables, id): (&[(&'static str, LazySql)], Uuid) = match subject {
            ErasureSubject::Patient => return rows_of(&mut tx, scope).await,
            ErasureSubject::Document(id) => (&OF_DOCUMENT, id.0),
            ErasureSubject::Memory(id) => (&OF_MEMORY, id.0),
        };
        let mut left = BTreeMap::new();
        for (table, count) in tables {
            let row = tx.fetch_optional(count, [scope_args(scope), vec![id.into()]].concat()).await?;
            let count =
                row.map(|row| row.i64(sql::revisions_of_document::HELD)).transpose()?.map_or(0, i64::unsigned_abs);
            if count > 0 {
                left.insert(*table, count);
            }
        }
        Ok(left)
    }

    /// Receipts of a patient, oldest first, those in work included.
    ///
    /// # Errors
    /// Of the database.
    pub async fn erasures(self, scope: Scope) -> Result<Vec<ErasureReceipt>, StoreError> {
        let mut tx = self.db.read(Access::Organization(scope.org())).await?;
        self.receipts(&mut tx, scope.org(), &sql::RECEIPTS, scope_args(scope)).await
    }

    /// All receipts of an organisation, oldest first.
    ///
    /// # Errors
    /// Of the database.
    pub async fn all_erasures(self, org: OrgId) -> Result<Vec<ErasureReceipt>, StoreError> {
        let mut tx = self.db.read(Access::Organization(org)).await?;
        self.receipts(&mut tx, org, &sql::RECEIPTS_OF_ORGANIZATION, vec![org.0.into()]).await
    }

    /// Erasures of an organisation that are not complete, a thousand at most.
    ///
    /// # Errors
    /// Of the database.
    pub async fn open_erasures(self, org: OrgId) -> Result<Vec<ErasureReceipt>, StoreError> {
        let mut tx = self.db.read(Access::Organization(org)).await?;
        self.receipts(&mut tx, org, &sql::INCOMPLETE_RECEIPTS, vec![org.0.into()]).await
    }

    /// Receipts that a statement finds. One of a version before they had a hash is genuine until all have one.
    pub(super) async fn receipts(
        self,
        tx: &mut Transaction,
        org: OrgId,
        statement: &Sql,
        args: Vec<Arg>,
    ) -> Result<Vec<ErasureReceipt>, StoreError> {
        let mut found = Vec::new();
        let mut is_covered = None;
        for row in tx.fetch_all(statement, args).await? {
            let receipt = receipt(&row)?;
            let is_genuine = match row.opt_blob(sql::receipts::MAC)? {
                Some(mac) => mac == acts::mac(self.keys.platform(), &receipt.request),
                None => {
                    if is_covered.is_none() {
                        let coverage = audit_trail::rows_are_covered(tx, org, self.clock.now()).await?;
                        is_covered = Some(coverage.version >= covered::WITH_ACTS);
                    }
                    is_covered == Some(false)
                }
            };
            let is_genuine = is_genuine || failpoints::is("receipt_unproven");
            found.push(ErasureReceipt { is_genuine, ..receipt });
        }
        Ok(found)
    }

    /// Completes a receipt, with its entry in the trail.
    pub(super) async fn end_erasure(
        self,
        tx: &mut Transaction,
        request: &ErasureRequest,
        counts: &BTreeMap<&'static str, u64>,
    ) -> Result<(), StoreError> {
        let more = [request.id.into(), self.clock.now().into(), json!(counts).to_string().into()];
        tx.execute(&sql::END, scope_args(request.scope).into_iter().chain(more).collect()).await?;
        self.audit_erasure(tx, request, "done").await
    }
}

/// The sources in which a memory was said.
pub(super) async fn said_in(tx: &mut Transaction, scope: Scope, memory: MemoryId) -> Result<Vec<Uuid>, DbError> {
    let args = scope_args(scope).into_iter().chain([memory.0.into()]).collect();
    tx.fetch_all(&sql::SOURCES_OF_MEMORY, args)
        .await?
        .iter()
        .map(|row| row.uuid(sql::sources_of_memory::SOURCE_ID))
        .collect()
}

/// A row of `receipts`, or of a statement with the same columns. Whether it is genuine is not checked.
///
/// # Errors
/// When it has another shape.
pub(crate) fn receipt(row: &Row) -> Result<ErasureReceipt, StoreError> {
    use sql::receipts as of;
    let (org, patient) = (OrgId(row.uuid(of::ORG_ID)?), PatientId(row.uuid(of::PATIENT_ID)?));
    let subject = ErasureSubject::read(&row.text(of::WHAT)?, row.opt_uuid(of::SUBJECT_ID)?).ok_or(StoreError::Shape)?;
    let request = ErasureRequest {
        scope: Scope::new(org, patient).map_err(|_| StoreError::Shape)?,
        id: row.uuid(of::ID)?,
        subject,
        requested_by: row.uuid(of::REQUESTED_BY)?,
        requested_at: row.time(of::REQUESTED_AT)?,
    };
    let counts = row
        .opt_text(of::COUNTS)?
        .map(|counts| serde_json::from_str(&counts).map_err(|_| StoreError::Shape))
        .transpose()?;
    let said_in = row.opt_text(of::SAID_IN)?.unwrap_or_default();
    let said_in = said_in.split_whitespace().map(|id| id.parse().map_err(|_| StoreError::Shape));
    Ok(ErasureReceipt {
        said_in: said_in.collect::<Result<_, _>>()?,
        organization_id: org,
        patient_id: patient,
        request,
        done_at: row.opt_time(of::DONE_AT)?,
        files_at: row.opt_time(of::FILES_AT)?,
        counts: counts.unwrap_or_default(),
        is_genuine: false,
    })
}

/// The rows that say so, within a transaction, with the ids of the receipts as rows that decide. A receipt whose hash is not its own
/// says nothing.
///
/// # Errors
/// Of the database.
pub(crate) async fn erased(
    tx: &mut Transaction,
    org: OrgId,
    (key, now): (&PlatformKey, DateTime<Utc>),
    patients: Arg,
    looked: &mut CheckedConsents,
) -> Result<ErasedIds, StoreError> {
    let mut erased = ErasedIds::default();
    for row in tx.fetch_all(&sql::RECEIPTS_OF_PATIENTS, vec![org.0.into(), patients]).await? {
        let ErasureReceipt { patient_id, request, .. } = receipt(&row)?;
        looked.entry(patient_id).or_default().insert(request.id);
        if !has_own_hash(tx, (&row, &request), key, now).await? {
            continue;
        }
        match request.subject {
            ErasureSubject::Patient => drop(erased.patients.insert(patient_id)),
            ErasureSubject::Document(document) => drop(erased.documents.insert((patient_id, document))),
            ErasureSubject::Memory(_) => {}
        }
    }
    Ok(erased)
}

/// Checks that none of these patients was erased since the look-up; the patients are locked.
///
/// # Errors
/// [`StoreError::Race`] when one was: nothing of them may be written.
pub(crate) async fn none_is_gone(
    tx: &mut Transaction,
    org: OrgId,
    (key, now): (&PlatformKey, DateTime<Utc>),
    patients: Vec<Uuid>,
) -> Result<(), StoreError> {
    for row in tx.fetch_all(&sql::RECEIPTS_OF_WHOLE_PATIENTS, vec![org.0.into(), Arg::Uuids(patients)]).await? {
        let request = receipt(&row)?.request;
        if has_own_hash(tx, (&row, &request), key, now).await? && !failpoints::is("erase_unseen") {
            return Err(StoreError::Race);
        }
    }
    Ok(())
}

/// Whether a receipt has the hash of its request. Receipts of versions before this one have none, which is accepted
/// until all rows have one.
async fn has_own_hash(
    tx: &mut Transaction,
    (row, request): (&Row, &ErasureRequest),
    key: &PlatformKey,
    now: DateTime<Utc>,
) -> Result<bool, DbError> {
    match row.opt_blob(sql::receipts::MAC)? {
        Some(mac) => Ok(mac == acts::mac(key, request)),
        None => {
            let coverage = audit_trail::rows_are_covered(tx, request.scope.org(), now).await?;
            Ok(coverage.version < covered::WITH_ACTS)
        }
    }
}

/// Rows of a patient by table; empty ones are left out.
pub(super) async fn rows_of(tx: &mut Transaction, scope: Scope) -> Result<BTreeMap<&'static str, u64>, StoreError> {
    let mut left = BTreeMap::new();
    for holding in HOLDINGS.iter() {
        let row = tx.fetch_optional(holding.count, scope_args(scope)).await?;
        let count = row.map(|row| row.i64(sql::count_outbox::HELD)).transpose()?.map_or(0, i64::unsigned_abs);
        if count > 0 {
            left.insert(holding.table, count);
        }
    }
    Ok(left)
}
