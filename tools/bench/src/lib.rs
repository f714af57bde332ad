//! Measurements of the program: documents per second, search, jobs, messages, redaction and extraction.

pub mod accounts;
pub mod audit;
pub mod bare;
pub mod beside;
pub mod corpus;
pub mod extract;
pub mod growth;
pub mod ingest;
pub mod messages;
pub mod nights;
pub mod peers;
pub mod process;
pub mod recall;
pub mod redaction;
