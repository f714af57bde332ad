//! The passages that a search may find: of current documents of one patient and one window, before any limit.

use std::collections::{BTreeSet, HashMap};

use chrono::{DateTime, Utc};
use futures::join;
use uuid::Uuid;

use super::forgotten::ForgottenSpans;
use super::{DocumentFilter, PatientSnapshot, ReadInstant};
use crate::StoreError;
use crate::admission::vector_of;
use crate::statements::read::passages as sql;
use crate::write::documents::vector_bytes;
use anamnesis_core::clock::from_micros;
use anamnesis_core::document::DocumentType;
use anamnesis_core::ids::{DocumentId, PassageId};
use anamnesis_core::scope::Scope;
use anamnesis_sql::{Arg, PackedRows, Row, Transaction};
use anamnesis_text::Span;

/// How many an approximate index is asked for: as deep as a leg of a search is read.
pub(crate) const NEAREST: usize = 100;

/// One passage with what both legs of a search compare.
#[derive(Debug, Clone, PartialEq)]
pub struct PassageCandidate {
    pub id: PassageId,
    pub document: DocumentId,
    pub revision: u32,
    pub document_type: DocumentType,
    pub occurred_at: DateTime<Utc>,
    /// In the redacted text, bytes.
    pub span: Span,
    /// Keyed terms with repetitions: those asked for, or all.
    pub terms: Vec<i64>,
    /// How many terms it has in all.
    pub length: usize,
    /// Cosine with the query, −1.0–1.0; `None` without a query, or until the passage is embedded in this generation.
    pub similarity: Option<f64>,
}

/// From so many documents on, vectors are compared over a second connection while words come over the first.
const BESIDE_FROM: usize = 8;

/// The vector that passages are compared with.
struct SimilarityQuery<'a> {
    generation: i64,
    /// As a vector is stored.
    stored: &'a [u8],
    query: &'a [f32],
}

type Similarities = HashMap<Uuid, Option<f64>>;

impl PatientSnapshot<'_> {
    /// Candidates in the order of time, compared with the unit vector `query` by the engine that holds them. Of their terms
    /// only those that are `wanted` are read; `None` reads all. `generation` is that of the query: vectors of others are not
    /// seen. Also says which generation is active as the passages are read, as far as the organisation's row names one:
    /// where it is another, nothing was compared.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn candidates(
        &mut self,
        generation: i64,
        query: Option<&[f32]>,
        wanted: Option<&BTreeSet<i64>>,
        sources: &DocumentFilter,
        when: ReadInstant,
    ) -> Result<(Option<i64>, Vec<PassageCandidate>), StoreError> {
        let [since, until] = sources.window.seen(when).args();
        let mut asked_for = vec![since, until, self.store.read().instant(when).into()];
        asked_for.extend(sources.args());
        let documents = self.tx.fetch_packed(&sql::DOCUMENTS, args(self.scope, &asked_for)).await?;
        let (active, documents) = (documents.opt_i64(sql::documents::VECTOR_GENERATION)?, current(&documents)?);
        // As exact as the compared vectors, on every engine.
        let stored = query.filter(|_| active.is_none_or(|active| active == generation)).map(vector_bytes);
        let query = stored.as_deref().map(vector_of).unwrap_or_default();
        let asked = stored.as_deref().map(|stored| SimilarityQuery { generation, stored, query: &query });
        let (mut found, beside) = self.passages(&documents, wanted, asked.as_ref(), active).await?;
        if let Some(asked) = asked {
            // Only where nothing is left out afterwards: the nearest of all time are not the nearest of a week.
            let whole = sources.are_all(when);
            let similar = match beside {
                Some(similar) => similar,
                None => self.similar(&asked, whole.then_some(found.len())).await?,
            };
            for candidate in &mut found {
                candidate.similarity = similar.get(&candidate.id.0).copied().flatten();
            }
        }
        // Before any limit, so that forgotten passages take no place among the best. The whole passage is dropped,
        // because its other sentences may mention the same thing.
        let forgotten = ForgottenSpans::load(&mut self.tx, self.scope).await?;
        found.retain(|c| !forgotten.touches(c.document.0, c.revision, &c.span));
        found.sort_by_key(|c| (c.occurred_at, c.document, c.span.start));
        Ok((active, found))
    }

    /// Passages of these documents; of many documents also their similarities, where a second connection is free and sees
    /// the same generation. A vector that only it sees is of no passage here.
    async fn passages(
        &mut self,
        documents: &CurrentDocuments,
        wanted: Option<&BTreeSet<i64>>,
        asked: Option<&SimilarityQuery<'_>>,
        active: Option<i64>,
    ) -> Result<(Vec<PassageCandidate>, Option<Similarities>), StoreError> {
        let (scope, access) = (self.scope, self.tx.access());
        let many = documents.len() >= BESIDE_FROM && !self.tx.asks_approximately();
        let asked = asked.filter(|_| many);
        let beside = async {
            let mut tx = self.store.db.try_second_read(access).await?;
            let (seen, similar) = all_similar(&mut tx, scope, asked?).await.ok()?;
            (seen == active).then_some(similar)
        };
        let words = self.tx.fetch_packed(&sql::OF_PATIENT, args(scope, &[terms_asked(wanted)]));
        let (words, similar) = match asked {
            Some(_) => join!(words, beside),
            None => (words.await, None),
        };
        Ok((passages(&words?, documents, wanted)?, similar))
    }

    /// By the approximate index where it may be asked for the nearest of `own` passages, or by comparing all.
    async fn similar(&mut self, asked: &SimilarityQuery<'_>, own: Option<usize>) -> Result<Similarities, StoreError> {
        if let Some(own) = own {
            let of = args(self.scope, &[asked.generation.into()]);
            if let Some(near) = self.tx.nearest(&of, asked.stored, own, NEAREST).await? {
                // A statement of the engine's own, with the first two columns of `similarities`.
                let (passage, similarity) = (sql::similarities::PASSAGE_ID, sql::similarities::SIMILARITY);
                let read = |row: &Row| Ok((row.uuid(passage)?, row.similarity(similarity, Some(asked.query))?));
                return near.iter().map(read).collect();
            }
        }
        Ok(all_similar(&mut self.tx, self.scope, asked).await?.1)
    }
}

