//! Sending again what may still succeed: pauses that double, with jitter, never shorter than what the provider asked.

use std::sync::Arc;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable};
use futures::future::{BoxFuture, FutureExt};

use super::sleep::Sleep;
use anamnesis_config::embedding_limits::RetrySettings;
use anamnesis_core::clock::Entropy;

/// An error that knows whether trying again can help.
pub(crate) trait Retry {
    /// None: it will fail again. Some: try again, not before that long.
    fn retry_after(&self) -> Option<Duration>;
}

/// What is tried. Boxed: a generic one would not let the compiler see that the whole may move between threads.
pub(crate) type Attempt<'a, T, E> = Box<dyn FnMut() -> BoxFuture<'a, Result<T, E>> + Send + 'a>;

/// Runs `attempt` up to `settings.attempts` times.
///
/// # Errors
/// The last error: permanent, out of attempts, or the provider asked for a pause longer than `max_backoff_ms`, which
/// the caller serves better than a waiting request.
pub(crate) fn retried<'a, T: Send + 'a, E: Retry + Send + 'a>(
    settings: &RetrySettings,
    sleep: &Arc<dyn Sleep>,
    entropy: &dyn Entropy,
    attempt: Attempt<'a, T, E>,
) -> BoxFuture<'a, Result<T, E>> {
    let longest = Duration::from_millis(settings.max_backoff_ms);
    let mut seed = [0u8; 8];
    entropy.fill(&mut seed);
    let backoff = ExponentialBuilder::new()
        .with_min_delay(Duration::from_millis(settings.initial_backoff_ms))
        .with_max_delay(longest)
        .with_max_times(settings.attempts.saturating_sub(1))
        .with_jitter()
        .with_jitter_seed(u64::from_le_bytes(seed));
    let sleep = Arc::clone(sleep);
    attempt
        .retry(backoff)
        .sleep(move |wait| sleep.sleep(wait))
        .when(move |error: &E| error.retry_after().is_some_and(|asked| asked <= longest))
        .adjust(|error: &E, planned| planned.map(|planned| planned.max(error.retry_after().unwrap_or_default())))
        .boxed()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::sleep::recorder::Recorder;
    use anamnesis_core::clock::SeededEntropy;

    const SETTINGS: RetrySettings = RetrySettings { attempts: 4, initial_backoff_ms: 100, max_backoff_ms: 10_000 };

    impl Retry for Option<Duration> {
        fn retry_after(&self) -> Option<Duration> {
            *self
        }
    }

    async fn run(error: Option<Duration>) -> (usize, Vec<Duration>) {
        let (recorder, calls) = (Recorder::default(), AtomicUsize::new(0));
        let sleep: Arc<dyn Sleep> = Arc::new(recorder.clone());
        let attempt = || {
            calls.fetch_add(1, Ordering::Relaxed);
            std::future::ready(Err(error)).boxed()
        };
        let result: Result<(), _> = retried(&SETTINGS, &sleep, &SeededEntropy::new(7), Box::new(attempt)).await;
        assert_eq!(result, Err(error));
        (calls.load(Ordering::Relaxed), recorder.waits())
    }

    #[tokio::test]
    async fn pauses_double_with_jitter_until_the_attempts_are_spent() {
        let (calls, waits) = run(Some(Duration::ZERO)).await;
        assert_eq!((calls, waits.len()), (4, 3));
        for (wait, least) in waits.iter().zip([100, 200, 400]) {
            let least = Duration::from_millis(least);
            assert!((least..=least * 2).contains(wait), "{waits:?}");
        }
        assert_ne!(waits[0], Duration::from_millis(100), "no jitter");
    }

    #[tokio::test]
    async fn what_the_provider_asks_for_is_honoured() {
        let (calls, waits) = run(Some(Duration::from_secs(7))).await;
        assert_eq!((calls, waits), (4, vec![Duration::from_secs(7); 3]));
    }

    #[tokio::test]
    async fn a_longer_wish_than_the_longest_pause_is_left_to_the_caller() {
        assert_eq!(run(Some(Duration::from_secs(11))).await, (1, vec![]));
    }

    #[tokio::test]
    async fn a_permanent_error_is_not_tried_again() {
        assert_eq!(run(None).await, (1, vec![]));
    }
}
