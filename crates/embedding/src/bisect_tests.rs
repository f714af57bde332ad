use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use futures::executor::block_on;
use proptest::prelude::*;

use super::*;
use crate::ModelProfile;

/// Embeds a text as its length; fails a call that holds a text beginning with `!` (rejected), `?` (not finite) or
/// `#` (unavailable).
struct Touchy {
    profile: ModelProfile,
    calls: AtomicUsize,
}

impl Touchy {
    fn new() -> Self {
        let profile = ModelProfile {
            model: "touchy".into(),
            dimension: 1,
            min_score: 0.0,
            contradiction_similarity: 0.6,
            generation: 1,
            max_tokens: 10,
            document_task: None,
            query_task: None,
        };
        Self { profile, calls: AtomicUsize::new(0) }
    }
}

#[async_trait]
impl Embedder for Touchy {
    fn profile(&self) -> &ModelProfile {
        &self.profile
    }

    async fn embed(&self, _: Purpose, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        for (mark, error) in
            [('#', EmbedError::Transient { after: None }), ('!', EmbedError::Rejected), ('?', EmbedError::NotFinite)]
        {
            if texts.iter().any(|text| text.starts_with(mark)) {
                return Err(error);
            }
        }
        Ok(texts.iter().map(|text| vec![text.len() as f32]).collect())
    }
}

fn each(texts: &[&str]) -> (Vec<Result<Vec<f32>, EmbedError>>, usize) {
    let touchy = Touchy::new();
    let results = block_on(embed_each(&touchy, Purpose::Document, texts));
    (results, touchy.calls.into_inner())
}

#[test]
fn when_all_is_well_it_is_one_call_and_none_for_nothing() {
    assert_eq!(each(&["a", "bb"]), (vec![Ok(vec![1.0]), Ok(vec![2.0])], 1));
    assert_eq!(each(&[]), (vec![], 0));
}

#[test]
fn one_poisoned_text_among_many_is_found_alone_and_cheaply() {
    let mut texts = vec!["ok"; 64];
    texts[37] = "!poison";
    let (results, calls) = each(&texts);
    assert_eq!(results.iter().filter(|r| r.is_ok()).count(), 63);
    assert_eq!(results[37], Err(EmbedError::Rejected));
    assert!(calls <= 1 + 2 * 6, "{calls} calls");
}

#[test]
fn an_unavailable_provider_is_not_asked_once_more_for_each_half() {
    let (results, calls) = each(&["a", "#down", "b", "c"]);
    assert_eq!(calls, 1);
    assert!(results.iter().all(|r| *r == Err(EmbedError::Transient { after: None })));
}

proptest! {
    /// Each text gets its own vector or its own error, wherever the culprits are.
    #[test]
    fn each_text_gets_its_own_answer(texts in prop::collection::vec("[!?a]?[a-z]{1,5}", 0..40)) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let (results, _) = each(&texts);
        prop_assert_eq!(results.len(), texts.len());
        for (text, result) in texts.iter().zip(results) {
            let wanted = match text.as_bytes()[0] {
                b'!' => Err(EmbedError::Rejected),
                b'?' => Err(EmbedError::NotFinite),
                _ => Ok(vec![text.len() as f32]),
            };
            prop_assert_eq!(result, wanted);
        }
    }
}
