//! Messages from RabbitMQ. One supervisor, one session per connection: a session opens its channels, consumes, and ends
//! as a whole; nothing of it (no acknowledgement above all) reaches into the next. A [`MessageHandler`] does the work;
//! only [`acker`] acknowledges.

pub mod acker;
mod delivery;
mod encode;
mod queue_limits;
mod queue_worker;
mod session;
mod status;
mod supervisor;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

pub use delivery::{InboundMessage, OfferCounts};
pub use encode::encode_message;
pub use queue_limits::{QueueLimits, prefetch};
pub use queue_worker::QueueWorker;
pub use status::ConsumerStatus;
pub use supervisor::Consumer;

use crate::Queue;

/// What the broker is asked to do with a message after the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AckDecision {
    /// Its effects are committed, or it had none, or it is kept in quarantine: acknowledge.
    Ack,
    /// Something outside failed: offer it again later, so often.
    Retry,
    /// The store or its keys take nothing now, from no message: offer it again later, however often.
    RetryUncounted,
    /// Earlier attempts never ended (crash suspect): work it in isolation.
    Isolate,
}

/// The work on messages, as the consumer calls it.
#[async_trait]
pub trait MessageHandler: Send + Sync {
    /// Works messages that share a batch. One decision per message, in order.
    async fn handle_batch(&self, queue: Queue, messages: &[InboundMessage]) -> Vec<AckDecision>;

    /// Works one message in isolation, so that a crash harms no other. Never returns [`AckDecision::Isolate`].
    async fn handle_isolated(&self, queue: Queue, message: &InboundMessage) -> AckDecision;

    /// A keyed hash over the number of offers and the body. A producer cannot forge it, so that only this program's counts
    /// are trusted.
    fn retry_proof(&self, offers: OfferCounts, body: &[u8]) -> [u8; 32];

    /// The current time, for messages that are offered again; `None` where the time of arrival is not needed.
    fn now(&self) -> Option<DateTime<Utc>> {
        None
    }

    /// The message was offered as often as allowed: quarantines it. [`AckDecision::RetryUncounted`] when even that fails.
    async fn exhausted(&self, queue: Queue, message: &InboundMessage) -> AckDecision;
}

/// The metric's word for a queue.
pub fn label(queue: Queue) -> anamnesis_observability::metrics::labels::Queue {
    match queue {
        Queue::Realtime => anamnesis_observability::metrics::labels::Queue::Realtime,
        Queue::Bulk => anamnesis_observability::metrics::labels::Queue::Bulk,
        Queue::Poison => anamnesis_observability::metrics::labels::Queue::Poison,
    }
}
