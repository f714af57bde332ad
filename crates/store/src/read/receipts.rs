//! Receipts of redaction: the redacted values of each document, counted by label, policy version and recogniser
//! version. Never a value or a position in a text.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::number;
use crate::encrypted_columns::open_record;
use crate::records::DocumentContent;
use crate::statements::read::receipts as sql;
use crate::write::documents::content_cell;
use crate::{MemoryReader, StoreError};
use anamnesis_core::ids::DocumentId;
use anamnesis_core::scope::Scope;
use anamnesis_sql::Access;

/// The redacted values of one document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RedactionReceipt {
    pub document_id: DocumentId,
    pub revision: u32,
    pub occurred_at: DateTime<Utc>,
    /// The policy with the version of its recognisers.
    pub redacted_by: String,
    /// Values taken, by label.
    pub taken: BTreeMap<String, u64>,
    /// The same, by recogniser.
    pub recognizers: BTreeMap<String, u64>,
}

impl MemoryReader<'_> {
    /// Receipts of the current documents of a patient, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read or a cell does not open.
    pub async fn redaction_receipts(self, scope: Scope) -> Result<Vec<RedactionReceipt>, StoreError> {
        let Some(keys) = self.keys_of(scope).await? else { return Ok(Vec::new()) };
        let mut tx = self.db.read(Access::Organization(scope.org())).await?;
        let mut receipts = Vec::new();
        for row in
            tx.fetch_all(&sql::OF_CURRENT_DOCUMENTS, vec![scope.org().0.into(), scope.patient().0.into()]).await?
        {
            let id = row.uuid(sql::of_current_documents::DOCUMENT_ID)?;
            let revision = number(&row, sql::of_current_documents::REVISION)?;
            let sealed = row.blob(sql::of_current_documents::CONTENT_SEALED)?;
            let content: DocumentContent = open_record(&keys, content_cell(id, revision), &sealed)?;
            let mut receipt = RedactionReceipt {
                document_id: DocumentId(id),
                revision,
                occurred_at: row.time(sql::of_current_documents::OCCURRED_AT)?,
                redacted_by: row.text(sql::of_current_documents::REDACTION_POLICY)?,
                taken: BTreeMap::new(),
                recognizers: BTreeMap::new(),
            };
            for one in content.redactions {
                *receipt.taken.entry(one.label).or_default() += 1;
                *receipt.recognizers.entry(one.recognizer).or_default() += 1;
            }
            receipts.push(receipt);
        }
        Ok(receipts)
    }
}
