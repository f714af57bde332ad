//! `ephemeral on|off|status` (seed 000, `/efimero`): from now on nothing that a patient says is kept, or it is again. A switch is
//! the command message of the contract on its way through the same pipeline.

use clap::Subcommand;
use serde_json::json;

use super::language::Spoken;
use super::memory::{By, ended, message};
use super::output::{self, Format};
use super::patient::{Answered, Of};
use super::world::World;
use super::{Answer, Context, Exit, Failure};
use anamnesis_messages::contract::Command;
use anamnesis_pipeline::rights::words;
use anamnesis_pipeline::{Disposition, Raw};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    anamnesis ephemeral on --org $ORG --patient $PATIENT --by $PATIENT --role patient --language es\n  \
    anamnesis ephemeral status --org $ORG --patient $PATIENT")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// From now on nothing that the patient says is kept
    On(Switch),
    /// What the patient says is remembered again
    Off(Switch),
    /// Whether anything is kept now
    Status {
        #[command(flatten)]
        of: Of,
        #[command(flatten)]
        spoken: Spoken,
    },
}

#[derive(Debug, clap::Args)]
struct Switch {
    #[command(flatten)]
    of: Of,
    #[command(flatten)]
    by: By,
    #[command(flatten)]
    spoken: Spoken,
}

/// # Errors
/// When the configuration is wrong, the store cannot be reached, or the command is refused.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    context.block_on(async {
        let world = World::open(context).await?;
        match args.what {
            What::On(switch) => turn(&world, switch, Command::EphemeralOn, context).await,
            What::Off(switch) => turn(&world, switch, Command::EphemeralOff, context).await,
            What::Status { of, spoken } => {
                let profile = world.store.profile(of.scope()?).await?;
                let is_on = profile.as_ref().is_some_and(|profile| profile.ephemeral);
                let text = if is_on { words::EPHEMERAL_IS_ON } else { words::EPHEMERAL_IS_OFF };
                match context.format_or(Format::Table) {
                    Format::Json => {
                        let answer = Answer::known(profile.is_some());
                        output::json(&Answered { answer, read: &json!({"ephemeral": is_on}) })?;
                    }
                    Format::Table => output::line(spoken.language.of(text))?,
                }
                Ok(Exit::Done)
            }
        }
    })
}

async fn turn(world: &World, switch: Switch, command: Command, context: &Context) -> Result<Exit, Failure> {
    let (scope, actor) = (switch.of.scope()?, switch.by.actor()?);
    let mut said = message(scope, actor, Vec::new(), command, world.clock.now());
    said.memory_ids = None;
    let body = serde_json::to_vec(&said).map_err(|_| Failure::failed("the command cannot be written"))?;
    let disposition = world.pipeline()?.run(vec![Raw::of(body)]).await.first().copied().unwrap_or(Disposition::Retry);
    let exit = ended(disposition)?;
    let text = if command == Command::EphemeralOn { words::EPHEMERAL_ON } else { words::EPHEMERAL_OFF };
    match context.format_or(Format::Table) {
        Format::Json => output::json(&json!({"command": command, "disposition": disposition.code()}))?,
        Format::Table => output::line(switch.spoken.language.of(text))?,
    }
    Ok(exit)
}
