//! `anamnesis-bench recall`: how long it takes to find the five nearest of a patient's own passages, exactly; whether that changes
//! when other people's join them; and whether three passages are found among all of those.
//!
//! Passages are invented: vectors that depend on their number alone, forty keyed terms each, fifty to a document. What is
//! measured is the whole search: redaction of the question, both legs, the documents that are shown.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use serde::Serialize;

use anamnesis_core::clock::from_micros;
use anamnesis_core::document::DocumentType;
use anamnesis_core::ids::{DocumentId, OrgId, PassageId, PatientId, derive};
use anamnesis_core::provenance::Trust;
use anamnesis_core::scope::Scope;
use anamnesis_embedding::{EmbedError, Embedder, ModelProfile, Purpose};
use anamnesis_observability::metrics::Metrics;
use anamnesis_redaction::{RedactionPolicy, Redactor};
use anamnesis_search::{Ranking, Recall, RecallError, SearchRequest};
use anamnesis_sql::{self as engine, Location};
use anamnesis_store::records::{DocumentContent, InboxEntry, MessageAct, NewDocument, NewPassage, OrgBatch};
use anamnesis_store::{Store, StoreError};
use anamnesis_test_servers::provider::vector_of;
use anamnesis_text::{Language, Span};

const PASSAGES_OF_A_DOCUMENT: u64 = 50;
const DOCUMENTS_OF_A_BATCH: u64 = 10;
const PASSAGES_OF_A_STRANGER: u64 = 1_000;
const TERMS: u64 = 40;
const GENERATION: i64 = 1;
const TOP: usize = 5;
/// Microseconds of 2026-01-01: the documents are a minute apart from then on.
const BEGIN: i64 = 1_767_225_600_000_000;

/// How much is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecallSize {
    /// The patient's own passages.
    pub own: u64,
    /// Everybody else's: half in the same organisation, half in others.
    pub foreign: u64,
    pub dimension: usize,
    pub queries: u32,
}

/// The figures, in milliseconds of one search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecallMeasurement {
    pub(crate) bench: &'static str,
    pub(crate) store: &'static str,
    /// `release` or `debug`.
    pub(crate) build: &'static str,
    pub(crate) own: u64,
    pub(crate) foreign: u64,
    pub(crate) dimension: usize,
    pub(crate) queries: u32,
    /// Whether searches next to others asked an approximate index.
    pub(crate) approximate: bool,
    pub(crate) alone_p50_ms: f64,
    pub(crate) alone_p95_ms: f64,
    pub(crate) with_others_p50_ms: f64,
    pub(crate) with_others_p95_ms: f64,
    /// `with_others_p50_ms` over `alone_p50_ms`.
    pub(crate) change: f64,
    /// Share of searches whose five hits were the five nearest by comparing all.
    pub exact: f64,
    /// Share of the nearest that were found next to others.
    pub with_others_recall: f64,
    /// Passages of a patient with three that were found among the foreign ones, over three.
    pub narrow_recall: f64,
}

/// Vectors that depend on the text alone, made once: how long a provider takes is no part of the figures.
struct BenchVectors {
    profile: ModelProfile,
    known: Mutex<HashMap<String, Vec<f32>>>,
}

#[async_trait]
impl Embedder for BenchVectors {
    fn profile(&self) -> &ModelProfile {
        &self.profile
    }

    async fn embed(&self, _: Purpose, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut of = |text: &&str| {
            known.entry((*text).to_owned()).or_insert_with(|| vector_of(text, self.profile.dimension)).clone()
        };
        Ok(texts.iter().map(&mut of).collect())
    }
}

