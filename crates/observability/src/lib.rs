//! What operators see: metrics and the log. Nothing that a patient said can reach either: labels are closed types, and
//! fields are ids, codes, counts and durations.

pub mod log;
pub mod log_codes;
pub mod metrics;
