//! Anamnesis: the clinical memory pipeline.
//!
//! This package is the program: its command line, its HTTP endpoints and its process. What it does stands in the crates
//! of the workspace, whose borders Cargo holds (ARCHITECTURE.md has the map).

pub mod cli;
pub mod http;
pub mod shutdown;
