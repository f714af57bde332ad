//! What a clinical memory is and the rules of its life: pure, synchronous, no I/O. Names no runtime, database, broker,
//! HTTP client or metric.

pub mod document;
pub mod ids;
pub mod reason;
pub mod scope;
