//! Anamnesis: the clinical memory pipeline.
//!
//! This package is the program: its command line, its HTTP endpoints and its process. The work is done by the crates of
//! the workspace, whose borders Cargo enforces (ARCHITECTURE.md has the map).

pub mod cli;
mod http;
mod shutdown;
