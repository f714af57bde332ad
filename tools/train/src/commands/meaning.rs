//! `anamnesis-train meaning`: whether what is found in a text is found in its redaction, with the same polarity, person and status.
//! For the program's own sets: it prints lines in which something changed.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::meaning::{Frames, Line, Report, compare, read};
use anamnesis::cli::output::{self, OutputFormat};
use anamnesis::cli::{CliError, Context, Exit};
use anamnesis_extraction::Extractor;
use anamnesis_redaction::Redactor;

/// Seed of the sentences.
const SEED: u64 = 5;
/// The most findings that may be lost.
const MOST: f64 = 0.003;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Sets: text lines with marks ([[PERSON|Ana]]) or JSON objects with `text` or `turns`.
    #[arg(required = true)]
    sets: Vec<PathBuf>,
    /// Folder with words.txt, en.frames.txt and es.frames.txt: clean sentences are made from these and the sets' clean lines.
    #[arg(long, value_name = "DIR")]
    frames: Option<PathBuf>,
    /// How many clean sentences are made, half of them in each language.
    #[arg(long, default_value_t = 10_000, requires = "frames")]
    sentences: usize,
    #[arg(long, default_value = "safe_harbor")]
    policy: String,
    /// How many examples of harm are shown.
    #[arg(long, default_value_t = 20)]
    examples: usize,
}

/// # Errors
/// When a set cannot be read, a line not be redacted or standard output not be written. Ends in exit code 3 where a finding
/// is turned round or too many are lost.
pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let redactor = Redactor::builtin(anamnesis::cli::redact::policy(&args.policy)?);
    let extractor = Extractor::shared();
    let compared = |lines: &[Line]| {
        compare(&redactor, &extractor, lines)
            .map_err(|error| CliError::failed(format!("a line cannot be redacted: {error}")))
    };
    let (mut rows, mut all, mut clean) = (Vec::new(), Report::default(), Vec::new());
    for path in &args.sets {
        let name = path.to_string_lossy().into_owned();
        let lines = read(&name, &std::fs::read_to_string(path)?).map_err(|error| CliError::usage(error.to_string()))?;
        let report = compared(&lines)?;
        rows.push((name, report.clone()));
        all.join(report);
        // Sets of the extractor mark no personal data: their lines are not known to be clean.
        clean.extend(
            lines
                .into_iter()
                .filter(|line| path.extension().is_some_and(|kind| kind == "txt") && line.marked.is_empty()),
        );
    }
    if let Some(folder) = &args.frames {
        let mut report = Report::default();
        for code in ["en", "es"] {
            let lines = sentences(folder, code, args.sentences / 2, &clean)?;
            report.join(compared(&lines)?);
        }
        rows.push(("clean sentences".into(), report.clone()));
        all.join(report);
    }
    let kept = all.turned == 0 && all.lost_share() <= MOST;
    all.examples.truncate(args.examples);
    rows.push(("all".into(), all.clone()));
    match context.format_or(OutputFormat::Table) {
        OutputFormat::Json => {
            let sets: Vec<_> = rows
                .iter()
                .map(
                    |(name, report)| json!({"set": name, "figures": Report { examples: Vec::new(), ..report.clone() }}),
                )
                .collect();
            output::json(&json!({"sets": sets, "examples": all.examples, "kept": kept}))?;
        }
        OutputFormat::Table => {
            let row = |(name, report): &(String, Report)| {
                [
                    name.clone(),
                    report.lines.to_string(),
                    report.touched.to_string(),
                    report.findings.to_string(),
                    format!("{} = {:.2} %", report.lost, 100.0 * report.lost_share()),
                    report.turned.to_string(),
                    report.by_marked.to_string(),
                ]
            };
            output::table(
                &["set", "lines", "touched", "findings", "lost", "inverted", "unavoidable"],
                rows.iter().map(row).collect::<Vec<_>>(),
            )?;
            for one in &all.examples {
                output::line(&format!(
                    "{:?} {} {:?} {}\n  {}\n  {}",
                    one.harm, one.kind, one.mention, one.line, one.before, one.after
                ))?;
            }
        }
    }
    Ok(if kept { Exit::Done } else { Exit::Partial })
}

fn sentences(folder: &Path, code: &'static str, many: usize, clean: &[Line]) -> Result<Vec<Line>, CliError> {
    let text = |name: &str| std::fs::read_to_string(folder.join(name));
    let frames = Frames::new(code, &text(&format!("{code}.frames.txt"))?, &text("words.txt")?, clean);
    frames.sentences(many, SEED).map_err(|error| CliError::usage(error.to_string()))
}
