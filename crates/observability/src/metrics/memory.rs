//! The life of memory: what was read, written, changed and asked again.

use super::labels::{ContradictionType, Door, ErrorCode, Operation, ReadOutcome, Risk, WriteOutcome};
use super::registrar::area;
use super::transition::Transition;
use anamnesis_core::memory::{Kind, State};

/// Tenths of effective confidence, and 0.95, above which only verified or protected memories stand.
const CONFIDENCE: &[f64] = &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0];

area! {
    /// Memory.
    pub struct Memory as "memory" {
        /// Reads of memory by door and result
        reads: Counters<(Door, ReadOutcome)> = "memory_reads_total";
        /// Writes of memory by kind and effect
        writes: Counters<(Kind, WriteOutcome)> = "memory_writes_total";
        /// Operations on memory that failed
        errors: Counters<(Operation, ErrorCode)> = "memory_errors_total";
        /// Memories whose effective confidence fell below their threshold
        decays: Counters<Kind> = "decay_transitions_total";
        /// Changes of state, by the rule that made them
        transitions: Counters<Transition> = "memory_transitions_total";
        /// Memories held, by kind and state, as of the last count
        held: Gauges<(Kind, State)> = "memories";
        /// Effective confidence at the moment of reading
        confidence: Histograms<Kind> = "memory_confidence_ratio" in CONFIDENCE;
        /// Reconfirmation tasks that wait for an answer
        reconfirmations_due: Gauges<()> = "reconfirmations_due";
        /// Contradictions found
        contradictions: Counters<ContradictionType> = "contradictions_total";
        /// Lines that speak of risk
        risks: Counters<Risk> = "risk_flags_total";
    }
}
