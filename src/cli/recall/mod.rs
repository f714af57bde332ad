//! `recall`: how well the search finds the contents of a record.

mod eval;
mod gold;

use clap::Subcommand;

use super::{CliError, Context, Exit};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: RecallSubcommand,
}

#[derive(Debug, Subcommand)]
enum RecallSubcommand {
    /// Evaluate the search on questions with known answers: each retriever alone and all combined
    Eval(eval::Args),
}

/// # Errors
/// See [`eval::run`].
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    match args.what {
        RecallSubcommand::Eval(args) => eval::run(args, context),
    }
}
