//! `extract eval`: figures of the rules on gold data.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::json;

use super::super::output::{self, Format};
use super::super::{Context, Exit, Failure};
use anamnesis_extraction::Extractor;
use anamnesis_extraction::evaluation::{Half, Measure, Others, Report};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Gold data: files with one JSON object a line (contexts of targets, mentions, sets of values, risk, themes,
    /// dialogues with what must and must not come out).
    #[arg(required = true)]
    gold: Vec<PathBuf>,
    /// Which rows count: rules are tuned on one half and believed on the other.
    #[arg(long, value_enum, default_value_t = Rows::All)]
    half: Rows,
    /// Also print the rows that were answered wrongly: ids and labels, never texts.
    #[arg(long)]
    misses: bool,
    /// Also score what another program found, lines {"id","negated"?,"uncertain"?,"temporality"?,"experiencer"?}
    /// for the same rows (scripts/medspacy.sh); may be repeated.
    #[arg(long, value_name = "FILE")]
    found: Vec<PathBuf>,
    #[command(flatten)]
    own: super::Own,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Rows {
    All,
    Tuning,
    HeldOut,
}

/// # Errors
/// When a file cannot be read or standard output not written.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let half = match args.half {
        Rows::All => Half::All,
        Rows::Tuning => Half::Tuning,
        Rows::HeldOut => Half::HeldOut,
    };
    let extractor = args.own.extractor()?;
    let others = args.found.iter().map(|path| Ok((stem(path), Others::read(BufReader::new(File::open(path)?))?)));
    let others: Vec<(String, Others)> = others.collect::<Result<_, Failure>>()?;
    let mut exit = Exit::Done;
    for path in &args.gold {
        let report = Report::of(BufReader::new(File::open(path)?), &extractor, half)?;
        exit = if report.unread > 0 { Exit::Partial } else { exit };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match context.format_or(Format::Table) {
            Format::Json => output::json(&shown(&name, &extractor, &report, args.misses))?,
            Format::Table => tables(&name, &report, args.misses)?,
        }
        for (by, others) in &others {
            let report = Report::of_others(BufReader::new(File::open(path)?), others, half)?;
            exit = if report.unread > 0 { Exit::Partial } else { exit };
            match context.format_or(Format::Table) {
                Format::Json => output::json(&json!({
                    "gold": name, "found_by": by, "rows": report.rows, "unread": report.unread,
                    "measures": report.measures(),
                }))?,
                Format::Table => tables(&format!("{name}, as {by} has it"), &report, args.misses)?,
            }
        }
    }
    Ok(exit)
}

/// A file's name without its ending.
fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn shown(name: &str, extractor: &Extractor, report: &Report, misses: bool) -> serde_json::Value {
    let mut value = json!({
        "gold": name, "version": extractor.version(), "rows": report.rows, "unread": report.unread,
        "ungrounded": report.ungrounded, "measures": report.measures(),
    });
    if misses {
        value["misses"] = json!(report.misses);
    }
    value
}

fn tables(name: &str, report: &Report, misses: bool) -> Result<(), Failure> {
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

fn row(measure: Measure) -> [String; 8] {
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
