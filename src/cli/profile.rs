//! `profile`: the clinical profile, from the clinical store (seed 002, section 6: the first place to look).

use super::app::App;
use super::language::LanguageArgs;
use super::output::OutputFormat;
use super::patient::{NOBODY, PatientArgs, PatientResponse, TimePoint, when};
use super::{CliError, Context, Exit, PatientAnswer, emergency, output, render};

/// The clinical profile of a patient.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    anamnesis profile --org $ORG --patient $PATIENT\n  \
    anamnesis profile --org $ORG --patient $PATIENT --emergency --language es")]
pub struct Args {
    #[command(flatten)]
    of: PatientArgs,
    /// The state at the end of this date, or at this instant.
    #[arg(long, value_name = "DATE")]
    as_of: Option<TimePoint>,
    /// Only data that is safe to act on in an emergency, with emergency contacts.
    #[arg(long)]
    emergency: bool,
    #[command(flatten)]
    spoken: LanguageArgs,
}

/// # Errors
/// When the configuration is wrong or the store cannot be read.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let scope = args.of.scope()?;
    let format = context.format_or(OutputFormat::Table);
    context.block_on(async {
        let app = App::open(context).await?;
        if args.emergency {
            return emergency::show(&app, scope, when(args.as_of), (format, args.spoken.language)).await;
        }
        let profile = anamnesis_search::context::clinical_profile(&app.store, scope, when(args.as_of)).await?;
        context.read.finds(profile.patient.is_none());
        match format {
            OutputFormat::Json => {
                output::json(&PatientResponse {
                    answer: PatientAnswer::known(profile.patient.is_some()),
                    read: &profile,
                })?;
            }
            OutputFormat::Table if profile.patient.is_none() => output::line(NOBODY)?,
            OutputFormat::Table => render::profile(&profile)?,
        }
        Ok(Exit::Done)
    })
}
