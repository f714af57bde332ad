//! Which texts of a batch need embedding at all: an equal text of the same patient has its vector already. Scoped to the
//! patient, so that a hit reveals nothing of another patient's documents (model.md, "At rest").
//!
//! Storage is the store's: look up [`UniqueTexts::keys`] among the vectors of the patient's passages and hand what was found to
//! [`embed_cached`]. For documents only: a query's vector may differ and is not kept.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::{EmbedError, Embedder, Purpose, embed_each};
pub use anamnesis_core::vector::CacheKey;

/// Texts to embed, each with its key; several patients may share a batch.
pub struct UniqueTexts<'t> {
    /// For each text, its place among the distinct ones.
    places: Vec<usize>,
    distinct: Vec<(CacheKey, &'t str)>,
}

/// What came of a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct CachedBatchResult {
    /// One result per text, in the order given.
    pub vectors: Vec<Result<Vec<f32>, EmbedError>>,
    /// Texts answered from what was known, repetitions within the batch included.
    pub hits: usize,
}

impl<'t> UniqueTexts<'t> {
    /// Equal keys (the same text of the same patient) are embedded once.
    pub fn new(texts: impl IntoIterator<Item = (CacheKey, &'t str)>) -> Self {
        let mut distinct = Vec::new();
        let mut known: HashMap<CacheKey, usize> = HashMap::new();
        let places = texts
            .into_iter()
            .map(|(key, text)| match known.entry(key) {
                Entry::Occupied(place) => *place.get(),
                Entry::Vacant(vacant) => {
                    distinct.push((key, text));
                    *vacant.insert(distinct.len() - 1)
                }
            })
            .collect();
        Self { places, distinct }
    }

    /// The keys to look up, each once.
    pub fn keys(&self) -> impl Iterator<Item = &CacheKey> {
        self.distinct.iter().map(|(key, _)| key)
    }
}

/// Embeds what `known` does not hold, as documents. A known vector that is not of the profile's dimension, or not of unit
/// length, counts as unknown and is replaced.
pub async fn embed_cached(
    embedder: &dyn Embedder,
    batch: &UniqueTexts<'_>,
    known: &HashMap<CacheKey, Vec<f32>>,
) -> CachedBatchResult {
    let dimension = embedder.profile().dimension;
    let found = |key: &CacheKey| known.get(key).filter(|vector| is_sound(vector, dimension));
    let misses: Vec<usize> = (0..batch.distinct.len()).filter(|at| found(&batch.distinct[*at].0).is_none()).collect();
    let texts: Vec<&str> = misses.iter().map(|at| batch.distinct[*at].1).collect();
    let made = embed_each(embedder, Purpose::Document, &texts).await;
    // By the place among the distinct texts.
    let mut answers: Vec<Option<Result<Vec<f32>, EmbedError>>> = Vec::new();
    answers.resize_with(batch.distinct.len(), || None);
    for (at, answer) in misses.iter().zip(made) {
        answers[*at] = Some(answer);
    }
    let vectors = batch
        .places
        .iter()
        .map(|at| match &answers[*at] {
            Some(result) => result.clone(),
            None => found(&batch.distinct[*at].0).cloned().ok_or(EmbedError::BadAnswer),
        })
        .collect();
    CachedBatchResult { vectors, hits: batch.places.len() - misses.len() }
}

/// Kept vectors may be rounded to half precision, hence the tolerance.
fn is_sound(vector: &[f32], dimension: usize) -> bool {
    let square: f64 = vector.iter().map(|x| f64::from(*x).powi(2)).sum();
    vector.len() == dimension && (square - 1.0).abs() < 0.02
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
