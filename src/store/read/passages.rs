//! The passages that a search may find: of current documents of one patient and one window, before any limit.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};

use super::{When, Window, code, number};
use crate::domain::document::DocumentType;
use crate::domain::ids::{DocumentId, PassageId};
use crate::domain::scope::Scope;
use crate::store::admission::vector_of;
use crate::store::engine::{Arg, Row, Sql};
use crate::store::write::documents::vector_bytes;
use crate::store::{Store, StoreError};
use crate::text::Span;

static CANDIDATES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT p.id, p.document_id, p.revision, d.document_type, d.occurred_at, p.start_offset, p.end_offset, p.terms, \
         {similarity e.vector $6} FROM passage AS p \
         JOIN documents AS d ON d.org_id = p.org_id AND d.patient_id = p.patient_id AND d.document_id = p.document_id \
           AND d.revision = p.revision AND d.current = 1 \
         LEFT JOIN embedding AS e ON e.org_id = p.org_id AND e.patient_id = p.patient_id AND e.passage_id = p.id \
           AND e.generation = $3 \
         WHERE p.org_id = $1 AND p.patient_id = $2 AND d.occurred_at >= $4 AND d.occurred_at < $5",
    )
});

/// One passage with what both legs of a search compare.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    pub id: PassageId,
    pub document: DocumentId,
    pub revision: u32,
    pub document_type: DocumentType,
    pub occurred_at: DateTime<Utc>,
    /// In the redacted text, bytes.
    pub span: Span,
    /// Keyed terms with repetitions.
    pub terms: Vec<i64>,
    /// Cosine with the query, −1.0–1.0; `None` without a query, or until the passage is embedded in this generation.
    pub similarity: Option<f64>,
}

impl Store {
    /// Candidates in the order of time, compared with the unit vector `query` by the engine that holds them.
    /// `generation` is the embedding model's: vectors of others are not seen.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn candidates(
        &self,
        scope: Scope,
        (generation, query): (i64, Option<&[f32]>),
        window: Window,
        when: When,
    ) -> Result<Vec<Candidate>, StoreError> {
        // As exact as what it is compared with, on every engine.
        let stored = query.map(vector_bytes);
        let query = stored.as_deref().map(vector_of);
        let mut args = vec![Arg::I64(generation)];
        args.extend(window.seen(when).args());
        args.push(stored.map_or(Arg::Null, Arg::Vector));
        let rows = self.rows(&CANDIDATES, scope, args).await?;
        let mut found = rows.iter().map(|row| read(row, query.as_deref())).collect::<Result<Vec<_>, _>>()?;
        found.sort_by_key(|c| (c.occurred_at, c.document, c.span.start));
        Ok(found)
    }
}

fn read(row: &Row, query: Option<&[f32]>) -> Result<Candidate, StoreError> {
    Ok(Candidate {
        id: PassageId(row.uuid(0)?),
        document: DocumentId(row.uuid(1)?),
        revision: number(row, 2)?,
        document_type: code(row, 3, DocumentType::from_code)?,
        occurred_at: row.time(4)?,
        span: Span { start: number(row, 5)? as usize, end: number(row, 6)? as usize },
        terms: row.ints(7)?,
        similarity: row.similarity(8, query)?,
    })
}

pub(super) fn statements() -> Vec<&'static Sql> {
    vec![&CANDIDATES]
}