/// Fills an empty store and searches it. Where `approximate` names its owner, an approximate index is made between the
/// searches alone and next to others.
///
/// # Errors
/// When the store refuses.
pub async fn measure(
    store: &Store,
    metrics: &Arc<Metrics>,
    size: RecallSize,
    approximate: Option<&Location>,
    on_progress: &(dyn Fn(u64) + Sync),
) -> Result<RecallMeasurement, RecallError> {
    let recall = recall(store, metrics, size.dimension);
    let (own, narrow) = (whose(0, 0)?, whose(0, 1)?);
    fill(store, own, size.own, size.dimension).await?;
    fill(store, narrow, 3, size.dimension).await?;
    let alone = search(&recall, own, size).await?;
    let mut done = 0;
    for stranger in 0..size.foreign.div_ceil(PASSAGES_OF_A_STRANGER) {
        let count = PASSAGES_OF_A_STRANGER.min(size.foreign - done);
        // Half of them next door, half elsewhere.
        let scope = whose(if stranger % 2 == 0 { 0 } else { 1 + stranger % 20 }, 2 + stranger)?;
        fill(store, scope, count, size.dimension).await?;
        done += count;
        on_progress(done);
    }
    if let Some(owner) = approximate {
        engine::approximate(owner, size.dimension, true).await.map_err(StoreError::from)?;
    }
    let with_others = search(&recall, own, size).await?;
    let request =
        SearchRequest { query: question(0), top_k: Some(3), min_score: Some(-1.0), ..SearchRequest::default() };
    let found = recall.search(narrow, &request).await?.hits.len();
    Ok(RecallMeasurement {
        bench: "recall",
        store: store.db().engine(),
        build: if cfg!(debug_assertions) { "debug" } else { "release" },
        own: size.own,
        foreign: size.foreign,
        dimension: size.dimension,
        queries: size.queries,
        approximate: approximate.is_some(),
        alone_p50_ms: alone.at(0.5),
        alone_p95_ms: alone.at(0.95),
        with_others_p50_ms: with_others.at(0.5),
        with_others_p95_ms: with_others.at(0.95),
        change: with_others.at(0.5) / alone.at(0.5).max(1e-9),
        exact: f64::from(alone.exact + with_others.exact) / f64::from(2 * size.queries),
        with_others_recall: f64::from(with_others.found) / f64::from(with_others.wanted.max(1)),
        narrow_recall: found as f64 / 3.0,
    })
}

fn recall(store: &Store, metrics: &Arc<Metrics>, dimension: usize) -> Recall {
    let profile = ModelProfile {
        model: "bench".to_owned(),
        dimension,
        min_score: -1.0,
        contradiction_similarity: 0.9,
        generation: GENERATION,
        max_tokens: 512,
        document_task: None,
        query_task: None,
    };
    let redactor = Arc::new(Redactor::builtin(RedactionPolicy::default()));
    Recall::new(
        store.clone(),
        Arc::new(BenchVectors { profile, known: Mutex::default() }),
        redactor,
        Arc::clone(metrics),
    )
}

fn whose(org: u64, patient: u64) -> Result<Scope, StoreError> {
    let org = OrgId(derive("bench.org", &[&org.to_be_bytes()]));
    let patient = PatientId(derive("bench.patient", &[org.0.as_bytes(), &patient.to_be_bytes()]));
    Scope::new(org, patient).map_err(|_| StoreError::Shape)
}

fn passage_text(number: u64) -> String {
    format!("passage {number}")
}

fn question(number: u32) -> String {
    let words = ["rain", "garden", "window", "river", "bread", "letter", "train", "paper"];
    let at = |shift: u32| words[(number >> shift) as usize % words.len()];
    format!("how about the {} and the {} near the {}", at(0), at(3), at(6))
}

/// Stores passages as the pipeline would: a few documents to a transaction.
async fn fill(store: &Store, scope: Scope, passages: u64, dimension: usize) -> Result<(), StoreError> {
    store.intake().register(scope.org()).await?;
    let keys = store.keys().ensure(&[scope]).await?.known;
    let numbers: Vec<u64> = (0..passages).collect();
    let documents: Vec<&[u64]> = numbers.chunks(PASSAGES_OF_A_DOCUMENT as usize).collect();
    for (n, some) in documents.chunks(DOCUMENTS_OF_A_BATCH as usize).enumerate() {
        let first = n as u64 * DOCUMENTS_OF_A_BATCH;
        let mut batch = OrgBatch { generation: GENERATION, ..OrgBatch::default() };
        for (place, numbers) in some.iter().enumerate() {
            let document = document(scope, first + place as u64, numbers, dimension);
            batch.inbox.push(InboxEntry {
                message: hash(scope, "message", document.id.0.as_bytes()),
                body: document.body_hash,
                scope,
                message_type: "document",
                done: MessageAct { action: "document_stored", ..MessageAct::default() },
            });
            batch.documents.push(document);
        }
        store.intake().commit(scope.org(), &batch, &keys).await?;
    }
    Ok(())
}

fn hash(scope: Scope, what: &str, of: &[u8]) -> [u8; 32] {
    let half = |side: &str| derive(what, &[scope.patient().0.as_bytes(), of, side.as_bytes()]).into_bytes();
    let mut hash = [0u8; 32];
    hash[..16].copy_from_slice(&half("left"));
    hash[16..].copy_from_slice(&half("right"));
    hash
}

