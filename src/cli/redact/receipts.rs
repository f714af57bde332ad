//! `redact receipts`: what was taken out of a patient's documents, by which policy and which recognisers: counts, never values.

use crate::cli::output::{self, Format};
use crate::cli::patient::{Of, note_unknown};
use crate::cli::world::World;
use crate::cli::{Context, Exit, Failure};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  anamnesis redact receipts --org $ORG --patient $PATIENT --output json")]
pub(super) struct Args {
    #[command(flatten)]
    of: Of,
}

pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    context.block_on(async {
        let (world, scope) = (World::open(context).await?, args.of.scope()?);
        let receipts = world.store.redaction_receipts(scope).await?;
        match context.format_or(Format::Table) {
            Format::Json => output::json(&receipts)?,
            Format::Table => {
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
        note_unknown(&world, scope, receipts.is_empty()).await?;
        Ok(Exit::Done)
    })
}
