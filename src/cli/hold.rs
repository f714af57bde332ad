//! `hold set|lift|list`: a legal hold keeps everything of a patient, or one document, from retention and purge.

use clap::Subcommand;
use serde_json::json;
use uuid::Uuid;

use super::output::{self, Format};
use super::patient::{Of, note_unknown};
use super::world::World;
use super::{Context, Exit, Failure};
use anamnesis_core::ids::DocumentId;
use anamnesis_store::holds::Hold;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Keep everything of a patient, or one document, until the hold is lifted
    Set {
        #[command(flatten)]
        of: Of,
        /// Only this document.
        #[arg(long, value_name = "UUID")]
        document: Option<Uuid>,
        /// The case it belongs to. Sealed like everything of the patient.
        #[arg(long, value_name = "TEXT")]
        reference: Option<String>,
        /// Who sets it.
        #[arg(long, value_name = "UUID")]
        by: Uuid,
    },
    /// Lift a hold: what is due is removed by the next job run
    Lift {
        /// The hold.
        #[arg(value_name = "ID")]
        id: Uuid,
        #[command(flatten)]
        of: Of,
        /// Who lifts it.
        #[arg(long, value_name = "UUID")]
        by: Uuid,
    },
    /// Holds of a patient, lifted ones too
    List {
        #[command(flatten)]
        of: Of,
    },
}

/// # Errors
/// When the configuration is wrong, the store cannot be opened, or the patient or the hold is not known.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    context.block_on(async {
        let world = World::open(context).await?;
        match args.what {
            What::Set { of, document, reference, by } => {
                let document = document.map(DocumentId);
                let set = world.store.set_hold(of.scope()?, document, reference.as_deref(), by).await?;
                let id = set.ok_or_else(|| Failure::failed("nothing is known of this patient"))?;
                told(context, &json!({"hold_id": id, "held": true}), &format!("held: {id}"))
            }
            What::Lift { id, of, by } => {
                if !world.store.lift_hold(of.scope()?, id, by).await? {
                    return Err(Failure::failed("this patient has no hold of this id that still holds"));
                }
                told(context, &json!({"hold_id": id, "held": false}), &format!("lifted: {id}"))
            }
            What::List { of } => {
                let holds = world.store.holds(of.scope()?).await?;
                note_unknown(&world, of.scope()?, holds.is_empty()).await?;
                list(&holds, context)
            }
        }
    })
}

fn told(context: &Context, json: &serde_json::Value, line: &str) -> Result<Exit, Failure> {
    match context.format_or(Format::Table) {
        Format::Json => output::json(json)?,
        Format::Table => output::line(line)?,
    }
    Ok(Exit::Done)
}

fn list(holds: &[Hold], context: &Context) -> Result<Exit, Failure> {
    match context.format_or(Format::Table) {
        Format::Json => output::json(&holds)?,
        Format::Table if holds.is_empty() => output::line("No holds.")?,
        Format::Table => {
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
