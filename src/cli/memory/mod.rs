//! `memory list|show|trace|history|contradictions`: looking at single memories (seed 001, section 11).

mod list;
mod show;
mod tree;

use clap::Subcommand;

use super::patient::{Of, Point};
use super::{Context, Exit, Failure};
use crate::domain::ids::MemoryId;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Memories of a patient, newest first
    List(list::Args),
    /// One memory with all that is known of it
    Show(One),
    /// Where a memory comes from, up to its document; with --down, what was made of it
    Trace(show::TraceArgs),
    /// What happened to a memory, oldest first
    History(One),
    /// Statements that cannot both be so
    Contradictions(Pairs),
}

/// One memory of one patient.
#[derive(Debug, clap::Args)]
pub struct One {
    /// The memory.
    #[arg(value_name = "ID")]
    id: MemoryId,
    #[command(flatten)]
    of: Of,
    /// As it stood at the end of this date, or at this instant.
    #[arg(long, value_name = "DATE")]
    as_of: Option<Point>,
}

#[derive(Debug, clap::Args)]
pub struct Pairs {
    #[command(flatten)]
    of: Of,
    /// As it stood at the end of this date, or at this instant.
    #[arg(long, value_name = "DATE")]
    as_of: Option<Point>,
}

/// # Errors
/// When the configuration is wrong, the store cannot be read, or the patient has no such memory.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    match args.what {
        What::List(args) => context.block_on(list::run(args, context)),
        What::Show(args) => context.block_on(show::show(args, context)),
        What::Trace(args) => context.block_on(show::trace(args, context)),
        What::History(args) => context.block_on(show::history(args, context)),
        What::Contradictions(args) => context.block_on(list::contradictions(args, context)),
    }
}

/// The answer to an id that this patient has not: the same whether another patient has it or nobody.
fn unknown() -> Failure {
    Failure::failed("this patient has no memory of this id")
}
