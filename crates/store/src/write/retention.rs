//! Removes sources: text, passages and vectors of a document are deleted, its findings stay. Also ends whole records
//! after their term. Runs inside the job's transaction, under the lock of the patient's row.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::documents::content_cell;
use super::maintenance::MaintenanceWriter;
use super::memories::rows::{memory_cell, terms_of};
use crate::StoreError;
use crate::covered::{self, CoveredTable};
use crate::encrypted_columns::{Sealer, document_row, open_record};
use crate::erasure::{self, ErasureRequest, ErasureSubject};
use crate::records::{DocumentContent, FindingWords};
use crate::retention::still_dormant;
use crate::statements::write::retention as sql;
use anamnesis_core::ids::{DocumentId, PatientId, derive};
use anamnesis_core::retention::RetentionState;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{ColumnRef, PatientKeys};
use anamnesis_sql::{Arg, Transaction};

pub(super) static COVERED: covered::LazyCoveredTable = LazyLock::new(|| {
    let columns = ["document_id", "revision", "archived_at"];
    CoveredTable::new("document_archive", &columns, &sql::archive::COLUMNS, "").since(2)
});

/// The cell of an archived document's content.
pub(crate) fn archive_cell(document: Uuid, revision: u32) -> ColumnRef {
    ColumnRef { table: "document_archive", row: document_row(document, revision), column: "content" }
}

/// One document whose source is removed.
pub(crate) type DroppedSource = (Scope, DocumentId, u32, RetentionState);

type SourceKey = (Scope, Uuid, u32);

/// In whose name a record that is past its term is erased.
pub(crate) fn record_keeper() -> Uuid {
    derive("actor", &[b"retention"])
}

