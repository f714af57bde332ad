//! Root keys in key services, each tested against a fake server in this process, and key tables.

mod aws;
mod azure;
mod contract;
pub(crate) mod fake;
mod google;
mod hosts;
pub(crate) mod tables;
pub(crate) mod vault;
