//! Measurements of the program: documents per second, search, jobs, messages, redaction and extraction.

mod audit;
mod baseline_inserts;
mod cli {
    pub(crate) mod audit;
    pub(crate) mod extract;
    pub(crate) mod growth;
    pub(crate) mod ingest;
    pub(crate) mod jobs;
    pub(crate) mod messages;
    pub(crate) mod peers;
    pub(crate) mod recall;
    pub(crate) mod redact;
    pub(crate) mod restore;
    pub(crate) mod storage;
    pub(crate) mod stores;
}
mod concurrent_latency;
pub mod corpus;
mod disk_usage;
mod extract;
mod growth;
mod ingest;
mod jobs;
mod messages;
mod peers;
mod process;
pub mod recall;
pub mod redaction;

use anamnesis::cli::{CliError, Context, Exit};
use anamnesis_config::{self as config, Settings, extraction::ReadingProfile};
use clap::{Parser, Subcommand};

/// The variable that selects how documents are read.
const PROFILE: &str = "ANAMNESIS__EXTRACTION__PROFILE";

/// The settings of a measurement: by rules (`fast`), as the targets of speed are meant, unless the environment says otherwise.
///
/// # Errors
/// When the configuration cannot be read.
fn settings_of(context: &Context) -> Result<Settings, CliError> {
    let mut settings = config::load(context.config.as_deref()).map_err(|error| CliError::usage(error.to_string()))?;
    if std::env::var_os(PROFILE).is_none() {
        settings.extraction.profile = ReadingProfile::Fast;
    }
    Ok(settings)
}

/// Measures this machine: documents per second, and where the time goes.
#[derive(Debug, Parser)]
#[command(name = "anamnesis-bench", version, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    context: Context,
    #[command(subcommand)]
    measurement: Measurement,
}

#[derive(Debug, Subcommand)]
enum Measurement {
    /// Documents through the whole pipeline, compared with bare upserts of the same rows
    Ingest(cli::ingest::Args),
    /// Documents through a broker and a worker process, compared with a bare client and a bare database
    Messages(cli::messages::Args),
    /// Extraction rules: megabytes per second, and adversarial texts
    Extract(cli::extract::Args),
    /// Search among the memories of one patient, alone and with those of other patients in the store
    Recall(cli::recall::Args),
    /// Recovery from a loss of store and keys: backup during work, restore elsewhere, first answer
    Restore(cli::restore::Args),
    /// One more document for a patient with many memories
    Growth(cli::growth::Args),
    /// Reads that wait for their entry in the audit trail, and the verification of the trail
    Audit(cli::audit::Args),
    /// A job run over many memories, its repetition, and a job run after a change of policy
    Jobs(cli::jobs::Args),
    /// The same documents in other memory libraries, if a Python has them installed
    Peers(cli::peers::Args),
    /// Bytes on disk of a document, by table, column and index
    Storage(cli::storage::Args),
    /// Redaction: megabytes per second, by part and in total, time of a note, inputs designed to be slow
    Redact(cli::redact::Args),
}

/// Runs the command line of the program.
pub fn main() -> std::process::ExitCode {
    let Cli { context, measurement } = Cli::parse();
    anamnesis::cli::ended(run(measurement, &context), false).into()
}

fn run(measurement: Measurement, context: &Context) -> Result<Exit, CliError> {
    match measurement {
        Measurement::Ingest(args) => cli::ingest::run(args, context),
        Measurement::Messages(args) => cli::messages::run(&args, context),
        Measurement::Extract(args) => cli::extract::run(args, context),
        Measurement::Recall(args) => cli::recall::run(args, context),
        Measurement::Restore(args) => cli::restore::run(&args, context),
        Measurement::Growth(args) => cli::growth::run(&args, context),
        Measurement::Audit(args) => cli::audit::run(&args, context),
        Measurement::Jobs(args) => cli::jobs::run(args, context),
        Measurement::Peers(args) => cli::peers::run(args, context),
        Measurement::Storage(args) => cli::storage::run(args, context),
        Measurement::Redact(args) => cli::redact::run(&args, context),
    }
}
