//! The life of memory: what was written, changed and asked again.

use super::labels::{ContradictionType, ErrorCode, Operation, Risk, WriteOutcome};
use super::registrar::area;
use super::transition::Transition;
use anamnesis_core::memory::{Kind, State};

area! {
    /// Memory.
    pub struct MemoryMetrics as "memory" {
        /// Writes of memory by kind and outcome
        writes: Counters<(Kind, WriteOutcome)> = "memory_writes_total";
        /// Operations on memory that failed
        errors: Counters<(Operation, ErrorCode)> = "memory_errors_total";
        /// Memories whose effective confidence fell below their threshold
        decays: Counters<Kind> = "decay_transitions_total";
        /// State transitions of memories, by rule
        transitions: Counters<Transition> = "memory_transitions_total";
        /// Memories by kind and state, as of the last count
        held: Gauges<(Kind, State)> = "memories";
        /// Reconfirmation tasks without an answer
        reconfirmations_due: Gauges<()> = "reconfirmations_due";
        /// Contradictions found
        contradictions: Counters<ContradictionType> = "contradictions_total";
        /// Risk flags by class
        risks: Counters<Risk> = "risk_flags_total";
    }
}
