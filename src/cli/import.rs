//! `import`: records of older systems (seeds 000, 001 and 004), one patient at a time. Missing fields are unknown; the
//! record itself is stored and can be exported as it arrived.

use std::io::Read as _;
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::app::App;
use super::output::{self, OutputFormat};
use super::patient::{PatientArgs, TimePoint};
use super::{CliError, Context, Exit};
use anamnesis_pipeline::{ImportOutcome, Importer};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// A JSON array, a JSON object, or NDJSON; `-` for standard input.
    #[arg(value_name = "PATH")]
    path: PathBuf,
    #[command(flatten)]
    of: PatientArgs,
    /// Id of the person who imports.
    #[arg(long, value_name = "UUID")]
    by: Uuid,
    /// Date for records without one. Use the same date when you import the same file again.
    #[arg(long, value_name = "DATE", default_value = "2000-01-01")]
    undated: TimePoint,
}

/// How many records came to what.
#[derive(Debug, Default, Serialize)]
struct ImportCounts {
    stored: u64,
    unchanged: u64,
    unread: u64,
    refused: u64,
}

/// # Errors
/// When the file is not JSON, or the configuration or the store cannot be read.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let mut text = String::new();
    match args.path.to_str() {
        Some("-") => std::io::stdin().read_to_string(&mut text).map(|_| ())?,
        _ => text = std::fs::read_to_string(&args.path)?,
    }
    let records = records(&text).ok_or_else(|| CliError::usage("the file is neither JSON nor NDJSON"))?;
    context.block_on(async {
        let app = App::open(context).await?;
        let undated: DateTime<Utc> = args.undated.start();
        let done = app.pipeline()?.import(args.of.scope()?, &records, Importer { by: args.by, undated }).await?;
        app.close().await;
        let mut tally = ImportCounts::default();
        for one in &done {
            match one {
                ImportOutcome::Stored => tally.stored += 1,
                ImportOutcome::Unchanged => tally.unchanged += 1,
                ImportOutcome::Unread => tally.unread += 1,
                ImportOutcome::Refused(_) => tally.refused += 1,
            }
        }
        match context.format_or(OutputFormat::Table) {
            OutputFormat::Json => output::json(&tally)?,
            OutputFormat::Table => {
                let row = [tally.stored, tally.unchanged, tally.unread, tally.refused].map(|n| n.to_string());
                output::table(&["stored", "unchanged", "unread", "refused"], [row])?;
            }
        }
        Ok(if tally.unread + tally.refused > 0 { Exit::Partial } else { Exit::Done })
    })
}

/// An array, one object, or an object a line.
fn records(text: &str) -> Option<Vec<Value>> {
    match serde_json::from_str(text) {
        Ok(Value::Array(records)) => Some(records),
        Ok(record @ Value::Object(_)) => Some(vec![record]),
        _ => text.lines().filter(|line| !line.trim().is_empty()).map(|line| serde_json::from_str(line).ok()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_an_object_and_an_object_a_line_are_read_alike() {
        assert_eq!(records(r#"[{"a":1},{"a":2}]"#).unwrap().len(), 2);
        assert_eq!(records("{\"a\":1}\n{\"a\":2}\n\n").unwrap().len(), 2);
        assert_eq!(records("{\n \"a\": 1\n}").unwrap().len(), 1);
        assert_eq!(records("a,b\n1,2"), None);
    }
}
