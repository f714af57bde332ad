//! Makes the linear models of the program again, and measures what redaction does to meaning. Nothing of it is in the
//! program that is shipped.

mod commands {
    pub(crate) mod meaning;
    pub(crate) mod redaction;
    pub(crate) mod risk;
}
pub mod meaning;
mod redaction;
mod risk;

use anamnesis::cli::{CliError, Context, Exit};
use clap::{Parser, Subcommand};

/// Trains the linear models of redaction and of risk, and measures what redaction does to meaning.
#[derive(Debug, Parser)]
#[command(name = "anamnesis-train", version, max_term_width = 100)]
struct Cli {
    #[command(flatten)]
    context: Context,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Train the models of redaction from public sets and templates
    Redaction(commands::redaction::Args),
    /// Train the risk classifier; see docs/risk-model.md
    Risk(commands::risk::Args),
    /// Compare what is found in texts before and after redaction: what is lost, what is turned round
    Meaning(commands::meaning::Args),
}

/// Runs the command line of the program.
pub fn main() -> std::process::ExitCode {
    let cli = Cli::parse();
    let result: Result<Exit, CliError> = match cli.command {
        Command::Redaction(args) => commands::redaction::run(&args),
        Command::Risk(args) => commands::risk::run(&args),
        Command::Meaning(args) => commands::meaning::run(&args, &cli.context),
    };
    anamnesis::cli::ended(result, false).into()
}
