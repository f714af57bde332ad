//! The end of the process. SIGTERM or SIGINT stops taking work, work in progress is finished within the drain deadline,
//! and a second signal stops waiting. Unfinished work was not acknowledged and is redelivered.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// How long work in progress may take to finish. Kubernetes' grace period must be longer (helm/anamnesis, values.yaml).
pub(crate) const DRAIN: Duration = Duration::from_secs(10);

/// Work was still in progress at the drain deadline, or the operator did not want to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the drain timeout ended with work in progress")]
pub(crate) struct DrainOverdue;

/// The two moments of an ending.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shutdown {
    draining: CancellationToken,
    impatient: CancellationToken,
}

impl Shutdown {
    /// Nothing has been asked yet, and no signal is listened to.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Listens for SIGTERM and SIGINT from now on. Must be called in a Tokio runtime.
    ///
    /// # Errors
    /// When the operating system refuses a handler.
    pub(crate) fn on_signals() -> io::Result<Self> {
        let shutdown = Self::new();
        let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let heard = shutdown.clone();
        tokio::spawn(async move {
            either(&mut terminate, &mut interrupt).await;
            tracing::info!(code = "draining", "shutdown requested: finishing work in progress");
            heard.draining.cancel();
            either(&mut terminate, &mut interrupt).await;
            heard.impatient.cancel();
        });
        Ok(shutdown)
    }

    /// Cancelled when no new work may be taken.
    pub(crate) fn draining(&self) -> CancellationToken {
        self.draining.clone()
    }

    /// Starts the shutdown, as a signal would.
    pub(crate) fn begin(&self) {
        self.draining.cancel();
    }

    /// Ends without waiting, as a second signal would.
    #[cfg(test)]
    pub(crate) fn drain_now(&self) {
        self.draining.cancel();
        self.impatient.cancel();
    }

    /// Runs `work` to its end; once draining has begun, for at most `deadline`. `work` itself watches
    /// [`Shutdown::draining`] and returns when it has no work in progress.
    ///
    /// # Errors
    /// [`DrainOverdue`] when the deadline passed or a second signal came; `work` is dropped then.
    pub(crate) async fn drain<T>(&self, deadline: Duration, work: impl Future<Output = T>) -> Result<T, DrainOverdue> {
        let over = async {
            self.draining.cancelled().await;
            tokio::select! {
                () = tokio::time::sleep(deadline) => {}
                () = self.impatient.cancelled() => {}
            }
        };
        tokio::select! {
            biased;
            done = work => Ok(done),
            () = over => Err(DrainOverdue),
        }
    }
}

async fn either(one: &mut Signal, other: &mut Signal) {
    tokio::select! {
        _ = one.recv() => {}
        _ = other.recv() => {}
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use super::*;

    #[tokio::test]
    async fn work_that_ends_when_asked_to_drain_gives_its_result() {
        let shutdown = Shutdown::new();
        let token = shutdown.draining();
        let work = async move {
            token.cancelled().await;
            7
        };
        shutdown.begin();
        assert_eq!(shutdown.drain(DRAIN, work).await, Ok(7));
    }

    #[tokio::test]
    async fn work_that_does_not_end_is_dropped_at_the_deadline() {
        let shutdown = Shutdown::new();
        shutdown.begin();
        assert_eq!(shutdown.drain(Duration::from_millis(1), pending::<()>()).await, Err(DrainOverdue));
    }

    #[tokio::test]
    async fn a_second_signal_does_not_wait_for_the_deadline() {
        let shutdown = Shutdown::new();
        shutdown.drain_now();
        let overdue = shutdown.drain(Duration::from_secs(3_600), pending::<()>()).await;
        assert_eq!(overdue, Err(DrainOverdue));
    }

    #[tokio::test]
    async fn the_deadline_does_not_run_before_a_shutdown_request() {
        let shutdown = Shutdown::new();
        let work = tokio::time::sleep(Duration::from_millis(20));
        assert_eq!(shutdown.drain(Duration::ZERO, work).await, Ok(()));
    }
}