fn document(scope: Scope, number: u64, passages: &[u64], dimension: usize) -> NewDocument {
    let id = derive("bench.document", &[scope.patient().0.as_bytes(), &number.to_be_bytes()]);
    let mut text = String::new();
    let mut made = Vec::with_capacity(passages.len());
    for passage in passages {
        let start = text.len();
        text.push_str(&passage_text(*passage));
        let term = |n: u64| {
            i64::from_be_bytes(
                hash(scope, "term", &(passage * TERMS + n).to_be_bytes())[..8].try_into().unwrap_or_default(),
            )
        };
        made.push(NewPassage {
            id: PassageId(derive("bench.passage", &[id.as_bytes(), &passage.to_be_bytes()])),
            span: Span::new(start, text.len()),
            text_hash: hash(scope, "text", &passage.to_be_bytes())[..16].try_into().unwrap_or_default(),
            terms: (0..TERMS).map(term).collect(),
            vector: Some(vector_of(&passage_text(*passage), dimension)),
        });
        text.push(' ');
    }
    NewDocument {
        scope,
        id: DocumentId(id),
        revision: 1,
        document_type: DocumentType::ClinicalNote,
        occurred_at: said(number),
        language: Language::English,
        therapist_id: None,
        signed_by: None,
        ends_at: None,
        trust: Trust::T1,
        sentiment: None,
        risk_level: None,
        body_hash: hash(scope, "body", id.as_bytes()),
        content: DocumentContent::from_text(text),
        redaction_policy: "bench".to_owned(),
        extractor_version: "bench".to_owned(),
        passages: made,
        risks: Vec::new(),
    }
}

fn said(number: u64) -> DateTime<Utc> {
    from_micros(BEGIN) + TimeDelta::minutes(i64::try_from(number).unwrap_or_default())
}

/// Times of searches in order, and how many were exact.
struct Searches {
    millis: Vec<f64>,
    exact: u32,
    /// Nearest passages, and how many of them were found.
    wanted: u32,
    found: u32,
}

impl Searches {
    fn at(&self, share: f64) -> f64 {
        let place = (share * self.millis.len().saturating_sub(1) as f64).round() as usize;
        self.millis.get(place).copied().unwrap_or_default()
    }
}

async fn search(recall: &Recall, scope: Scope, size: RecallSize) -> Result<Searches, RecallError> {
    let mut searches = Searches { millis: Vec::new(), exact: 0, wanted: 0, found: 0 };
    let vectors: Vec<Vec<f32>> = (0..size.own).map(|n| vector_of(&passage_text(n), size.dimension)).collect();
    let request = |number| SearchRequest {
        query: question(number),
        top_k: Some(TOP),
        min_score: Some(-1.0),
        ..SearchRequest::default()
    };
    // Connections are open, statements known and questions embedded, as in a service that answers.
    for number in 0..size.queries {
        recall.search(scope, &request(number)).await?;
    }
    for number in 0..size.queries {
        let request = request(number);
        let started = Instant::now();
        recall.search(scope, &request).await?;
        searches.millis.push(started.elapsed().as_secs_f64() * 1_000.0);
        // What is shown has weight from words and neighbours too: whether the nearest are found is asked of the vectors alone.
        let found = recall.search(scope, &SearchRequest { ranking: Ranking::Meaning, ..request }).await?;
        let asked = vector_of(&found.query, size.dimension);
        let mut best: Vec<f64> = vectors.iter().map(|v| dot(&asked, v)).collect();
        best.sort_by(|a, b| b.total_cmp(a));
        best.truncate(TOP);
        let least = best.last().copied().unwrap_or(1.0) - 1e-3;
        let close = found.hits.iter().filter(|hit| hit.similarity.is_some_and(|s| s >= least)).count();
        searches.wanted += u32::try_from(best.len()).unwrap_or_default();
        searches.found += u32::try_from(close.min(best.len())).unwrap_or_default();
        let near =
            |(hit, best): (&anamnesis_search::SearchHit, &f64)| hit.similarity.is_some_and(|s| (s - best).abs() < 1e-3);
        let all = found.hits.len() == best.len() && found.hits.iter().zip(&best).all(near);
        searches.exact += u32::from(all);
    }
    searches.millis.sort_by(f64::total_cmp);
    Ok(searches)
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(x, y)| f64::from(x * y)).sum()
}
