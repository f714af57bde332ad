//! Stored documents whose redaction is older than the redactor: found by the version that each carries.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::encrypted_columns::open_record;
use super::records::DocumentContent;
use super::write::documents::content_cell;
use super::write::retention::archive_cell;
use super::{Keys, StoreError};
use crate::PageRequest;
use crate::statements::re_redaction as sql;
use anamnesis_core::ids::{DocumentId, OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_sql::{DbError, Row, Transaction};
use anamnesis_text::{Document, Language, Span, Turn};

/// Where a page begins: the key of the last document of the page before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentKey(Uuid, Uuid, u32);

impl DocumentKey {
    /// Before every document.
    pub const START: Self = Self(Uuid::nil(), Uuid::nil(), 0);
}

/// One revision of a document that another version redacted.
#[derive(Debug, Clone, PartialEq)]
pub struct OutdatedDocument {
    pub patient: PatientId,
    pub id: DocumentId,
    pub revision: u32,
    language: Language,
    sealed: Vec<u8>,
    /// Its text is in the archive, so the sealed text is the archived one.
    pub archived: bool,
}

impl OutdatedDocument {
    pub fn place(&self) -> DocumentKey {
        DocumentKey(self.patient.0, self.id.0, self.revision)
    }

    /// The stored document, and its redacted text as a readable one.
    ///
    /// # Errors
    /// When the cell does not open or its turns are outside the text.
    pub fn open(&self, scope: Scope, keys: &Keys) -> Result<(DocumentContent, Document), StoreError> {
        let keys = keys.get(&scope).ok_or(StoreError::Race)?;
        let cell = match self.archived {
            true => archive_cell(self.id.0, self.revision),
            false => content_cell(self.id.0, self.revision),
        };
        let content: DocumentContent = open_record(keys, cell, &self.sealed)?;
        let mut turns = Vec::with_capacity(content.turns.len());
        for (speaker, start, end) in &content.turns {
            if content.text.get(*start..*end).is_none() {
                return Err(StoreError::Shape);
            }
            turns.push(Turn { speaker: *speaker, span: Span::new(*start, *end), at_ms: None });
        }
        let document = Document { text: content.text.clone(), language: self.language, turns };
        Ok((content, document))
    }
}

/// The name of the policy in an organisation's row; `None` for an organisation without one.
///
/// # Errors
/// Of the database.
pub async fn policy(tx: &mut Transaction, org: OrgId) -> Result<Option<String>, DbError> {
    let rows = tx.fetch_all(&sql::POLICY, vec![org.0.into()]).await?;
    rows.first().map(|row| row.text(sql::policy::REDACTION_POLICY)).transpose()
}

/// Documents that were redacted by any other version than `version`, after `after` in the order of their keys, at most
/// `limit`. Rows that a writer holds are left to the next run.
///
/// # Errors
/// Of the database.
pub async fn due(
    tx: &mut Transaction,
    org: OrgId,
    version: &str,
    PageRequest { after, limit }: PageRequest<DocumentKey>,
) -> Result<Vec<OutdatedDocument>, DbError> {
    let DocumentKey(patient, document, revision) = after;
    let args = vec![org.0.into(), version.into(), patient.into(), document.into(), revision.into(), limit.into()];
    tx.fetch_all(&sql::DUE, args).await?.iter().map(read).collect()
}

/// Of a row of [`sql::DUE`].
fn read(row: &Row) -> Result<OutdatedDocument, DbError> {
    let language = match row.text(sql::due::LANGUAGE)?.as_str() {
        "es" => Language::Spanish,
        "en" => Language::English,
        _ => Language::Unknown,
    };
    let archived = row.opt_blob(sql::due::ARCHIVED_SEALED)?;
    Ok(OutdatedDocument {
        archived: archived.is_some(),
        patient: PatientId(row.uuid(sql::due::PATIENT_ID)?),
        id: DocumentId(row.uuid(sql::due::DOCUMENT_ID)?),
        revision: u32::try_from(row.i64(sql::due::REVISION)?)
            .map_err(|_| DbError::Decode { index: sql::due::REVISION })?,
        language,
        sealed: archived.map_or_else(|| row.blob(sql::due::CONTENT_SEALED), Ok)?,
    })
}
