//! Hybrid search over a patient's passages.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Instant;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::fusion::{FusedScore, ScoreParts, best_first, fuse};
use super::query::PreparedQuery;
use super::{Recall, RecallError, bm25};
use anamnesis_core::document::DocumentType;
use anamnesis_core::ids::{DocumentId, MemoryId, PassageId};
use anamnesis_core::memory::PermittedUse;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::PatientKeys;
use anamnesis_observability::metrics::labels::Retriever;
use anamnesis_observability::traces::{self, Code, Count, Name, SpanGroup, SpanKind};
use anamnesis_store::StoreError;
use anamnesis_store::read::{DocumentFilter, Memory, PassageCandidate, PatientSnapshot, ReadInstant, StoredDocument};
use anamnesis_store::records::FilePlace;
use anamnesis_text::{Span, Speaker};

/// Seed 003: `top_k` 5.
pub(crate) const TOP_K: usize = 5;

/// Additional passages that are opened, because only an open one shows its text.
const MORE: usize = 5;
/// Factor for a passage that only asks.
const ASKS: f64 = 0.5;
/// Factor for a passage without certain memories, at a confidence of zero (model.md, "Reading").
const DOUBT: f64 = 0.6;

/// How often the generation may change while one question is answered.
const SWAPS: usize = 3;

/// The candidates of a query.
struct ScoredCandidates<'a> {
    /// That they were read from.
    snapshot: PatientSnapshot<'a>,
    candidates: Vec<PassageCandidate>,
    by_meaning: bool,
    /// The cosine from which the model's profile takes two texts for related.
    related: f64,
}

/// Which rankings decide the order. A single one is for measurements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ranking {
    #[default]
    Together,
    Meaning,
    Words,
    Concepts,
}

/// The request of a search.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchRequest {
    pub query: String,
    /// Most hits; 5 by default (seed 003).
    pub top_k: Option<usize>,
    /// Least cosine of a passage that shares no word and no concept with the query; none unless given. A short record has
    /// few passages, and a question is often far from its answer.
    pub min_score: Option<f64>,
    /// The searched documents: filters before any limit.
    pub sources: DocumentFilter,
    pub when: ReadInstant,
    pub ranking: Ranking,
}

/// One passage, with all that a reader needs to weigh it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchHit {
    pub(crate) passage_id: PassageId,
    pub document_id: DocumentId,
    pub(crate) revision: u32,
    pub document_type: DocumentType,
    pub date: DateTime<Utc>,
    /// The speakers in it.
    pub(crate) speakers: Vec<Speaker>,
    /// By all rankings together, 0.0–1.0: for the order, and no probability.
    pub score: f64,
    /// Cosine, −1.0–1.0; `None` where there is no vector to compare.
    pub similarity: Option<f64>,
    /// Share of the query's words, about 1.0 for all of them.
    pub keyword: Option<f64>,
    /// The same of the concepts that the query names.
    pub concept: Option<f64>,
    /// Found only by its words or concepts: its vector is farther from the query's than the model's limit for related
    /// texts.
    pub keyword_only: bool,
    /// Neither near in meaning nor in words: shown because nothing better is there.
    pub weak: bool,
    /// The question before it, if it follows one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) asked: Option<String>,
    /// Of the redacted text.
    pub fragment: String,
    /// Place of the fragment in the redacted text, bytes.
    pub start: usize,
    pub end: usize,
    /// Where in an uploaded file it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FilePlace>,
    /// A passage is cited, never acted upon: `history`, or `hypothesis` where a model wrote it.
    #[serde(rename = "use")]
    pub use_: PermittedUse,
    /// Of the least certain memory that rests on the passage; 1.0 where none does.
    pub effective_confidence: f64,
    pub low_confidence: bool,
    /// Memories with evidence in the passage.
    pub memories: Vec<MemoryId>,
    /// `document: session_transcript, 2026-03-02 (patient)`.
    pub source: String,
}

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SearchResult {
    /// The query as it was searched: redacted.
    pub query: String,
    pub hits: Vec<SearchHit>,
    /// False if there was no vector to compare with: hits are found by words only.
    pub by_meaning: bool,
}

impl Recall {
    /// Searches the passages of one patient. A patient of whom nothing is known gives no hits.
    ///
    /// # Errors
    /// See [`RecallError`].
    pub async fn search(&self, scope: Scope, request: &SearchRequest) -> Result<SearchResult, RecallError> {
        let mut span = self.metrics.traces.operation(Name::Search, SpanKind::Internal, &traces::current());
        span.code(Code::GenAiOperation, "search_memory");
        let found = traces::within(SpanGroup::alone(span.context()), Box::pin(self.searched(scope, request))).await;
        match &found {
            Ok(found) => span.count(Count::Passages, found.hits.len() as u64),
            Err(error) => span.fail(error.code()),
        }
        found
    }

