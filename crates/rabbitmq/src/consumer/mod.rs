//! Messages from RabbitMQ. One supervisor, one generation per connection: a generation opens its channels, consumes,
//! and ends as a whole; nothing of it (no acknowledgement above all) reaches into the next. What is done with a message
//! is somebody else's ([`Work`]); when it is acknowledged is decided in one place ([`settle`]).

mod delivery;
mod generation;
mod lane;
mod limits;
mod outgoing;
pub mod settle;
mod status;
mod supervisor;

use async_trait::async_trait;
use chrono::{DateTime, Utc};

pub use delivery::{Message, Offers, RETRIES};
pub use lane::Lane;
pub use limits::{Limits, prefetch};
pub use outgoing::letter;
pub use status::Status;
pub use supervisor::Consumer;

use crate::Queue;

/// What is to be done with a message after the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Its effects are committed, or it had none, or it is kept in quarantine: acknowledge.
    Settled,
    /// Something outside failed: offer it again later, so often.
    Later,
    /// The store or its keys take nothing now, from no message: offer it again later, however often.
    Waits,
    /// It was begun before and never ended: work it alone.
    Alone,
}

/// What the consumer gives messages to.
#[async_trait]
pub trait Work: Send + Sync {
    /// Works messages that share a batch. One verdict per message, in order.
    async fn together(&self, queue: Queue, messages: &[Message]) -> Vec<Verdict>;

    /// Works one message where its death harms nobody else. Never [`Verdict::Alone`].
    async fn alone(&self, queue: Queue, message: &Message) -> Verdict;

    /// A keyed hash that says that this program counted so many offers of this body: a producer cannot make it, so that
    /// nobody else's count is believed.
    fn retry_proof(&self, offers: Offers, body: &[u8]) -> [u8; 32];

    /// The present, for messages that are offered again; `None` where nobody asks when they came.
    fn now(&self) -> Option<DateTime<Utc>> {
        None
    }

    /// The message was offered as often as allowed: sets it aside. [`Verdict::Waits`] when even that fails.
    async fn give_up(&self, queue: Queue, message: &Message) -> Verdict;
}

/// The metric's word for a queue.
pub fn label(queue: Queue) -> anamnesis_observability::metrics::labels::Queue {
    match queue {
        Queue::Realtime => anamnesis_observability::metrics::labels::Queue::Realtime,
        Queue::Bulk => anamnesis_observability::metrics::labels::Queue::Bulk,
        Queue::Parked => anamnesis_observability::metrics::labels::Queue::Parked,
    }
}
