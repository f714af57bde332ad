use std::sync::Mutex;

use async_trait::async_trait;
use futures::executor::block_on;
use uuid::Uuid;

use super::*;
use crate::ModelProfile;
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;

/// Remembers what it was asked; `bad` is refused.
struct Recorder(ModelProfile, Mutex<Vec<String>>);

#[async_trait]
impl Embedder for Recorder {
    fn profile(&self) -> &ModelProfile {
        &self.0
    }

    async fn embed(&self, purpose: Purpose, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        assert_eq!(purpose, Purpose::Document);
        if texts.contains(&"bad") {
            return Err(EmbedError::Rejected);
        }
        self.1.lock().unwrap().extend(texts.iter().map(|text| (*text).to_owned()));
        Ok(texts.iter().map(|text| if text.len() % 2 == 0 { vec![1.0, 0.0] } else { vec![0.0, 1.0] }).collect())
    }
}

fn key(patient: u128, text: &str, generation: i64) -> CacheKey {
    let scope = Scope::new(OrgId(Uuid::from_u128(1)), PatientId(Uuid::from_u128(patient))).unwrap();
    let mut hash = [0; 16];
    hash[..text.len()].copy_from_slice(text.as_bytes());
    CacheKey { scope, generation, text: hash }
}

fn run(texts: &[(u128, &'static str)], known: &[(CacheKey, Vec<f32>)]) -> (CachedBatchResult, Vec<String>) {
    let profile = ModelProfile {
        model: "m".into(),
        dimension: 2,
        min_score: 0.0,
        contradiction_similarity: 0.6,
        generation: 1,
        max_tokens: 10,
        document_task: None,
        query_task: None,
    };
    let recorder = Recorder(profile, Mutex::default());
    let batch = UniqueTexts::new(texts.iter().map(|(patient, text)| (key(*patient, text, 1), *text)));
    let embedded = block_on(embed_cached(&recorder, &batch, &known.iter().cloned().collect()));
    (embedded, recorder.1.into_inner().unwrap())
}

#[test]
fn equal_texts_of_one_patient_are_embedded_once_and_known_ones_not_at_all() {
    let (embedded, asked) = run(&[(1, "a"), (1, "bb"), (1, "a"), (1, "c")], &[(key(1, "c", 1), vec![0.6, 0.8])]);
    assert_eq!(asked, ["a", "bb"]);
    let vectors: Vec<_> = embedded.vectors.into_iter().map(Result::unwrap).collect();
    assert_eq!(vectors, [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]);
    assert_eq!(embedded.hits, 2);
}

#[test]
fn nothing_is_shared_between_patients_or_generations() {
    let known = [(key(2, "a", 1), vec![0.6, 0.8]), (key(1, "a", 2), vec![0.6, 0.8])];
    let (embedded, asked) = run(&[(1, "a"), (3, "a")], &known);
    assert_eq!(asked, ["a", "a"]);
    assert_eq!(embedded.hits, 0);
}

#[test]
fn a_kept_vector_of_another_dimension_or_length_is_replaced() {
    for broken in [vec![1.0], vec![0.0, 0.0], vec![f32::NAN, 1.0], vec![3.0, 4.0]] {
        let (embedded, asked) = run(&[(1, "a")], &[(key(1, "a", 1), broken)]);
        assert_eq!(asked, ["a"]);
        assert_eq!(embedded.vectors, [Ok(vec![0.0, 1.0])]);
    }
}

#[test]
fn a_refused_text_leaves_its_neighbours_alone() {
    let (embedded, _) = run(&[(1, "a"), (1, "bad"), (1, "bb")], &[]);
    assert_eq!(embedded.vectors[1], Err(EmbedError::Rejected));
    assert_eq!(embedded.vectors.iter().filter(|result| result.is_ok()).count(), 2);
}

#[test]
fn an_all_known_batch_asks_nothing() {
    let (embedded, asked) = run(&[(1, "a")], &[(key(1, "a", 1), vec![0.6, 0.8])]);
    assert!(asked.is_empty());
    assert_eq!(embedded.hits, 1);
}
