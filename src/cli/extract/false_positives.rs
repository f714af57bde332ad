//! `extract false-positives`: how often risk is detected in documents without any. Prints counts, never texts.

use std::path::PathBuf;

use serde_json::json;

use super::super::output::{self, OutputFormat};
use super::super::{CliError, Context, Exit};
use anamnesis_extraction::evaluation::read_documents;
use anamnesis_extraction::{ExtractionInput, Extractor, Risk};
use anamnesis_text::sentences;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Files of documents, one JSON object a line (`text` or `turns`).
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Use every second document only: those that `anamnesis-train risk` does not train on, of a set that it halves.
    #[arg(long)]
    held_out: bool,
}

/// # Errors
/// When a file cannot be read or standard output not written.
pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let extractor = Extractor::shared();
    let mut rows: Vec<[String; 6]> = Vec::new();
    for path in &args.files {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let documents = read_documents(&std::fs::read_to_string(path)?)
            .map_err(|line| CliError::usage(format!("{name}: line {line} cannot be read")))?;
        let (skip, step) = if args.held_out { (1, 2) } else { (0, 1) };
        let (mut read, mut said, mut ruled, mut learned) = (0usize, 0usize, 0usize, 0usize);
        for document in documents.iter().skip(skip).step_by(step) {
            let found = extractor.extract(&ExtractionInput::new(document)).risk;
            let own = found.iter().filter(|risk| Risk::is_own(risk));
            let by_model = own.clone().filter(|risk| risk.learned.is_some()).count();
            (read, said) = (read + 1, said + sentences(document).len());
            (ruled, learned) = (ruled + own.count() - by_model, learned + by_model);
        }
        #[allow(clippy::cast_precision_loss)] // counts of sentences of a file
        let thousand = learned as f64 * 1000.0 / said.max(1) as f64;
        match context.format_or(OutputFormat::Table) {
            OutputFormat::Json => {
                output::json(&json!({"file": name, "documents": read, "sentences": said, "by_rules": ruled,
                                                 "learned": learned, "learned_per_1000": thousand}))?
            }
            OutputFormat::Table => rows.push([
                name,
                read.to_string(),
                said.to_string(),
                ruled.to_string(),
                learned.to_string(),
                format!("{thousand:.2}"),
            ]),
        }
    }
    if !rows.is_empty() {
        output::table(&["file", "documents", "sentences", "by rules", "learned", "learned per 1,000"], rows)?;
    }
    Ok(Exit::Done)
}
