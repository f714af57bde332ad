//! `redact`: personal data out of texts, as a stream. One JSON object a line in and out (contract.md, `redact`).
//!
//! Offsets are Unicode code points of the input. Surrogates made here come from a fixed key that belongs to no patient:
//! they are stable from run to run and never equal to those of the store.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;

use chrono::NaiveDate;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Context, Exit, Failure, output};
use crate::dlp::{KnownIdentity, Policy, Redacted, Redactor, SurrogateKey};
use crate::text::codepoints::CodePoints;
use crate::text::{Document, Language};

/// Longest line read, in bytes: the limit of a message with room for JSON escapes.
const LONGEST_LINE: u64 = 8 << 20;
/// The key of the command line: published with the source, so its surrogates hide nothing from who knows the value.
const COMMAND_LINE_KEY: [u8; 32] = *b"anamnesis redact command line v1";

#[derive(Debug, clap::Args)]
pub struct Args {
    /// NDJSON file; standard input without it or with `-`.
    path: Option<PathBuf>,
    /// What is taken out and what replaces it: safe_harbor, gdpr_pseudonymise, strict.
    #[arg(long, default_value = "safe_harbor")]
    policy: String,
}

/// # Errors
/// When the policy is unknown, the file cannot be read or standard output not written. Bad lines are answered in
/// place and end in exit code 3.
pub fn run(args: Args, _context: &Context) -> Result<Exit, Failure> {
    let policy = Policy::named(&args.policy).map_err(|error| Failure::usage(error.to_string()))?;
    let out = BufWriter::new(io::stdout().lock());
    match args.path.filter(|path| path.as_os_str() != "-") {
        Some(path) => stream(BufReader::new(File::open(path)?), out, policy),
        None => stream(io::stdin().lock(), out, policy),
    }
}

/// Redacts every line of `input` into `output`: 0 when all were redacted, 3 when some could not be read.
///
/// # Errors
/// When the input cannot be read or the output not written.
pub fn stream(mut input: impl BufRead, mut output: impl Write, policy: Policy) -> Result<Exit, Failure> {
    let redactor = Redactor::builtin(policy);
    let key = SurrogateKey::new(COMMAND_LINE_KEY);
    let mut exit = Exit::Done;
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut input).take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let whole = line.last() == Some(&b'\n') || (line.len() as u64) < LONGEST_LINE;
        if !whole {
            skip_line(&mut input)?;
        }
        if whole && line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let answer = if whole { answer(&line, &redactor, &key) } else { Err(Refusal::of("too_large", "")) };
        match answer {
            Ok(answer) => output::json_to(&mut output, &answer)?,
            Err(refusal) => {
                exit = Exit::Partial;
                output::json_to(&mut output, &refusal)?;
            }
        }
    }
    output.flush()?;
    Ok(exit)
}

fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let (used, ended) = match buffer.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        input.consume(used);
        if ended {
            return Ok(());
        }
    }
}

#[derive(Serialize)]
struct Answer {
    id: Value,
    text: String,
    spans: Vec<Found>,
}

#[derive(Serialize)]
struct Found {
    start: usize,
    end: usize,
    label: &'static str,
    recognizer: &'static str,
    score: f64,
    replacement: String,
}

/// Why a line was not redacted: a code and the field at fault, never a value.
#[derive(Serialize)]
struct Refusal {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Value>,
    error: Fault,
}

#[derive(Serialize)]
struct Fault {
    code: &'static str,
    field: String,
}

impl Refusal {
    fn of(code: &'static str, field: impl Into<String>) -> Self {
        Self { id: None, error: Fault { code, field: field.into() } }
    }
}

fn answer(line: &[u8], redactor: &Redactor, key: &SurrogateKey) -> Result<Answer, Refusal> {
    let value: Value = serde_json::from_slice(line).map_err(|_| Refusal::of("malformed", ""))?;
    let Value::Object(fields) = value else { return Err(Refusal::of("malformed", "")) };
    let id = fields.get("id").filter(|id| id.is_string() || id.is_number()).cloned();
    redact_one(&fields, redactor, key).map_err(|refusal| Refusal { id, ..refusal })
}

