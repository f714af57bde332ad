//! Documents: current revisions by time, and any revision that lineage names.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::forgotten::ForgottenSpans;
use super::{Memory, PatientSnapshot, ReadInstant, code, memories, number};
use crate::encrypted_columns::open_record;
use crate::records::DocumentContent;
use crate::statements::read::documents as sql;
use crate::write::documents::content_cell;
use crate::{MemoryReader, StoreError};
use anamnesis_core::document::DocumentType;
use anamnesis_core::finding::RiskLevel;
use anamnesis_core::ids::DocumentId;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::PatientKeys;
use anamnesis_sql::{Arg, Row, Transaction};
use anamnesis_text::Language;

/// A stretch of time, half-open: `since` is in it, `until` is not. `None` is unbounded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimeWindow {
    pub since: Option<DateTime<Utc>>,
    pub until: Option<DateTime<Utc>>,
}

impl TimeWindow {
    /// Cut at what `when` may see.
    pub(crate) fn seen(self, when: ReadInstant) -> Self {
        let limit = when.limit().map(|at| at + chrono::TimeDelta::microseconds(1));
        Self { until: self.until.into_iter().chain(limit).min(), ..self }
    }

    /// Both bounds as stored instants.
    pub(super) fn args(self) -> [Arg; 2] {
        [
            Arg::I64(self.since.map_or(i64::MIN, anamnesis_core::clock::micros)),
            Arg::I64(self.until.map_or(i64::MAX, anamnesis_core::clock::micros)),
        ]
    }
}

/// A filter of documents. An empty list matches all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentFilter {
    pub window: TimeWindow,
    pub types: Vec<DocumentType>,
    /// Codes of the tone that was read in them: positive, neutral, negative, mixed.
    pub sentiments: Vec<String>,
    pub risk_levels: Vec<RiskLevel>,
    pub therapists: Vec<Uuid>,
}

impl From<TimeWindow> for DocumentFilter {
    fn from(window: TimeWindow) -> Self {
        Self { window, ..Self::default() }
    }
}

impl DocumentFilter {
    /// Whether every document is asked for that `when` may see.
    pub(super) fn are_all(&self, when: ReadInstant) -> bool {
        Self { window: self.window.seen(when), ..self.clone() } == Self::default()
    }

    /// For each list whether it filters, and its values.
    pub(super) fn args(&self) -> Vec<Arg> {
        let texts = |codes: Vec<String>| [Arg::I64(i64::from(!codes.is_empty())), Arg::Texts(codes)];
        let mut args = Vec::with_capacity(8);
        args.extend(texts(self.types.iter().map(|one| one.code().to_owned()).collect()));
        args.extend(texts(self.sentiments.clone()));
        args.extend(texts(self.risk_levels.iter().map(|one| one.code().to_owned()).collect()));
        args.extend([Arg::I64(i64::from(!self.therapists.is_empty())), Arg::Uuids(self.therapists.clone())]);
        args
    }
}

/// One revision of a document, in the clear.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredDocument {
    pub id: DocumentId,
    pub revision: u32,
    pub document_type: DocumentType,
    pub occurred_at: DateTime<Utc>,
    pub(crate) language: Language,
    pub(crate) therapist_id: Option<Uuid>,
    /// The clinician who vouches for a model's words.
    pub signed_by: Option<Uuid>,
    pub sentiment: Option<String>,
    pub risk_level: Option<String>,
    /// False for a revision that was replaced.
    pub current: bool,
    pub(crate) recorded_at: DateTime<Utc>,
    pub content: DocumentContent,
}

