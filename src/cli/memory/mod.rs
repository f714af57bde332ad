//! `memory`: looking at single memories, and acting on them (seed 001, sections 8 and 11; seed 000, rights).

mod actions;
mod create;
mod list;
mod review;
mod show;
mod tree;

pub(super) use actions::{ActorArgs, ended, message};

use clap::Subcommand;

use super::patient::{PatientArgs, TimePoint};
use super::{CliError, Context, Exit};
use anamnesis_core::ids::MemoryId;
use anamnesis_messages::contract::Command;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: MemorySubcommand,
}

#[derive(Debug, Subcommand)]
enum MemorySubcommand {
    /// List the memories of a patient, newest first
    List(list::Args),
    /// Show one memory with all details
    Show(OneMemoryArgs),
    /// Trace a memory to its documents; with --down, show what was derived from it
    Trace(show::TraceArgs),
    /// Show the events of a memory, oldest first
    History(OneMemoryArgs),
    /// List contradicting statements
    Contradictions(ContradictionArgs),
    /// Show the lineage record of a memory: source, extraction method and confidence
    Source(actions::SourceArgs),
    /// List memories with confidence below the threshold
    Uncertain(review::UncertainArgs),
    /// List memories without provenance
    Orphans(review::Args),
    /// List everything that needs a review by a person
    Review(review::Args),
    /// Verify memories: raises their confidence and restarts decay
    Verify(actions::Args),
    /// Confirm that memories are still true
    Confirm(actions::Args),
    /// Answer a review question about memories: yes, no, or the correct statement
    Answer(actions::AnswerActionArgs),
    /// Mark memories as ended: they were true and are no longer
    End(actions::Args),
    /// Correct a memory: replace a wrong statement
    Correct(actions::TextActionArgs),
    /// Protect memories from decay
    Protect(actions::Args),
    /// Add a memory from a text
    Add(create::AddArgs),
    /// Promote a capture to an episode, a note or a belief
    Promote(create::PromoteArgs),
    /// Replace a memory by a new statement
    Supersede(create::SupersedeArgs),
    /// Add supporting evidence to a memory
    Reinforce(create::ReinforceArgs),
    /// Update a belief from an episode: reinforce it or reword it
    Revise(create::ReviseArgs),
    /// Forget memories by id or topic: they leave every search and can be recovered for thirty days
    Forget(actions::TopicActionArgs),
    /// Recover forgotten memories
    Recover(actions::TopicActionArgs),
}

/// One memory of one patient.
#[derive(Debug, clap::Args)]
pub(crate) struct OneMemoryArgs {
    /// Id of the memory.
    #[arg(value_name = "ID")]
    id: MemoryId,
    #[command(flatten)]
    of: PatientArgs,
    /// The state at the end of this date, or at this instant.
    #[arg(long, value_name = "DATE")]
    as_of: Option<TimePoint>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ContradictionArgs {
    #[command(flatten)]
    of: PatientArgs,
    /// The state at the end of this date, or at this instant.
    #[arg(long, value_name = "DATE")]
    as_of: Option<TimePoint>,
}

/// # Errors
/// When the configuration is wrong, the store cannot be read, or the patient has no such memory.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    match args.what {
        MemorySubcommand::List(args) => context.block_on(list::run(args, context)),
        MemorySubcommand::Show(args) => context.block_on(show::show(args, context)),
        MemorySubcommand::Trace(args) => context.block_on(show::trace(args, context)),
        MemorySubcommand::History(args) => context.block_on(show::history(args, context)),
        MemorySubcommand::Contradictions(args) => context.block_on(list::contradictions(args, context)),
        MemorySubcommand::Source(args) => context.block_on(actions::source(args, context)),
        MemorySubcommand::Uncertain(args) => context.block_on(review::uncertain_ones(args, context)),
        MemorySubcommand::Orphans(args) => context.block_on(review::orphans(args, context)),
        MemorySubcommand::Review(args) => context.block_on(review::review(args, context)),
        MemorySubcommand::Verify(args) => context.block_on(actions::run(args, Command::Verify, context)),
        MemorySubcommand::Confirm(args) => context.block_on(actions::run(args, Command::Confirm, context)),
        MemorySubcommand::Answer(args) => context.block_on(actions::answer(args, context)),
        MemorySubcommand::End(args) => context.block_on(actions::run(args, Command::End, context)),
        MemorySubcommand::Correct(args) => context.block_on(actions::say(args, Command::Correct, context)),
        MemorySubcommand::Add(args) => context.block_on(create::add(args, context)),
        MemorySubcommand::Promote(args) => context.block_on(create::promote(args, context)),
        MemorySubcommand::Supersede(args) => context.block_on(create::supersede(args, context)),
        MemorySubcommand::Reinforce(args) => context.block_on(create::reinforce(args, context)),
        MemorySubcommand::Revise(args) => context.block_on(create::revise(args, context)),
        MemorySubcommand::Protect(args) => context.block_on(actions::run(args, Command::Protect, context)),
        MemorySubcommand::Forget(args) => context.block_on(actions::choose(args, Command::Forget, context)),
        MemorySubcommand::Recover(args) => context.block_on(actions::choose(args, Command::Recover, context)),
    }
}

/// The answer to an id that this patient does not have: the same whether another patient has it or not.
fn unknown() -> CliError {
    CliError::failed("this patient has no memory of this id")
}
