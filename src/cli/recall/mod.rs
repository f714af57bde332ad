//! `recall`: how well the search finds what a record holds.

mod eval;
mod gold;

use clap::Subcommand;

use super::{Context, Exit, Failure};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Holds the search against questions with known answers: each ranking alone and all together
    Eval(eval::Args),
}

/// # Errors
/// See [`eval::run`].
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    match args.what {
        What::Eval(args) => eval::run(args, context),
    }
}
