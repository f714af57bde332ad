//! One UTC tick a minute. tokio-cron-scheduler only sends the tick, and no work happens inside it: it overlaps itself,
//! dies after a stall and ends with runs in flight. The loop here does one round at a time, continues without a tick,
//! and stops between two batches at shutdown.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_cron_scheduler::{Job, JobScheduler, JobSchedulerError};
use tokio_util::sync::CancellationToken;

/// Every minute at second 0, UTC: the scheduler's own six-field syntax.
const EVERY_MINUTE: &str = "0 * * * * *";
/// A scheduler that was silent for this long is broken: the loop continues without it and starts a new one.
const SILENCE: Duration = Duration::from_secs(90);

/// Calls `round` immediately, for runs that were missed while the program was down, and then at each tick, never twice
/// at a time. Ticks during a round count as one. Returns when `shutdown` is cancelled and the current round has ended;
/// give the round the same token, so that it ends early.
pub(crate) async fn run<F: Future<Output = ()>>(shutdown: CancellationToken, round: impl FnMut() -> F) {
    let mut ticker = Ticker::started().await;
    rounds(&shutdown, &mut ticker, round).await;
    ticker.stop().await;
}

async fn rounds<F: Future<Output = ()>>(
    shutdown: &CancellationToken,
    ticker: &mut Ticker,
    mut round: impl FnMut() -> F,
) {
    while !shutdown.is_cancelled() {
        round().await;
        let silent = tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            ticked = tokio::time::timeout(ticker.patience, ticker.ticked.notified()) => ticked.is_err(),
        };
        if silent {
            tracing::warn!(code = "scheduler_restarted", "no tick within the time limit: restarting the scheduler");
            ticker.stop().await;
            ticker.start_scheduler().await;
        }
    }
}

struct Ticker {
    ticked: Arc<Notify>,
    scheduler: Option<JobScheduler>,
    patience: Duration,
}

impl Ticker {
    async fn started() -> Self {
        let mut ticker = Self { ticked: Arc::default(), scheduler: None, patience: SILENCE };
        ticker.start_scheduler().await;
        ticker
    }

    /// A scheduler that cannot be built is not the end of the jobs: its silence is noticed.
    async fn start_scheduler(&mut self) {
        match notify_every_minute(self.ticked.clone()).await {
            Ok(scheduler) => self.scheduler = Some(scheduler),
            Err(_) => tracing::error!(code = "scheduler_unavailable", "the scheduler did not start"),
        }
    }

    async fn stop(&mut self) {
        if let Some(mut scheduler) = self.scheduler.take() {
            let _ = scheduler.shutdown().await;
        }
    }
}

async fn notify_every_minute(ticker: Arc<Notify>) -> Result<JobScheduler, JobSchedulerError> {
    let scheduler = JobScheduler::new().await?;
    scheduler.add(Job::new(EVERY_MINUTE, move |_, _| ticker.notify_one())?).await?;
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
        let ticked = Arc::new(Notify::new());
        let mut ticker = Ticker { ticked: ticked.clone(), scheduler: None, patience: Duration::from_millis(1) };
        let count = Cell::new(0);
        rounds(&shutdown, &mut ticker, || {
            count.set(count.get() + 1);
            match count.get() {
                1 => (0..5).for_each(|_| ticked.notify_one()),
                3 => shutdown.cancel(),
                _ => {}
            }
            async {}
        })
        .await;
        // Round 1 immediately, round 2 for five ticks, round 3 without a tick.
        assert_eq!(count.get(), 3);
        assert!(ticker.scheduler.is_some(), "hung after the silence");
        ticker.stop().await;
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
        let mut ticker = Ticker::started().await;
        assert!(ticker.scheduler.is_some());
        ticker.stop().await;
        assert!(ticker.scheduler.is_none());
    }
}
