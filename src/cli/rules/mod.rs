//! `rules`: questions to the pure domain rules, one JSON object a line, one answer each (contract.md, "Command line").
//! For reviews and tests of policy: nothing is stored, no configuration is read.

mod answer;
mod concepts;
mod fields;

use std::io::{self, BufRead, Write};

use serde_json::{Map, Value, json};

use super::{CliError, Context, Exit};
use fields::{QuestionFields, RuleRefusal};

/// Questions come on standard input, answers go to standard output.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// File of questions (NDJSON); standard input without it or with `-`.
    #[arg(value_name = "FILE")]
    file: Option<std::path::PathBuf>,
}

/// # Errors
/// When input cannot be read or output cannot be written. A question that no rule can answer is no error of the verb: it
/// is answered with its code, and the verb ends with exit code 3.
pub(crate) fn run(args: Args, _context: &Context) -> Result<Exit, CliError> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match args.file.filter(|file| file.as_os_str() != "-") {
        Some(file) => answer_all(io::BufReader::new(std::fs::File::open(file)?), &mut out),
        None => answer_all(io::stdin().lock(), &mut out),
    }
}

/// Answers every question of `input`, in order. Empty lines are skipped.
///
/// # Errors
/// As [`run`].
pub fn answer_all(mut input: impl BufRead, out: &mut impl Write) -> Result<Exit, CliError> {
    let mut exit = Exit::Done;
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        if !line.trim_ascii().is_empty() {
            let answer = answer_line(&line);
            if answer.contains_key("error") {
                exit = Exit::Partial;
            }
            super::output::json_to(out, &answer)?;
        }
        line.clear();
    }
    out.flush()?;
    Ok(exit)
}

/// The answer to one line: the rule's own fields, or `error` with a code and the field's name, and the question's `id`.
fn answer_line(line: &[u8]) -> Map<String, Value> {
    // A byte order mark at the start of a file is no part of the question.
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let Ok(Value::Object(question)) = serde_json::from_slice(line) else {
        return error(None, &RuleRefusal { code: "malformed", field: None });
    };
    let id = question.get("id").cloned();
    let mut fields = QuestionFields::new(&question);
    match answer::answer(&mut fields) {
        Ok(answer) => id.map(|id| ("id".to_owned(), id)).into_iter().chain(answer).collect(),
        Err(refusal) => error(id, &refusal),
    }
}

/// Codes and field names, never a value.
fn error(id: Option<Value>, refusal: &RuleRefusal) -> Map<String, Value> {
    let error = ("error".to_owned(), json!({ "code": refusal.code, "field": refusal.field }));
    id.map(|id| ("id".to_owned(), id)).into_iter().chain([error]).collect()
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
