//! `contract schemas|asyncapi`: the JSON Schemas of all messages, in and out, and the AsyncAPI document over them.

pub mod asyncapi;
mod examples;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::{Map, Value};

use super::output::{self, OutputFormat};
use super::{CliError, Context, Exit};
use anamnesis_core::event::EventKind;
use anamnesis_messages::contract::{MessageType, schema};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: ContractSubcommand,
}

#[derive(Debug, Subcommand)]
enum ContractSubcommand {
    /// Print the JSON Schemas (draft 2020-12) of all messages and events
    Schemas {
        /// Write one file per message into this folder instead.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
    /// Print the AsyncAPI 3.1 document: exchanges, queues, routing keys and messages
    Asyncapi {
        /// Prefix of all exchanges and queues, as in `broker.prefix`.
        #[arg(long, value_name = "PREFIX", default_value = "anamnesis")]
        prefix: String,
    },
}

/// # Errors
/// When a file or standard output cannot be written.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    match args.what {
        ContractSubcommand::Asyncapi { prefix } => output::line(asyncapi::text(&prefix).trim_end())?,
        ContractSubcommand::Schemas { out: Some(folder) } => write_all(&folder)?,
        ContractSubcommand::Schemas { out: None } if context.format_or(OutputFormat::Table) == OutputFormat::Json => {
            let schemas: Map<String, Value> =
                all().into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
            output::json(&schemas)?;
        }
        ContractSubcommand::Schemas { out: None } => {
            let rows = all()
                .into_iter()
                .map(|(name, schema)| [name.to_owned(), fields(&schema, true), fields(&schema, false)]);
            output::table(&["type", "required", "optional"], rows)?;
        }
    }
    Ok(Exit::Done)
}

/// Every message and every event with its schema.
fn all() -> Vec<(&'static str, Value)> {
    let messages = MessageType::ALL.iter().map(|kind| (kind.name(), kind.schema().to_value()));
    messages.chain(EventKind::ALL.iter().map(|kind| (kind.name, kind.schema().to_value()))).collect()
}

/// The files under `docs/schemas`: name and text.
pub fn files() -> Vec<(String, String)> {
    let messages = MessageType::ALL.iter().map(|kind| (schema::file_name(*kind), schema::file_text(*kind)));
    let events =
        EventKind::ALL.iter().map(|kind| (format!("{}.json", kind.name), format!("{:#}\n", kind.schema().as_value())));
    messages.chain(events).collect()
}

fn write_all(folder: &Path) -> Result<(), CliError> {
    std::fs::create_dir_all(folder)?;
    for (name, text) in files() {
        let path = folder.join(name);
        std::fs::write(&path, text)?;
        output::note(&path.display().to_string());
    }
    Ok(())
}

/// The names of the required, or of the other, fields.
fn fields(schema: &Value, wanted: bool) -> String {
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let names: Vec<&str> = properties
        .keys()
        .filter(|name| required.contains(&Value::from(name.as_str())) == wanted)
        .map(String::as_str)
        .collect();
    names.join(", ")
}
