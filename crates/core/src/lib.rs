//! The model of a clinical memory and the rules of its life cycle: pure, synchronous, no I/O. Names no runtime,
//! database, broker, HTTP client or metric. Time, randomness and ids come from the caller ([`clock`]).

pub mod answer;
pub mod audit;
pub mod bulk_request_guard;
// Only this module may ask for the time; `tests/suite/architecture.rs` holds it.
pub mod clock;
pub mod coded_enum;
pub mod cohort;
pub mod confidence;
pub mod confidence_trend;
pub mod consent;
pub mod contradiction;
pub mod document;
pub mod emergency;
pub mod equivalence;
pub mod event;
pub mod fact;
pub mod fact_date;
// In release builds every function of it does nothing.
pub mod failpoints;
pub mod finding;
pub mod ids;
pub mod legacy;
pub mod lifecycle;
pub mod lineage;
pub mod measured;
pub mod memory;
pub mod outcome;
pub mod preference;
pub mod producer;
pub mod profile;
pub mod projection;
pub mod provenance;
pub mod quantity;
pub mod reason;
pub mod renamed;
pub mod retention;
pub mod scope;
pub mod side_value;
pub mod source;
pub mod summary;
pub mod supersede;
pub mod vector;
pub mod wording;
