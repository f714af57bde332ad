//! Passages that wait for a vector, and the vectors that the night made for them.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::StoreError;
use super::engine::{Bulk, ColumnType, DbError, Sql, Transaction};
use super::records::DocumentContent;
use super::seal::open_record;
use super::write::documents::{content_cell, vector_bytes};
use crate::crypto::PatientKeys;
use crate::domain::ids::{OrgId, PatientId};
use crate::text::Span;

static WAITING: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT p.patient_id, p.id, p.document_id, p.revision, p.start_offset, p.end_offset, d.content_sealed \
         FROM passage AS p JOIN documents AS d ON d.org_id = p.org_id AND d.patient_id = p.patient_id \
           AND d.document_id = p.document_id AND d.revision = p.revision \
         WHERE p.org_id = $1 AND p.waits = 1 AND (p.patient_id, p.id) > ($2, $3) ORDER BY p.patient_id, p.id LIMIT $4",
    )
});
// A passage that went meanwhile gets none.
static KEEP: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "INSERT INTO embedding (org_id, patient_id, generation, passage_id, dimension, vector, created_at, updated_at) \
         SELECT r.org_id, r.patient_id, r.generation, r.passage_id, r.dimension, r.vector, r.now, r.now FROM {rows} AS r \
         WHERE EXISTS (SELECT 1 FROM passage AS p WHERE p.org_id = r.org_id AND p.patient_id = r.patient_id \
           AND p.id = r.passage_id) ON CONFLICT (org_id, patient_id, generation, passage_id) DO NOTHING",
        &[
            ("org_id", ColumnType::Uuid),
            ("patient_id", ColumnType::Uuid),
            ("generation", ColumnType::Int),
            ("passage_id", ColumnType::Uuid),
            ("dimension", ColumnType::Int),
            ("vector", ColumnType::Vector),
            ("now", ColumnType::Int),
        ],
    )
});
static DONE: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "UPDATE passage SET waits = 0, updated_at = r.now FROM {rows} AS r WHERE passage.org_id = r.org_id \
         AND passage.patient_id = r.patient_id AND passage.id = r.id",
        &[
            ("org_id", ColumnType::Uuid),
            ("patient_id", ColumnType::Uuid),
            ("id", ColumnType::Uuid),
            ("now", ColumnType::Int),
        ],
    )
});

pub(super) fn statements() -> Vec<&'static Sql> {
    vec![&WAITING, KEEP.sql(), DONE.sql()]
}

/// A passage without a vector, with its document still sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    pub patient: PatientId,
    pub passage: Uuid,
    document: Uuid,
    revision: u32,
    span: Span,
    sealed: Arc<Vec<u8>>,
}

impl Waiting {
    /// The passage's text.
    ///
    /// # Errors
    /// When the document does not open, or the passage is not in it.
    pub fn text(&self, keys: &PatientKeys) -> Result<String, StoreError> {
        let content: DocumentContent = open_record(keys, content_cell(self.document, self.revision), &self.sealed)?;
        content.text.get(self.span.start..self.span.end).map(str::to_owned).ok_or(StoreError::Shape)
    }
}

/// Waiting passages after `after` (patient, passage), at most `limit`.
///
/// # Errors
/// Of the database.
pub async fn waiting(
    tx: &mut Transaction,
    org: OrgId,
    (after, limit): ((Uuid, Uuid), u32),
) -> Result<Vec<Waiting>, DbError> {
    let args = vec![org.0.into(), after.0.into(), after.1.into(), limit.into()];
    let mut known: HashMap<(Uuid, u32), Arc<Vec<u8>>> = HashMap::new();
    let mut found = Vec::new();
    for row in tx.fetch_all(&WAITING, args).await? {
        let number = |at: usize| row.i64(at).and_then(|n| u32::try_from(n).map_err(|_| DbError::Decode { index: at }));
        let (document, revision) = (row.uuid(2)?, number(3)?);
        let sealed = match known.get(&(document, revision)) {
            Some(sealed) => Arc::clone(sealed),
            None => Arc::new(row.blob(6)?),
        };
        known.insert((document, revision), Arc::clone(&sealed));
        let span = Span::new(number(4)? as usize, number(5)? as usize);
        let (patient, passage) = (PatientId(row.uuid(0)?), row.uuid(1)?);
        found.push(Waiting { patient, passage, document, revision, span, sealed });
    }
    Ok(found)
}

/// Keeps vectors of one generation; what has one waits no longer.
///
/// # Errors
/// Of the database.
pub async fn keep(
    tx: &mut Transaction,
    org: OrgId,
    generation: i64,
    vectors: &[(&Waiting, &[f32])],
    now: DateTime<Utc>,
) -> Result<(), DbError> {
    let row = |(waiting, vector): &(&Waiting, &[f32])| {
        vec![
            org.0.into(),
            waiting.patient.0.into(),
            generation.into(),
            waiting.passage.into(),
            (vector.len() as i64).into(),
            vector_bytes(vector).into(),
            now.into(),
        ]
    };
    tx.bulk(&KEEP, vectors.iter().map(row).collect()).await?;
    let done = |(waiting, _): &(&Waiting, &[f32])| {
        vec![org.0.into(), waiting.patient.0.into(), waiting.passage.into(), now.into()]
    };
    tx.bulk(&DONE, vectors.iter().map(done).collect()).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::engine::{Access, Database, Location};

    #[tokio::test]
    async fn what_waits_is_found_by_index_in_order_without_sorting() {
        let db = Database::open(&Location::Memory).await.unwrap();
        let mut tx = db.begin(Access::Platform).await.unwrap();
        let explain = Sql::new(Box::leak(format!("EXPLAIN QUERY PLAN {}", WAITING.sqlite()).into_boxed_str()));
        let args = vec![Uuid::nil().into(), Uuid::nil().into(), Uuid::nil().into(), 1i64.into()];
        let plan: Vec<String> =
            tx.fetch_all(&explain, args).await.unwrap().iter().map(|row| row.text(3).unwrap()).collect();
        assert!(plan[0].starts_with("SEARCH p USING INDEX passage_waiting (org_id=?"), "{plan:?}");
        assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:?}");
    }
}
