//! Passages that wait for a vector, and the vectors that the night made for them.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::StoreError;
use super::records::DocumentContent;
use super::seal::open_record;
use super::write::documents::{content_cell, vector_bytes};
use crate::Next;
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_crypto::PatientKeys;
use anamnesis_sql::{Bulk, ColumnType, DbError, Sql, Transaction};
use anamnesis_text::Span;

macro_rules! marked {
    ($mark:literal) => {
        Sql::new(concat!(
            "SELECT p.patient_id, p.id, p.document_id, p.revision, p.start_offset, p.end_offset, p.updated_at, d.content_sealed \
             FROM passage AS p JOIN documents AS d ON d.org_id = p.org_id AND d.patient_id = p.patient_id \
               AND d.document_id = p.document_id AND d.revision = p.revision \
             WHERE p.org_id = $1 AND p.",
            $mark,
            " = 1 AND (p.patient_id, p.id) > ($2, $3) ORDER BY p.patient_id, p.id LIMIT $4"
        ))
    };
}
static WAITING: LazyLock<Sql> = LazyLock::new(|| marked!("waits"));
static BEHIND: LazyLock<Sql> = LazyLock::new(|| marked!("behind"));
// A passage that went meanwhile gets none, nor one that says something else now.
static KEEP: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "INSERT INTO embedding (org_id, patient_id, generation, passage_id, dimension, vector, created_at, updated_at) \
         SELECT r.org_id, r.patient_id, r.generation, r.passage_id, r.dimension, r.vector, r.now, r.now FROM {rows} AS r \
         WHERE EXISTS (SELECT 1 FROM passage AS p WHERE p.org_id = r.org_id AND p.patient_id = r.patient_id \
           AND p.id = r.passage_id AND p.updated_at = r.seen) ON CONFLICT (org_id, patient_id, generation, passage_id) DO NOTHING",
        &[
            ("org_id", ColumnType::Uuid),
            ("patient_id", ColumnType::Uuid),
            ("generation", ColumnType::Int),
            ("passage_id", ColumnType::Uuid),
            ("dimension", ColumnType::Int),
            ("vector", ColumnType::Vector),
            ("seen", ColumnType::Int),
            ("now", ColumnType::Int),
        ],
    )
});
static DONE: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "UPDATE passage SET waits = 0, behind = r.behind, updated_at = r.now FROM {rows} AS r WHERE passage.org_id = r.org_id \
         AND passage.patient_id = r.patient_id AND passage.id = r.id AND passage.updated_at = r.seen",
        &[
            ("org_id", ColumnType::Uuid),
            ("patient_id", ColumnType::Uuid),
            ("id", ColumnType::Uuid),
            ("behind", ColumnType::Bool),
            ("seen", ColumnType::Int),
            ("now", ColumnType::Int),
        ],
    )
});
static LEVEL: LazyLock<Bulk> = LazyLock::new(|| {
    Bulk::over(
        "UPDATE passage SET behind = 0 FROM {rows} AS r WHERE passage.org_id = r.org_id AND passage.patient_id = r.patient_id \
         AND passage.id = r.id AND passage.behind = 1 AND passage.updated_at = r.seen",
        &[
            ("org_id", ColumnType::Uuid),
            ("patient_id", ColumnType::Uuid),
            ("id", ColumnType::Uuid),
            ("seen", ColumnType::Int),
        ],
    )
});

pub fn statements() -> Vec<&'static Sql> {
    vec![&WAITING, &BEHIND, KEEP.sql(), DONE.sql(), LEVEL.sql()]
}

/// A passage without a vector, with its document still sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    pub patient: PatientId,
    pub passage: Uuid,
    pub(super) document: Uuid,
    pub(super) revision: u32,
    pub(super) span: Span,
    /// When the passage was last written: it is another one after that.
    pub(super) seen: DateTime<Utc>,
    pub(super) sealed: Arc<Vec<u8>>,
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

/// Passages that wait for a vector of the active generation, after `after` (patient, passage), at most `limit`.
///
/// # Errors
/// Of the database.
pub async fn waiting(tx: &mut Transaction, org: OrgId, next: Next<(Uuid, Uuid)>) -> Result<Vec<Waiting>, DbError> {
    marked(tx, &WAITING, org, next).await
}

/// Passages that came while another generation was made and lack a vector of it, at most `limit`.
///
/// # Errors
/// Of the database.
pub async fn behind(tx: &mut Transaction, org: OrgId, limit: u32) -> Result<Vec<Waiting>, DbError> {
    marked(tx, &BEHIND, org, Next { after: (Uuid::nil(), Uuid::nil()), limit }).await
}

