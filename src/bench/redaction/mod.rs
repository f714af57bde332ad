//! Redaction measured: against marked texts ([`score`]) and against the clock ([`speed`]).

pub mod score;
pub mod speed;
