//! What a patient can ask for by a message and is answered.

use super::coded_enum::codes;

codes!(
    /// What was asked for.
    AnswerKind {
        PrivacyReport = "privacy_report",
        Export = "export",
        /// What a command would forget or take back.
        Preview = "preview",
        /// What was forgotten, and for how long it can be taken back.
        Forget = "forget",
        /// What was taken back.
        Recover = "recover",
        EphemeralOn = "ephemeral_on",
        EphemeralOff = "ephemeral_off",
        /// What is permitted and denied now.
        Consent = "consent",
    }
);