impl MemoryReader<'_> {
    /// Current documents of a window, newest first, at most `limit`.
    ///
    /// # Errors
    /// When the store cannot be read or a cell does not open.
    pub async fn documents(
        self,
        scope: Scope,
        window: TimeWindow,
        limit: usize,
        when: ReadInstant,
    ) -> Result<Vec<StoredDocument>, StoreError> {
        let Some(keys) = self.keys_of(scope).await? else { return Ok(Vec::new()) };
        let mut args = window.seen(when).args().to_vec();
        args.push(Arg::I64(i64::try_from(limit).unwrap_or(i64::MAX)));
        args.push(self.instant(when).into());
        let mut tx = self.reading(scope).await?;
        let forgotten = ForgottenSpans::load(&mut tx, scope).await?;
        let args = [vec![scope.org().0.into(), scope.patient().0.into()], args].concat();
        tx.fetch_all(&sql::RECENT, args).await?.iter().map(|row| read(row, &keys, &forgotten)).collect()
    }

    /// All revisions of these documents that the store holds.
    ///
    /// # Errors
    /// As [`MemoryReader::documents`].
    pub async fn revisions(self, scope: Scope, ids: &[DocumentId]) -> Result<Vec<StoredDocument>, StoreError> {
        let Some(keys) = self.keys_of(scope).await? else { return Ok(Vec::new()) };
        let mut tx = self.reading(scope).await?;
        by_id(&mut tx, scope, &keys, ids.iter().map(|id| id.0).collect()).await
    }
}

impl PatientSnapshot<'_> {
    /// All revisions of these documents, and the memories that depend on them at `when`, opened with the patient's
    /// `keys`.
    ///
    /// # Errors
    /// As [`MemoryReader::revisions`].
    pub async fn cited(
        &mut self,
        keys: &PatientKeys,
        ids: &[DocumentId],
        when: ReadInstant,
    ) -> Result<(Vec<StoredDocument>, Vec<Memory>), StoreError> {
        let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
        let documents = by_id(&mut self.tx, self.scope, keys, ids.clone()).await?;
        let memories = memories::of_documents(self.store, &mut self.tx, self.scope, keys, ids, when).await?;
        Ok((documents, memories))
    }
}

async fn by_id(
    tx: &mut Transaction,
    scope: Scope,
    keys: &PatientKeys,
    ids: Vec<Uuid>,
) -> Result<Vec<StoredDocument>, StoreError> {
    let args = vec![scope.org().0.into(), scope.patient().0.into(), Arg::Uuids(ids)];
    let forgotten = ForgottenSpans::load(tx, scope).await?;
    tx.fetch_all(&sql::BY_ID, args).await?.iter().map(|row| read(row, keys, &forgotten)).collect()
}

fn language(code: &str) -> Option<Language> {
    [("es", Language::Spanish), ("en", Language::English), ("und", Language::Unknown)]
        .into_iter()
        .find_map(|(known, language)| (known == code).then_some(language))
}

/// A row of one of both statements.
fn read(row: &Row, keys: &PatientKeys, forgotten: &ForgottenSpans) -> Result<StoredDocument, StoreError> {
    let (id, revision) = (row.uuid(sql::recent::DOCUMENT_ID)?, number(row, sql::recent::REVISION)?);
    let mut content: DocumentContent =
        open_record(keys, content_cell(id, revision), &row.blob(sql::recent::CONTENT_SEALED)?)?;
    content.text = forgotten.cover(id, revision, content.text);
    Ok(StoredDocument {
        id: DocumentId(id),
        revision,
        document_type: code(row, sql::recent::DOCUMENT_TYPE, DocumentType::from_code)?,
        occurred_at: row.time(sql::recent::OCCURRED_AT)?,
        language: code(row, sql::recent::LANGUAGE, language)?,
        therapist_id: row.opt_uuid(sql::recent::THERAPIST_ID)?,
        signed_by: row.opt_uuid(sql::recent::SIGNED_BY)?,
        sentiment: row.opt_text(sql::recent::SENTIMENT)?,
        risk_level: row.opt_text(sql::recent::RISK_LEVEL)?,
        current: row.bool(sql::recent::CURRENT)?,
        recorded_at: row.time(sql::recent::RECORDED_AT)?,
        content,
    })
}
