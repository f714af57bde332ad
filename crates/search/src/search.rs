//! Hybrid search over a patient's passages.

use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::fusion::{Fused, Legs, fuse};
use super::query::Prepared;
use super::{Recall, RecallError, bm25};
use anamnesis_core::document::DocumentType;
use anamnesis_core::ids::{DocumentId, MemoryId, PassageId};
use anamnesis_core::memory::Use;
use anamnesis_core::scope::Scope;
use anamnesis_core::vector;
use anamnesis_crypto::PatientKeys;
use anamnesis_observability::metrics::labels::Leg;
use anamnesis_store::StoreError;
use anamnesis_store::read::{Candidate, Memory, NEAREST, Snapshot, StoredDocument, When, Window};
use anamnesis_store::records::FilePlace;
use anamnesis_text::{Span, Speaker};

/// How far each leg is read before fusion: beyond it a rank adds next to nothing.
const LEG_DEPTH: usize = NEAREST;
/// Seed 003: `top_k` 5.
pub(crate) const TOP_K: usize = 5;

/// How often the generation may change while one question is answered.
const SWAPS: usize = 3;

/// Passages beside a query.
struct Compared<'a> {
    /// That they were read from.
    snapshot: Snapshot<'a>,
    candidates: Vec<Candidate>,
    by_meaning: bool,
    /// Least cosine of the vector leg.
    min_score: f64,
}

/// What to look for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchRequest {
    pub query: String,
    /// Most hits; 5 unless told (seed 003).
    pub top_k: Option<usize>,
    /// Least cosine of the vector leg; the embedding model's own unless told.
    pub min_score: Option<f64>,
    pub window: Window,
    pub when: When,
}

/// One passage, with all that a reader needs to weigh it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    pub(crate) passage_id: PassageId,
    pub document_id: DocumentId,
    pub(crate) revision: u32,
    pub document_type: DocumentType,
    pub date: DateTime<Utc>,
    /// Who speaks in it.
    pub(crate) speakers: Vec<Speaker>,
    /// Fused, 0.0–1.0.
    pub score: f64,
    pub similarity: Option<f64>,
    pub keyword: Option<f64>,
    /// Speaks of what the query speaks of, by name of the concept.
    pub(crate) concept: Option<f64>,
    /// Found by its words or concepts alone.
    pub keyword_only: bool,
    /// Of the redacted text.
    pub fragment: String,
    /// Place of the fragment in the redacted text, bytes.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Where in an uploaded file it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FilePlace>,
    /// A passage is cited, never acted upon: `history`, or `hypothesis` where a model wrote it.
    #[serde(rename = "use")]
    pub use_: Use,
    /// Of the least certain memory that rests on the passage; 1.0 where none does.
    pub effective_confidence: f64,
    pub low_confidence: bool,
    /// Memories whose evidence stands in the passage.
    pub memories: Vec<MemoryId>,
    /// `document: session_transcript, 2026-03-02 (patient)`.
    pub source: String,
}

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Found {
    /// The query as it was searched: redacted.
    pub query: String,
    pub hits: Vec<Hit>,
    /// False when there was no vector to compare with: hits are by words alone.
    pub by_meaning: bool,
}

impl Recall {
    /// Searches the passages of one patient. A patient of whom nothing is known gives no hits.
    ///
    /// # Errors
    /// See [`RecallError`].
    pub async fn search(&self, scope: Scope, request: &SearchRequest) -> Result<Found, RecallError> {
        // The guard comes first: whether a patient is known must not be told by how a refusal reads.
        self.guard(&request.query)?;
        self.store.may_recall(scope).await?;
        let Some(keys) = self.store.keys_of(scope).await? else { return Ok(Found::default()) };
        let prepared = self.prepare(&keys, &request.query)?;
        let Compared { mut snapshot, candidates, by_meaning, min_score } =
            self.compare(scope, &prepared, request).await?;
        let mut best = fuse(&self.legs(&prepared, &candidates, min_score));
        best.truncate(request.top_k.unwrap_or(TOP_K));
        let started = Instant::now();
        let hits = hits(&mut snapshot, &keys, &best, &candidates, request.when).await?;
        self.observe(Leg::Assembly, started);
        Ok(Found { by_meaning, query: prepared.redacted, hits })
    }

