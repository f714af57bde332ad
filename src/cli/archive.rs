//! `archive list|show`: sources that left every search after their time, read by name only.

use clap::Subcommand;
use serde_json::json;
use uuid::Uuid;

use super::app::App;
use super::output::{self, OutputFormat};
use super::patient::{PatientArgs, note_unknown};
use super::{CliError, Context, Exit};
use anamnesis_store::legal_holds::ArchivedSource;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: ArchiveSubcommand,
}

#[derive(Debug, Subcommand)]
enum ArchiveSubcommand {
    /// List the archived documents of a patient: ids and dates, no text
    List {
        #[command(flatten)]
        of: PatientArgs,
    },
    /// Show the redacted text of an archived document
    Show {
        /// The document.
        #[arg(value_name = "ID")]
        document: Uuid,
        #[command(flatten)]
        of: PatientArgs,
    },
}

/// # Errors
/// When the configuration is wrong, the store cannot be read, or the archive has no such document of this patient.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    context.block_on(async {
        let app = App::open(context).await?;
        match args.what {
            ArchiveSubcommand::List { of } => {
                let archived = app.store.erasure().archived(of.scope()?).await?;
                note_unknown(&app, of.scope()?, archived.is_empty()).await?;
                list(&archived, context)
            }
            ArchiveSubcommand::Show { document, of } => {
                let mut held = app.store.erasure().archived(of.scope()?).await?;
                held.retain(|one| one.document_id.0 == document);
                show(held.last(), context)
            }
        }
    })
}

fn list(archived: &[ArchivedSource], context: &Context) -> Result<Exit, CliError> {
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => output::json(&archived)?,
        OutputFormat::Table if archived.is_empty() => output::line("Nothing is archived.")?,
        OutputFormat::Table => {
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

fn show(one: Option<&ArchivedSource>, context: &Context) -> Result<Exit, CliError> {
    let one = one.ok_or_else(|| CliError::failed("the archive has no such document of this patient"))?;
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => output::json(&json!({"document": one, "text": one.content.text}))?,
        OutputFormat::Table => output::line(&one.content.text)?,
    }
    Ok(Exit::Done)
}
