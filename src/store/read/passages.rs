//! The passages that a search may find: of current documents of one patient and one window, before any limit.

use std::collections::HashMap;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::{When, Window};
use crate::clock::from_micros;
use crate::domain::document::DocumentType;
use crate::domain::ids::{DocumentId, PassageId};
use crate::domain::scope::Scope;
use crate::store::admission::vector_of;
use crate::store::engine::{Arg, Gathered, Sql};
use crate::store::write::documents::vector_bytes;
use crate::store::{Store, StoreError, generations};
use crate::text::Span;

// Three ranges of three keys, joined here: a planner that knows no figures of a patient yet would join them by comparing
// each with each.
static DOCUMENTS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT {all uuids document_id}, {all ints revision}, {all texts document_type}, {all ints occurred_at} \
         FROM documents WHERE org_id = $1 AND patient_id = $2 AND current = 1 AND occurred_at >= $3 AND occurred_at < $4",
    )
});
static PASSAGES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT {all uuids id}, {all uuids document_id}, {all ints revision}, {all ints start_offset}, \
         {all ints end_offset}, {all ints length(terms)}, {all bytes terms} \
         FROM passage WHERE org_id = $1 AND patient_id = $2",
    )
});
static SIMILARITIES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT {all uuids passage_id}, {all similarities vector $4} FROM embedding \
         WHERE org_id = $1 AND patient_id = $2 AND generation = $3 AND dimension = $5",
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
        let documents = current(&tx.gather(&DOCUMENTS, of(&window.seen(when).args())).await?)?;
        let mut found = passages(&tx.gather(&PASSAGES, of(&[])).await?, &documents)?;
        if let (Some(stored), Some(query)) = (stored, query) {
            // Only where nothing is left out afterwards: the nearest of all time are not the nearest of a week.
            let near = match window.seen(when) == Window::default() {
                true => tx.nearest(&of(&[generation.into()]), &stored, found.len(), NEAREST).await?,
                false => None,
            };
            let similar: HashMap<Uuid, Option<f64>> = match near {
                Some(near) => near
                    .iter()
                    .map(|row| Ok((row.uuid(0)?, row.similarity(1, Some(&query))?)))
                    .collect::<Result<_, StoreError>>()?,
                None => {
                    let dimension = i64::try_from(query.len()).unwrap_or(i64::MAX);
                    let args = of(&[generation.into(), Arg::Vector(stored), dimension.into()]);
                    let all = tx.gather(&SIMILARITIES, args).await?;
                    all.uuids(0)?.into_iter().zip(all.similarities(1, &query)?).collect()
                }
            };
            for candidate in &mut found {
                candidate.similarity = similar.get(&candidate.id.0).copied().flatten();
            }
        }
        found.sort_by_key(|c| (c.occurred_at, c.document, c.span.start));
        Ok((active, found))
    }
}

/// Current revisions of documents: what a candidate takes from them.
type Current = HashMap<(Uuid, i64), (DocumentType, DateTime<Utc>)>;

fn current(all: &Gathered) -> Result<Current, StoreError> {
    let keys = all.uuids(0)?.into_iter().zip(all.ints(1)?);
    let known = all.texts(2).into_iter().zip(all.ints(3)?);
    let read = |(key, (code, at)): (_, (&str, i64))| {
        Ok((key, (DocumentType::from_code(code).ok_or(StoreError::Shape)?, from_micros(at))))
    };
    keys.zip(known).map(read).collect()
}

/// Passages of these documents, compared with nothing yet.
fn passages(all: &Gathered, documents: &Current) -> Result<Vec<Candidate>, StoreError> {
    let (ids, of, revisions) = (all.uuids(0)?, all.uuids(1)?, all.ints(2)?);
    let (starts, ends) = (all.ints(3)?, all.ints(4)?);
    let terms = all.lists(6, &all.ints(5)?)?;
    if [of.len(), revisions.len(), starts.len(), ends.len(), terms.len()].iter().any(|len| *len != ids.len()) {
        return Err(StoreError::Shape);
    }
    let mut found = Vec::with_capacity(ids.len());
    for (place, terms) in terms.into_iter().enumerate() {
        let (document, revision) = (of[place], revisions[place]);
        let Some((document_type, occurred_at)) = documents.get(&(document, revision)).copied() else { continue };
        let offset = |at: i64| usize::try_from(at).map_err(|_| StoreError::Shape);
        found.push(Candidate {
            id: PassageId(ids[place]),
            document: DocumentId(document),
            revision: u32::try_from(revision).map_err(|_| StoreError::Shape)?,
            document_type,
            occurred_at,
            span: Span { start: offset(starts[place])?, end: offset(ends[place])? },
            terms,
            similarity: None,
        });
    }
    Ok(found)
}

pub(super) fn statements() -> Vec<&'static Sql> {
    vec![&DOCUMENTS, &PASSAGES, &SIMILARITIES]
}
