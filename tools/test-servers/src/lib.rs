//! Servers that tests and benchmarks run against: an embedding provider with faults on demand, a proxy that breaks
//! connections, and a collector of spans.

#[cfg(feature = "otel")]
pub mod collector;
pub mod fault_proxy;
pub mod provider;
