//! `extract`: findings out of texts, as a stream. One JSON object a line in and out (contract.md, `extract`); runs on
//! the text as given and touches no store.
//!
//! Offsets are Unicode code points: of `text`, or of the turns' texts joined with a line feed.

mod eval;
mod false_positives;
mod lexicon;
mod rendering;

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::PathBuf;

use clap::Subcommand;
use serde_json::{Map, Value, json};

use super::ndjson::{self, NdjsonLine};
use super::{CliError, Context, Exit, output};
use anamnesis_extraction::lexicon::LexiconExtension;
use anamnesis_extraction::reader::ClinicalReader;
use anamnesis_extraction::{DocumentType, ExtractionInput, Extractor, dates};
use anamnesis_text::{CodePoints, Document, Language, Span, Speaker};

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    what: Option<ExtractSubcommand>,
    /// Add the cues to each finding, and the version of rules and lexicons to each answer.
    #[arg(long)]
    explain: bool,
    /// Extraction profile: `fast` uses the rules only, `careful` adds the learned reader.
    #[arg(long, value_parser = ["fast", "careful"], default_value = "fast")]
    profile: String,
    /// Model file of a learned reader, used in place of the built-in one of the profile `careful`.
    #[arg(long, value_name = "FILE")]
    reader_file: Option<PathBuf>,
    #[command(flatten)]
    own: LexiconArgs,
    /// NDJSON file; standard input without it or with `-`.
    path: Option<PathBuf>,
}

/// Lexicons next to the built-in ones.
#[derive(Debug, clap::Args)]
pub(crate) struct LexiconArgs {
    /// Your lexicon file, read with the built-in lists; may be repeated (docs/extraction.md).
    #[arg(long = "lexicon", value_name = "FILE")]
    lexicons: Vec<PathBuf>,
}

