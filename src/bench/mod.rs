//! Measurements, and the servers they need.

pub mod bare;
pub mod beside;
pub mod corpus;
pub mod extract;
pub mod ingest;
pub mod messages;
pub mod nights;
pub mod peers;
pub mod process;
pub mod provider;
pub mod recall;
pub mod redaction;
pub mod relay;
