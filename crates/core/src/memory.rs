//! The closed sets of a memory (model.md, "A memory"), each with stable codes.

use super::coded_enum::codes;
pub use super::document::DocumentType;
use super::finding::EntityType;

codes!(
    /// Seed 001, section 2: the eight types of memory.
    Kind {
        /// An unprocessed capture.
        Raw = "raw",
        /// A significant experience with objective, outcome and lessons.
        Episode = "episode",
        /// A decision, an insight, an observation, a quote.
        Note = "note",
        /// A pattern, a principle, a held truth.
        Belief = "belief",
        Value = "value",
        Goal = "goal",
        /// A fundamental motivation.
        Drive = "drive",
        Relationship = "relationship",
    }
);

codes!(
    /// Seed 002, section 4: how a memory ages. `preference` and `pattern` are added by model.md.
    Class {
        /// Allergies, chronic conditions. Never expires, never decays.
        LongLivedFact = "long_lived_fact",
        /// A temporary symptom or state: reconfirmed after 48 hours, unconfirmed after 7 days.
        TimeBoundState = "time_bound_state",
        /// Immutable history.
        Event = "event",
        /// A model's inference: at most 24 hours, never a decision.
        Inference = "inference",
        /// A measurement or a trend of a device: outdated 7 days after its last synchronisation.
        HealthSignal = "health_signal",
        Preference = "preference",
        /// Formed by consolidation: lives under decay, a hypothesis until a person verifies it.
        Pattern = "pattern",
    }
);

impl Class {
    /// The class of what a person vouches for (model.md, "Verify"): a hypothesis no longer ends with its day. A
    /// clinical fact that a model found is stored like one that a person states.
    pub fn vouched(self, entity: EntityType) -> Self {
        match self {
            Self::Inference if entity.is_clinical() => Self::from_finding(entity),
            Self::Inference => Self::Pattern,
            other => other,
        }
    }

    /// The class in which a stated finding is stored. What a model infers is `Inference`, whatever it is about. The
    /// caller distinguishes a chronic condition from a passing one, so that a condition is long-lived until the text
    /// says otherwise (an error in that direction loses nothing).
    pub fn from_finding(entity: EntityType) -> Self {
        match entity {
            EntityType::Condition
            | EntityType::Allergy
            | EntityType::Intolerance
            | EntityType::Medication
            | EntityType::Relationship => Self::LongLivedFact,
            EntityType::Symptom => Self::TimeBoundState,
            EntityType::Appointment | EntityType::Event | EntityType::Measurement | EntityType::Procedure => {
                Self::Event
            }
            EntityType::HealthSignal => Self::HealthSignal,
            EntityType::Preference | EntityType::Goal => Self::Preference,
        }
    }
}

codes!(
    Sensitivity { Low = "low", Medium = "medium", High = "high" }
);

codes!(
    /// The place of a memory in its life cycle (model.md, "States"). Time-driven changes are `lifecycle::standing`.
    State {
        Active = "active",
        /// Stated as ended.
        Resolved = "resolved",
        /// Not confirmed within 7 days: history only (seed 002, section 4).
        ResolvedUnconfirmed = "resolved_unconfirmed",
        /// An inference past its time.
        Expired = "expired",
        /// A health signal that was not refreshed: shown as outdated.
        Stale = "stale",
        /// Replaced by a newer value of the same attribute.
        Superseded = "superseded",
        /// Forgotten (seed 000, `/olvidar`): out of every search, recoverable for 30 days.
        Inactive = "inactive",
        /// Waits for a person's review.
        Quarantined = "quarantined",
        Erased = "erased",
    }
);

impl State {
    /// Seed 000, principle 2: whether a search may see it at all.
    pub fn is_visible(self) -> bool {
        !matches!(self, Self::Inactive | Self::Quarantined | Self::Erased)
    }

    /// Reached by time alone, without a person's statement (model.md, "States").
    pub fn is_of_time(self) -> bool {
        matches!(self, Self::ResolvedUnconfirmed | Self::Expired | Self::Stale)
    }
}

codes!(
    /// The permitted use of a memory (model.md, "States").
    PermittedUse {
        /// Safe to act on.
        Decision = "decision",
        /// Shown with a label, to be asked about, never acted on.
        Hypothesis = "hypothesis",
        /// True once, or not known to be true now.
        History = "history",
    }
);

codes!(
    /// The setter of a row: a role of the document's participants, not a kind of being (model.md, "Provenance").
    SetBy {
        Clinician = "clinician",
        /// A profile event.
        Profile = "profile",
        /// A person's answer to a reconfirmation task.
        Task = "task",
        Patient = "patient",
        Family = "family",
        /// A registered device or system.
        Device = "device",
        /// A model or another agent.
        Agent = "agent",
        Unknown = "unknown",
    }
);

impl SetBy {
    /// May change a clinical row and any allergy: a clinician, a profile event or an answered task.
    pub(crate) fn is_authoritative(self) -> bool {
        matches!(self, Self::Clinician | Self::Profile | Self::Task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_reads_back_as_its_variant_in_serde_too() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_code(kind.code()), Some(*kind));
        }
        for state in State::ALL {
            assert_eq!(State::from_code(state.code()), Some(*state));
            let json = serde_json::to_string(state).unwrap();
            assert_eq!(json, format!("\"{}\"", state.code()));
            assert_eq!(serde_json::from_str::<State>(&json).unwrap(), *state);
        }
        assert_eq!(Class::from_code("LONG_LIVED_FACT"), None);
    }

    #[test]
    fn forgotten_quarantined_and_erased_rows_are_out_of_every_search() {
        let hidden: Vec<_> = State::ALL.iter().filter(|s| !s.is_visible()).collect();
        assert_eq!(hidden, [&State::Inactive, &State::Quarantined, &State::Erased]);
    }
}
