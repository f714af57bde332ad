//! `anamnesis-bench audit|ingest|messages|extract|recall|restore|growth|jobs|peers|redact|storage`: what this machine does, in stores that are made for
//! it and removed again.

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

use anamnesis::cli::{CliError, Context, Exit};
use anamnesis_config::{self as config, Settings, extraction::ReadingProfile};
use clap::{Parser, Subcommand};
use cli::{audit, extract, growth, ingest, jobs, messages, peers, recall, redact, restore, storage};

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

/// The allocator of the program: what is measured is what runs.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

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
    Ingest(ingest::Args),
    /// Documents through a broker and a worker process, compared with a bare client and a bare database
    Messages(messages::Args),
    /// Extraction rules: megabytes per second, and adversarial texts
    Extract(extract::Args),
    /// Search among the memories of one patient, alone and with those of other patients in the store
    Recall(recall::Args),
    /// Recovery from a loss of store and keys: backup during work, restore elsewhere, first answer
    Restore(restore::Args),
    /// One more document for a patient with many memories
    Growth(growth::Args),
    /// Reads that wait for their entry in the audit trail, and the verification of the trail
    Audit(audit::Args),
    /// A job run over many memories, its repetition, and a job run after a change of policy
    Jobs(jobs::Args),
    /// The same documents in other memory libraries, if a Python has them installed
    Peers(peers::Args),
    /// Bytes on disk of a document, by table, column and index
    Storage(storage::Args),
    /// Redaction: megabytes per second, by part and in total, time of a note, inputs designed to be slow
    Redact(redact::Args),
}

fn main() -> std::process::ExitCode {
    let Cli { context, measurement } = Cli::parse();
    anamnesis::cli::ended(run(measurement, &context), false).into()
}

fn run(measurement: Measurement, context: &Context) -> Result<Exit, CliError> {
    match measurement {
        Measurement::Ingest(args) => ingest::run(args, context),
        Measurement::Messages(args) => messages::run(&args, context),
        Measurement::Extract(args) => extract::run(args, context),
        Measurement::Recall(args) => recall::run(args, context),
        Measurement::Restore(args) => restore::run(&args, context),
        Measurement::Growth(args) => growth::run(&args, context),
        Measurement::Audit(args) => audit::run(&args, context),
        Measurement::Jobs(args) => jobs::run(args, context),
        Measurement::Peers(args) => peers::run(args, context),
        Measurement::Storage(args) => storage::run(args, context),
        Measurement::Redact(args) => redact::run(&args, context),
    }
}
