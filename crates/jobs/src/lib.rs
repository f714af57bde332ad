//! Job runs. At a one-minute tick, the planner computes the due runs, the ledger decides who runs them, and the driver
//! runs them in small transactions. A job has no input but its date and its policy; running it twice changes nothing.

pub mod cohort_patterns;
pub mod confidence_analytics;
pub mod consolidation;
pub mod decay;
mod derived_finding;
pub mod driver;
pub mod embed_batch;
mod error;
pub mod expiry;
pub mod keyset_pages;
pub mod ledger;
pub mod metrics;
mod permits;
pub mod planner;
pub mod policy;
pub mod purge;
pub mod reconciliation;
pub mod reconfirmation;
pub mod redaction;
pub mod reembedding;
pub mod reference;
pub mod registry;
pub mod renamed;
pub mod report;
pub mod retention;
pub mod schedule;
pub mod scheduler;
mod statements;
pub mod status;
pub mod summaries;
pub mod ticker;
mod traced;
pub mod upkeep;

pub use registry::JobName;

/// Every statement of the folder `sql`, for the test that prepares them.
pub fn statements() -> Vec<anamnesis_store::NamedStatement> {
    statements::all()
}
