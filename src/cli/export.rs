//! `export`: all that is held of a patient as NDJSON, or the imported records of older systems as they came.

use serde_json::json;

use super::app::App;
use super::language::LanguageArgs;
use super::patient::PatientArgs;
use super::{CliError, Context, Exit, PatientAnswer, output};
use anamnesis_pipeline::rights::{export, words};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    of: PatientArgs,
    /// Only the records imported from older systems, unchanged.
    #[arg(long)]
    legacy: bool,
    #[command(flatten)]
    spoken: LanguageArgs,
}

/// # Errors
/// When the configuration is wrong or the store cannot be read.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    context.block_on(async {
        let app = App::open(context).await?;
        let (store, scope) = (&app.store, args.of.scope()?);
        if !args.legacy {
            output::note(args.spoken.language.select(words::EXPORTED));
            output::json(
                &json!({"type": "answer", "answer": PatientAnswer::known(store.key_binding().is_known(scope).await?)}),
            )?;
        }
        if args.legacy {
            for (_, record) in &store.intake().legacy_records(scope).await? {
                output::json(record)?;
            }
            return Ok(Exit::Done);
        }
        for record in export::records(store, scope).await? {
            output::json(&record)?;
        }
        Ok(Exit::Done)
    })
}
