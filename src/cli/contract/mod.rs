//! `contract schemas`: the JSON Schemas of the messages that producers send, as this version reads them.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde_json::{Map, Value};

use super::output::{self, Format};
use super::{Context, Exit, Failure};
use anamnesis_messages::contract::{MessageType, schema};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// JSON Schemas (draft 2020-12) of all inbound messages
    Schemas {
        /// Write one file per message into this folder instead of printing.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// # Errors
/// When a file or standard output cannot be written.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let What::Schemas { out } = args.what;
    if let Some(folder) = out {
        write_all(&folder)?;
    } else if context.format_or(Format::Table) == Format::Json {
        let schemas: Map<String, Value> =
            MessageType::ALL.iter().map(|kind| (kind.name().to_string(), kind.schema().to_value())).collect();
        output::json(&schemas)?;
    } else {
        let rows =
            MessageType::ALL.iter().map(|kind| [kind.name().to_string(), fields(*kind, true), fields(*kind, false)]);
        output::table(&["type", "required", "optional"], rows)?;
    }
    Ok(Exit::Done)
}

fn write_all(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)?;
    for kind in MessageType::ALL {
        let path = folder.join(schema::file_name(*kind));
        std::fs::write(&path, schema::file_text(*kind))?;
        output::note(&path.display().to_string());
    }
    Ok(())
}

/// The names of the required, or of the other, fields.
fn fields(kind: MessageType, wanted: bool) -> String {
    let schema = kind.schema();
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let names: Vec<&str> = properties
        .keys()
        .filter(|name| required.contains(&Value::from(name.as_str())) == wanted)
        .map(String::as_str)
        .collect();
    names.join(", ")
}
