//! `bench ingest|messages|extract|recall|restore|jobs|peers|redact|storage`: what this machine does, in stores that are made for
//! it and removed again.

mod extract;
mod ingest;
mod jobs;
mod messages;
mod peers;
mod recall;
mod redact;
mod restore;
mod storage;
mod stores;

use clap::Subcommand;

use super::{Context, Exit, Failure};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
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
    /// A night among many memories, its repetition, and a night after a change of policy
    Jobs(jobs::Args),
    /// The same documents into other memory libraries, where a Python has them
    Peers(peers::Args),
    /// Fillfactor, vacuum and indexes of a server, side by side
    Storage(storage::Args),
    /// Redaction: megabytes a second, parts and whole, a note's time, inputs made to be slow
    Redact(redact::Args),
}

/// # Errors
/// When arguments contradict each other, the configuration is wrong, or messages or stores cannot be read.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    match args.what {
        What::Ingest(args) => ingest::run(args, context),
        What::Messages(args) => messages::run(&args, context),
        What::Extract(args) => extract::run(args, context),
        What::Recall(args) => recall::run(args, context),
        What::Restore(args) => restore::run(&args, context),
        What::Jobs(args) => jobs::run(args, context),
        What::Peers(args) => peers::run(args, context),
        What::Storage(args) => storage::run(args, context),
        What::Redact(args) => redact::run(&args, context),
    }
}