    async fn searched(&self, scope: Scope, request: &SearchRequest) -> Result<SearchResult, RecallError> {
        // The guard comes first: the form of a refusal must not reveal whether a patient is known.
        self.guard(&request.query)?;
        self.store.organization().may_recall(scope).await?;
        let Some(keys) = self.store.read().keys_of(scope).await? else { return Ok(SearchResult::default()) };
        let prepared = self.prepare(&keys, &request.query)?;
        let ScoredCandidates { mut snapshot, candidates, by_meaning, related } =
            self.compare(scope, &prepared, request).await?;
        let least = request.min_score.unwrap_or(f64::NEG_INFINITY);
        let mut best = fuse(&self.parts(&prepared, &candidates), request.ranking);
        best.retain(|one| !one.parts.is_apart(least));
        let top_k = request.top_k.unwrap_or(TOP_K);
        best.truncate(top_k.saturating_add(MORE));
        let started = Instant::now();
        let opened = open(&mut snapshot, &keys, &best, &candidates, request.when).await?;
        if request.ranking == Ranking::Together {
            best.iter_mut().for_each(|one| one.weight -= opened.against(&candidates, one.place));
            best.sort_by(best_first);
        }
        best.truncate(top_k);
        let hits = best.iter().map(|one| opened.hit(one, &candidates, related)).collect::<Result<_, _>>()?;
        self.observe(Retriever::Assembly, started);
        Ok(SearchResult { by_meaning, query: prepared.redacted, hits })
    }

    /// The patient's passages, compared with the query by the one generation that the store says is active when they are
    /// read: a swap meanwhile is noticed, and the query embedded by the other model.
    async fn compare(
        &self,
        scope: Scope,
        prepared: &PreparedQuery,
        request: &SearchRequest,
    ) -> Result<ScoredCandidates<'_>, RecallError> {
        let mut active = self.last_seen(scope.org());
        let terms: BTreeSet<i64> = bm25::terms(&prepared.words).chain(bm25::terms(&prepared.concepts)).collect();
        for _ in 0..SWAPS {
            let model = self.models.active(active);
            let vector = self.vector(&prepared.redacted, model).await;
            let generation = self.models.generations().active(active);
            let mut snapshot = self.store.read().snapshot(scope).await?;
            let (found, candidates) = snapshot
                .candidates(generation, vector.as_deref(), Some(&terms), &request.sources, request.when)
                .await?;
            if vector.is_none() || self.models.generations().active(found) == generation {
                let related = model.unwrap_or(self.models.configured()).profile().min_score;
                return Ok(ScoredCandidates { snapshot, candidates, by_meaning: vector.is_some(), related });
            }
            self.see(scope.org(), found);
            active = found;
        }
        Err(StoreError::Race.into())
    }

    fn parts(&self, prepared: &PreparedQuery, candidates: &[PassageCandidate]) -> Vec<ScoreParts> {
        let started = Instant::now();
        let texts: Vec<bm25::IndexedText<'_>> =
            candidates.iter().map(|c| bm25::IndexedText { terms: &c.terms, length: c.length }).collect();
        let (words, concepts) = (bm25::shares(&prepared.words, &texts), bm25::shares(&prepared.concepts, &texts));
        self.observe(Retriever::Text, started);
        let goes_on = |at: usize| at > 0 && follows(&candidates[at - 1], &candidates[at]);
        let parts = |at: usize| ScoreParts {
            meaning: candidates[at].similarity,
            words: words[at],
            concepts: concepts[at],
            goes_on: goes_on(at),
        };
        (0..candidates.len()).map(parts).collect()
    }
}

/// The documents of the best passages, and the memories based on them.
struct CitedDocuments {
    documents: HashMap<(DocumentId, u32), StoredDocument>,
    memories: Vec<Memory>,
}

/// Opens only the documents that may be shown.
async fn open(
    snapshot: &mut PatientSnapshot<'_>,
    keys: &PatientKeys,
    best: &[FusedScore],
    candidates: &[PassageCandidate],
    when: ReadInstant,
) -> Result<CitedDocuments, RecallError> {
    let wanted: HashSet<DocumentId> = best.iter().map(|f| candidates[f.place].document).collect();
    let ids: Vec<DocumentId> = wanted.into_iter().collect();
    let (documents, memories) =
        if ids.is_empty() { Default::default() } else { snapshot.cited(keys, &ids, when).await? };
    let documents = documents.into_iter().map(|d| ((d.id, d.revision), d)).collect();
    Ok(CitedDocuments { documents, memories })
}

