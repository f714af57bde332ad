//! `doctor`: checks everything that a worker needs, and reports each fault with its cause and its remedy. It changes
//! nothing: no store is created or migrated, no message is sent to a queue, no file is changed (except SQLite's
//! `-shm`).

mod broker;
mod certificates;
pub mod codes;
mod configuration;
mod embedding;
mod files;
mod keys;
mod store;
mod traces;
mod work;

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::json;

use super::output::{self, OutputFormat};
use super::{CliError, Context, Exit};
use anamnesis_config::{self as config, Settings};
use anamnesis_core::clock::{Clock, Entropy, ManualClock, SystemClock, SystemEntropy};
use anamnesis_store::Store;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Also print checks without findings, and skipped checks with the reason.
    #[arg(long)]
    all: bool,
    /// Warn if a disk has less free space than this percentage.
    #[arg(long, value_name = "PERCENT", default_value_t = 10, value_parser = clap::value_parser!(u8).range(0..=100))]
    disk_free: u8,
    /// Report a disk with less free space than this as full.
    #[arg(long, value_name = "MIB", default_value_t = 64)]
    disk_full: u64,
    /// Age in days from which a quarantined message is old.
    #[arg(long, value_name = "DAYS", default_value_t = 7)]
    quarantine_days: u32,
    /// Warn if a certificate expires within this number of days.
    #[arg(long, value_name = "DAYS", default_value_t = 14)]
    certificate_days: u32,
    /// Warn if this number of messages was quarantined within a day.
    #[arg(long, value_name = "MESSAGES", default_value_t = 100)]
    quarantine_growth: usize,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FindingState {
    Fault,
    Warning,
    Skipped,
    Ok,
}

impl FindingState {
    /// The word in tables and on the generated page.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Fault => "fault",
            Self::Warning => "warning",
            Self::Skipped => "skipped",
            Self::Ok => "ok",
        }
    }
}

/// One checked thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct DoctorFinding {
    check: &'static str,
    /// `None` where nothing was found.
    code: Option<&'static str>,
    state: FindingState,
    cause: String,
    remedy: Option<&'static str>,
}

/// The common state of the checks.
pub(crate) struct Doctor {
    pub(crate) settings: Settings,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) entropy: Arc<dyn Entropy>,
    /// The store with its keys, where both can be used.
    pub(crate) store: Option<Store>,
    pub(crate) limits: Args,
    pub(crate) findings: Vec<DoctorFinding>,
}

impl Doctor {
    /// Notes a finding of the table of codes.
    pub(crate) fn found(&mut self, code: &'static str, cause: impl Into<String>) {
        let finding = finding(code, cause);
        if !self.findings.contains(&finding) {
            self.findings.push(finding);
        }
    }

    /// Records that a check was not possible, or has no subject.
    pub(crate) fn skip(&mut self, check: &'static str, cause: &str) {
        self.findings.push(DoctorFinding {
            check,
            code: None,
            state: FindingState::Skipped,
            cause: cause.to_owned(),
            remedy: None,
        });
    }

    /// Notes that a check found nothing, unless it found something.
    pub(crate) fn done(&mut self, check: &'static str) {
        if !self.findings.iter().any(|known| known.check == check) {
            self.findings.push(DoctorFinding {
                check,
                code: None,
                state: FindingState::Ok,
                cause: String::new(),
                remedy: None,
            });
        }
    }

    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.clock.now()
    }
}

/// A finding of the table of codes.
fn finding(code: &'static str, cause: impl Into<String>) -> DoctorFinding {
    let row = codes::find(code);
    DoctorFinding {
        check: row.map_or("doctor", |row| row.check),
        code: Some(code),
        state: row.map_or(FindingState::Fault, |row| row.state),
        cause: cause.into(),
        remedy: row.map(|row| row.remedy),
    }
}

/// # Errors
/// When standard output cannot be written. Findings are in the exit code.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let all = args.all;
    let findings = context.block_on(async { Ok(looked(args, context).await) })?;
    report(&findings, all, context.format_or(OutputFormat::Table))
}

