//! Redaction measured: against marked texts ([`score`]), against the clock ([`speed`]) and against nonsense ([`fuzz`]); and whether it
//! keeps the meaning of what it leaves ([`meaning`]).

pub mod fuzz;
pub mod meaning;
pub mod score;
pub mod speed;