fn redact_one(fields: &Map<String, Value>, redactor: &Redactor, key: &SurrogateKey) -> Result<Answer, Refusal> {
    let id = fields.get("id").filter(|id| id.is_string() || id.is_number()).ok_or_else(|| wrong("id"))?;
    let text = fields.get("text").and_then(Value::as_str).ok_or_else(|| wrong("text"))?;
    let document = Document::plain(text, language(fields.get("language"))?);
    let identities = identities(fields.get("known_identities"))?;
    let redacted = redactor.redact(&document, &identities, key).map_err(|_| Refusal::of("redaction_failed", "text"))?;
    Ok(Answer { id: id.clone(), spans: spans(text, &redacted), text: redacted.document().text.clone() })
}

fn spans(text: &str, redacted: &Redacted) -> Vec<Found> {
    let places = CodePoints::new(text);
    redacted
        .redactions()
        .iter()
        .map(|redaction| Found {
            start: places.from_byte(redaction.source.start),
            end: places.from_byte(redaction.source.end),
            label: redaction.label,
            recognizer: redaction.recognizer,
            score: redaction.score,
            replacement: redaction.replacement.clone(),
        })
        .collect()
}

fn wrong(field: &str) -> Refusal {
    Refusal::of("malformed", field)
}

/// Spanish and English are read by their rules, every other language by both.
fn language(value: Option<&Value>) -> Result<Language, Refusal> {
    match value {
        None | Some(Value::Null) => Ok(Language::Unknown),
        Some(Value::String(code)) => Ok(match code.split(['-', '_']).next().unwrap_or_default() {
            "es" => Language::Spanish,
            "en" => Language::English,
            _ => Language::Unknown,
        }),
        Some(_) => Err(wrong("language")),
    }
}

fn identities(value: Option<&Value>) -> Result<Vec<KnownIdentity>, Refusal> {
    let people = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(people)) => people,
        Some(_) => return Err(wrong("known_identities")),
    };
    people.iter().enumerate().map(|(at, person)| identity(person, &format!("known_identities[{at}]"))).collect()
}

fn identity(value: &Value, path: &str) -> Result<KnownIdentity, Refusal> {
    let Value::Object(fields) = value else { return Err(wrong(path)) };
    let list = |name: &str| match fields.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(values)) => values
            .iter()
            .map(|value| value.as_str().map(str::to_owned).ok_or_else(|| wrong(&format!("{path}.{name}"))))
            .collect::<Result<Vec<_>, _>>(),
        Some(_) => Err(wrong(&format!("{path}.{name}"))),
    };
    let birth_date = match fields.get("birth_date") {
        None | Some(Value::Null) => None,
        Some(value) => {
            let date = value.as_str().and_then(|text| text.parse::<NaiveDate>().ok());
            Some(date.ok_or_else(|| wrong(&format!("{path}.birth_date")))?)
        }
    };
    Ok(KnownIdentity {
        names: list("names")?,
        phones: list("phones")?,
        emails: list("emails")?,
        ids: list("ids")?,
        addresses: list("addresses")?,
        birth_date,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streamed(input: &str) -> (String, Exit) {
        let mut out = Vec::new();
        let exit = stream(input.as_bytes(), &mut out, Policy::default()).unwrap();
        (String::from_utf8(out).unwrap(), exit)
    }

    #[test]
    fn offsets_are_code_points_of_the_input() {
        let (out, exit) =
            streamed("{\"id\":\"a\",\"text\":\"ñandú: José\",\"known_identities\":[{\"names\":[\"José\"]}]}\n");
        let answer: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((answer["spans"][0]["start"].as_u64(), answer["spans"][0]["end"].as_u64()), (Some(7), Some(11)));
        assert_eq!(answer["spans"][0]["label"], "PERSON");
        assert_eq!(exit, Exit::Done);
    }

    #[test]
    fn a_bad_line_is_answered_by_code_and_field_and_the_rest_goes_on() {
        let input = "{\"id\":1,\"text\":7}\nsecreto\n{\"id\":2,\"text\":\"hola\",\"known_identities\":[{\"birth_date\":\"secreto\"}]}\n{\"id\":3,\"text\":\"hola\"}\n";
        let (out, exit) = streamed(input);
        let lines: Vec<&str> = out.lines().collect();
        assert_eq!(lines[0], r#"{"id":1,"error":{"code":"malformed","field":"text"}}"#);
        assert_eq!(lines[1], r#"{"error":{"code":"malformed","field":""}}"#);
        assert_eq!(lines[2], r#"{"id":2,"error":{"code":"malformed","field":"known_identities[0].birth_date"}}"#);
        assert!(lines[3].contains("hola") && !out.contains("secreto"));
        assert_eq!(exit, Exit::Partial);
    }
}
