//! `completions SHELL`: a completion script on standard output.

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Cli, CliError, Context, Exit, output};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell.
    shell: Shell,
}

/// # Errors
/// When standard output cannot be written.
pub(crate) fn run(args: Args, _context: &Context) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "anamnesis", &mut script);
    output::bytes(&script)?;
    Ok(Exit::Done)
}
