//! Letting go of sources: text, passages and vectors of a document go, what was understood of it stays. And of whole records
//! that are past their term. Inside the job's transaction, under the lock of the patient's row.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::documents::content_cell;
use super::memories::rows::{memory_cell, terms_of};
use super::nightly::Shift;
use crate::StoreError;
use crate::covered::{self, Covered};
use crate::erasing::{self, Request, Subject};
use crate::records::{DocumentContent, FindingWords};
use crate::retention::still_dormant;
use crate::seal::{Sealer, document_row, open_record};
use anamnesis_core::ids::{DocumentId, PatientId, derive};
use anamnesis_core::retention::Fate;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{Cell, PatientKeys};
use anamnesis_sql::{Arg, Bulk, Column, ColumnType, Sql, Transaction};

const KEY: [(&str, ColumnType); 4] = [
    ("org_id", ColumnType::Uuid),
    ("patient_id", ColumnType::Uuid),
    ("document_id", ColumnType::Uuid),
    ("revision", ColumnType::Int),
];

static CONTENTS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT patient_id, document_id, revision, content_sealed FROM documents WHERE org_id = $1 AND fate IS NULL \
         AND (patient_id, document_id) IN {pairs $2}",
    )
});
const ARCHIVE_COLUMNS: [Column; 9] = [
    KEY[0],
    KEY[1],
    KEY[2],
    KEY[3],
    ("content_sealed", ColumnType::Bytes),
    ("archived_at", ColumnType::Int),
    ("created_at", ColumnType::Int),
    ("updated_at", ColumnType::Int),
    ("mac", ColumnType::Bytes),
];
static ARCHIVE: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::new(
        "document_archive",
        &ARCHIVE_COLUMNS,
        "ON CONFLICT (org_id, patient_id, document_id, revision) DO NOTHING",
    )
});
pub(super) static COVERED: covered::Lazy = LazyLock::new(|| {
    Covered::new("document_archive", &["document_id", "revision", "archived_at"], &ARCHIVE_COLUMNS, "").since(2)
});
static LET_GO: LazyLock<Bulk> = LazyLock::new(|| {
    let columns =
        [KEY.as_slice(), &[("content", ColumnType::Bytes), ("fate", ColumnType::Text), ("now", ColumnType::Int)]]
            .concat();
    Bulk::over(
        "UPDATE documents SET content_sealed = r.content, fate = r.fate, fate_at = r.now, reckoned = 1, updated_at = r.now \
         FROM {rows} AS r WHERE documents.org_id = r.org_id AND documents.patient_id = r.patient_id \
         AND documents.document_id = r.document_id AND documents.revision = r.revision AND documents.fate IS NULL",
        &columns,
    )
});
static FORGET_PASSAGES: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "DELETE FROM passage WHERE (org_id, patient_id, document_id, revision) IN \
         (SELECT r.org_id, r.patient_id, r.document_id, r.revision FROM {rows} AS r)",
        &KEY,
    )
});

/// Quotes go: empty where there was one, so that what must have had evidence still shows that it had.
macro_rules! unquote {
    ($table:literal, $document:literal) => {
        LazyLock::new(|| {
            let columns = [KEY.as_slice(), &[("blank", ColumnType::Bytes), ("now", ColumnType::Int)]].concat();
            Bulk::over(
                concat!(
                    "UPDATE ",
                    $table,
                    " SET evidence_sealed = r.blank, updated_at = r.now FROM {rows} AS r WHERE ",
                    $table,
                    ".org_id = r.org_id AND ",
                    $table,
                    ".patient_id = r.patient_id AND ",
                    $table,
                    ".",
                    $document,
                    " = r.document_id AND ",
                    $table,
                    ".revision = r.revision AND ",
                    $table,
                    ".evidence_sealed IS NOT NULL"
                ),
                &columns,
            )
        })
    };
}
static UNQUOTE_FINDINGS: LazyLock<Bulk> = unquote!("extracted_findings", "source_id");
static UNQUOTE_MEMORIES: LazyLock<Bulk> = unquote!("memory", "document_id");
static UNQUOTE_RISKS: LazyLock<Bulk> = unquote!("risk_flag", "document_id");
static QUOTING: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT patient_id, id, content_sealed, document_id, revision FROM memory WHERE org_id = $1 \
         AND (patient_id, document_id) IN {pairs $2} AND content_sealed IS NOT NULL AND evidence_sealed IS NOT NULL",
    )
});
static REWORD: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "UPDATE memory SET terms = r.terms FROM {rows} AS r WHERE memory.org_id = r.org_id \
         AND memory.patient_id = r.patient_id AND memory.id = r.id",
        &[
            ("org_id", ColumnType::Uuid),
            ("patient_id", ColumnType::Uuid),
            ("id", ColumnType::Uuid),
            ("terms", ColumnType::Ints),
        ],
    )
});

