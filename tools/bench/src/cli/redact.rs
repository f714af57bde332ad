//! `anamnesis-bench redact`: how fast redaction is on this machine.

use std::path::PathBuf;

use serde_json::Value;

use crate::corpus;
use crate::redaction::fuzz;
use crate::redaction::speed::{self, RedactionSpeed};
use anamnesis::cli::output::{self, OutputFormat};
use anamnesis::cli::{CliError, Context, Exit};
use anamnesis_text::Language;

/// Invented documents of a run without data: about 1 MB.
const DOCUMENTS: u64 = 600;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// NDJSON of your own with `text` and `lang` or `language`; invented documents without it.
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Instead of measuring: redact so many inputs that nobody would write, made of the texts, and say what went wrong.
    #[arg(long, value_name = "INPUTS")]
    fuzz: Option<u64>,
    /// Seed of the inputs; the same seed and texts make the same inputs.
    #[arg(long, default_value_t = 20, requires = "fuzz")]
    seed: u64,
}

/// # Errors
/// When the file cannot be read or holds no texts.
pub(crate) fn run(args: &Args, context: &Context) -> Result<Exit, CliError> {
    let texts = match &args.data {
        Some(path) => texts(&std::fs::read_to_string(path)?),
        None => texts(
            &(0..DOCUMENTS)
                .map(|number| String::from_utf8_lossy(&corpus::document(number)).into_owned() + "\n")
                .collect::<String>(),
        ),
    };
    if texts.is_empty() {
        return Err(CliError::usage("the file has no line with a text"));
    }
    if let Some(inputs) = args.fuzz {
        return fuzzed(&texts, inputs, args.seed);
    }
    let progress = output::progress_count(None);
    let measured = speed::measure(&texts, &|step| progress.set_message(step.to_owned()));
    progress.finish_and_clear();
    if context.format_or(OutputFormat::Table) == OutputFormat::Table {
        tables(&measured)?;
    }
    output::json(&measured)?;
    Ok(Exit::Done)
}

/// The campaign, and failure where anything went wrong.
fn fuzzed(texts: &[(String, Language)], inputs: u64, seed: u64) -> Result<Exit, CliError> {
    let seeds: Vec<String> = texts.iter().flat_map(|(text, _)| text.lines()).map(str::to_owned).collect();
    let progress = output::progress_count(Some(inputs));
    let outcome = fuzz::run(seeds, inputs, seed, &|done| progress.set_position(done));
    progress.finish_and_clear();
    output::json(&outcome)?;
    if outcome.is_clean() {
        Ok(Exit::Done)
    } else {
        Err(CliError::failed("redaction failed on inputs of the campaign"))
    }
}

fn texts(lines: &str) -> Vec<(String, Language)> {
    let text = |line: &str| {
        let value: Value = serde_json::from_str(line).ok()?;
        let language = match value.get("lang").or(value.get("language")).and_then(Value::as_str) {
            Some("es") => Language::Spanish,
            Some("en") => Language::English,
            _ => Language::Unknown,
        };
        let said = |turn: &Value| turn.get("text").and_then(Value::as_str).map(str::to_owned);
        let turns = || {
            let turns = value.get("turns")?.as_array()?;
            Some(turns.iter().filter_map(said).collect::<Vec<_>>().join("\n"))
        };
        Some((said(&value).or_else(turns)?, language))
    };
    lines.lines().filter_map(text).collect()
}

fn tables(measured: &RedactionSpeed) -> Result<(), CliError> {
    let figure_text =
        |figure: Option<f64>| figure.map_or_else(|| "unknown".to_owned(), |figure| format!("{figure:.0}"));
    let rows = [
        ("Notes of 3 KB", measured.notes.to_string()),
        ("Whole redactor, MB a second, one thread", format!("{:.2}", measured.whole_mb_per_second)),
        ("A note, p50, ms", format!("{:.2}", measured.p50_ms)),
        ("A note, p99, ms", format!("{:.2}", measured.p99_ms)),
        ("Load, s", format!("{:.3}", measured.load_seconds)),
        ("Peak memory with notes, MiB", figure_text(measured.peak_mb)),
        ("Peak memory with a megabyte at once, MiB", figure_text(measured.hostile_peak_mb)),
    ];
    output::table(&["Measure", "Value"], rows.map(|(name, value)| [name.to_owned(), value]))?;
    let parts = measured
        .parts
        .iter()
        .map(|of| [of.part.clone(), format!("{:.1}", of.mb_per_second), format!("{:.1}", of.read_mb_per_second)]);
    output::table(&["Part alone", "MB a second", "The text read"], parts)?;
    let rows =
        measured.hostile.iter().map(|of| [of.text.to_owned(), format!("{:.0}", of.ms), format!("{:.1}", of.growth)]);
    output::table(&["A megabyte of", "ms", "Over a quarter"], rows)?;
    if measured.build == "debug" {
        output::note("This is a development build: for figures that mean something, build with --release.");
    }
    Ok(())
}
