//! The statement of a finding, apart from its place in a text: shared by extraction and by the rules that decide on it.

use super::coded_enum::codes;

codes!(
    /// The kind of a finding (contract.md, `extract`).
    EntityType {
        Condition = "condition",
        Symptom = "symptom",
        Allergy = "allergy",
        /// A substance that is not tolerated without being an allergen: its reaction is a side effect.
        Intolerance = "intolerance",
        Medication = "medication",
        Appointment = "appointment",
        Event = "event",
        HealthSignal = "health_signal",
        Preference = "preference",
        Goal = "goal",
        Relationship = "relationship",
        /// A laboratory value, a vital sign, a score, a size of the body.
        Measurement = "measurement",
        /// An operation, a treatment in sessions, an investigation, a vaccination.
        Procedure = "procedure",
    }
);

codes!(
    /// When a finding is true, seen from the text that carries it.
    Temporality { Recent = "recent", Historical = "historical", Hypothetical = "hypothetical" }
);

codes!(
    /// The person of whom a finding is true.
    Experiencer { Patient = "patient", Family = "family", Other = "other" }
);

codes!(
    /// How it is known: seed 000, principle 1, with `unknown` for what has no recorded source.
    Epistemic { Explicit = "explicit", Observed = "observed", Inferred = "inferred", Unknown = "unknown" }
);

codes!(
    /// Whether a finding is stated or denied. A denial is a separate fact ("not allergic"), never a missing row.
    Polarity { Affirmed = "affirmed", Negated = "negated" }
);

impl Polarity {
    pub fn from_negated(negated: bool) -> Self {
        if negated { Self::Negated } else { Self::Affirmed }
    }
}

impl EntityType {
    /// Stored in the clinical store, the source of truth for safety (seed 002, sections 2 and 5), and not in the
    /// conversational one.
    pub fn is_clinical(self) -> bool {
        matches!(
            self,
            Self::Condition
                | Self::Symptom
                | Self::Allergy
                | Self::Intolerance
                | Self::Medication
                | Self::Appointment
                | Self::Event
                | Self::HealthSignal
                | Self::Measurement
                | Self::Procedure
        )
    }

    /// Tied to a time: the time is part of its identity.
    pub fn happens(self) -> bool {
        matches!(self, Self::Appointment | Self::Event | Self::Measurement | Self::Procedure)
    }
}

codes!(
    /// How soon a clinician must look at a risk (docs/risk.md).
    RiskLevel { None = "none", Low = "low", Medium = "medium", High = "high" }
);

impl RiskLevel {
    /// Whether a clinician is called at once; a low risk waits for the next reader.
    pub const fn calls(self) -> bool {
        matches!(self, Self::Medium | Self::High)
    }
}
