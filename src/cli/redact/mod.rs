//! `redact`: personal data out of texts, as a stream. One JSON object a line in and out (contract.md, `redact`).
//!
//! Offsets are Unicode code points of the input. Surrogates made here come from a fixed key that belongs to no patient:
//! they are stable from run to run and never equal to those of the store.

mod detokenize;
mod eval;
mod explain;
mod input;
mod receipts;
mod remote;
mod score;
mod stream;

use std::fs::File;
use std::io::{self, BufReader, BufWriter, IsTerminal as _};
use std::path::PathBuf;

use clap::Subcommand;

use super::output::OutputFormat;
use super::{CliError, Context, Exit};
use anamnesis_redaction::{CustomRecognisers, RedactionPolicy, Redactor};
use stream::AnswerShape;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    what: Option<RedactSubcommand>,
    #[command(flatten)]
    stream: StreamArgs,
}

#[derive(Debug, Subcommand)]
enum RedactSubcommand {
    /// Evaluate redaction on annotated texts: leaks, over-redaction, scores per type, the worst misses
    Eval(eval::Args),
    /// Replace the tokens of a text by their original values, with the key that encrypted them
    #[command(alias = "reveal")]
    Detokenize(detokenize::Args),
    /// Show what was redacted in a patient's documents, with policy and recognisers: counts, never values
    Receipts(receipts::Args),
}

#[derive(Debug, clap::Args)]
struct StreamArgs {
    /// NDJSON file; standard input without it or with `-`.
    path: Option<PathBuf>,
    /// What is redacted and what replaces it: safe_harbor, gdpr_pseudonymise, strict, or a policy file (.toml).
    #[arg(long, default_value = "safe_harbor")]
    policy: String,
    /// Custom recognisers and allowed words of an organisation (TOML).
    #[arg(long, value_name = "FILE")]
    custom: Option<PathBuf>,
    /// Key for policies that replace values by encrypted tokens: a file with 128 hexadecimal digits.
    #[arg(long, value_name = "FILE")]
    token_key: Option<PathBuf>,
    #[command(flatten)]
    remote: remote::RemoteArgs,
    /// Show why each span was redacted: in colour on a terminal, otherwise in the field `why` of each span.
    #[arg(long)]
    explain: bool,
}

/// # Errors
/// When the policy is unknown, a file cannot be read or standard output not written. Bad lines are answered in
/// place and end in exit code 3.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    match args.what {
        None => stream_of(args.stream, context),
        Some(RedactSubcommand::Eval(args)) => eval::run(&args, context),
        Some(RedactSubcommand::Detokenize(args)) => detokenize::run(&args),
        Some(RedactSubcommand::Receipts(args)) => receipts::run(&args, context),
    }
}

fn stream_of(args: StreamArgs, context: &Context) -> Result<Exit, CliError> {
    let mut redactor = Redactor::builtin(policy(&args.policy)?);
    if let Some(path) = &args.custom {
        let custom = CustomRecognisers::from_toml(&std::fs::read_to_string(path)?);
        redactor = redactor.custom(custom.map_err(|error| CliError::usage(error.to_string()))?);
    }
    if let Some(path) = &args.token_key {
        redactor = redactor.token_key(detokenize::key(path)?);
    }
    let services = args.remote.services()?;
    let terminal = io::stdout().is_terminal();
    let shape = match (args.explain, context.output) {
        (false, _) => AnswerShape::Plain,
        (true, Some(OutputFormat::Table)) => AnswerShape::Coloured,
        (true, None) if terminal => AnswerShape::Coloured,
        (true, _) => AnswerShape::Explained,
    };
    let stream = stream::Stream { redactor, services, shape };
    let out = BufWriter::new(io::stdout().lock());
    match args.path.filter(|path| path.as_os_str() != "-") {
        Some(path) => stream.run(BufReader::new(File::open(path)?), out),
        None => stream.run(io::stdin().lock(), out),
    }
}

/// A built-in policy by its name, or one from a file.
///
/// # Errors
/// When there is no such policy or the file holds none.
pub fn policy(name: &str) -> Result<RedactionPolicy, CliError> {
    if name.ends_with(".toml") {
        return RedactionPolicy::from_toml(&std::fs::read_to_string(name)?)
            .map_err(|error| CliError::usage(error.to_string()));
    }
    RedactionPolicy::named(name).map_err(|error| CliError::usage(error.to_string()))
}
