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
    /// Documents through the whole pipeline, beside the bare upserts of the same rows
    Ingest(ingest::Args),
    /// Documents through the broker and a worker of its own, beside the bare client and the bare database
    Messages(messages::Args),
    /// The rules of extraction: megabytes a second, and hostile texts
    Extract(extract::Args),
    /// Search among a patient's own memories, alone and beside everybody else's
    Recall(recall::Args),
    /// What a loss of store and keys costs: backup beside work, restore elsewhere, first answer
    Restore(restore::Args),
    /// One more document, for a patient of whom much is known
    Growth(growth::Args),
    /// A read that waits for its entry in the audit trail, and the check of the trail
    Audit(audit::Args),
    /// A night among many memories, its repetition, and a night after a change of policy
    Jobs(jobs::Args),
    /// The same documents into other memory libraries, where a Python has them
    Peers(peers::Args),
    /// Where the bytes of a document lie, by table, column and index
    Storage(storage::Args),
    /// Redaction: megabytes a second, parts and whole, a note's time, inputs made to be slow
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
