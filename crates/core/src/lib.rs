//! What a clinical memory is and the rules of its life: pure, synchronous, no I/O. Names no runtime, database, broker,
//! HTTP client or metric. Time, randomness and ids come from the caller ([`clock`]).

pub mod account;
pub mod clock;
pub mod code;
pub mod cohort;
pub mod confidence;
pub mod consent;
pub mod contradiction;
pub mod course;
pub mod document;
pub mod dump;
pub mod fact;
pub mod fact_date;
pub mod failpoints;
pub mod finding;
pub mod fold;
pub mod ids;
pub mod legacy;
pub mod lifecycle;
pub mod lineage;
pub mod measured;
pub mod memory;
pub mod preference;
pub mod producer;
pub mod profile;
pub mod provenance;
pub mod quantity;
pub mod reason;
pub mod retention;
pub mod sameness;
pub mod scope;
pub mod side_value;
pub mod source;
pub mod supersede;
pub mod vector;
pub mod wording;
