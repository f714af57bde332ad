//! One result per text: bisection finds the texts that a provider rejects, so that the others still get vectors.

use std::ops::Range;

use super::{EmbedError, Embedder, Purpose};

/// Embeds all texts with one call when all is well. When the call fails for what some text is, halves are tried until
/// the culprits stand alone: about 2·log₂(n) calls more for one culprit among n. When it fails for what the provider
/// is (unavailable, misconfigured, another dimension), nothing more is sent and every remaining text gets that error.
pub async fn embed_each(
    embedder: &dyn Embedder,
    purpose: Purpose,
    texts: &[&str],
) -> Vec<Result<Vec<f32>, EmbedError>> {
    let mut results: Vec<Option<Result<Vec<f32>, EmbedError>>> = vec![None; texts.len()];
    let mut halted: Option<EmbedError> = None;
    // A stack with the left half on top: texts are sent in their order.
    let mut pending: Vec<Range<usize>> = Vec::from_iter((!texts.is_empty()).then_some(0..texts.len()));
    while let Some(range) = pending.pop() {
        let answer = match &halted {
            Some(error) => Err(error.clone()),
            None => counted(embedder.embed(purpose, &texts[range.clone()]).await, range.len()),
        };
        match answer {
            Ok(vectors) => {
                for (slot, vector) in results[range].iter_mut().zip(vectors) {
                    *slot = Some(Ok(vector));
                }
            }
            Err(error) if error.is_about_input() && range.len() > 1 => {
                let middle = range.start + range.len() / 2;
                pending.push(middle..range.end);
                pending.push(range.start..middle);
            }
            Err(error) => {
                results[range].fill(Some(Err(error.clone())));
                if !error.is_about_input() {
                    halted = Some(error);
                }
            }
        }
    }
    results.into_iter().map(|result| result.unwrap_or(Err(EmbedError::BadAnswer))).collect()
}

/// An embedder that returns another number of vectors would shift them onto the wrong texts.
fn counted(answer: Result<Vec<Vec<f32>>, EmbedError>, texts: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
    answer.and_then(|vectors| if vectors.len() == texts { Ok(vectors) } else { Err(EmbedError::BadAnswer) })
}

#[cfg(test)]
#[path = "bisect_tests.rs"]
mod tests;
