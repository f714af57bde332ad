//! `redact`: personal data out of texts, as a stream. One JSON object a line in and out (contract.md, `redact`).
//!
//! Offsets are Unicode code points of the input. Surrogates made here come from a fixed key that belongs to no patient:
//! they are stable from run to run and never equal to those of the store.

mod eval;
mod explain;
mod input;
mod stream;
mod train;

use std::fs::File;
use std::io::{self, BufReader, BufWriter, IsTerminal as _};
use std::path::PathBuf;

use clap::Subcommand;

use super::output::Format;
use super::{Context, Exit, Failure};
use crate::dlp::{Policy, Redactor};
use stream::Shape;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    stream: StreamArgs,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Holds the redactor against marked texts: leak, over-redaction, figures per type, the worst misses
    Eval(eval::Args),
    /// Trains the model of the learned recogniser from public sets and templates
    #[command(hide = true)]
    Train(train::Args),
}

#[derive(Debug, clap::Args)]
struct StreamArgs {
    /// NDJSON file; standard input without it or with `-`.
    path: Option<PathBuf>,
    /// What is taken out and what replaces it: safe_harbor, gdpr_pseudonymise, strict.
    #[arg(long, default_value = "safe_harbor")]
    policy: String,
    /// Say why each span was taken: in colour on a terminal, as `why` of each span otherwise.
    #[arg(long)]
    explain: bool,
}

/// # Errors
/// When the policy is unknown, a file cannot be read or standard output not written. Bad lines are answered in
/// place and end in exit code 3.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    match args.what {
        None => stream_of(args.stream, context),
        Some(What::Eval(args)) => eval::run(&args, context),
        Some(What::Train(args)) => train::run(&args),
    }
}

fn stream_of(args: StreamArgs, context: &Context) -> Result<Exit, Failure> {
    let redactor = Redactor::builtin(policy(&args.policy)?);
    let terminal = io::stdout().is_terminal();
    let shape = match (args.explain, context.output) {
        (false, _) => Shape::Plain,
        (true, Some(Format::Table)) => Shape::Coloured,
        (true, None) if terminal => Shape::Coloured,
        (true, _) => Shape::Explained,
    };
    let out = BufWriter::new(io::stdout().lock());
    match args.path.filter(|path| path.as_os_str() != "-") {
        Some(path) => stream::stream(BufReader::new(File::open(path)?), out, &redactor, shape),
        None => stream::stream(io::stdin().lock(), out, &redactor, shape),
    }
}

fn policy(name: &str) -> Result<Policy, Failure> {
    Policy::named(name).map_err(|error| Failure::usage(error.to_string()))
}
