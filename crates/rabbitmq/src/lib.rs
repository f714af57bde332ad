//! RabbitMQ behind one door: connections with time limits, the topology, publishing with confirms. No other crate
//! names the client library. Nothing reconnects by itself: whoever holds a connection decides when it is
//! over and asks for the next one.

mod backoff;
pub mod consumer;
pub mod definitions;
mod error;
mod link;
pub mod names;
pub mod publisher;
pub mod topology;

pub use backoff::Backoff;
pub use error::BrokerError;
pub use link::{Link, Role};
pub use names::{Names, Queue, Tier, keys_of};
pub use publisher::{CE_PREFIX as HEADER_PREFIX, Letter, Outlet, Publisher, event_letter};
