//! How fast requests leave: so many at once, so many a minute, so many tokens a minute.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::{Clock as RateClock, MonotonicClock, Reference};
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use tokio::sync::{Semaphore, SemaphorePermit};

use super::sleep::Sleep;
use anamnesis_config::embedding_limits::LimitSettings;

type Limiter<C> = RateLimiter<NotKeyed, InMemoryState, C, NoOpMiddleware<<C as RateClock>::Instant>>;

/// The rate limiter of one provider. `C` is a monotonic clock, not the calendar's: a corrected date must not stop it.
pub(crate) struct RateLimits<C: RateClock = MonotonicClock> {
    in_flight: Semaphore,
    requests: Option<Limiter<C>>,
    tokens: Option<(Limiter<C>, NonZeroU32)>,
    clock: C,
    sleep: Arc<dyn Sleep>,
}

/// Held while the request is in flight.
pub(crate) struct RatePermit<'l> {
    _in_flight: Option<SemaphorePermit<'l>>,
    /// How long the rates held it back.
    pub(crate) waited: Duration,
}

impl RateLimits<MonotonicClock> {
    pub(crate) fn new(settings: &LimitSettings, largest_batch: usize, sleep: Arc<dyn Sleep>) -> Self {
        Self::with_clock(settings, largest_batch, sleep, MonotonicClock)
    }
}

impl<C: RateClock + Clone> RateLimits<C> {
    /// A burst is at most ten seconds' worth (or one batch of `largest_batch` tokens): providers count in windows, and a whole
    /// minute's worth at once on either side of a window's edge would be twice what they allow.
    pub(crate) fn with_clock(settings: &LimitSettings, largest_batch: usize, sleep: Arc<dyn Sleep>, clock: C) -> Self {
        let batch = u32::try_from(largest_batch).unwrap_or(u32::MAX);
        let quota = |per_minute: u32, least: u32| {
            let rate = NonZeroU32::new(per_minute)?;
            let burst = NonZeroU32::new((per_minute / 6).max(least).min(per_minute))?;
            Some((RateLimiter::direct_with_clock(Quota::per_minute(rate).allow_burst(burst), clock.clone()), burst))
        };
        Self {
            in_flight: Semaphore::new(settings.concurrency),
            requests: settings.requests_per_minute.and_then(|n| quota(n, 1)).map(|(limiter, _)| limiter),
            tokens: settings.tokens_per_minute.and_then(|n| quota(n, batch)),
            clock,
            sleep,
        }
    }

    /// Waits until one more request of `tokens` may leave. A request larger than a whole burst takes the whole burst.
    pub(crate) async fn admit(&self, tokens: usize) -> RatePermit<'_> {
        let in_flight = self.in_flight.acquire().await.ok(); // never closed
        let mut waited = Duration::ZERO;
        if let Some(limiter) = &self.requests {
            waited += self.until(limiter, NonZeroU32::MIN).await;
        }
        if let Some((limiter, burst)) = &self.tokens {
            let wanted = u32::try_from(tokens).ok().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
            waited += self.until(limiter, wanted.min(*burst)).await;
        }
        RatePermit { _in_flight: in_flight, waited }
    }

    async fn until(&self, limiter: &Limiter<C>, cells: NonZeroU32) -> Duration {
        let mut waited = Duration::ZERO;
        while let Ok(Err(not_yet)) = limiter.check_n(cells) {
            let wait: Duration = not_yet.earliest_possible().duration_since(self.clock.now()).into();
            self.sleep.sleep(wait).await;
            waited += wait;
        }
        waited
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use governor::clock::FakeRelativeClock;

    use super::*;
    use crate::sleep::recorder::Recorder;

    fn limits(settings: LimitSettings) -> (RateLimits<FakeRelativeClock>, Recorder) {
        let clock = FakeRelativeClock::default();
        let moved = clock.clone();
        let recorder = Recorder::and(move |wait| moved.advance(wait));
        (RateLimits::with_clock(&settings, 100, Arc::new(recorder.clone()), clock), recorder)
    }

    #[tokio::test]
    async fn requests_beyond_ten_seconds_worth_wait_their_turn() {
        let (limits, recorder) = limits(LimitSettings { requests_per_minute: Some(60), ..Default::default() });
        for _ in 0..10 {
            assert_eq!(limits.admit(1).await.waited, Duration::ZERO);
        }
        assert_eq!(limits.admit(1).await.waited, Duration::from_secs(1));
        for _ in 0..59 {
            drop(limits.admit(1).await);
        }
        assert_eq!(recorder.waits().iter().sum::<Duration>(), Duration::from_secs(60));
    }

    #[tokio::test]
    async fn tokens_are_counted_and_a_giant_does_not_wait_for_ever() {
        let (limits, _) = limits(LimitSettings { tokens_per_minute: Some(600), ..Default::default() });
        assert_eq!(limits.admit(100).await.waited, Duration::ZERO);
        assert_eq!(limits.admit(50).await.waited, Duration::from_secs(5));
        assert_eq!(limits.admit(1_000_000).await.waited, Duration::from_secs(10));
    }

    #[tokio::test]
    async fn no_more_than_the_configured_number_are_under_way() {
        let (limits, _) = limits(LimitSettings { concurrency: 2, ..Default::default() });
        let first = limits.admit(1).await;
        let _second = limits.admit(1).await;
        assert!(limits.admit(1).now_or_never().is_none());
        drop(first);
        assert!(limits.admit(1).now_or_never().is_some());
    }
}
