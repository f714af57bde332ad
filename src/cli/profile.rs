//! `profile`: the clinical profile, from the clinical store (seed 002, section 6: the first place to look).

use super::language::Spoken;
use super::output::Format;
use super::patient::{Answered, NOBODY, Of, Point, when};
use super::world::World;
use super::{Answer, Context, Exit, Failure, emergency, output, sections};

/// The clinical profile of a patient.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    anamnesis profile --org $ORG --patient $PATIENT\n  \
    anamnesis profile --org $ORG --patient $PATIENT --emergency --language es")]
pub struct Args {
    #[command(flatten)]
    of: Of,
    /// As it stood at the end of this date, or at this instant.
    #[arg(long, value_name = "DATE")]
    as_of: Option<Point>,
    /// Only what may be acted on in an emergency, with whom to call.
    #[arg(long)]
    emergency: bool,
    #[command(flatten)]
    spoken: Spoken,
}

/// # Errors
/// When the configuration is wrong or the store cannot be read.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let scope = args.of.scope()?;
    let format = context.format_or(Format::Table);
    context.block_on(async {
        let world = World::open(context).await?;
        if args.emergency {
            return emergency::show(&world, scope, when(args.as_of), (format, args.spoken.language)).await;
        }
        let profile = anamnesis_search::context::clinical_profile(&world.store, scope, when(args.as_of)).await?;
        context.read.finds(profile.patient.is_none());
        match format {
            Format::Json => {
                output::json(&Answered { answer: Answer::known(profile.patient.is_some()), read: &profile })?;
            }
            Format::Table if profile.patient.is_none() => output::line(NOBODY)?,
            Format::Table => sections::profile(&profile)?,
        }
        Ok(Exit::Done)
    })
}
