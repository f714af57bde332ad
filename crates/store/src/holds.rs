//! Legal holds, and sources that lie in the cold archive: both are read by name only.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use serde::Serialize;
use uuid::Uuid;

use super::auditing::{self, Done};
use super::covered::{self, Covered};
use super::records::DocumentContent;
use super::seal::{Sealer, open_record, open_text};
use super::write::retention::archive_cell;
use super::{Store, StoreError};
use anamnesis_core::audit::Actor;
use anamnesis_core::clock::ordered_id;
use anamnesis_core::ids::{DocumentId, derive};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::Cell;
use anamnesis_sql::{Access, Column, ColumnType, Sql, Transaction};

const COLUMNS: [Column; 8] = [
    ("org_id", ColumnType::Uuid),
    ("patient_id", ColumnType::Uuid),
    ("id", ColumnType::Uuid),
    ("document_id", ColumnType::Uuid),
    ("reference_sealed", ColumnType::Bytes),
    ("set_by", ColumnType::Uuid),
    ("set_at", ColumnType::Int),
    ("mac", ColumnType::Bytes),
];
static SET: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "INSERT INTO legal_hold (org_id, patient_id, id, document_id, reference_sealed, set_by, set_at, mac, created_at, updated_at) \
         SELECT org_id, patient_id, $3, $4, $5, $6, $7, $8, $7, $7 FROM patient_profile WHERE org_id = $1 AND patient_id = $2",
    )
});
// That a hold was lifted is in the audit trail, with which the row is compared (`auditing::acts`).
pub(super) static COVERED: covered::Lazy =
    LazyLock::new(|| Covered::new("legal_hold", &["id", "document_id", "set_by", "set_at"], &COLUMNS, "").since(2));
static LIFT: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "UPDATE legal_hold SET lifted_by = $4, lifted_at = $5, updated_at = $5 \
         WHERE org_id = $1 AND patient_id = $2 AND id = $3 AND lifted_at IS NULL",
    )
});
static LIST: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT id, document_id, reference_sealed, set_by, set_at, lifted_by, lifted_at FROM legal_hold \
         WHERE org_id = $1 AND patient_id = $2 ORDER BY set_at, id",
    )
});
// What people decided, and a backup from before does not know.
static DECIDED: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT id, CASE WHEN lifted_at IS NULL THEN 'held' ELSE 'lifted' END FROM legal_hold WHERE org_id = $1 \
         UNION ALL SELECT id, 'consent' FROM consent WHERE org_id = $1 \
         UNION ALL SELECT id, 'mode' FROM ephemeral_mode WHERE org_id = $1",
    )
});
static ARCHIVED: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT a.document_id, a.revision, d.document_type, d.occurred_at, a.archived_at, a.content_sealed \
         FROM document_archive AS a JOIN documents AS d ON d.org_id = a.org_id AND d.patient_id = a.patient_id \
           AND d.document_id = a.document_id AND d.revision = a.revision \
         WHERE a.org_id = $1 AND a.patient_id = $2 ORDER BY d.occurred_at, a.document_id, a.revision",
    )
});

pub fn statements() -> Vec<&'static Sql> {
    vec![&SET, &LIFT, &LIST, &DECIDED, &ARCHIVED]
}

/// A hold on a patient, or on one document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hold {
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
pub struct Archived {
    pub document_id: DocumentId,
    pub revision: u32,
    pub document_type: String,
    pub occurred_at: DateTime<Utc>,
    pub archived_at: DateTime<Utc>,
    #[serde(skip)]
    pub content: DocumentContent,
}

fn reference_cell(id: Uuid) -> Cell {
    Cell { table: "legal_hold", row: id, column: "reference" }
}

impl Store {
    /// Sets a hold; `None` when this patient is not known.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn set_hold(
        &self,
        scope: Scope,
        document: Option<DocumentId>,
        reference: Option<&str>,
        by: Uuid,
    ) -> Result<Option<Uuid>, StoreError> {
        let Some(keys) = self.keys_of(scope).await? else { return Ok(None) };
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
        ];
        if tx.execute(&SET, COVERED.seal(&keys, args)).await? == 0 {
            return Ok(None);
        }
        self.audit_hold(&mut tx, Done::to(scope, "hold_set").on(id), by, now).await?;
        tx.commit().await?;
        Ok(Some(id))
    }

    /// Lifts a hold; false when there is none of this id that holds.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub async fn lift_hold(&self, scope: Scope, id: Uuid, by: Uuid) -> Result<bool, StoreError> {
        let now = self.clock.now();
        let mut tx = self.db.begin(Access::Organization(scope.org())).await?;
        let args = vec![scope.org().0.into(), scope.patient().0.into(), id.into(), by.into(), now.into()];
        let lifted = tx.execute(&LIFT, args).await? > 0;
        if lifted {
            self.audit_hold(&mut tx, Done::to(scope, "hold_lifted").on(id), by, now).await?;
        }
        tx.commit().await?;
        Ok(lifted)
    }

    /// What people decided in all organisations, an id for each: holds that are in force or were lifted, consents, switches of
    /// ephemeral mode.
    ///
    /// # Errors
    /// Of the database.
    pub async fn decisions(&self) -> Result<BTreeSet<Uuid>, StoreError> {
        let mut found = BTreeSet::new();
        for org in self.every_organization().await? {
            let mut tx = self.db.read(Access::Organization(org)).await?;
            for row in tx.fetch_all(&DECIDED, vec![org.0.into()]).await? {
                found.insert(derive("decided", &[row.uuid(0)?.as_bytes(), row.text(1)?.as_bytes()]));
            }
        }
        Ok(found)
    }

    async fn audit_hold(
        &self,
        tx: &mut Transaction,
        done: Done<'_>,
        by: Uuid,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let subject = done.subject.unwrap_or_default();
        let id = derive("audit", &[subject.as_bytes(), done.action.as_bytes()]);
        let actor = Actor { id: by.to_string(), ..Actor::default() };
        auditing::write(tx, self.keys.platform(), &[done.entry(id, now, &actor)]).await
    }

    /// Holds of a patient, lifted ones too, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read or a cell does not open.
    pub async fn holds(&self, scope: Scope) -> Result<Vec<Hold>, StoreError> {
        let Some(keys) = self.keys_of(scope).await? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for row in self.rows(&LIST, scope, Vec::new()).await? {
            let id = row.uuid(0)?;
            let reference = row.opt_blob(2)?.map(|sealed| open_text(&keys, reference_cell(id), &sealed)).transpose()?;
            found.push(Hold {
                id,
                document_id: row.opt_uuid(1)?.map(DocumentId),
                reference,
                set_by: row.uuid(3)?,
                set_at: row.time(4)?,
                lifted_by: row.opt_uuid(5)?,
                lifted_at: row.opt_time(6)?,
            });
        }
        Ok(found)
    }

    /// Sources of a patient in the cold archive, in the order of what they tell.
    ///
    /// # Errors
    /// As [`Store::holds`].
    pub async fn archived(&self, scope: Scope) -> Result<Vec<Archived>, StoreError> {
        let Some(keys) = self.keys_of(scope).await? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for row in self.rows(&ARCHIVED, scope, Vec::new()).await? {
            let (id, revision) = (row.uuid(0)?, u32::try_from(row.i64(1)?).map_err(|_| StoreError::Shape)?);
            found.push(Archived {
                document_id: DocumentId(id),
                revision,
                document_type: row.text(2)?,
                occurred_at: row.time(3)?,
                archived_at: row.time(4)?,
                content: open_record(&keys, archive_cell(id, revision), &row.blob(5)?)?,
            });
        }
        Ok(found)
    }
}
