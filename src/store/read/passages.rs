//! The passages that a search may find: of current documents of one patient and one window, before any limit.

use std::collections::HashMap;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};

use super::{When, Window, code, number};
use crate::domain::document::DocumentType;
use crate::domain::ids::{DocumentId, PassageId};
use crate::domain::scope::Scope;
use crate::store::admission::vector_of;
use crate::store::engine::{Arg, Sql};
use crate::store::write::documents::vector_bytes;
use crate::store::{Store, StoreError, generations};
use crate::text::Span;

// Three ranges of three keys, joined here: a planner that knows no figures of a patient yet would join them by comparing
// each with each.
static DOCUMENTS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT document_id, revision, document_type, occurred_at FROM documents WHERE org_id = $1 AND patient_id = $2 \
         AND current = 1 AND occurred_at >= $3 AND occurred_at < $4",
    )
});
static PASSAGES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT id, document_id, revision, start_offset, end_offset, terms FROM passage WHERE org_id = $1 AND patient_id = $2",
    )
});
static SIMILARITIES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT passage_id, {similarity vector $4} FROM embedding WHERE org_id = $1 AND patient_id = $2 AND generation = $3",
    )
});

/// How many an approximate index is asked for: as deep as a leg of a search is read.
pub const NEAREST: usize = 100;

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
    /// `generation` is that of the query: vectors of others are not seen. Also says which generation is active as the
    /// passages are read, as far as the organisation's row names one: where it is another, nothing was compared.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn candidates(
        &self,
        scope: Scope,
        (generation, query): (i64, Option<&[f32]>),
        window: Window,
        when: When,
    ) -> Result<(Option<i64>, Vec<Candidate>), StoreError> {
        // As exact as what it is compared with, on every engine.
        let stored = query.map(vector_bytes);
        let query = stored.as_deref().map(vector_of);
        let of = |rest: &[Arg]| {
            let mut args = vec![Arg::from(scope.org().0), scope.patient().0.into()];
            args.extend_from_slice(rest);
            args
        };
        // One snapshot for all.
        let mut tx = self.reading(scope).await?;
        let active = generations::read(&mut tx, scope.org()).await?.active;
        let stored = stored.filter(|_| active.is_none_or(|active| active == generation));
        let mut documents = HashMap::new();
        for row in tx.fetch_all(&DOCUMENTS, of(&window.seen(when).args())).await? {
            let known = (code(&row, 2, DocumentType::from_code)?, row.time(3)?);
            documents.insert((DocumentId(row.uuid(0)?), number(&row, 1)?), known);
        }
        let passages = tx.fetch_all(&PASSAGES, of(&[])).await?;
        let mut similar = HashMap::new();
        if let Some(stored) = stored {
            // Only where nothing is left out afterwards: the nearest of all time are not the nearest of a week.
            let near = match window.seen(when) == Window::default() {
                true => tx.nearest(&of(&[generation.into()]), &stored, passages.len(), NEAREST).await?,
                false => None,
            };
            let rows = match near {
                Some(near) => near,
                None => tx.fetch_all(&SIMILARITIES, of(&[generation.into(), Arg::Vector(stored)])).await?,
            };
            for row in rows {
                similar.insert(row.uuid(0)?, row.similarity(1, query.as_deref())?);
            }
        }
        let mut found = Vec::new();
        for row in passages {
            let (id, document, revision) = (row.uuid(0)?, DocumentId(row.uuid(1)?), number(&row, 2)?);
            let Some((document_type, occurred_at)) = documents.get(&(document, revision)).copied() else { continue };
            found.push(Candidate {
                id: PassageId(id),
                document,
                revision,
                document_type,
                occurred_at,
                span: Span { start: number(&row, 3)? as usize, end: number(&row, 4)? as usize },
                terms: row.ints(5)?,
                similarity: similar.get(&id).copied().flatten(),
            });
        }
        found.sort_by_key(|c| (c.occurred_at, c.document, c.span.start));
        Ok((active, found))
    }
}

pub(super) fn statements() -> Vec<&'static Sql> {
    vec![&DOCUMENTS, &PASSAGES, &SIMILARITIES]
}
