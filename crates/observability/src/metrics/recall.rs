//! How reading does.

use super::labels::{Leg, Measure};
use super::registrar::area;

/// Seconds of a part of a search; the budget for context is 0.1 (seed 003).
const SEARCH_SECONDS: &[f64] = &[0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5];

area! {
    /// Recall.
    pub struct Recall as "recall" {
        /// Seconds that a part of a search took
        seconds: Histograms<Leg> = "retrieval_duration_seconds" in SEARCH_SECONDS;
        /// Share of questions whose evidence was found, at the last evaluation
        quality: Levels<Measure> = "retrieval_quality_ratio";
        /// Requests to hand out everything, refused
        dumps_refused: Counters<()> = "dump_requests_refused_total";
    }
}
