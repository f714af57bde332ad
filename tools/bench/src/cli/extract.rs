//! `anamnesis-bench extract`: megabytes a second of the rules, and what hostile text costs.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;

use crate::extract::{ExtractionSpeed, document, measure};
use anamnesis::cli::output::{self, OutputFormat};
use anamnesis::cli::{CliError, Context, Exit};
use anamnesis_extraction::Extractor;
use anamnesis_text::Document;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// NDJSON with texts or dialogues of your own instead of invented documents.
    #[arg(long, value_name = "FILE")]
    data: Vec<PathBuf>,
}

/// # Errors
/// When a file cannot be read or holds no text.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let mut documents: Vec<Document> = Vec::new();
    for path in &args.data {
        for line in BufReader::new(File::open(path)?).lines() {
            documents.extend(serde_json::from_str(&line?).ok().and_then(|body| document(&body)));
        }
    }
    if documents.is_empty() && !args.data.is_empty() {
        return Err(CliError::usage("--data holds no texts and no dialogues"));
    }
    let measured = measure(&Extractor::builtin(), (!args.data.is_empty()).then_some(documents));
    if context.format_or(OutputFormat::Table) == OutputFormat::Table {
        output::table(&["text", "bytes", "MB/s", "ms", "twice as long"], measured.iter().map(row))?;
    }
    output::json(&measured)?;
    Ok(Exit::Done)
}

fn row(speed: &ExtractionSpeed) -> [String; 5] {
    let doubling = speed.doubling.map_or_else(String::new, |times| format!("× {times:.2}"));
    [
        speed.text.clone(),
        speed.bytes.to_string(),
        format!("{:.2}", speed.megabytes_per_second),
        format!("{:.1}", speed.milliseconds),
        doubling,
    ]
}
