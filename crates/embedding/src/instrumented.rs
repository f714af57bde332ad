//! Reports each call of the built-in embedder as one request, so that it has the same metrics as HTTP providers.

use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;

use super::batching::estimated_tokens;
use super::{EmbedError, EmbedObserver, EmbedRequest, Embedder, ModelProfile, Purpose, RequestOutcome};
use anamnesis_config::embedding::Provider;

/// Wraps `inner` and reports each call to `observer` as one request.
pub(crate) struct InstrumentedEmbedder<E> {
    inner: E,
    provider: Provider,
    observer: Arc<dyn EmbedObserver>,
}

impl<E: Embedder> InstrumentedEmbedder<E> {
    pub(crate) fn new(inner: E, provider: Provider, observer: Arc<dyn EmbedObserver>) -> Self {
        Self { inner, provider, observer }
    }
}

#[async_trait]
impl<E: Embedder> Embedder for InstrumentedEmbedder<E> {
    fn profile(&self) -> &ModelProfile {
        self.inner.profile()
    }

    async fn embed(&self, purpose: Purpose, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let underway = self.observer.begins(self.provider, self.inner.profile());
        let started = Instant::now();
        let result = self.inner.embed(purpose, texts).await;
        let seen = EmbedRequest {
            provider: self.provider,
            model: &self.inner.profile().model,
            purpose,
            outcome: result.as_ref().err().map_or(RequestOutcome::Ok, RequestOutcome::from_error),
            texts: texts.len(),
            tokens: texts.iter().map(|text| estimated_tokens(text) as u64).sum(),
            truncated: 0,
            duration: started.elapsed(),
        };
        if let Some(underway) = underway {
            underway.ended(&seen);
        }
        self.observer.request(&seen);
        result
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures::executor::block_on;

    use super::*;

    struct Stub(ModelProfile);

    #[async_trait]
    impl Embedder for Stub {
        fn profile(&self) -> &ModelProfile {
            &self.0
        }

        async fn embed(&self, _: Purpose, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
            if texts.contains(&"bad") { Err(EmbedError::NotFinite) } else { Ok(vec![vec![1.0]; texts.len()]) }
        }
    }

    #[derive(Default)]
    struct RecordedRequests(Mutex<Vec<(String, RequestOutcome, usize)>>);

    impl EmbedObserver for RecordedRequests {
        fn request(&self, seen: &EmbedRequest<'_>) {
            self.0.lock().unwrap().push((seen.model.to_owned(), seen.outcome, seen.texts));
        }
    }

    #[test]
    fn each_call_is_told_with_its_outcome_and_passed_on() {
        let profile = ModelProfile {
            model: "stub".into(),
            dimension: 1,
            min_score: 0.0,
            contradiction_similarity: 0.6,
            generation: 1,
            max_tokens: 10,
            document_task: None,
            query_task: None,
        };
        let seen = Arc::new(RecordedRequests::default());
        let observed = InstrumentedEmbedder::new(Stub(profile), Provider::Builtin, seen.clone());
        assert_eq!(block_on(observed.embed(Purpose::Query, &["a", "b"])), Ok(vec![vec![1.0]; 2]));
        assert_eq!(block_on(observed.embed(Purpose::Query, &["bad"])), Err(EmbedError::NotFinite));
        let requests = seen.0.lock().unwrap().clone();
        assert_eq!(
            requests,
            [("stub".to_owned(), RequestOutcome::Ok, 2), ("stub".to_owned(), RequestOutcome::InvalidResponse, 1)]
        );
    }
}