/// As terms are stored: eight bytes each, biggest first.
fn terms_asked(wanted: Option<&BTreeSet<i64>>) -> Arg {
    let packed = |terms: &BTreeSet<i64>| terms.iter().flat_map(|term| term.to_be_bytes()).collect::<Vec<u8>>();
    wanted.map(packed).into()
}

fn args(scope: Scope, rest: &[Arg]) -> Vec<Arg> {
    let mut args = vec![Arg::from(scope.org().0), scope.patient().0.into()];
    args.extend_from_slice(rest);
    args
}

/// The similarities of all passages, and the generation that is active where they were read.
async fn all_similar(
    tx: &mut Transaction,
    scope: Scope,
    asked: &SimilarityQuery<'_>,
) -> Result<(Option<i64>, Similarities), StoreError> {
    let dimension = i64::try_from(asked.query.len()).unwrap_or(i64::MAX);
    let args = args(scope, &[asked.generation.into(), Arg::Vector(asked.stored.to_vec()), dimension.into()]);
    let all = tx.fetch_packed(&sql::SIMILARITIES, args).await?;
    let passages = all.uuids(sql::similarities::PASSAGE_ID)?;
    let similar = passages.into_iter().zip(all.similarities(sql::similarities::SIMILARITY)?).collect();
    Ok((all.opt_i64(sql::similarities::VECTOR_GENERATION)?, similar))
}

/// The columns of current document revisions that a candidate needs.
type CurrentDocuments = HashMap<(Uuid, i64), (DocumentType, DateTime<Utc>)>;

fn current(all: &PackedRows) -> Result<CurrentDocuments, StoreError> {
    let keys = all.uuids(sql::documents::DOCUMENT_ID)?.into_iter().zip(all.ints(sql::documents::REVISION)?);
    let types = all.texts(sql::documents::DOCUMENT_TYPE);
    let known = types.into_iter().zip(all.ints(sql::documents::OCCURRED_AT)?);
    let read = |(key, (code, at)): (_, (&str, i64))| {
        Ok((key, (DocumentType::from_code(code).ok_or(StoreError::Shape)?, from_micros(at))))
    };
    keys.zip(known).map(read).collect()
}

/// Passages of these documents, compared with nothing yet.
fn passages(
    all: &PackedRows,
    documents: &CurrentDocuments,
    wanted: Option<&BTreeSet<i64>>,
) -> Result<Vec<PassageCandidate>, StoreError> {
    let (ids, of) = (all.uuids(sql::of_patient::ID)?, all.uuids(sql::of_patient::DOCUMENT_ID)?);
    let revisions = all.ints(sql::of_patient::REVISION)?;
    let (starts, ends) = (all.ints(sql::of_patient::START_OFFSET)?, all.ints(sql::of_patient::END_OFFSET)?);
    let (bytes, terms) = (all.ints(sql::of_patient::BYTES_OF_TERMS)?, all.terms(sql::of_patient::TERMS, wanted)?);
    if [of.len(), revisions.len(), starts.len(), ends.len(), bytes.len(), terms.len()]
        .iter()
        .any(|len| *len != ids.len())
    {
        return Err(StoreError::Shape);
    }
    let mut found = Vec::with_capacity(ids.len());
    for (place, terms) in terms.into_iter().enumerate() {
        let (document, revision) = (of[place], revisions[place]);
        let Some((document_type, occurred_at)) = documents.get(&(document, revision)).copied() else { continue };
        let offset = |at: i64| usize::try_from(at).map_err(|_| StoreError::Shape);
        found.push(PassageCandidate {
            id: PassageId(ids[place]),
            document: DocumentId(document),
            revision: u32::try_from(revision).map_err(|_| StoreError::Shape)?,
            document_type,
            occurred_at,
            span: Span { start: offset(starts[place])?, end: offset(ends[place])? },
            terms,
            length: offset(bytes[place])? / 8,
            similarity: None,
        });
    }
    Ok(found)
}
