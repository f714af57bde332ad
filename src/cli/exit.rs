//! How a verb ends: exit codes (contract.md, "Command line") and the failure that is shown to the person who ran it.

use std::fmt;
use std::process::ExitCode;

use serde::Serialize;
use serde_json::json;

use anamnesis_store::StoreError;

/// The exit codes that scripts and CronJobs rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: everything asked for was done.
    Done,
    /// 1: nothing useful was done.
    Failed,
    /// 2: the arguments or the configuration are wrong; nothing was tried.
    Usage,
    /// 3: some of it was done; the rest was refused or must be tried again.
    Partial,
    /// 4: another process holds the job or the lease.
    Held,
    /// 5: the compared data differ (`audit verify`).
    Diverged,
}

impl Exit {
    pub(crate) const ALL: [Exit; 6] =
        [Exit::Done, Exit::Failed, Exit::Usage, Exit::Partial, Exit::Held, Exit::Diverged];

    /// Its meaning, and what a script should do.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Exit::Done => "Done: everything asked for was done.",
            Exit::Failed => "Failed: nothing useful was done. Standard error says why; a later try may succeed.",
            Exit::Usage => "Usage: arguments or configuration are wrong, and nothing was tried. Correct them first.",
            Exit::Partial => "Done in part: the rest was refused or must be tried again.",
            Exit::Held => "Another process holds the job or the lease. Nothing is wrong; try later.",
            Exit::Diverged => {
                "`audit verify`: a saved head of the audit trail is not in the chain. Investigate before anything else."
            }
        }
    }

    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Partial => 3,
            Exit::Held => 4,
            Exit::Diverged => 5,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

/// The answer about a patient: one of five, which are never confused. Programs find it as `answer`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PatientAnswer {
    Known,
    /// Nothing is known of the patient.
    Unknown,
    /// The patient was erased: the key was destroyed, and nothing can be read any more.
    Erased,
    /// The patient does not permit readers to see stored data.
    Withheld,
    /// The key store is unreachable or the wrong one: no patient can be read.
    KeysUnavailable,
}

impl PatientAnswer {
    /// Of a patient who can be read.
    pub(crate) fn known(known: bool) -> Self {
        if known { Self::Known } else { Self::Unknown }
    }

    /// The answer about patients in an error of the store; most errors have none.
    pub(crate) fn from_store_error(error: &StoreError) -> Option<Self> {
        match error {
            StoreError::Erased => Some(Self::Erased),
            StoreError::NoConsent => Some(Self::Withheld),
            StoreError::Key(_) => Some(Self::KeysUnavailable),
            _ => None,
        }
    }
}

/// Why a verb stopped. The message is ours (codes, paths and names of options), never text of a document and never a
/// library error that may quote one.
#[derive(Debug)]
pub struct CliError {
    exit: Exit,
    message: String,
    /// The answer about the requested patient.
    answer: Option<PatientAnswer>,
}

impl CliError {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), answer: None }
    }

    /// Adds an answer about patients.
    #[must_use]
    pub(crate) fn answering(self, answer: Option<PatientAnswer>) -> Self {
        Self { answer, ..self }
    }

    /// The output for programs in place of a result: an object with `answer` and `error`.
    pub(crate) fn json(&self) -> Option<serde_json::Value> {
        self.answer.map(|answer| json!({"answer": answer, "error": self.message}))
    }

    /// The code of the answer about the patient.
    pub(crate) fn answer_code(&self) -> Option<&'static str> {
        self.answer.map(|answer| match answer {
            PatientAnswer::Known => "known",
            PatientAnswer::Unknown => "unknown",
            PatientAnswer::Erased => "erased",
            PatientAnswer::Withheld => "withheld",
            PatientAnswer::KeysUnavailable => "keys_unavailable",
        })
    }

    /// Exit code 1.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Exit::Failed, message)
    }

    /// Exit code 2: arguments or configuration.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// The reader of our output went away (`… | head`): nothing to say, as other tools do.
    pub(crate) fn is_silent(&self) -> bool {
        self.message.is_empty()
    }

    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for CliError {}

impl From<std::io::Error> for CliError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::failed(""),
            kind => Self::failed(format!("input or output failed: {kind}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_those_of_the_contract() {
        assert_eq!(Exit::ALL.map(Exit::code), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_reader_that_went_away_is_not_complained_about() {
        let failure = CliError::from(std::io::Error::from(std::io::ErrorKind::BrokenPipe));
        assert!(failure.is_silent());
        assert!(!CliError::from(std::io::Error::from(std::io::ErrorKind::NotFound)).is_silent());
    }
}
