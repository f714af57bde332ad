//! `ephemeral on|off|status` (seed 000, `/efimero`): from now on nothing that a patient says is stored, or it is again.
//! A switch is the contract's command message in the same pipeline.

use clap::Subcommand;
use serde_json::json;

use super::app::App;
use super::language::LanguageArgs;
use super::memory::{ActorArgs, ended, message};
use super::output::{self, OutputFormat};
use super::patient::{PatientArgs, PatientResponse};
use super::{CliError, Context, Exit, PatientAnswer};
use anamnesis_messages::contract::Command;
use anamnesis_pipeline::rights::words;
use anamnesis_pipeline::{Disposition, RawMessage};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    anamnesis ephemeral on --org $ORG --patient $PATIENT --by $PATIENT --role patient --language es\n  \
    anamnesis ephemeral status --org $ORG --patient $PATIENT")]
pub struct Args {
    #[command(subcommand)]
    what: EphemeralSubcommand,
}

#[derive(Debug, Subcommand)]
enum EphemeralSubcommand {
    /// Turn the ephemeral mode on: nothing that the patient says from now on is stored
    On(SwitchArgs),
    /// Turn the ephemeral mode off: what the patient says is stored again
    Off(SwitchArgs),
    /// Show whether the ephemeral mode is on
    Status {
        #[command(flatten)]
        of: PatientArgs,
        #[command(flatten)]
        spoken: LanguageArgs,
    },
}

#[derive(Debug, clap::Args)]
struct SwitchArgs {
    #[command(flatten)]
    of: PatientArgs,
    #[command(flatten)]
    by: ActorArgs,
    #[command(flatten)]
    spoken: LanguageArgs,
}

/// # Errors
/// When the configuration is wrong, the store cannot be reached, or the command is refused.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    context.block_on(async {
        let app = App::open(context).await?;
        match args.what {
            EphemeralSubcommand::On(switch) => turn(&app, switch, Command::EphemeralOn, context).await,
            EphemeralSubcommand::Off(switch) => turn(&app, switch, Command::EphemeralOff, context).await,
            EphemeralSubcommand::Status { of, spoken } => {
                let profile = app.store.read().profile(of.scope()?).await?;
                let is_on = profile.as_ref().is_some_and(|profile| profile.ephemeral);
                let text = if is_on { words::EPHEMERAL_IS_ON } else { words::EPHEMERAL_IS_OFF };
                match context.format_or(OutputFormat::Table) {
                    OutputFormat::Json => {
                        let answer = PatientAnswer::known(profile.is_some());
                        output::json(&PatientResponse { answer, read: &json!({"ephemeral": is_on}) })?;
                    }
                    OutputFormat::Table => output::line(spoken.language.select(text))?,
                }
                Ok(Exit::Done)
            }
        }
    })
}

async fn turn(app: &App, switch: SwitchArgs, command: Command, context: &Context) -> Result<Exit, CliError> {
    let (scope, actor) = (switch.of.scope()?, switch.by.actor()?);
    let mut said = message(scope, actor, Vec::new(), command, app.clock.now());
    said.memory_ids = None;
    let body = serde_json::to_vec(&said).map_err(|_| CliError::failed("the command cannot be written"))?;
    let disposition =
        app.pipeline()?.run(vec![RawMessage::from_body(body)]).await.first().copied().unwrap_or(Disposition::Retry);
    let exit = ended(disposition)?;
    let text = if command == Command::EphemeralOn { words::EPHEMERAL_ON } else { words::EPHEMERAL_OFF };
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => output::json(&json!({"command": command, "disposition": disposition.code()}))?,
        OutputFormat::Table => output::line(switch.spoken.language.select(text))?,
    }
    Ok(exit)
}
