//! Servers that tests and benchmarks run against: an embedding provider with faults on demand, and a proxy that breaks
//! connections.

pub mod fault_proxy;
pub mod provider;
