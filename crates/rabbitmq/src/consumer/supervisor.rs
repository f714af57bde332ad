//! Keeps one session after the other alive, with jittered pauses, until the process drains or the
//! broker says something that only a person can put right.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::session::{FINISH, SessionEnd, live};
use super::{ConsumerStatus, MessageHandler};
use crate::topology::Topology;
use crate::{Backoff, BrokerConnection, BrokerError, ConnectionRole, MessagePublisher, Names};
use anamnesis_config::{BrokerConfig, Settings};
use anamnesis_core::clock::Entropy;
use anamnesis_observability::metrics::Metrics;

/// The consuming side of the worker.
pub struct Consumer {
    pub(super) settings: Settings,
    pub(super) names: Names,
    pub(super) handler: Arc<dyn MessageHandler>,
    pub(super) publisher: Arc<dyn MessagePublisher>,
    pub(super) status: Arc<ConsumerStatus>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) entropy: Arc<dyn Entropy>,
    /// As [`super::QueueWorker::in_progress`].
    pub(super) in_progress: TaskTracker,
}

/// Longest pause between two attempts to connect: a broker that is back is consumed from within five seconds.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// A session that lived this long was healthy: the next pause is a short one again.
const HEALTHY: Duration = Duration::from_secs(10);
/// Longest wait for any answer while a session opens, at the first attempt. A broker that listens already and is not
/// yet ready leaves questions unanswered: asked again a moment later, it answers at once.
const FIRST_WAIT: Duration = Duration::from_secs(2);

/// How long each attempt waits for its answers: twice as long after each that was late, up to the configured limits, so
/// that a slow broker is reached as well.
struct AnswerTimeouts {
    next: Duration,
}

impl AnswerTimeouts {
    fn new() -> Self {
        Self { next: FIRST_WAIT }
    }

    /// The limits of the next attempt.
    fn limit(&self, broker: &BrokerConfig) -> BrokerConfig {
        let most = u64::try_from(self.next.as_millis()).unwrap_or(u64::MAX);
        BrokerConfig {
            connect_timeout_ms: broker.connect_timeout_ms.min(most),
            rpc_timeout_ms: broker.rpc_timeout_ms.min(most),
            ..broker.clone()
        }
    }

    fn ended(&mut self, error: &BrokerError) {
        self.next = if matches!(error, BrokerError::Late { .. }) {
            (self.next * 2).min(Duration::from_secs(60))
        } else {
            FIRST_WAIT
        };
    }
}

impl Consumer {
    /// `publisher` sends retries over another connection than the one that consumes.
    pub fn new(
        settings: &Settings,
        handler: Arc<dyn MessageHandler>,
        publisher: Arc<dyn MessagePublisher>,
        metrics: Arc<Metrics>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        Self {
            settings: settings.clone(),
            names: Names::new(&settings.broker.prefix),
            handler,
            publisher,
            status: Arc::default(),
            metrics,
            entropy,
            in_progress: TaskTracker::new(),
        }
    }

    /// What the probes ask.
    pub fn status(&self) -> Arc<ConsumerStatus> {
        Arc::clone(&self.status)
    }

    /// Consumes until the process drains.
    ///
    /// # Errors
    /// What no other attempt can heal: credentials, permissions, a topology that is missing or different.
    pub async fn run(&self, draining: &CancellationToken) -> Result<(), BrokerError> {
        let ended = self.consume(draining).await;
        // Batches of connections that broke are still worked on: what was begun ends before the process does.
        self.in_progress.close();
        if tokio::time::timeout(FINISH, self.in_progress.wait()).await.is_err() {
            tracing::warn!(code = "drain_timeout", "work in progress was abandoned and will be redelivered");
        }
        ended
    }

    async fn consume(&self, draining: &CancellationToken) -> Result<(), BrokerError> {
        let (first, longest) = (Duration::from_millis(100), LONGEST_PAUSE);
        let mut backoff = Backoff::new(first, longest, Arc::clone(&self.entropy));
        let (mut silent, mut waits) = (false, AnswerTimeouts::new());
        loop {
            let broker = waits.limit(&self.settings.broker);
            let connected = tokio::select! {
                biased;
                () = draining.cancelled() => return Ok(()),
                connected = self.connect(silent, &broker) => connected,
            };
            silent = matches!(connected, Err(BrokerError::Late { step: "connect" }));
            let error = match connected {
                Ok(connection) => {
                    let began = tokio::time::Instant::now();
                    match live(self, connection, draining).await {
                        SessionEnd::Drained => return Ok(()),
                        SessionEnd::Lost(error) => {
                            if began.elapsed() > HEALTHY {
                                backoff.reset();
                            }
                            error
                        }
                    }
                }
                Err(error) => error,
            };
            self.status.lost(error.code());
            waits.ended(&error);
            // A queue that was deleted in between is declared again by the next session.
            if !error.is_transient() && !(self.settings.broker.declare && error == BrokerError::Missing) {
                return Err(error);
            }
            let pause = backoff.pause();
            tracing::warn!(code = error.code(), pause_ms = pause.as_millis() as u64, "no connection to the broker");
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = draining.cancelled() => return Ok(()),
            }
        }
    }

    async fn connect(&self, silent: bool, broker: &BrokerConfig) -> Result<BrokerConnection, BrokerError> {
        if silent && !BrokerConnection::answers(broker).await {
            return Err(BrokerError::Late { step: "connect" });
        }
        let connection = BrokerConnection::open(broker, ConnectionRole::Consume).await?;
        if self.settings.broker.declare {
            Topology::new(&self.names).declare(&connection).await?;
        }
        Ok(connection)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_waits_longer_after_each_that_was_late_and_never_longer_than_configured() {
        let broker = BrokerConfig { connect_timeout_ms: 10_000, rpc_timeout_ms: 5_000, ..BrokerConfig::default() };
        let late = BrokerError::Late { step: "declare" };
        let mut waits = AnswerTimeouts::new();
        let mut seen = Vec::new();
        for _ in 0..4 {
            let limits = waits.limit(&broker);
            seen.push((limits.connect_timeout_ms, limits.rpc_timeout_ms));
            waits.ended(&late);
        }
        assert_eq!(seen, [(2_000, 2_000), (4_000, 4_000), (8_000, 5_000), (10_000, 5_000)]);
        waits.ended(&BrokerError::lost("connection_broken"));
        assert_eq!(waits.limit(&broker).connect_timeout_ms, 2_000);
    }
}
