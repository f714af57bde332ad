//! `redact receipts`: the redacted values of a patient's documents, by policy and recognisers: counts, never values.

use crate::cli::app::App;
use crate::cli::output::{self, OutputFormat};
use crate::cli::patient::{PatientArgs, note_unknown};
use crate::cli::{CliError, Context, Exit};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  anamnesis redact receipts --org $ORG --patient $PATIENT --output json")]
pub(super) struct Args {
    #[command(flatten)]
    of: PatientArgs,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    context.block_on(async {
        let (app, scope) = (App::open(context).await?, args.of.scope()?);
        let receipts = app.store.read().redaction_receipts(scope).await?;
        match context.format_or(OutputFormat::Table) {
            OutputFormat::Json => output::json(&receipts)?,
            OutputFormat::Table => {
                let counts = |counts: &std::collections::BTreeMap<String, u64>| {
                    counts.iter().map(|(what, count)| format!("{what} {count}")).collect::<Vec<_>>().join(", ")
                };
                let rows = receipts.iter().map(|one| {
                    let (id, day) = (one.document_id.to_string(), one.occurred_at.date_naive().to_string());
                    [
                        id,
                        one.revision.to_string(),
                        day,
                        one.redacted_by.clone(),
                        counts(&one.taken),
                        counts(&one.recognizers),
                    ]
                });
                output::table(&["document", "revision", "date", "redacted by", "taken out", "recognisers"], rows)?;
            }
        }
        note_unknown(&app, scope, receipts.is_empty()).await?;
        Ok(Exit::Done)
    })
}
