//! Passages that wait for a vector, and the vectors that a batch made for them.

use std::collections::HashMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::StoreError;
use super::encrypted_columns::open_record;
use super::records::DocumentContent;
use super::write::documents::{content_cell, vector_bytes};
use crate::PageRequest;
use crate::statements::pending_embeddings as sql;
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_crypto::PatientKeys;
use anamnesis_sql::{Arg, DbError, Sql, Transaction};
use anamnesis_text::Span;

/// A passage without a vector, with its document still sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingPassage {
    pub patient: PatientId,
    pub passage: Uuid,
    pub(super) document: Uuid,
    pub(super) revision: u32,
    pub(super) span: Span,
    /// When the passage was last written: it is another one after that.
    pub(super) seen: DateTime<Utc>,
    pub(super) sealed: Arc<Vec<u8>>,
}

impl PendingPassage {
    /// The passage's text.
    ///
    /// # Errors
    /// When the document does not open, or the passage is not in it.
    pub fn text(&self, keys: &PatientKeys) -> Result<String, StoreError> {
        let content: DocumentContent = open_record(keys, content_cell(self.document, self.revision), &self.sealed)?;
        content.text.get(self.span.start..self.span.end).map(str::to_owned).ok_or(StoreError::Shape)
    }
}

/// Passages that wait for a vector of the active generation, after `after` (patient, passage), at most `limit`.
///
/// # Errors
/// Of the database.
pub async fn pending(
    tx: &mut Transaction,
    org: OrgId,
    next: PageRequest<(Uuid, Uuid)>,
) -> Result<Vec<PendingPassage>, DbError> {
    marked_passages(tx, &sql::PENDING, org, next).await
}

/// Passages that came while another generation was made and lack a vector of it, at most `limit`.
///
/// # Errors
/// Of the database.
pub async fn backlog(tx: &mut Transaction, org: OrgId, limit: u32) -> Result<Vec<PendingPassage>, DbError> {
    let first = PageRequest { after: (Uuid::nil(), Uuid::nil()), limit };
    marked_passages(tx, &sql::MISSING_NEXT_GENERATION, org, first).await
}

/// Rows of [`sql::PENDING`] or [`sql::MISSING_NEXT_GENERATION`].
async fn marked_passages(
    tx: &mut Transaction,
    sql: &Sql,
    org: OrgId,
    PageRequest { after, limit }: PageRequest<(Uuid, Uuid)>,
) -> Result<Vec<PendingPassage>, DbError> {
    let args = vec![org.0.into(), after.0.into(), after.1.into(), limit.into()];
    let mut known: HashMap<(Uuid, u32), Arc<Vec<u8>>> = HashMap::new();
    let mut found = Vec::new();
    for row in tx.fetch_all(sql, args).await? {
        let number = |at: usize| row.i64(at).and_then(|n| u32::try_from(n).map_err(|_| DbError::Decode { index: at }));
        let (document, revision) = (row.uuid(sql::pending::DOCUMENT_ID)?, number(sql::pending::REVISION)?);
        let sealed = match known.get(&(document, revision)) {
            Some(sealed) => Arc::clone(sealed),
            None => Arc::new(row.blob(sql::pending::CONTENT_SEALED)?),
        };
        known.insert((document, revision), Arc::clone(&sealed));
        let (start, end) = (number(sql::pending::START_OFFSET)?, number(sql::pending::END_OFFSET)?);
        found.push(PendingPassage {
            patient: PatientId(row.uuid(sql::pending::PATIENT_ID)?),
            passage: row.uuid(sql::pending::ID)?,
            document,
            revision,
            span: Span::new(start as usize, end as usize),
            seen: row.time(sql::pending::UPDATED_AT)?,
            sealed,
        });
    }
    Ok(found)
}

/// A passage with its vector.
pub type EmbeddedPassage<'v> = (&'v PendingPassage, &'v [f32]);

/// Stores vectors of one generation, for passages whose text is unchanged since it was embedded.
///
/// # Errors
/// Of the database.
pub async fn keep(
    tx: &mut Transaction,
    org: OrgId,
    generation: i64,
    vectors: &[EmbeddedPassage<'_>],
    now: DateTime<Utc>,
) -> Result<(), DbError> {
    let row = |(waiting, vector): &EmbeddedPassage<'_>| -> Vec<Arg> {
        sql::insert_vectors::Row {
            org_id: org.0.into(),
            patient_id: waiting.patient.0.into(),
            generation: generation.into(),
            passage_id: waiting.passage.into(),
            dimension: (vector.len() as i64).into(),
            vector: vector_bytes(vector).into(),
            seen: waiting.seen.into(),
            now: now.into(),
        }
        .into()
    };
    tx.bulk(&sql::INSERT_VECTORS, vectors.iter().map(row).collect()).await?;
    Ok(())
}

/// Clears the pending mark of passages that have a vector of the active generation. If another generation is being
/// built, they join its backlog.
///
/// # Errors
/// Of the database.
pub async fn clear_pending(
    tx: &mut Transaction,
    org: OrgId,
    vectors: &[EmbeddedPassage<'_>],
    missing_next_generation: bool,
    now: DateTime<Utc>,
) -> Result<(), DbError> {
    let done = |(waiting, _): &EmbeddedPassage<'_>| -> Vec<Arg> {
        sql::mark_done::Row {
            org_id: org.0.into(),
            patient_id: waiting.patient.0.into(),
            id: waiting.passage.into(),
            missing_next_generation: missing_next_generation.into(),
            seen: waiting.seen.into(),
            now: now.into(),
        }
        .into()
    };
    tx.bulk(&sql::MARK_DONE, vectors.iter().map(done).collect()).await?;
    Ok(())
}

/// Removes these passages from the backlog, if their text is unchanged.
///
/// # Errors
/// Of the database.
pub async fn clear_backlog<'w>(
    tx: &mut Transaction,
    org: OrgId,
    passages: impl Iterator<Item = &'w PendingPassage>,
) -> Result<(), DbError> {
    let row = |waiting: &PendingPassage| -> Vec<Arg> {
        sql::mark_level::Row {
            org_id: org.0.into(),
            patient_id: waiting.patient.0.into(),
            id: waiting.passage.into(),
            seen: waiting.seen.into(),
        }
        .into()
    };
    tx.bulk(&sql::MARK_LEVEL, passages.map(row).collect()).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_sql::{Access, Database, Location};

    /// The column of SQLite's query plan that describes a step.
    const DETAIL: usize = 3;

    #[tokio::test]
    async fn what_waits_is_found_by_index_in_order_without_sorting() {
        let db = Database::open(&Location::Memory).await.unwrap();
        let mut tx = db.begin(Access::Platform).await.unwrap();
        for (sql, index) in [
            (&sql::PENDING, "passage_embedding_pending"),
            (&sql::MISSING_NEXT_GENERATION, "passage_missing_next_generation"),
        ] {
            let explain = Sql::new(Box::leak(format!("EXPLAIN QUERY PLAN {}", sql.sqlite()).into_boxed_str()));
            let args = vec![Uuid::nil().into(), Uuid::nil().into(), Uuid::nil().into(), 1i64.into()];
            let plan: Vec<String> =
                tx.fetch_all(&explain, args).await.unwrap().iter().map(|row| row.text(DETAIL).unwrap()).collect();
            assert!(plan[0].starts_with(&format!("SEARCH p USING INDEX {index} (org_id=?")), "{plan:?}");
            assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:?}");
        }
    }
}
