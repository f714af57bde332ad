//! `memory`: looking at single memories, and acting on them (seed 001, sections 8 and 11; seed 000, rights).

mod act;
mod list;
mod make;
mod review;
mod show;
mod tree;

pub(super) use act::{By, ended, message};

use clap::Subcommand;

use super::patient::{Of, Point};
use super::{Context, Exit, Failure};
use anamnesis_core::ids::MemoryId;
use anamnesis_messages::contract::Command;

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
    /// The lineage record of a memory: its source, how it was read, and its confidence
    Source(act::SourceArgs),
    /// Memories whose confidence is below the threshold
    Uncertain(review::Uncertain),
    /// Memories of which nothing says where they come from
    Orphans(review::Args),
    /// Everything that waits for a person
    Review(review::Args),
    /// Say that memories were checked: more confidence, and decay begins anew
    Verify(act::Args),
    /// Say that memories still hold
    Confirm(act::Args),
    /// Answer a question about memories: yes, no, or what holds instead
    Answer(act::Answering),
    /// Say that what memories tell is over
    End(act::Args),
    /// Say what holds instead of a memory
    Correct(act::Saying),
    /// Keep memories from fading
    Protect(act::Args),
    /// Keep words as a memory
    Add(make::Add),
    /// Make an episode, a note or a belief of a capture
    Promote(make::Promote),
    /// Put words in the place of a memory
    Supersede(make::Supersede),
    /// Let something else speak for a memory too
    Reinforce(make::Reinforce),
    /// What an episode taught: it speaks for a belief, or words put it right
    Revise(make::Revise),
    /// Take memories out of every search, by id or by topic; recoverable for thirty days
    Forget(act::Choosing),
    /// Take back what was forgotten
    Recover(act::Choosing),
}

/// One memory of one patient.
#[derive(Debug, clap::Args)]
pub(crate) struct One {
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
pub(crate) struct Pairs {
    #[command(flatten)]
    of: Of,
    /// As it stood at the end of this date, or at this instant.
    #[arg(long, value_name = "DATE")]
    as_of: Option<Point>,
}

/// # Errors
/// When the configuration is wrong, the store cannot be read, or the patient has no such memory.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    match args.what {
        What::List(args) => context.block_on(list::run(args, context)),
        What::Show(args) => context.block_on(show::show(args, context)),
        What::Trace(args) => context.block_on(show::trace(args, context)),
        What::History(args) => context.block_on(show::history(args, context)),
        What::Contradictions(args) => context.block_on(list::contradictions(args, context)),
        What::Source(args) => context.block_on(act::source(args, context)),
        What::Uncertain(args) => context.block_on(review::uncertain_ones(args, context)),
        What::Orphans(args) => context.block_on(review::orphans(args, context)),
        What::Review(args) => context.block_on(review::review(args, context)),
        What::Verify(args) => context.block_on(act::run(args, Command::Verify, context)),
        What::Confirm(args) => context.block_on(act::run(args, Command::Confirm, context)),
        What::Answer(args) => context.block_on(act::answer(args, context)),
        What::End(args) => context.block_on(act::run(args, Command::End, context)),
        What::Correct(args) => context.block_on(act::say(args, Command::Correct, context)),
        What::Add(args) => context.block_on(make::add(args, context)),
        What::Promote(args) => context.block_on(make::promote(args, context)),
        What::Supersede(args) => context.block_on(make::supersede(args, context)),
        What::Reinforce(args) => context.block_on(make::reinforce(args, context)),
        What::Revise(args) => context.block_on(make::revise(args, context)),
        What::Protect(args) => context.block_on(act::run(args, Command::Protect, context)),
        What::Forget(args) => context.block_on(act::choose(args, Command::Forget, context)),
        What::Recover(args) => context.block_on(act::choose(args, Command::Recover, context)),
    }
}

/// The answer to an id that this patient has not: the same whether another patient has it or nobody.
fn unknown() -> Failure {
    Failure::failed("this patient has no memory of this id")
}