async fn looked(args: Args, context: &Context) -> Vec<DoctorFinding> {
    let file = context.config.as_deref();
    let mut findings = configuration::findings(file);
    let settings = match config::load(file) {
        Ok(settings) => settings,
        Err(_) => {
            let rest = [
                "keys",
                "store",
                "broker",
                "embedding",
                "spool",
                "jobs",
                "quarantine",
                "outbox",
                "certificates",
                "traces",
                "time",
            ];
            let cause = "the configuration cannot be used";
            let skipped = |check| DoctorFinding {
                check,
                code: None,
                state: FindingState::Skipped,
                cause: cause.to_owned(),
                remedy: None,
            };
            findings.extend(rest.map(skipped));
            return findings;
        }
    };
    let clock: Arc<dyn Clock> = match settings.pipeline.now {
        Some(now) => Arc::new(ManualClock::at(now)),
        None => Arc::new(SystemClock),
    };
    let mut doctor = Doctor { settings, clock, entropy: Arc::new(SystemEntropy), store: None, limits: args, findings };
    configuration::check(&mut doctor);
    let db = store::check(&mut doctor).await;
    keys::check(&mut doctor, db).await;
    files::check(&mut doctor);
    certificates::check(&mut doctor);
    embedding::check(&mut doctor).await;
    broker::check(&mut doctor).await;
    traces::check(&mut doctor).await;
    work::check(&mut doctor).await;
    if let Some(store) = &doctor.store {
        store.close().await;
    }
    doctor.findings
}

fn report(findings: &[DoctorFinding], all: bool, format: OutputFormat) -> Result<Exit, CliError> {
    let healthy = findings.iter().all(|finding| finding.state != FindingState::Fault);
    if format == OutputFormat::Json {
        output::json(&json!({"healthy": healthy, "findings": findings}))?;
    } else {
        let mut shown: Vec<&DoctorFinding> = findings
            .iter()
            .filter(|finding| all || matches!(finding.state, FindingState::Fault | FindingState::Warning))
            .collect();
        shown.sort_by_key(|finding| finding.state);
        if !shown.is_empty() {
            let rows = shown.iter().map(|finding| {
                let code = finding.code.unwrap_or(finding.check);
                let (cause, remedy) = (finding.cause.clone(), finding.remedy.unwrap_or_default().to_owned());
                [finding.state.name().to_owned(), code.to_owned(), cause, remedy]
            });
            output::table(&["state", "code", "cause", "remedy"], rows)?;
        }
        let count = |state| findings.iter().filter(|finding| finding.state == state).count();
        output::line(&format!(
            "{} faults, {} warnings; {} checks found nothing, {} were skipped (--all shows them).",
            count(FindingState::Fault),
            count(FindingState::Warning),
            count(FindingState::Ok),
            count(FindingState::Skipped)
        ))?;
    }
    Ok(if healthy { Exit::Done } else { Exit::Failed })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    /// Commands between backquotes that call this program.
    fn commands(remedy: &str) -> Vec<Vec<&str>> {
        let quoted = remedy.split('`').skip(1).step_by(2);
        quoted.filter_map(|text| text.strip_prefix("anamnesis ")).map(|text| text.split(' ').collect()).collect()
    }

    #[test]
    fn every_remedy_names_a_command_that_exists() {
        for row in codes::CODES.iter() {
            let named = commands(row.remedy);
            assert!(!named.is_empty(), "{}: {}", row.code, row.remedy);
            for words in named {
                let root = Cli::command();
                let mut command = &root;
                for word in words.iter().take_while(|word| !["|", "NAME"].contains(word)) {
                    match word.strip_prefix("--") {
                        Some("version") => {}
                        Some(flag) => {
                            let known = |argument: &clap::Arg| argument.get_long() == Some(flag);
                            assert!(command.get_arguments().any(known), "{}: {word}", row.code);
                        }
                        None => match command.find_subcommand(word) {
                            Some(below) => command = below,
                            // A value of the flag before it.
                            None => assert!(words.iter().any(|word| word.starts_with("--")), "{}: {word}", row.code),
                        },
                    }
                }
            }
        }
    }

    #[test]
    fn every_code_exists_once_and_its_rows_are_adjacent() {
        let mut codes: Vec<&str> = codes::CODES.iter().map(|row| row.code).collect();
        codes.sort_unstable();
        let all = codes.len();
        codes.dedup();
        assert_eq!(codes.len(), all);
        let rows = include_str!("codes.tsv").lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(rows, all, "every row is read");
        let mut checks: Vec<&str> = codes::CODES.iter().map(|row| row.check).collect();
        checks.dedup();
        let runs = checks.len();
        checks.sort_unstable();
        checks.dedup();
        assert_eq!(checks.len(), runs);
    }
}
