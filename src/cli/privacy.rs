//! `privacy`: a patient's stored data by class, source and state, in words that a patient can read (seed 000,
//! `/privacidad`). Spanish or English.

use uuid::Uuid;

use super::app::App;
use super::language::LanguageArgs;
use super::output::{self, OutputFormat};
use super::patient::PatientArgs;
use super::{CliError, Context, Exit};
use anamnesis_pipeline::rights::words;
use anamnesis_store::StoreError;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    anamnesis privacy --org $ORG --patient $PATIENT --by $PATIENT --language es\n  \
    anamnesis privacy --org $ORG --patient $PATIENT --by $OFFICER --output json")]
pub struct Args {
    #[command(flatten)]
    of: PatientArgs,
    /// Id of the person who requests it, for the audit trail.
    #[arg(long, value_name = "UUID")]
    by: Uuid,
    #[command(flatten)]
    spoken: LanguageArgs,
}

/// # Errors
/// When the configuration is wrong or the store cannot be read.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    context.block_on(async {
        let app = App::open(context).await?;
        let held = app.store.organization().privacy_report(args.of.scope()?, args.by).await;
        app.store.close().await;
        match (held, context.format_or(OutputFormat::Table)) {
            (Ok(held), OutputFormat::Json) => output::json(&held)?,
            (Ok(held), OutputFormat::Table) => {
                words::report(&held, args.spoken.language).iter().try_for_each(|line| output::line(line))?
            }
            (Err(StoreError::Erased), OutputFormat::Table) => output::line(args.spoken.language.select(words::ERASED))?,
            (Err(error), _) => return Err(error.into()),
        }
        Ok(Exit::Done)
    })
}
