//! Vectors of passages by generation: which generation is active, building another one, and comparing two of them.

pub mod compare;
pub mod generation;
pub mod rebuild;
