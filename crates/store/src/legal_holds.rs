//! Legal holds, and sources in the cold archive: both are only read by name.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use serde::Serialize;
use uuid::Uuid;

use super::audit_trail::{self, AuditedAction};
use super::covered::{self, CoveredTable};
use super::encrypted_columns::{Sealer, open_record, open_text};
use super::records::DocumentContent;
use super::write::retention::archive_cell;
use super::{ErasureStore, StoreError};
use crate::statements::legal_holds as sql;
use anamnesis_core::audit::Actor;
use anamnesis_core::clock::ordered_id;
use anamnesis_core::ids::{DocumentId, derive};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::ColumnRef;
use anamnesis_sql::{Access, Arg, Column, ColumnType, Transaction};

/// The arguments of [`sql::INSERT`], in their order.
const INSERTED: [Column; 8] = [
    ("org_id", ColumnType::Uuid),
    ("patient_id", ColumnType::Uuid),
    ("id", ColumnType::Uuid),
    ("document_id", ColumnType::Uuid),
    ("reference_sealed", ColumnType::Bytes),
    ("set_by", ColumnType::Uuid),
    ("set_at", ColumnType::Int),
    ("mac", ColumnType::Bytes),
];
// That a hold was lifted is in the audit trail, with which the row is compared (`audit_trail::acts`).
pub(super) static COVERED: covered::LazyCoveredTable = LazyLock::new(|| {
    CoveredTable::new("legal_hold", &["id", "document_id", "set_by", "set_at"], &INSERTED, "").since(2)
});

/// A hold on a patient, or on one document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LegalHold {
    pub id: Uuid,
    /// `None`: all of the patient.
    pub document_id: Option<DocumentId>,
    /// The case it belongs to, as who set it wrote it.
    pub reference: Option<String>,
    pub(crate) set_by: Uuid,
    pub set_at: DateTime<Utc>,
    pub(crate) lifted_by: Option<Uuid>,
    pub lifted_at: Option<DateTime<Utc>>,
}

/// A source in the cold archive.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArchivedSource {
    pub document_id: DocumentId,
    pub revision: u32,
    pub document_type: String,
    pub occurred_at: DateTime<Utc>,
    pub archived_at: DateTime<Utc>,
    #[serde(skip)]
    pub content: DocumentContent,
}

fn reference_cell(id: Uuid) -> ColumnRef {
    ColumnRef { table: "legal_hold", row: id, column: "reference" }
}

