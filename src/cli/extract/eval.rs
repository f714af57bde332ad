//! `extract eval`: evaluates extraction on gold data.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::json;

use super::super::output::{self, OutputFormat};
use super::super::{CliError, Context, Exit};
use anamnesis_extraction::Extractor;
use anamnesis_extraction::evaluation::{DataSplit, EvaluationReport, ExternalPredictions, TaskScore};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Gold data: files with one JSON object per line (assertion status of targets, mentions, sets of values, risk, themes,
    /// dialogues with required and forbidden findings).
    #[arg(required = true)]
    gold: Vec<PathBuf>,
    /// Which rows are scored: the rules were tuned on one half; the held-out half tests them.
    #[arg(long, alias = "half", value_enum, default_value_t = EvaluatedRows::All)]
    split: EvaluatedRows,
    /// Also print the rows with errors: ids and labels, never texts.
    #[arg(long)]
    misses: bool,
    /// Also score the predictions of another program for the same rows: lines
    /// {"id","negated"?,"uncertain"?,"temporality"?,"experiencer"?} (scripts/medspacy.sh); may be repeated.
    #[arg(long, alias = "found", value_name = "FILE")]
    predictions: Vec<PathBuf>,
    #[command(flatten)]
    own: super::LexiconArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EvaluatedRows {
    All,
    Tuning,
    HeldOut,
}

/// # Errors
/// When a file cannot be read or standard output not written.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    let split = match args.split {
        EvaluatedRows::All => DataSplit::All,
        EvaluatedRows::Tuning => DataSplit::Tuning,
        EvaluatedRows::HeldOut => DataSplit::HeldOut,
    };
    let extractor = args.own.extractor()?;
    let read = |path: &PathBuf| Ok((stem(path), ExternalPredictions::read(BufReader::new(File::open(path)?))?));
    let others: Vec<(String, ExternalPredictions)> =
        args.predictions.iter().map(read).collect::<Result<_, CliError>>()?;
    let mut exit = Exit::Done;
    for path in &args.gold {
        let report = EvaluationReport::evaluate(BufReader::new(File::open(path)?), &extractor, split)?;
        exit = if report.unread > 0 { Exit::Partial } else { exit };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match context.format_or(OutputFormat::Table) {
            OutputFormat::Json => output::json(&shown(&name, &extractor, &report, args.misses))?,
            OutputFormat::Table => tables(&name, &report, args.misses)?,
        }
        for (by, others) in &others {
            let report = EvaluationReport::evaluate_external(BufReader::new(File::open(path)?), others, split)?;
            exit = if report.unread > 0 { Exit::Partial } else { exit };
            match context.format_or(OutputFormat::Table) {
                OutputFormat::Json => output::json(&json!({
                    "gold": name, "found_by": by, "rows": report.rows, "unread": report.unread,
                    "measures": report.measures(),
                }))?,
                OutputFormat::Table => tables(&format!("{name}, as {by} has it"), &report, args.misses)?,
            }
        }
    }
    Ok(exit)
}

/// A file's name without its ending.
fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn shown(name: &str, extractor: &Extractor, report: &EvaluationReport, misses: bool) -> serde_json::Value {
    let mut value = json!({
        "gold": name, "version": extractor.version(), "rows": report.rows, "unread": report.unread,
        "ungrounded": report.ungrounded, "measures": report.measures(),
    });
    if misses {
        value["misses"] = json!(report.misses);
    }
    value
}

fn tables(name: &str, report: &EvaluationReport, misses: bool) -> Result<(), CliError> {
    let (rows, unread, ungrounded) = (report.rows, report.unread, report.ungrounded);
    output::line(&format!("{name}: {rows} rows, {unread} unread, {ungrounded} findings not literally there"))?;
    let measures = report.measures().into_iter().map(row);
    let head = ["task", "language", "right", "extra", "missing", "precision", "recall", "F1"];
    output::table(&head, measures)?;
    if misses {
        for miss in &report.misses {
            output::line(&format!("{}\t{}\t{}\t{}", miss.task, miss.id, miss.expected, miss.found))?;
        }
    }
    Ok(())
}

fn row(measure: TaskScore) -> [String; 8] {
    [
        measure.task,
        measure.language,
        measure.right.to_string(),
        measure.extra.to_string(),
        measure.missing.to_string(),
        format!("{:.3}", measure.precision),
        format!("{:.3}", measure.recall),
        format!("{:.3}", measure.f1),
    ]
}
