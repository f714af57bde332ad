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
    /// Memories of a patient, newest first
    List(list::Args),
    /// One memory with all that is known of it
    Show(OneMemoryArgs),
    /// Where a memory comes from, up to its document; with --down, what was made of it
    Trace(show::TraceArgs),
    /// What happened to a memory, oldest first
    History(OneMemoryArgs),
    /// Statements that cannot both be so
    Contradictions(ContradictionArgs),
    /// The lineage record of a memory: its source, how it was read, and its confidence
    Source(actions::SourceArgs),
    /// Memories whose confidence is below the threshold
    Uncertain(review::UncertainArgs),
    /// Memories of which nothing says where they come from
    Orphans(review::Args),
    /// Everything that waits for a person
    Review(review::Args),
    /// Say that memories were checked: more confidence, and decay begins anew
    Verify(actions::Args),
    /// Say that memories still hold
    Confirm(actions::Args),
    /// Answer a question about memories: yes, no, or what holds instead
    Answer(actions::AnswerActionArgs),
    /// Say that what memories tell is over
    End(actions::Args),
    /// Say what holds instead of a memory
    Correct(actions::TextActionArgs),
    /// Keep memories from fading
    Protect(actions::Args),
    /// Keep words as a memory
    Add(create::AddArgs),
    /// Make an episode, a note or a belief of a capture
    Promote(create::PromoteArgs),
    /// Put words in the place of a memory
    Supersede(create::SupersedeArgs),
    /// Let something else speak for a memory too
    Reinforce(create::ReinforceArgs),
    /// What an episode taught: it speaks for a belief, or words put it right
    Revise(create::ReviseArgs),
    /// Take memories out of every search, by id or by topic; recoverable for thirty days
    Forget(actions::TopicActionArgs),
    /// Take back what was forgotten
    Recover(actions::TopicActionArgs),
}

/// One memory of one patient.
#[derive(Debug, clap::Args)]
pub(crate) struct OneMemoryArgs {
    /// The memory.
    #[arg(value_name = "ID")]
    id: MemoryId,
    #[command(flatten)]
    of: PatientArgs,
    /// As it stood at the end of this date, or at this instant.
    #[arg(long, value_name = "DATE")]
    as_of: Option<TimePoint>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ContradictionArgs {
    #[command(flatten)]
    of: PatientArgs,
    /// As it stood at the end of this date, or at this instant.
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