async fn marked(
    tx: &mut Transaction,
    sql: &Sql,
    org: OrgId,
    Next { after, limit }: Next<(Uuid, Uuid)>,
) -> Result<Vec<Waiting>, DbError> {
    let args = vec![org.0.into(), after.0.into(), after.1.into(), limit.into()];
    let mut known: HashMap<(Uuid, u32), Arc<Vec<u8>>> = HashMap::new();
    let mut found = Vec::new();
    for row in tx.fetch_all(sql, args).await? {
        let number = |at: usize| row.i64(at).and_then(|n| u32::try_from(n).map_err(|_| DbError::Decode { index: at }));
        let (document, revision) = (row.uuid(2)?, number(3)?);
        let sealed = match known.get(&(document, revision)) {
            Some(sealed) => Arc::clone(sealed),
            None => Arc::new(row.blob(7)?),
        };
        known.insert((document, revision), Arc::clone(&sealed));
        let span = Span::new(number(4)? as usize, number(5)? as usize);
        let (patient, passage, seen) = (PatientId(row.uuid(0)?), row.uuid(1)?, row.time(6)?);
        found.push(Waiting { patient, passage, document, revision, span, seen, sealed });
    }
    Ok(found)
}

/// A passage with its vector.
pub type Vectored<'v> = (&'v Waiting, &'v [f32]);

/// Keeps vectors of one generation, of passages that still say what was embedded.
///
/// # Errors
/// Of the database.
pub async fn keep(
    tx: &mut Transaction,
    org: OrgId,
    generation: i64,
    vectors: &[Vectored<'_>],
    now: DateTime<Utc>,
) -> Result<(), DbError> {
    let row = |(waiting, vector): &Vectored<'_>| {
        vec![
            org.0.into(),
            waiting.patient.0.into(),
            generation.into(),
            waiting.passage.into(),
            (vector.len() as i64).into(),
            vector_bytes(vector).into(),
            waiting.seen.into(),
            now.into(),
        ]
    };
    tx.bulk(&KEEP, vectors.iter().map(row).collect()).await?;
    Ok(())
}

/// What has a vector of the active generation waits no longer; where another generation is being made, it is behind in that.
///
/// # Errors
/// Of the database.
pub async fn wait_no_longer(
    tx: &mut Transaction,
    org: OrgId,
    vectors: &[Vectored<'_>],
    is_behind: bool,
    now: DateTime<Utc>,
) -> Result<(), DbError> {
    let done = |(waiting, _): &Vectored<'_>| {
        let (patient, passage) = (waiting.patient.0, waiting.passage);
        vec![org.0.into(), patient.into(), passage.into(), is_behind.into(), waiting.seen.into(), now.into()]
    };
    tx.bulk(&DONE, vectors.iter().map(done).collect()).await?;
    Ok(())
}

/// These passages are behind no longer, as far as they say what they said.
///
/// # Errors
/// Of the database.
pub async fn behind_no_longer<'w>(
    tx: &mut Transaction,
    org: OrgId,
    passages: impl Iterator<Item = &'w Waiting>,
) -> Result<(), DbError> {
    let row =
        |waiting: &Waiting| vec![org.0.into(), waiting.patient.0.into(), waiting.passage.into(), waiting.seen.into()];
    tx.bulk(&LEVEL, passages.map(row).collect()).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_sql::{Access, Database, Location};

    #[tokio::test]
    async fn what_waits_is_found_by_index_in_order_without_sorting() {
        let db = Database::open(&Location::Memory).await.unwrap();
        let mut tx = db.begin(Access::Platform).await.unwrap();
        for (sql, index) in [(&WAITING, "passage_waiting"), (&BEHIND, "passage_behind")] {
            let explain = Sql::new(Box::leak(format!("EXPLAIN QUERY PLAN {}", sql.sqlite()).into_boxed_str()));
            let args = vec![Uuid::nil().into(), Uuid::nil().into(), Uuid::nil().into(), 1i64.into()];
            let plan: Vec<String> =
                tx.fetch_all(&explain, args).await.unwrap().iter().map(|row| row.text(3).unwrap()).collect();
            assert!(plan[0].starts_with(&format!("SEARCH p USING INDEX {index} (org_id=?")), "{plan:?}");
            assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{plan:?}");
        }
    }
}
