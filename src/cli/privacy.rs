//! `privacy`: what is held of a patient, by class, source and state, in words that a patient can read (seed 000,
//! `/privacidad`). Spanish or English.

use uuid::Uuid;

use super::language::Spoken;
use super::output::{self, Format};
use super::patient::Of;
use super::world::World;
use super::{Context, Exit, Failure};
use anamnesis_pipeline::rights::words;
use anamnesis_store::StoreError;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    anamnesis privacy --org $ORG --patient $PATIENT --by $PATIENT --language es\n  \
    anamnesis privacy --org $ORG --patient $PATIENT --by $OFFICER --output json")]
pub struct Args {
    #[command(flatten)]
    of: Of,
    /// Who asks: an id that the audit trail keeps.
    #[arg(long, value_name = "UUID")]
    by: Uuid,
    #[command(flatten)]
    spoken: Spoken,
}

/// # Errors
/// When the configuration is wrong or the store cannot be read.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    context.block_on(async {
        let world = World::open(context).await?;
        let held = world.store.privacy_report(args.of.scope()?, args.by).await;
        world.store.close().await;
        match (held, context.format_or(Format::Table)) {
            (Ok(held), Format::Json) => output::json(&held)?,
            (Ok(held), Format::Table) => {
                words::report(&held, args.spoken.language).iter().try_for_each(|line| output::line(line))?
            }
            (Err(StoreError::Erased), Format::Table) => output::line(args.spoken.language.of(words::ERASED))?,
            (Err(error), _) => return Err(error.into()),
        }
        Ok(Exit::Done)
    })
}
