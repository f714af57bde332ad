//! `hold set|lift|list`: a legal hold keeps everything of a patient, or one document, from retention and purge.

use clap::Subcommand;
use serde_json::json;
use uuid::Uuid;

use super::app::App;
use super::output::{self, OutputFormat};
use super::patient::{PatientArgs, note_unknown};
use super::{CliError, Context, Exit};
use anamnesis_core::ids::DocumentId;
use anamnesis_store::legal_holds::LegalHold;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: HoldSubcommand,
}

#[derive(Debug, Subcommand)]
enum HoldSubcommand {
    /// Place a legal hold on all data of a patient, or on one document
    Set {
        #[command(flatten)]
        of: PatientArgs,
        /// Only this document.
        #[arg(long, value_name = "UUID")]
        document: Option<Uuid>,
        /// Reference of the case. Stored encrypted, like all data of the patient.
        #[arg(long, value_name = "TEXT")]
        reference: Option<String>,
        /// Id of the person who places the hold.
        #[arg(long, value_name = "UUID")]
        by: Uuid,
    },
    /// Lift a hold: the next job run removes data that is due
    Lift {
        /// Id of the hold.
        #[arg(value_name = "ID")]
        id: Uuid,
        #[command(flatten)]
        of: PatientArgs,
        /// Id of the person who lifts the hold.
        #[arg(long, value_name = "UUID")]
        by: Uuid,
    },
    /// List the holds of a patient, including lifted ones
    List {
        #[command(flatten)]
        of: PatientArgs,
    },
}

/// # Errors
/// When the configuration is wrong, the store cannot be opened, or the patient or the hold is not known.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    context.block_on(async {
        let app = App::open(context).await?;
        match args.what {
            HoldSubcommand::Set { of, document, reference, by } => {
                let document = document.map(DocumentId);
                let set = app.store.erasure().set_hold(of.scope()?, document, reference.as_deref(), by).await?;
                let id = set.ok_or_else(|| CliError::failed("nothing is known of this patient"))?;
                print_result(context, &json!({"hold_id": id, "held": true}), &format!("held: {id}"))
            }
            HoldSubcommand::Lift { id, of, by } => {
                if !app.store.erasure().lift_hold(of.scope()?, id, by).await? {
                    return Err(CliError::failed("this patient has no hold of this id that still holds"));
                }
                print_result(context, &json!({"hold_id": id, "held": false}), &format!("lifted: {id}"))
            }
            HoldSubcommand::List { of } => {
                let holds = app.store.erasure().holds(of.scope()?).await?;
                note_unknown(&app, of.scope()?, holds.is_empty()).await?;
                list(&holds, context)
            }
        }
    })
}

fn print_result(context: &Context, json: &serde_json::Value, line: &str) -> Result<Exit, CliError> {
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => output::json(json)?,
        OutputFormat::Table => output::line(line)?,
    }
    Ok(Exit::Done)
}

fn list(holds: &[LegalHold], context: &Context) -> Result<Exit, CliError> {
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => output::json(&holds)?,
        OutputFormat::Table if holds.is_empty() => output::line("No holds.")?,
        OutputFormat::Table => {
            let rows = holds.iter().map(|hold| {
                let what = hold.document_id.map_or_else(|| "the whole patient".to_owned(), |id| id.to_string());
                let until = hold.lifted_at.map_or_else(|| "holds".to_owned(), |at| at.to_rfc3339());
                let reference = hold.reference.clone().unwrap_or_default();
                [hold.id.to_string(), what, reference, hold.set_at.to_rfc3339(), until]
            });
            output::table(&["id", "what", "reference", "since", "until"], rows)?;
        }
    }
    Ok(Exit::Done)
}
