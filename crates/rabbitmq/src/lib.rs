//! The RabbitMQ client: connections with time limits, the topology, publishing with confirms. No other crate
//! names the client library. Nothing reconnects by itself: the owner of a connection decides when it is
//! over and asks for the next one.

mod backoff;
mod connection;
pub mod consumer;
pub mod definitions;
mod error;
mod names;
mod publisher;
mod retired;
pub mod topology;

pub use backoff::Backoff;
pub use connection::{BrokerConnection, ConnectionRole};
pub use error::BrokerError;
pub use names::{Names, Queue, Tier, keys_of};
pub use publisher::CE_PREFIX as HEADER_PREFIX;
pub use publisher::{MessagePublisher, OutboundMessage, Publisher, event_message};
pub use retired::RetiredQueue;
