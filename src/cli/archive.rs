//! `archive list|show`: sources that left every search after their time, read by name only.

use clap::Subcommand;
use serde_json::json;
use uuid::Uuid;

use super::output::{self, Format};
use super::patient::{Of, note_unknown};
use super::world::World;
use super::{Context, Exit, Failure};
use anamnesis_store::holds::Archived;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Documents of a patient that lie in the archive: ids and dates, no text
    List {
        #[command(flatten)]
        of: Of,
    },
    /// The redacted text of one of them
    Show {
        /// The document.
        #[arg(value_name = "ID")]
        document: Uuid,
        #[command(flatten)]
        of: Of,
    },
}

/// # Errors
/// When the configuration is wrong, the store cannot be read, or the archive has no such document of this patient.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    context.block_on(async {
        let world = World::open(context).await?;
        match args.what {
            What::List { of } => {
                let archived = world.store.archived(of.scope()?).await?;
                note_unknown(&world, of.scope()?, archived.is_empty()).await?;
                list(&archived, context)
            }
            What::Show { document, of } => {
                let mut held = world.store.archived(of.scope()?).await?;
                held.retain(|one| one.document_id.0 == document);
                show(held.last(), context)
            }
        }
    })
}

fn list(archived: &[Archived], context: &Context) -> Result<Exit, Failure> {
    match context.format_or(Format::Table) {
        Format::Json => output::json(&archived)?,
        Format::Table if archived.is_empty() => output::line("Nothing is archived.")?,
        Format::Table => {
            let rows = archived.iter().map(|one| {
                let (date, since) = (one.occurred_at.date_naive(), one.archived_at.date_naive());
                [
                    one.document_id.to_string(),
                    one.revision.to_string(),
                    one.document_type.clone(),
                    date.to_string(),
                    since.to_string(),
                ]
            });
            output::table(&["document", "revision", "type", "of", "archived"], rows)?;
        }
    }
    Ok(Exit::Done)
}

fn show(one: Option<&Archived>, context: &Context) -> Result<Exit, Failure> {
    let one = one.ok_or_else(|| Failure::failed("the archive has no such document of this patient"))?;
    match context.format_or(Format::Table) {
        Format::Json => output::json(&json!({"document": one, "text": one.content.text}))?,
        Format::Table => output::line(&one.content.text)?,
    }
    Ok(Exit::Done)
}
