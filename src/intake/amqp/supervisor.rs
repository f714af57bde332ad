//! Keeps one generation after the other alive, with pauses that are never in step, until the process drains or the
//! broker says something that only a person can put right.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::generation::{Ending, live};
use super::{Status, Work};
use crate::broker::topology::Topology;
use crate::broker::{Backoff, BrokerError, Link, Names, Outlet, Role};
use crate::clock::Entropy;
use crate::config::Settings;
use crate::metrics::Metrics;

/// The consuming side of the worker.
pub struct Consumer {
    pub(super) settings: Settings,
    pub(super) names: Names,
    pub(super) work: Arc<dyn Work>,
    pub(super) outlet: Arc<dyn Outlet>,
    pub(super) status: Arc<Status>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) entropy: Arc<dyn Entropy>,
}

/// Longest pause between two attempts to connect: a broker that is back is consumed from within five seconds.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// A generation that lived this long was healthy: the next pause is a short one again.
const HEALTHY: Duration = Duration::from_secs(10);

impl Consumer {
    /// `outlet` is where retries go: another connection than the one that consumes.
    pub fn new(
        settings: &Settings,
        work: Arc<dyn Work>,
        outlet: Arc<dyn Outlet>,
        metrics: Arc<Metrics>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        Self {
            settings: settings.clone(),
            names: Names::new(&settings.broker.prefix),
            work,
            outlet,
            status: Arc::default(),
            metrics,
            entropy,
        }
    }

    /// What the probes ask.
    pub fn status(&self) -> Arc<Status> {
        Arc::clone(&self.status)
    }

    /// Consumes until the process drains.
    ///
    /// # Errors
    /// What no other attempt can heal: credentials, permissions, a topology that is missing or different.
    pub async fn run(&self, draining: &CancellationToken) -> Result<(), BrokerError> {
        let (first, longest) = (Duration::from_millis(100), LONGEST_PAUSE);
        let mut backoff = Backoff::new(first, longest, Arc::clone(&self.entropy));
        let mut silent = false;
        loop {
            let connected = tokio::select! {
                biased;
                () = draining.cancelled() => return Ok(()),
                connected = self.connect(silent) => connected,
            };
            silent = matches!(connected, Err(BrokerError::Late { step: "connect" }));
            let error = match connected {
                Ok(link) => {
                    let began = tokio::time::Instant::now();
                    match live(self, link, draining).await {
                        Ending::Drained => return Ok(()),
                        Ending::Over(error) => {
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
            // A queue that was deleted in between is declared again by the next generation.
            if !error.is_transient() && !(self.settings.broker.declare && error == BrokerError::Missing) {
                return Err(error);
            }
            let pause = backoff.pause();
            tracing::warn!(code = error.code(), pause_ms = pause.as_millis() as u64, "no broker: trying again");
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = draining.cancelled() => return Ok(()),
            }
        }
    }

    async fn connect(&self, silent: bool) -> Result<Link, BrokerError> {
        if silent && !Link::answers(&self.settings.broker).await {
            return Err(BrokerError::Late { step: "connect" });
        }
        let link = Link::open(&self.settings.broker, Role::Consume).await?;
        if self.settings.broker.declare {
            Topology::new(&self.names).declare(&link).await?;
        }
        Ok(link)
    }
}
