//! Measurements of the program: documents per second, search, jobs, messages, redaction and extraction.

pub mod audit;
pub mod baseline_inserts;
pub mod concurrent_latency;
pub mod corpus;
pub mod disk_usage;
pub mod extract;
pub mod growth;
pub mod ingest;
pub mod jobs;
pub mod messages;
pub mod peers;
pub mod process;
pub mod recall;
pub mod redaction;
