//! The passages that a search may find: of current documents of one patient and one window, before any limit.

use std::sync::LazyLock;

use chrono::{DateTime, Utc};

use super::{When, Window, code, number};
use crate::domain::document::DocumentType;
use crate::domain::ids::{DocumentId, PassageId};
use crate::domain::scope::Scope;
use crate::store::engine::{Arg, Row, Sql};
use crate::store::{Store, StoreError};
use crate::text::Span;

static CANDIDATES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT p.id, p.document_id, p.revision, d.document_type, d.occurred_at, p.start_offset, p.end_offset, p.terms, \
         e.vector FROM passage AS p \
         JOIN documents AS d ON d.org_id = p.org_id AND d.patient_id = p.patient_id AND d.document_id = p.document_id \
           AND d.revision = p.revision AND d.current = 1 \
         LEFT JOIN embedding AS e ON e.org_id = p.org_id AND e.patient_id = p.patient_id AND e.passage_id = p.id \
           AND e.generation = $3 \
         WHERE p.org_id = $1 AND p.patient_id = $2 AND d.occurred_at >= $4 AND d.occurred_at < $5 \
         ORDER BY d.occurred_at, p.document_id, p.ordinal",
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
    /// 16-bit floats, little endian, unit length; `None` until the passage is embedded in this generation.
    pub vector: Option<Vec<u8>>,
}

impl Store {
    /// Candidates in the order of time. `generation` is the embedding model's: vectors of others are not seen.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn candidates(
        &self,
        scope: Scope,
        generation: i64,
        window: Window,
        when: When,
    ) -> Result<Vec<Candidate>, StoreError> {
        let mut args = vec![Arg::I64(generation)];
        args.extend(window.seen(when).args());
        self.rows(&CANDIDATES, scope, args).await?.iter().map(read).collect()
    }
}

fn read(row: &Row) -> Result<Candidate, StoreError> {
    Ok(Candidate {
        id: PassageId(row.uuid(0)?),
        document: DocumentId(row.uuid(1)?),
        revision: number(row, 2)?,
        document_type: code(row, 3, DocumentType::from_code)?,
        occurred_at: row.time(4)?,
        span: Span { start: number(row, 5)? as usize, end: number(row, 6)? as usize },
        terms: row.ints(7)?,
        vector: row.opt_blob(8)?,
    })
}

pub(super) fn statements() -> Vec<&'static Sql> {
    vec![&CANDIDATES]
}
