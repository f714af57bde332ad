//! What a producer may send, in terms that configuration, admission and documentation share: types of messages, and the
//! roles in which a person speaks or acts.

use super::coded_enum::codes;
use super::memory::SetBy;

codes!(
    /// The types of messages of the contract, by their names.
    ContractMessageType {
        Document = "anamnesis.document.submitted.v1",
        HealthSignal = "anamnesis.health_signal.recorded.v1",
        Profile = "anamnesis.profile.updated.v1",
        Consent = "anamnesis.consent.recorded.v1",
        Command = "anamnesis.memory.command.v1",
    }
);

codes!(
    /// In which role a command of a producer may act, and whose words in its documents count as that role's.
    ProducerRole {
        Patient = "patient",
        Clinician = "clinician",
        Family = "family",
        Agent = "agent",
        /// Commands of programs.
        System = "system",
    }
);

impl ProducerRole {
    /// The role that gives a row its standing; `None` for what needs none: devices and profile events are separate
    /// types of messages, and an unknown speaker gives no standing.
    pub fn from_set_by(set_by: SetBy) -> Option<Self> {
        match set_by {
            SetBy::Patient | SetBy::Task => Some(Self::Patient),
            SetBy::Clinician => Some(Self::Clinician),
            SetBy::Family => Some(Self::Family),
            SetBy::Agent => Some(Self::Agent),
            SetBy::Profile | SetBy::Device | SetBy::Unknown => None,
        }
    }
}
