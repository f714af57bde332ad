//! Redaction measured: against the clock ([`speed`]) and against nonsense ([`fuzz`]).

pub mod fuzz;
pub(crate) mod speed;
