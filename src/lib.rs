//! Anamnesis: the clinical memory pipeline.
//!
//! Modules depend downwards only: `cli` → `jobs`, `pipeline`, `recall`, `http` → `intake`, `dlp`, `extract`, `embed`,
//! `store` → `crypto`, `text`, `domain`, `clock`. A test holds the table of ARCHITECTURE.md against the code.

pub mod bench;
pub mod broker;
pub mod bug;
pub mod cli;
pub mod clock;
pub mod config;
pub mod crypto;
pub mod dlp;
pub mod domain;
pub mod embed;
pub mod extract;
pub mod http;
pub mod intake;
pub mod jobs;
pub mod metrics;
pub mod pipeline;
pub mod recall;
pub mod relay;
pub mod shutdown;
pub mod store;
pub mod telemetry;
pub mod text;
pub mod transport;
pub mod vector;