impl ErasureStore<'_> {
    /// Sets a hold; `None` when this patient is not known.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn set_hold(
        self,
        scope: Scope,
        document: Option<DocumentId>,
        reference: Option<&str>,
        by: Uuid,
    ) -> Result<Option<Uuid>, StoreError> {
        let Some(keys) = self.read().keys_of(scope).await? else { return Ok(None) };
        let (now, id) = (self.clock.now(), ordered_id(self.clock.now(), self.entropy.as_ref()));
        let sealer = Sealer { keys: &keys, entropy: self.entropy.as_ref() };
        let reference = sealer.optional(reference_cell(id), reference);
        let mut tx = self.db.begin(Access::Organization(scope.org())).await?;
        let args = vec![
            scope.org().0.into(),
            scope.patient().0.into(),
            id.into(),
            document.map(|document| document.0).into(),
            reference,
            by.into(),
            now.into(),
            Arg::Null,
        ];
        if tx.execute(&sql::INSERT, COVERED.seal_row(&keys, args)).await? == 0 {
            return Ok(None);
        }
        self.audit_hold(&mut tx, AuditedAction::to(scope, "hold_set").on(id), by, now).await?;
        tx.commit().await?;
        Ok(Some(id))
    }

    /// Lifts a hold; false when there is none of this id that holds.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn lift_hold(self, scope: Scope, id: Uuid, by: Uuid) -> Result<bool, StoreError> {
        let now = self.clock.now();
        let mut tx = self.db.begin(Access::Organization(scope.org())).await?;
        let args = vec![scope.org().0.into(), scope.patient().0.into(), id.into(), by.into(), now.into()];
        let lifted = tx.execute(&sql::LIFT, args).await? > 0;
        if lifted {
            self.audit_hold(&mut tx, AuditedAction::to(scope, "hold_lifted").on(id), by, now).await?;
        }
        tx.commit().await?;
        Ok(lifted)
    }

    /// Decisions of people in all organisations, an id for each: holds in force or released, consents, switches of
    /// ephemeral mode.
    ///
    /// # Errors
    /// Of the database.
    pub async fn decisions(self) -> Result<BTreeSet<Uuid>, StoreError> {
        let mut found = BTreeSet::new();
        for org in self.stats().every_organization().await? {
            let mut tx = self.db.read(Access::Organization(org)).await?;
            for row in tx.fetch_all(&sql::DECIDED, vec![org.0.into()]).await? {
                found.insert(derive(
                    "decided",
                    &[row.uuid(sql::decided::ID)?.as_bytes(), row.text(sql::decided::DECISION)?.as_bytes()],
                ));
            }
        }
        Ok(found)
    }

    async fn audit_hold(
        self,
        tx: &mut Transaction,
        done: AuditedAction<'_>,
        by: Uuid,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let subject = done.subject.unwrap_or_default();
        let id = derive("audit", &[subject.as_bytes(), done.action.as_bytes()]);
        let actor = Actor { id: by.to_string(), ..Actor::default() };
        audit_trail::write(tx, self.keys.platform(), &[done.entry(id, now, &actor)]).await
    }

    /// Holds of a patient, lifted ones too, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read or a cell does not open.
    pub async fn holds(self, scope: Scope) -> Result<Vec<LegalHold>, StoreError> {
        let Some(keys) = self.read().keys_of(scope).await? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for row in self.read().rows(&sql::OF_PATIENT, scope, Vec::new()).await? {
            let id = row.uuid(sql::of_patient::ID)?;
            let reference = row
                .opt_blob(sql::of_patient::REFERENCE_SEALED)?
                .map(|sealed| open_text(&keys, reference_cell(id), &sealed))
                .transpose()?;
            found.push(LegalHold {
                id,
                document_id: row.opt_uuid(sql::of_patient::DOCUMENT_ID)?.map(DocumentId),
                reference,
                set_by: row.uuid(sql::of_patient::SET_BY)?,
                set_at: row.time(sql::of_patient::SET_AT)?,
                lifted_by: row.opt_uuid(sql::of_patient::LIFTED_BY)?,
                lifted_at: row.opt_time(sql::of_patient::LIFTED_AT)?,
            });
        }
        Ok(found)
    }

    /// Sources of a patient in the cold archive, oldest first.
    ///
    /// # Errors
    /// As [`ErasureStore::holds`].
    pub async fn archived(self, scope: Scope) -> Result<Vec<ArchivedSource>, StoreError> {
        let Some(keys) = self.read().keys_of(scope).await? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for row in self.read().rows(&sql::ARCHIVED, scope, Vec::new()).await? {
            let (id, revision) = (
                row.uuid(sql::archived::DOCUMENT_ID)?,
                u32::try_from(row.i64(sql::archived::REVISION)?).map_err(|_| StoreError::Shape)?,
            );
            found.push(ArchivedSource {
                document_id: DocumentId(id),
                revision,
                document_type: row.text(sql::archived::DOCUMENT_TYPE)?,
                occurred_at: row.time(sql::archived::OCCURRED_AT)?,
                archived_at: row.time(sql::archived::ARCHIVED_AT)?,
                content: open_record(&keys, archive_cell(id, revision), &row.blob(sql::archived::CONTENT_SEALED)?)?,
            });
        }
        Ok(found)
    }
}