impl LexiconArgs {
    /// # Errors
    /// When a file cannot be used: with its line and column.
    fn extractor(&self) -> Result<Extractor, CliError> {
        let extension = LexiconExtension::load(&self.lexicons).map_err(|error| CliError::usage(error.to_string()))?;
        Ok(Extractor::extended(&extension))
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum ExtractSubcommand {
    /// Evaluate extraction on gold data: precision, recall and F1
    Eval(eval::Args),
    /// Show the size of the word lists; with files, check these and count their entries too
    Lexicon(lexicon::Args),
    /// Count false positives of risk: findings in documents without any risk
    #[command(alias = "alarms")]
    FalsePositives(false_positives::Args),
}

/// # Errors
/// When the file cannot be read or standard output not written. Bad lines are answered in place and end in exit
/// code 3.
pub(crate) fn run(args: Args, context: &Context) -> Result<Exit, CliError> {
    match args.what {
        Some(ExtractSubcommand::Eval(args)) => return eval::run(args, context),
        Some(ExtractSubcommand::Lexicon(args)) => return lexicon::run(&args, context),
        Some(ExtractSubcommand::FalsePositives(args)) => return false_positives::run(&args, context),
        None => {}
    }
    let mut extractor = args.own.extractor()?;
    let reader = match &args.reader_file {
        Some(path) => {
            Some(ClinicalReader::open(path).map_err(|error| CliError::usage(format!("--reader-file: {error}")))?)
        }
        None if args.profile == "careful" => {
            Some(ClinicalReader::builtin().map_err(|error| CliError::usage(format!("--profile: {error}")))?)
        }
        None => None,
    };
    if let Some(reader) = reader {
        extractor = extractor.with_reader(reader);
    }
    let out = BufWriter::new(io::stdout().lock());
    match args.path.filter(|path| path.as_os_str() != "-") {
        Some(path) => stream(BufReader::new(File::open(path)?), out, &extractor, args.explain),
        None => stream(io::stdin().lock(), out, &extractor, args.explain),
    }
}

/// Reads every line of `input` and answers it in `output`: 0 when all were read, 3 when some could not be.
///
/// # Errors
/// When the input cannot be read or the output not written.
pub(crate) fn stream(
    input: impl BufRead,
    mut output: impl Write,
    extractor: &Extractor,
    explain: bool,
) -> Result<Exit, CliError> {
    let mut exit = Exit::Done;
    ndjson::each(input, |line| {
        let answer = match line {
            NdjsonLine::Whole(line) => answer(line, extractor, explain),
            NdjsonLine::TooLarge => Err(refusal(None, "too_large", "")),
        };
        exit = if answer.is_err() { Exit::Partial } else { exit };
        output::json_to(&mut output, &answer.unwrap_or_else(|refusal| refusal))
    })?;
    output.flush()?;
    Ok(exit)
}

/// Why a line was not read: a code and the field at fault, never a value.
fn refusal(id: Option<&Value>, code: &str, field: &str) -> Value {
    let error = json!({"code": code, "field": field});
    match id {
        Some(id) => json!({"id": id, "error": error}),
        None => json!({"error": error}),
    }
}

fn answer(line: &[u8], extractor: &Extractor, explain: bool) -> Result<Value, Value> {
    let fields = match serde_json::from_slice(line) {
        Ok(Value::Object(fields)) => fields,
        _ => return Err(refusal(None, "malformed", "")),
    };
    let id = fields.get("id").filter(|id| id.is_string() || id.is_number());
    let wrong = |field: UnreadableField| refusal(id, "malformed", &field.0);
    let document = document(&fields).map_err(wrong)?;
    let document_type = document_type(fields.get("document_type")).map_err(wrong)?;
    let places = CodePoints::new(&document.text);
    let targets = targets(fields.get("targets"), &places).map_err(wrong)?;
    let today = fields.get("occurred_at").and_then(Value::as_str).and_then(|at| at.get(..10)?.parse().ok());
    let language = document.language.or_detect(&document.text);
    let dates = today.map(|today| dates::find(&document.text, language, today)).unwrap_or_default();
    let input =
        ExtractionInput { document_type, targets: &targets, dates: &dates, today, ..ExtractionInput::new(&document) };
    let found = extractor.extract(&input);
    let mut answer = rendering::answer(&document, &places, &found, &targets);
    if explain {
        rendering::explain(&mut answer, &places, &document.text, &extractor.explain(&input, &found));
        rendering::marks(&mut answer, &extractor.confidence_features(&input, &found));
        answer["version"] = json!(extractor.version());
        rendering::views(&mut answer, &found);
    }
    if let (Some(id), Some(fields)) = (id, answer.as_object_mut()) {
        fields.insert("id".into(), id.clone());
    }
    Ok(answer)
}

/// The path of a field that cannot be read.
struct UnreadableField(String);

fn wrong<T>(field: impl Into<String>) -> Result<T, UnreadableField> {
    Err(UnreadableField(field.into()))
}

fn document(fields: &Map<String, Value>) -> Result<Document, UnreadableField> {
    let language = match fields.get("language") {
        None | Some(Value::Null) => Language::Unknown,
        Some(Value::String(code)) => match code.split(['-', '_']).next().unwrap_or_default() {
            "es" => Language::Spanish,
            "en" => Language::English,
            _ => Language::Unknown,
        },
        Some(_) => return wrong("language"),
    };
    match (fields.get("text"), fields.get("turns")) {
        (Some(Value::String(text)), None | Some(Value::Null)) => Ok(Document::plain(text.as_str(), language)),
        (None | Some(Value::Null), Some(Value::Array(turns))) => {
            let turns = turns.iter().enumerate().map(|(at, said)| turn(at, said)).collect::<Result<Vec<_>, _>>()?;
            Ok(Document::dialogue(turns, language))
        }
        (None | Some(Value::Null), Some(_)) => wrong("turns"),
        _ => wrong("text"),
    }
}

fn turn(at: usize, value: &Value) -> Result<(Speaker, &str, Option<u64>), UnreadableField> {
    let Some(text) = value.get("text").and_then(Value::as_str) else { return wrong(format!("turns[{at}].text")) };
    let speaker = match value.get("speaker") {
        None | Some(Value::Null) => Speaker::Unknown,
        Some(speaker) => serde_json::from_value(speaker.clone()).or_else(|_| wrong(format!("turns[{at}].speaker")))?,
    };
    Ok((speaker, text, value.get("at_ms").and_then(Value::as_u64)))
}

fn document_type(value: Option<&Value>) -> Result<Option<DocumentType>, UnreadableField> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_str().and_then(DocumentType::from_code) {
            Some(kind) => Ok(Some(kind)),
            None => wrong("document_type"),
        },
    }
}

fn targets(value: Option<&Value>, places: &CodePoints<'_>) -> Result<Vec<Span>, UnreadableField> {
    let Some(targets) = value.filter(|value| !value.is_null()) else { return Ok(Vec::new()) };
    let Some(targets) = targets.as_array() else { return wrong("targets") };
    let offset =
        |target: &Value, name: &str| target.get(name).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
    let place = |(at, target): (usize, &Value)| {
        let span = offset(target, "start")
            .zip(offset(target, "end"))
            .and_then(|(start, end)| places.span_to_bytes(start, end));
        span.map_or_else(|| wrong(format!("targets[{at}]")), Ok)
    };
    targets.iter().enumerate().map(place).collect()
}

#[cfg(test)]
mod tests;
