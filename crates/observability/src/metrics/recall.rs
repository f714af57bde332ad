//! Reads of memory. They happen in commands, which end before Prometheus scrapes them: a command adds its counts to the
//! store, and a worker exports the sums ([`super::Metrics::show`]).

use super::labels::{Endpoint, Measure, ReadOutcome, Retriever};
use super::registrar::area;
use anamnesis_core::memory::Kind;

/// Seconds of a part of a search; the budget for context is 0.1 (seed 003).
const SEARCH_SECONDS: &[f64] = &[0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5];

/// Tenths of effective confidence, and 0.95, which only verified or protected memories exceed.
const CONFIDENCE: &[f64] = &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0];

/// The area whose metrics are all of the store.
pub(super) const AREA: &str = "recall";

area! {
    /// Recall.
    pub struct RecallMetrics as "recall" {
        /// Reads of memory by endpoint and outcome, of all commands on this store
        reads: Counters<(Endpoint, ReadOutcome)> = "memory_reads_total";
        /// Effective confidence at the moment of reading, of all commands on this store
        confidence: Histograms<Kind> = "memory_confidence_ratio" in CONFIDENCE;
        /// Seconds that a retriever of a search took, of all commands on this store
        seconds: Histograms<Retriever> = "retrieval_duration_seconds" in SEARCH_SECONDS;
        /// Share of questions whose evidence was found, at the last evaluation that was recorded in this store
        quality: Levels<Measure> = "retrieval_quality_ratio";
        /// Refused requests for all memories at once, of all commands on this store
        dumps_refused: Counters<()> = "dump_requests_refused_total";
    }
}
