//! Receipts of redaction: what was taken out of each document, counted by label, by which version of which policy and which
//! recognisers. Never a value, never a place in a text.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::number;
use crate::records::DocumentContent;
use crate::seal::open_record;
use crate::write::documents::content_cell;
use crate::{Store, StoreError};
use anamnesis_core::ids::DocumentId;
use anamnesis_core::scope::Scope;
use anamnesis_sql::{Access, Sql};

static RECEIPTS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT document_id, revision, occurred_at, redaction_policy, content_sealed FROM documents \
         WHERE org_id = $1 AND patient_id = $2 AND current = 1 AND document_id NOT IN \
           (SELECT id FROM summary WHERE org_id = $1 AND patient_id = $2) ORDER BY occurred_at, document_id",
    )
});

/// What was taken out of one document.
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

impl Store {
    /// Receipts of the current documents of a patient, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read or a cell does not open.
    pub async fn redaction_receipts(&self, scope: Scope) -> Result<Vec<RedactionReceipt>, StoreError> {
        let Some(keys) = self.keys_of(scope).await? else { return Ok(Vec::new()) };
        let mut tx = self.db.read(Access::Organization(scope.org())).await?;
        let mut receipts = Vec::new();
        for row in tx.fetch_all(&RECEIPTS, vec![scope.org().0.into(), scope.patient().0.into()]).await? {
            let (id, revision) = (row.uuid(0)?, number(&row, 1)?);
            let content: DocumentContent = open_record(&keys, content_cell(id, revision), &row.blob(4)?)?;
            let mut receipt = RedactionReceipt {
                document_id: DocumentId(id),
                revision,
                occurred_at: row.time(2)?,
                redacted_by: row.text(3)?,
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

pub(super) fn statements() -> Vec<&'static Sql> {
    vec![&RECEIPTS]
}
