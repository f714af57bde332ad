//! One UTC tick a minute and nothing more. tokio-cron-scheduler only rings a bell: it overlaps itself, dies after a
//! stall and ends with runs in flight, so no work happens inside it. The loop here does one round at a time, goes on
//! by itself when the bell stays silent, and ends between two batches when the process must go.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_cron_scheduler::{Job, JobScheduler, JobSchedulerError};
use tokio_util::sync::CancellationToken;

/// Every minute at second 0, UTC: the scheduler's own six-field syntax.
const EVERY_MINUTE: &str = "0 * * * * *";
/// A bell that was silent for this long is broken: the loop goes on by itself and hangs a new one.
const SILENCE: Duration = Duration::from_secs(90);

/// Calls `round` at once (what was missed while nothing ran) and then at each tick, never twice at a time: ticks that
/// come during a round are one. Returns when `shutdown` is cancelled and the round in progress has ended; give the
/// round the same token, so that it ends early.
pub(crate) async fn run<F: Future<Output = ()>>(shutdown: CancellationToken, round: impl FnMut() -> F) {
    let mut bell = Bell::hung().await;
    rounds(&shutdown, &mut bell, round).await;
    bell.take_down().await;
}

async fn rounds<F: Future<Output = ()>>(shutdown: &CancellationToken, bell: &mut Bell, mut round: impl FnMut() -> F) {
    while !shutdown.is_cancelled() {
        round().await;
        let silent = tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            rung = tokio::time::timeout(bell.patience, bell.rung.notified()) => rung.is_err(),
        };
        if silent {
            tracing::warn!(code = "tick_silent", "no tick came: hanging a new bell");
            bell.take_down().await;
            bell.hang().await;
        }
    }
}

struct Bell {
    rung: Arc<Notify>,
    scheduler: Option<JobScheduler>,
    patience: Duration,
}

impl Bell {
    async fn hung() -> Self {
        let mut bell = Self { rung: Arc::default(), scheduler: None, patience: SILENCE };
        bell.hang().await;
        bell
    }

    /// A scheduler that cannot be built is not the end of the jobs: its silence is noticed.
    async fn hang(&mut self) {
        match ring_every_minute(self.rung.clone()).await {
            Ok(scheduler) => self.scheduler = Some(scheduler),
            Err(_) => tracing::error!(code = "tick_unavailable", "the scheduler did not start"),
        }
    }

    async fn take_down(&mut self) {
        if let Some(mut scheduler) = self.scheduler.take() {
            let _ = scheduler.shutdown().await;
        }
    }
}

async fn ring_every_minute(bell: Arc<Notify>) -> Result<JobScheduler, JobSchedulerError> {
    let scheduler = JobScheduler::new().await?;
    scheduler.add(Job::new(EVERY_MINUTE, move |_, _| bell.notify_one())?).await?;
    scheduler.start().await?;
    Ok(scheduler)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test]
    async fn ticks_during_a_round_are_one_and_a_silent_bell_is_hung_anew() {
        let shutdown = CancellationToken::new();
        let rung = Arc::new(Notify::new());
        let mut bell = Bell { rung: rung.clone(), scheduler: None, patience: Duration::from_millis(1) };
        let count = Cell::new(0);
        rounds(&shutdown, &mut bell, || {
            count.set(count.get() + 1);
            match count.get() {
                1 => (0..5).for_each(|_| rung.notify_one()),
                3 => shutdown.cancel(),
                _ => {}
            }
            async {}
        })
        .await;
        // Round 1 at once, round 2 for five rings, round 3 although nobody rang.
        assert_eq!(count.get(), 3);
        assert!(bell.scheduler.is_some(), "hung after the silence");
        bell.take_down().await;
    }

    #[tokio::test]
    async fn a_round_in_progress_ends_before_the_loop_does() {
        let shutdown = CancellationToken::new();
        let ended = Cell::new(false);
        run(shutdown.clone(), || async {
            shutdown.cancel();
            tokio::task::yield_now().await;
            ended.set(true);
        })
        .await;
        assert!(ended.get());
    }

    #[tokio::test]
    async fn the_scheduler_takes_our_expression_and_stops() {
        let mut bell = Bell::hung().await;
        assert!(bell.scheduler.is_some());
        bell.take_down().await;
        assert!(bell.scheduler.is_none());
    }
}
