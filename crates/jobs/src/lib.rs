//! Job runs. At a one-minute tick, the planner computes the due runs, the ledger decides who runs them, and the driver
//! runs them in small transactions. A job has no input but its date and its policy; running it twice changes nothing.

mod cohort_patterns;
mod confidence_analytics;
mod consolidation;
mod decay;
mod derived_finding;
pub mod driver;
mod embed_batch;
mod error;
mod expiry;
mod keyset_pages;
pub mod ledger;
pub mod metrics;
mod permits;
pub mod planner;
pub mod policy;
mod purge;
mod reconciliation;
mod reconfirmation;
mod redaction;
mod reembedding;
pub mod reference;
mod registry;
pub mod renamed;
mod report;
mod retention;
mod schedule;
pub mod scheduler;
mod statements;
mod status;
mod summaries;
mod ticker;
mod traced;
mod upkeep;

pub use registry::JobName;

/// Every statement of the folder `sql`, for the test that prepares them.
pub fn statements() -> Vec<anamnesis_store::NamedStatement> {
    statements::all()
}
