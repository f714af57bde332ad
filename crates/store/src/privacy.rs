//! Counts of a patient's stored data: the answer to `/privacidad` (seed 000). Numbers, codes and dates, never words.

use chrono::{DateTime, Utc};
use serde::Serialize;
use uuid::Uuid;

use super::audit_trail::{self, AuditedAction};
use super::{OrganizationStore, StoreError};
use crate::statements::privacy as sql;
use anamnesis_core::audit::Actor;
use anamnesis_core::document::DocumentType;
use anamnesis_core::ids::derive;
use anamnesis_core::memory::{Class, SetBy, State};
use anamnesis_core::provenance::SourceType;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::KeyLookup;
use anamnesis_sql::{Access, Arg};

/// Memories of one class, source and state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MemoryCounts {
    pub class: Class,
    /// The speaker.
    pub said_by: SetBy,
    pub source_type: SourceType,
    pub state: State,
    pub count: u64,
    pub oldest: DateTime<Utc>,
    pub newest: DateTime<Utc>,
}

/// Documents of one type, in their current revisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct DocumentCounts {
    pub document_type: DocumentType,
    pub count: u64,
    pub oldest: DateTime<Utc>,
    pub newest: DateTime<Utc>,
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PrivacyReport {
    pub memories: Vec<MemoryCounts>,
    pub documents: Vec<DocumentCounts>,
}

impl OrganizationStore<'_> {
    /// Counts a patient's stored data, whatever the patient permits others to read, because patients have a right to
    /// know. The read is audited with its actor.
    ///
    /// # Errors
    /// Of the database; [`StoreError::Erased`] when the patient was erased.
    pub async fn privacy_report(self, scope: Scope, asked_by: Uuid) -> Result<PrivacyReport, StoreError> {
        if matches!(self.keys.find(&[scope]).await?.lookup(scope), KeyLookup::Erased) {
            return Err(StoreError::Erased);
        }
        let (of, now) = (vec![Arg::from(scope.org().0), scope.patient().0.into()], self.clock.now());
        let mut tx = self.db.begin(Access::Organization(scope.org())).await?;
        let mut held = PrivacyReport { memories: Vec::new(), documents: Vec::new() };
        for row in tx.fetch_all(&sql::MEMORIES, of.clone()).await? {
            held.memories.push(MemoryCounts {
                class: Class::from_code(&row.text(sql::memories::CLASS)?).ok_or(StoreError::Shape)?,
                said_by: SetBy::from_code(&row.text(sql::memories::SET_BY)?).ok_or(StoreError::Shape)?,
                source_type: SourceType::from_code(&row.text(sql::memories::SOURCE_TYPE)?).ok_or(StoreError::Shape)?,
                state: State::from_code(&row.text(sql::memories::STATE)?).ok_or(StoreError::Shape)?,
                count: row.i64(sql::memories::MEMORIES)?.unsigned_abs(),
                oldest: row.time(sql::memories::OLDEST)?,
                newest: row.time(sql::memories::NEWEST)?,
            });
        }
        for row in tx.fetch_all(&sql::DOCUMENTS, of.clone()).await? {
            held.documents.push(DocumentCounts {
                document_type: DocumentType::from_code(&row.text(sql::documents::DOCUMENT_TYPE)?)
                    .ok_or(StoreError::Shape)?,
                count: row.i64(sql::documents::DOCUMENTS)?.unsigned_abs(),
                oldest: row.time(sql::documents::OLDEST)?,
                newest: row.time(sql::documents::NEWEST)?,
            });
        }
        let id = derive("privacy", &[asked_by.as_bytes(), &now.timestamp_micros().to_be_bytes()]);
        let actor = Actor { id: asked_by.to_string(), ..Actor::default() };
        let entry = AuditedAction::to(scope, "privacy_report").entry(id, now, &actor);
        audit_trail::write(&mut tx, self.keys.platform(), &[entry]).await?;
        tx.commit().await?;
        Ok(held)
    }
}
