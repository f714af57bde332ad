//! Redaction measured: against marked texts ([`score`]), against the clock ([`speed`]) and against nonsense ([`fuzz`]).

pub mod fuzz;
pub mod score;
pub mod speed;