pub(crate) fn statements() -> Vec<&'static Sql> {
    let bulks = [&ARCHIVE, &LET_GO, &FORGET_PASSAGES, &UNQUOTE_FINDINGS, &UNQUOTE_MEMORIES, &UNQUOTE_RISKS, &REWORD];
    bulks.map(|bulk| bulk.sql()).into_iter().chain([&*CONTENTS, &*QUOTING]).collect()
}

/// The cell of an archived document's content.
pub(crate) fn archive_cell(document: Uuid, revision: u32) -> Cell {
    Cell { table: "document_archive", row: document_row(document, revision), column: "content" }
}

/// One document whose source goes.
pub(crate) type Going = (Scope, DocumentId, u32, Fate);

type Key = (Scope, Uuid, u32);

/// In whose name a record that is past its term is erased.
pub(crate) fn record_keeper() -> Uuid {
    derive("actor", &[b"retention"])
}

impl Shift<'_> {
    /// Begins to erase patients of whom nothing came since `until`; a worker completes it, as it does any erasure that was
    /// begun. One who is heard of again in the meantime, or whom a legal hold keeps, stays. Returns how many were begun.
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
            let request = Request { scope, id, subject: Subject::Patient, requested_by, requested_at };
            begun += erasing::begin(writer.tx, writer.platform, &request).await?;
            audits.push((scope, id, "record_ended", None));
        }
        writer.audit_job(audits).await?;
        Ok(begun)
    }

    /// Lets go of the sources of documents, by a constant number of statements.
    ///
    /// # Errors
    /// When the store refuses the rows or a cell does not open.
    pub async fn let_go(&self, tx: &mut Transaction, going: &[Going]) -> Result<(), StoreError> {
        let mut writer = self.writer(tx);
        writer.hold(going.iter().map(|(scope, ..)| scope.patient().0).collect()).await?;
        let fates: BTreeMap<Key, Fate> =
            going.iter().map(|(scope, document, revision, fate)| ((*scope, document.0, *revision), *fate)).collect();
        let scopes: BTreeMap<Uuid, Scope> = going.iter().map(|(scope, ..)| (scope.patient().0, *scope)).collect();
        let pairs = Arg::Pairs(going.iter().map(|(s, d, ..)| (s.patient().0, d.0.as_bytes().to_vec())).collect());
        let (mut archived, mut left) = (Vec::new(), Vec::new());
        for row in writer.tx.fetch_all(&CONTENTS, vec![self.org.0.into(), pairs.clone()]).await? {
            let Some(scope) = scopes.get(&row.uuid(0)?) else { continue };
            let revision = u32::try_from(row.i64(2)?).map_err(|_| StoreError::Shape)?;
            let key = (*scope, row.uuid(1)?, revision);
            let Some(fate) = fates.get(&key) else { continue };
            let keys = self.keys.get(scope).ok_or(StoreError::Race)?;
            let content: DocumentContent = open_record(keys, content_cell(key.1, revision), &row.blob(3)?)?;
            if *fate == Fate::Archived {
                archived.push(self.archive_row(&key, keys, &content)?);
            }
            left.push(self.left_row(&key, keys, content, *fate)?);
        }
        writer.tx.bulk(&ARCHIVE, archived).await?;
        writer.tx.bulk(&LET_GO, left).await?;
        writer.tx.bulk(&FORGET_PASSAGES, fates.keys().map(|key| self.key(key)).collect()).await?;
        let unquoted: BTreeSet<Key> =
            fates.iter().filter(|(_, fate)| **fate == Fate::SummaryOnly).map(|(key, _)| *key).collect();
        if !unquoted.is_empty() {
            self.unquote(writer.tx, &unquoted, pairs).await?;
        }
        let audits = fates.iter().map(|((scope, document, revision), fate)| {
            let id = derive("retention", &[document.as_bytes(), &revision.to_be_bytes()]);
            (*scope, id, fate.code(), Some(*document))
        });
        writer.audit_job(audits.collect()).await
    }

    /// The quotes of these documents go from wherever they are evidence, and their words from what a search compares.
    async fn unquote(&self, tx: &mut Transaction, keys: &BTreeSet<Key>, pairs: Arg) -> Result<(), StoreError> {
        let scopes: BTreeMap<Uuid, Scope> = keys.iter().map(|(scope, ..)| (scope.patient().0, *scope)).collect();
        let mut reworded = Vec::new();
        for row in tx.fetch_all(&QUOTING, vec![self.org.0.into(), pairs]).await? {
            let (patient, id, document) = (row.uuid(0)?, row.uuid(1)?, row.uuid(3)?);
            let revision = u32::try_from(row.i64(4)?).map_err(|_| StoreError::Shape)?;
            let Some(scope) = scopes.get(&patient).filter(|scope| keys.contains(&(**scope, document, revision))) else {
                continue;
            };
            let own = self.keys.get(scope).ok_or(StoreError::Race)?;
            let words: FindingWords = open_record(own, memory_cell(id, "content"), &row.blob(2)?)?;
            let mut terms: Vec<i64> = terms_of(&words, None).iter().map(|stem| own.term(stem)).collect();
            terms.push(own.concept_term(&words.concept));
            terms.sort_unstable();
            reworded.push(vec![self.org.0.into(), patient.into(), id.into(), Arg::Ints(terms)]);
        }
        tx.bulk(&REWORD, reworded).await?;
        for unquote in [&UNQUOTE_FINDINGS, &UNQUOTE_MEMORIES, &UNQUOTE_RISKS] {
            let blank = |key: &Key| {
                let nothing: Vec<u8> = Vec::new();
                [self.key(key), vec![nothing.into(), self.now.into()]].concat()
            };
            tx.bulk(unquote, keys.iter().map(blank).collect()).await?;
        }
        Ok(())
    }

    fn key(&self, key: &Key) -> Vec<Arg> {
        let (scope, document, revision) = key;
        vec![self.org.0.into(), scope.patient().0.into(), (*document).into(), (*revision).into()]
    }

    fn archive_row(&self, key: &Key, keys: &PatientKeys, content: &DocumentContent) -> Result<Vec<Arg>, StoreError> {
        let sealer = Sealer { keys, entropy: self.entropy };
        let sealed = sealer.record(archive_cell(key.1, key.2), content)?;
        let row = [self.key(key), vec![sealed, self.now.into(), self.now.into(), self.now.into()]].concat();
        Ok(COVERED.seal(keys, row))
    }

    /// What is left of a document: what it was about, not what it said.
    fn left_row(
        &self,
        key: &Key,
        keys: &PatientKeys,
        content: DocumentContent,
        fate: Fate,
    ) -> Result<Vec<Arg>, StoreError> {
        let left =
            DocumentContent { text: String::new(), turns: Vec::new(), file: None, redactions: Vec::new(), ..content };
        let sealer = Sealer { keys, entropy: self.entropy };
        let sealed = sealer.record(content_cell(key.1, key.2), &left)?;
        Ok([self.key(key), vec![sealed, fate.code().into(), self.now.into()]].concat())
    }
}
