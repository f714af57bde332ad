//! Root keys in key services, each held against a server of this process that speaks as the service does, and key tables.

mod aws;
mod azure;
mod contract;
pub mod fake;
mod google;
mod hosts;
pub mod tables;
pub mod vault;