    /// The patient's passages, compared with the query by the one generation that the store says is active when they are
    /// read: a swap meanwhile is noticed, and the query embedded by the other model.
    async fn compare(
        &self,
        scope: Scope,
        prepared: &Prepared,
        request: &SearchRequest,
    ) -> Result<Compared<'_>, RecallError> {
        let mut active = self.last_seen(scope.org());
        let terms: BTreeSet<i64> = prepared.terms.union(&prepared.concepts).copied().collect();
        for _ in 0..SWAPS {
            let model = self.models.active(active);
            let vector = self.vector(&prepared.redacted, model).await;
            let generation = self.models.offered().active(active);
            let mut snapshot = self.store.snapshot(scope).await?;
            let (found, candidates) =
                snapshot.candidates(generation, vector.as_deref(), Some(&terms), request.window, request.when).await?;
            if vector.is_none() || self.models.offered().active(found) == generation {
                let of_model = model.unwrap_or(self.models.configured()).profile().min_score;
                let min_score = request.min_score.unwrap_or(of_model);
                return Ok(Compared { snapshot, candidates, by_meaning: vector.is_some(), min_score });
            }
            self.see(scope.org(), found);
            active = found;
        }
        Err(StoreError::Race.into())
    }

    fn legs(&self, prepared: &Prepared, candidates: &[Candidate], least: f64) -> Legs {
        let started = Instant::now();
        let vector = vector::nearest(candidates.iter().map(|c| c.similarity), least, LEG_DEPTH);
        self.observe(Leg::Vector, started);
        let started = Instant::now();
        let texts: Vec<bm25::Text<'_>> =
            candidates.iter().map(|c| bm25::Text { terms: &c.terms, length: c.length }).collect();
        let by = |wanted: &BTreeSet<i64>| {
            let mut ranked = bm25::rank(wanted, &texts);
            ranked.truncate(LEG_DEPTH);
            ranked
        };
        let text = by(&prepared.terms);
        let concept = (!prepared.concepts.is_empty()).then(|| by(&prepared.concepts));
        self.observe(Leg::Text, started);
        Legs { vector, text, concept }
    }
}

/// Opens only the documents that are shown.
async fn hits(
    snapshot: &mut Snapshot<'_>,
    keys: &PatientKeys,
    best: &[Fused],
    candidates: &[Candidate],
    when: When,
) -> Result<Vec<Hit>, RecallError> {
    if best.is_empty() {
        return Ok(Vec::new());
    }
    let wanted: BTreeSet<DocumentId> = best.iter().map(|f| candidates[f.place].document).collect();
    let ids: Vec<DocumentId> = wanted.iter().copied().collect();
    let (documents, memories) = snapshot.cited(keys, &ids, when).await?;
    let documents: HashMap<(DocumentId, u32), StoredDocument> =
        documents.into_iter().map(|d| ((d.id, d.revision), d)).collect();
    best.iter()
        .map(|fused| {
            let candidate = &candidates[fused.place];
            let document = documents.get(&(candidate.document, candidate.revision)).ok_or(StoreError::Race)?;
            Ok(hit(fused, candidate, document, &memories))
        })
        .collect()
}

fn hit(fused: &Fused, c: &Candidate, document: &StoredDocument, memories: &[Memory]) -> Hit {
    let rests_on = |m: &&Memory| {
        m.document_id == Some(c.document)
            && m.revision == Some(c.revision)
            && m.evidence.as_ref().is_some_and(|e| Span { start: e.start, end: e.end }.overlaps(&c.span))
    };
    let resting: Vec<&Memory> = memories.iter().filter(rests_on).collect();
    let mut speakers: Vec<Speaker> = document
        .content
        .turns
        .iter()
        .filter(|(_, start, end)| Span { start: *start, end: *end }.overlaps(&c.span))
        .map(|(speaker, _, _)| *speaker)
        .collect();
    speakers.sort_unstable();
    speakers.dedup();
    let effective = resting.iter().map(|m| m.standing.effective_confidence).fold(1.0, f64::min);
    let file = document.content.file.as_ref().map(|file| file.place(c.span.start));
    let source = super::wording::document_label(c.document_type, c.occurred_at, &speakers);
    Hit {
        passage_id: c.id,
        document_id: c.document,
        revision: c.revision,
        document_type: c.document_type,
        date: c.occurred_at,
        score: fused.score,
        similarity: fused.similarity,
        keyword: fused.keyword,
        concept: fused.concept,
        keyword_only: fused.keyword_only(),
        fragment: c.span.of(&document.content.text).to_owned(),
        start: c.span.start,
        end: c.span.end,
        use_: if c.document_type == DocumentType::Analysis && document.signed_by.is_none() {
            Use::Hypothesis
        } else {
            Use::History
        },
        effective_confidence: effective,
        low_confidence: resting.iter().any(|m| m.standing.low_confidence),
        memories: resting.iter().map(|m| m.id).collect(),
        source: source + &super::wording::page_of(file.as_ref()),
        file,
        speakers,
    }
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
