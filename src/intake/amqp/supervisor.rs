//! Keeps one generation after the other alive, with pauses that are never in step, until the process drains or the
//! broker says something that only a person can put right.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::generation::{Ending, live};
use super::{Limits, Status, Work};
use crate::broker::topology::Topology;
use crate::broker::{Backoff, BrokerError, Link, Names, Outlet, Queue, Role};
use crate::clock::Entropy;
use crate::config::BrokerConfig;
use crate::config::Settings;
use crate::metrics::Metrics;

/// The consuming side of the worker.
pub struct Consumer {
    pub(super) config: BrokerConfig,
    pub(super) names: Names,
    pub(super) max_body_bytes: usize,
    batch: (usize, usize),
    pub(super) work: Arc<dyn Work>,
    pub(super) outlet: Arc<dyn Outlet>,
    pub(super) status: Arc<Status>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) entropy: Arc<dyn Entropy>,
}

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
            config: settings.broker.clone(),
            names: Names::new(&settings.broker.prefix),
            max_body_bytes: settings.intake.max_body_bytes,
            batch: (settings.pipeline.batch_documents, settings.pipeline.batch_bytes),
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

    pub(super) fn limits(&self, queue: Queue) -> Limits {
        let slots = match queue {
            Queue::Realtime => self.config.realtime_slots,
            Queue::Bulk => self.config.bulk_slots,
            Queue::Parked => 1,
        };
        let (batch, bytes) = self.batch;
        // A chat message does not wait for company.
        let linger = if queue == Queue::Bulk { self.config.linger() } else { Duration::ZERO };
        let batch = if queue == Queue::Parked { 1 } else { batch.max(1) };
        Limits { slots: slots.max(1), batch, bytes, linger, retries: self.config.retries }
    }

    /// As many as the slots work and one batch more that waits, but never more than memory allows if each is as large
    /// as a message may be. The bulk queue has half of the memory, the real-time one a quarter.
    pub(super) fn prefetch(&self, limits: &Limits) -> u16 {
        let wanted = limits.batch * (limits.slots + 1);
        let share = if limits.linger.is_zero() { 4 } else { 2 };
        let fits = (self.config.memory_mb << 20) / share / self.max_body_bytes.max(1);
        u16::try_from(wanted.min(fits).max(1)).unwrap_or(u16::MAX)
    }

    /// Consumes until the process drains.
    ///
    /// # Errors
    /// What no other attempt can heal: credentials, permissions, a topology that is missing or different.
    pub async fn run(&self, draining: &CancellationToken) -> Result<(), BrokerError> {
        let (first, longest) = (Duration::from_millis(100), Duration::from_secs(3));
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
            if !error.is_transient() && !(self.config.declare && error == BrokerError::Missing) {
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
        if silent && !Link::answers(&self.config).await {
            return Err(BrokerError::Late { step: "connect" });
        }
        let link = Link::open(&self.config, Role::Consume).await?;
        if self.config.declare {
            Topology::new(&self.names).declare(&link).await?;
        }
        Ok(link)
    }
}
