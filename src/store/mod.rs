//! The store: rows, vectors and keys of patients behind one door. Statements are written once (`sql/`), engines differ
//! in `engine/` only.

pub mod aging;
pub mod engine;
pub mod outbox;
