//! Isolation of crash suspects. A message with two unfinished attempts is handled in a separate process. Only the death
//! of that process counts against the message, not that of a neighbour and not a random kill of the worker.

mod protocol;

use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

pub use protocol::{IsolatedRequest, IsolatedResponse};

use crate::{Disposition, Pipeline, RawMessage};
use anamnesis_config::secrets;
use anamnesis_core::reason::Reason;
use anamnesis_observability::metrics::labels::Queue;
use anamnesis_store::StoreError;

/// Deaths in a row that make a message a suspect no longer but the cause.
const DEATHS: u32 = 3;
/// Longest work on one message: beyond every limit of a stage.
const LIMIT: Duration = Duration::from_secs(120);
/// A process may die of what happens around it: the next one comes a little later.
const REST: Duration = Duration::from_millis(500);
/// Rust's exit code after a panic.
const PANICKED: i32 = 101;

/// SIGHUP, SIGINT, SIGQUIT, SIGTERM: requests to end the process. SIGXFSZ: a limit of the file system.
const ENDED_BY_OTHERS: [i32; 5] = [1, 2, 3, 15, 25];

/// How one try ended.
enum AttemptEnd {
    With(Disposition),
    /// By its own death.
    Died,
}

/// Starts the processes.
#[derive(Debug, Clone)]
pub struct Isolation {
    program: PathBuf,
    config: Option<PathBuf>,
}

impl Isolation {
    /// The running program, with the same configuration.
    ///
    /// # Errors
    /// When the operating system does not name the running program.
    pub fn of_this_program(config: Option<PathBuf>) -> std::io::Result<Self> {
        Ok(Self { program: std::env::current_exe()?, config })
    }

    /// The outcome of the message, or `None` when it killed every process that handled it.
    async fn work(&self, queue: Queue, message: &RawMessage) -> Option<Disposition> {
        for death in 0..DEATHS {
            if death > 0 {
                tokio::time::sleep(REST * death).await;
            }
            match self.once(queue, message).await {
                Ok(AttemptEnd::With(disposition)) => return Some(disposition),
                Ok(AttemptEnd::Died) => {
                    let deaths = death + 1;
                    tracing::warn!(code = "isolated_crash", deaths, "a message crashed its isolated process");
                }
                // No process could be had: that is not the message's fault.
                Err(_) => return Some(Disposition::Waits),
            }
        }
        None
    }

    async fn once(&self, queue: Queue, message: &RawMessage) -> std::io::Result<AttemptEnd> {
        let mut command = Command::new(&self.program);
        command.arg("alone").stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        if let Some(config) = &self.config {
            command.arg("--config").arg(config);
        }
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(secrets::is_secret) {
                command.env_remove(name);
            }
        }
        let mut child = command.spawn()?;
        let asked = IsolatedRequest::new(queue, message).written().ok_or(std::io::ErrorKind::InvalidData)?;
        if let Some(mut stdin) = child.stdin.take() {
            // A process that dies while it reads shows by its status.
            let _ = stdin.write_all(&asked).await;
        }
        match tokio::time::timeout(LIMIT, child.wait_with_output()).await {
            // The worker ended it, because it waited too long, usually for a store or a service. A message that
            // computes without end exceeds its processor time and dies of that (`isolated_worker`).
            Err(_) => Ok(AttemptEnd::With(Disposition::Retry)),
            Ok(output) => {
                let output = output?;
                Ok(judged(output.status, &output.stdout))
            }
        }
    }
}

/// A batch, split into crash suspects and the other messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuspectSplit {
    /// Places of those that are worked together.
    pub together: Vec<usize>,
    /// Places of those that were begun twice and never ended.
    pub suspects: Vec<usize>,
}

impl Pipeline {
    /// Splits a batch: a message that may have killed a process twice is handled in a separate process.
    ///
    /// # Errors
    /// Of the store.
    pub async fn split_suspects(&self, batch: &[RawMessage]) -> Result<SuspectSplit, StoreError> {
        let suspects = self.suspects(batch).await?;
        let (suspects, together) = (0..batch.len()).partition(|at| suspects[*at]);
        Ok(SuspectSplit { together, suspects })
    }

    /// Handles one message in a separate process, and quarantines it if it killed every process that handled it.
    pub async fn run_isolated(&self, isolation: &Isolation, queue: Queue, message: &RawMessage) -> Disposition {
        match isolation.work(queue, message).await {
            Some(disposition) => disposition,
            None => match self.quarantine_message(message, Reason::CrashSuspect).await {
                Ok(()) => Disposition::Quarantined(Reason::CrashSuspect),
                Err(_) => Disposition::Waits,
            },
        }
    }
}

/// Killed or panicked is dead; a process that could not begin (no store, no configuration) says so and is not. Nor is one
/// that was asked to end, or that was not allowed to write a longer file: that is the disk's refusal, not the message's doing.
fn judged(status: ExitStatus, answer: &[u8]) -> AttemptEnd {
    if status.signal().is_some_and(|signal| ENDED_BY_OTHERS.contains(&signal)) {
        return AttemptEnd::With(Disposition::Waits);
    }
    match status.code() {
        None | Some(PANICKED) => AttemptEnd::Died,
        Some(0) => {
            let told = serde_json::from_slice::<IsolatedResponse>(answer).ok().and_then(IsolatedResponse::disposition);
            AttemptEnd::With(told.unwrap_or(Disposition::Retry))
        }
        Some(_) => AttemptEnd::With(Disposition::Waits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_core::reason::Reason;

    fn verdict(raw: i32, answer: &str) -> Option<Disposition> {
        match judged(ExitStatus::from_raw(raw), answer.as_bytes()) {
            AttemptEnd::With(disposition) => Some(disposition),
            AttemptEnd::Died => None,
        }
    }

    #[test]
    fn only_its_own_death_counts_against_a_message() {
        assert_eq!(verdict(6, ""), None, "aborted");
        assert_eq!(verdict(9, ""), None, "killed");
        assert_eq!(verdict(PANICKED << 8, ""), None, "panicked");
        for signal in ENDED_BY_OTHERS {
            assert_eq!(verdict(signal, ""), Some(Disposition::Waits), "asked to end by signal {signal}");
        }
        assert_eq!(verdict(24, ""), None, "computed without end");
        assert_eq!(verdict(1 << 8, ""), Some(Disposition::Waits), "no store");
        assert_eq!(verdict(2 << 8, ""), Some(Disposition::Waits), "no configuration");
        for outcome in
            [Disposition::Stored, Disposition::Quarantined(Reason::Malformed), Disposition::Retry, Disposition::Waits]
        {
            let answer = serde_json::to_string(&IsolatedResponse::from_disposition(outcome)).unwrap();
            assert_eq!(verdict(0, &answer), Some(outcome));
        }
        assert_eq!(verdict(0, ""), Some(Disposition::Retry));
    }
}