impl MaintenanceWriter<'_> {
    /// Starts the erasure of patients without activity since `until`; a worker completes it like any other started
    /// erasure. Patients with new activity or a legal hold stay. Returns the number of started erasures.
    ///
    /// # Errors
    /// Of the database.
    pub async fn end_records(
        &self,
        tx: &mut Transaction,
        patients: &[PatientId],
        until: DateTime<Utc>,
    ) -> Result<u64, StoreError> {
        if patients.is_empty() {
            return Ok(0);
        }
        let mut writer = self.writer(tx);
        writer.hold(patients.iter().map(|patient| patient.0).collect()).await?;
        let ids = patients.iter().map(|patient| patient.0).collect();
        let (mut begun, mut audits) = (0, Vec::new());
        for patient in still_dormant(writer.tx, self.org, until, ids).await? {
            let id = derive("erasure.term", &[self.org.0.as_bytes(), patient.0.as_bytes()]);
            let scope = Scope::new(self.org, patient).map_err(|_| StoreError::Shape)?;
            let (requested_by, requested_at) = (record_keeper(), self.now);
            let request = ErasureRequest { scope, id, subject: ErasureSubject::Patient, requested_by, requested_at };
            begun += erasure::begin(writer.tx, writer.platform, &request).await?;
            audits.push((scope, id, "record_ended", None));
        }
        writer.audit_job(audits).await?;
        Ok(begun)
    }

    /// Drops the sources of documents, by a constant number of statements.
    ///
    /// # Errors
    /// When the store refuses the rows or a cell does not open.
    pub async fn let_go(&self, tx: &mut Transaction, going: &[DroppedSource]) -> Result<(), StoreError> {
        let mut writer = self.writer(tx);
        writer.hold(going.iter().map(|(scope, ..)| scope.patient().0).collect()).await?;
        let states: BTreeMap<SourceKey, RetentionState> =
            going.iter().map(|(scope, document, revision, state)| ((*scope, document.0, *revision), *state)).collect();
        let scopes: BTreeMap<Uuid, Scope> = going.iter().map(|(scope, ..)| (scope.patient().0, *scope)).collect();
        let pairs = Arg::Pairs(going.iter().map(|(s, d, ..)| (s.patient().0, d.0.as_bytes().to_vec())).collect());
        let (mut archived, mut left) = (Vec::new(), Vec::new());
        for row in writer.tx.fetch_all(&sql::CONTENTS, vec![self.org.0.into(), pairs.clone()]).await? {
            let Some(scope) = scopes.get(&row.uuid(sql::contents::PATIENT_ID)?) else { continue };
            let revision = u32::try_from(row.i64(sql::contents::REVISION)?).map_err(|_| StoreError::Shape)?;
            let key = (*scope, row.uuid(sql::contents::DOCUMENT_ID)?, revision);
            let Some(state) = states.get(&key) else { continue };
            let keys = self.keys.get(scope).ok_or(StoreError::Race)?;
            let sealed = row.blob(sql::contents::CONTENT_SEALED)?;
            let content: DocumentContent = open_record(keys, content_cell(key.1, revision), &sealed)?;
            if *state == RetentionState::Archived {
                archived.push(self.archive_row(&key, keys, &content)?);
            }
            left.push(self.left_row(&key, keys, content, *state)?);
        }
        writer.tx.bulk(&sql::ARCHIVE, archived).await?;
        writer.tx.bulk(&sql::LET_GO, left).await?;
        let passages = states.keys().map(|key| self.passages_row(key)).collect();
        writer.tx.bulk(&sql::DELETE_PASSAGES, passages).await?;
        let unquoted: BTreeSet<SourceKey> =
            states.iter().filter(|(_, state)| **state == RetentionState::SummaryOnly).map(|(key, _)| *key).collect();
        if !unquoted.is_empty() {
            self.unquote(writer.tx, &unquoted, pairs).await?;
        }
        let audits = states.iter().map(|((scope, document, revision), state)| {
            let id = derive("retention", &[document.as_bytes(), &revision.to_be_bytes()]);
            (*scope, id, state.code(), Some(*document))
        });
        writer.audit_job(audits.collect()).await
    }

    /// Removes the quotes of these documents from all evidence, and their words from the search terms.
    async fn unquote(&self, tx: &mut Transaction, keys: &BTreeSet<SourceKey>, pairs: Arg) -> Result<(), StoreError> {
        let scopes: BTreeMap<Uuid, Scope> = keys.iter().map(|(scope, ..)| (scope.patient().0, *scope)).collect();
        let mut reworded = Vec::new();
        for row in tx.fetch_all(&sql::QUOTING, vec![self.org.0.into(), pairs]).await? {
            let (patient, id) = (row.uuid(sql::quoting::PATIENT_ID)?, row.uuid(sql::quoting::ID)?);
            let document = row.uuid(sql::quoting::DOCUMENT_ID)?;
            let revision = u32::try_from(row.i64(sql::quoting::REVISION)?).map_err(|_| StoreError::Shape)?;
            let Some(scope) = scopes.get(&patient).filter(|scope| keys.contains(&(**scope, document, revision))) else {
                continue;
            };
            let own = self.keys.get(scope).ok_or(StoreError::Race)?;
            let sealed = row.blob(sql::quoting::CONTENT_SEALED)?;
            let words: FindingWords = open_record(own, memory_cell(id, "content"), &sealed)?;
            let mut terms: Vec<i64> = terms_of(&words, None).iter().map(|stem| own.term(stem)).collect();
            terms.push(own.concept_term(&words.concept));
            terms.sort_unstable();
            let (org_id, terms) = (self.org.0.into(), Arg::Ints(terms));
            reworded.push(sql::set_terms::Row { org_id, patient_id: patient.into(), id: id.into(), terms }.into());
        }
        tx.bulk(&sql::SET_TERMS, reworded).await?;
        for unquote in [&sql::UNQUOTE_FINDINGS, &sql::UNQUOTE_MEMORIES, &sql::UNQUOTE_RISKS] {
            tx.bulk(unquote, keys.iter().map(|key| self.blank_row(key)).collect()).await?;
        }
        Ok(())
    }

    fn passages_row(&self, (scope, document, revision): &SourceKey) -> Vec<Arg> {
        let row = sql::delete_passages::Row {
            org_id: self.org.0.into(),
            patient_id: scope.patient().0.into(),
            document_id: (*document).into(),
            revision: (*revision).into(),
        };
        row.into()
    }

    /// All three statements that take quotes have the same rows.
    fn blank_row(&self, (scope, document, revision): &SourceKey) -> Vec<Arg> {
        let row = sql::unquote_findings::Row {
            org_id: self.org.0.into(),
            patient_id: scope.patient().0.into(),
            document_id: (*document).into(),
            revision: (*revision).into(),
            blank: Arg::Blob(Vec::new()),
            now: self.now.into(),
        };
        row.into()
    }

    fn archive_row(
        &self,
        key: &SourceKey,
        keys: &PatientKeys,
        content: &DocumentContent,
    ) -> Result<Vec<Arg>, StoreError> {
        let sealer = Sealer { keys, entropy: self.entropy };
        let sealed = sealer.record(archive_cell(key.1, key.2), content)?;
        let row = sql::archive::Row {
            org_id: self.org.0.into(),
            patient_id: key.0.patient().0.into(),
            document_id: key.1.into(),
            revision: key.2.into(),
            content_sealed: sealed,
            archived_at: self.now.into(),
            created_at: self.now.into(),
            updated_at: self.now.into(),
            mac: Arg::Null,
        };
        Ok(COVERED.seal_row(keys, row))
    }

    /// The remaining row of a document: its subject without its words.
    fn left_row(
        &self,
        key: &SourceKey,
        keys: &PatientKeys,
        content: DocumentContent,
        state: RetentionState,
    ) -> Result<Vec<Arg>, StoreError> {
        let left =
            DocumentContent { text: String::new(), turns: Vec::new(), file: None, redactions: Vec::new(), ..content };
        let sealer = Sealer { keys, entropy: self.entropy };
        let sealed = sealer.record(content_cell(key.1, key.2), &left)?;
        let row = sql::let_go::Row {
            org_id: self.org.0.into(),
            patient_id: key.0.patient().0.into(),
            document_id: key.1.into(),
            revision: key.2.into(),
            content: sealed,
            retention_state: state.code().into(),
            now: self.now.into(),
        };
        Ok(row.into())
    }
}
