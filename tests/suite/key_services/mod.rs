//! Root keys in key services, each held against a server of this process that speaks as the service does, and key tables.

mod aws;
mod azure;
mod contract;
pub(crate) mod fake;
mod google;
mod hosts;
pub(crate) mod tables;
pub(crate) mod vault;
