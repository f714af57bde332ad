//! Measurements, and the servers they need.

pub mod provider;
