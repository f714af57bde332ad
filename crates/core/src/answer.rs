//! The requests of a patient that are answered by a message.

use super::coded_enum::codes;

codes!(
    /// The request that is answered.
    AnswerKind {
        PrivacyReport = "privacy_report",
        Export = "export",
        /// The memories that a command would forget or take back.
        Preview = "preview",
        /// The forgotten memories, and for how long they can be taken back.
        Forget = "forget",
        /// The memories that were taken back.
        Recover = "recover",
        EphemeralOn = "ephemeral_on",
        EphemeralOff = "ephemeral_off",
        /// The permits and denials in force.
        Consent = "consent",
    }
);