impl CitedDocuments {
    fn document(&self, c: &PassageCandidate) -> Option<&StoredDocument> {
        self.documents.get(&(c.document, c.revision))
    }

    fn resting<'a>(&'a self, c: &'a PassageCandidate) -> impl Iterator<Item = &'a Memory> {
        self.memories.iter().filter(|m| rests_on(m, c))
    }

    /// The deduction of a passage that is a question itself or has no certain memory.
    fn against(&self, candidates: &[PassageCandidate], place: usize) -> f64 {
        let c = &candidates[place];
        let asks = self.document(c).is_some_and(|document| asks(c.span.slice(&document.content.text)));
        let confidence = self.resting(c).map(|m| m.status.effective_confidence).fold(1.0, f64::min);
        DOUBT * (1.0 - confidence) + if asks { ASKS } else { 0.0 }
    }

    fn hit(&self, fused: &FusedScore, candidates: &[PassageCandidate], related: f64) -> Result<SearchHit, RecallError> {
        let candidate = &candidates[fused.place];
        let document = self.document(candidate).ok_or(StoreError::Race)?;
        let resting: Vec<&Memory> = self.resting(candidate).collect();
        let before = fused.place.checked_sub(1).map(|before| &candidates[before]).filter(|_| fused.parts.goes_on);
        let before = before.map(|c| c.span.slice(&document.content.text)).filter(|text| asks(text));
        Ok(SearchHit { asked: before.map(str::to_owned), ..hit(fused, candidate, document, &resting, related) })
    }
}

/// Whether the second is the next passage of the same document. One between them may be missing, because it contains
/// forgotten words.
fn follows(before: &PassageCandidate, next: &PassageCandidate) -> bool {
    // Only white space separates two neighbours.
    const MOST: usize = 16;
    let gap = next.span.start.checked_sub(before.span.end);
    (before.document, before.revision) == (next.document, next.revision) && gap.is_some_and(|gap| gap <= MOST)
}

fn asks(text: &str) -> bool {
    text.trim_end().ends_with('?')
}

fn rests_on(m: &Memory, c: &PassageCandidate) -> bool {
    m.document_id == Some(c.document)
        && m.revision == Some(c.revision)
        && m.evidence.as_ref().is_some_and(|e| Span { start: e.start, end: e.end }.overlaps(&c.span))
}

fn hit(
    fused: &FusedScore,
    c: &PassageCandidate,
    document: &StoredDocument,
    resting: &[&Memory],
    related: f64,
) -> SearchHit {
    let ScoreParts { meaning, words, concepts, .. } = fused.parts;
    let (named, near) = (words > 0.0 || concepts > 0.0, meaning.is_some_and(|cosine| cosine >= related));
    let mut speakers: Vec<Speaker> = document
        .content
        .turns
        .iter()
        .filter(|(_, start, end)| Span { start: *start, end: *end }.overlaps(&c.span))
        .map(|(speaker, _, _)| *speaker)
        .collect();
    speakers.sort_unstable();
    speakers.dedup();
    let effective = resting.iter().map(|m| m.status.effective_confidence).fold(1.0, f64::min);
    let file = document.content.file.as_ref().map(|file| file.place(c.span.start));
    let source = super::memory_item::document_label(c.document_type, c.occurred_at, &speakers);
    SearchHit {
        passage_id: c.id,
        document_id: c.document,
        revision: c.revision,
        document_type: c.document_type,
        date: c.occurred_at,
        score: fused.score(),
        similarity: meaning,
        keyword: Some(words).filter(|share| *share > 0.0),
        concept: Some(concepts).filter(|share| *share > 0.0),
        keyword_only: named && !near,
        weak: !named && !near,
        asked: None,
        fragment: c.span.slice(&document.content.text).to_owned(),
        start: c.span.start,
        end: c.span.end,
        use_: if c.document_type == DocumentType::Analysis && document.signed_by.is_none() {
            PermittedUse::Hypothesis
        } else {
            PermittedUse::History
        },
        effective_confidence: effective,
        low_confidence: resting.iter().any(|m| m.status.low_confidence),
        memories: resting.iter().map(|m| m.id).collect(),
        source: source + &super::memory_item::page_of(file.as_ref()),
        file,
        speakers,
    }
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
