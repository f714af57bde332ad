//! Configuration, one file per section.

pub mod http;
pub mod log;
