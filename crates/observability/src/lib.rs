//! What operators see: metrics, the log and traces. Nothing that a patient said can reach any of them: labels and names are
//! closed types, and fields are ids, codes, counts and durations.

pub mod log;
pub mod log_codes;
pub mod metrics;
pub mod traces;
