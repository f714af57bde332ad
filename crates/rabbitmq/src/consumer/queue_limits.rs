//! How much a queue worker takes at once, and how much the broker prefetches for it.

use std::time::Duration;

use crate::Queue;
use anamnesis_config::Settings;

/// How much a queue worker takes at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueLimits {
    /// Batches at once.
    pub slots: usize,
    /// Messages of a batch.
    pub batch: usize,
    /// Bytes of the bodies of a batch.
    pub bytes: usize,
    /// How long a batch waits for company.
    pub linger: Duration,
    /// How often a message is offered again before it is given up.
    pub retries: u32,
}

impl QueueLimits {
    /// What a configuration says of a queue.
    pub fn from_settings(settings: &Settings, queue: Queue) -> Self {
        let broker = &settings.broker;
        let slots = match queue {
            Queue::Realtime => broker.realtime_concurrency,
            Queue::Bulk => broker.bulk_concurrency,
            Queue::Poison => 1,
        };
        let (batch, bytes) = (settings.pipeline.batch_documents, settings.pipeline.batch_bytes);
        // A chat message does not wait for company.
        let linger = if queue == Queue::Bulk { broker.linger() } else { Duration::ZERO };
        let batch = if queue == Queue::Poison { 1 } else { batch.max(1) };
        Self { slots: slots.max(1), batch, bytes, linger, retries: broker.max_retries }
    }
}

/// As many messages as the slots work and one batch more that waits, but never more than memory allows if each is as
/// large as a message may be. The bulk queue has half of the memory, the real-time one a quarter.
pub fn prefetch(settings: &Settings, limits: &QueueLimits) -> u16 {
    let wanted = limits.batch * (limits.slots + 1);
    let share = if limits.linger.is_zero() { 4 } else { 2 };
    let fits = (settings.broker.memory_mb << 20) / share / settings.intake.max_body_bytes.max(1);
    u16::try_from(wanted.min(fits).max(1)).unwrap_or(u16::MAX)
}
