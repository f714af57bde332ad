//! The sentences of scenarios: one pattern each, listed in README.md of this folder.

use std::sync::LazyLock;

use chrono::{DateTime, NaiveDateTime, Utc};
use gherkin::Step;
use regex::{Captures, Regex};
use serde_json::{Map, Value};

/// What a step does or asks, and when. Without an instant it happens at that of the step before.
#[derive(Debug)]
pub(crate) struct Action {
    pub(crate) at: Option<DateTime<Utc>>,
    pub(crate) kind: StepKind,
}

#[derive(Debug)]
pub(crate) enum StepKind {
    /// Only the time passes.
    Wait,
    /// Fields that the next document carries besides its text.
    Carry(Map<String, Value>),
    Document {
        kind: String,
        label: String,
        text: String,
    },
    Revise {
        label: String,
        revision: u64,
        text: String,
    },
    /// Any other message of the contract, without organisation and patient.
    Message {
        kind: &'static str,
        data: Value,
    },
    /// A command about memories that are named by their words.
    Command {
        role: String,
        command: &'static str,
        about: Option<String>,
        more: Map<String, Value>,
    },
    /// Runs one job, or all of them.
    Jobs(Option<String>),
    /// Another verb of the command line. `{memory of "words"}` and `{document of "label"}` stand for ids.
    Verb {
        line: String,
        then: Then,
    },
    /// What became of the last message: `stored`, `duplicate`, `ephemeral` or a reason code.
    Became(String),
    Memory {
        holds: bool,
        rows: Vec<Vec<(String, String)>>,
    },
    Reader {
        reader: Reader,
        shows: bool,
        words: String,
    },
    Rule {
        question: Value,
        answer: Value,
    },
    /// A file in the folder in which the program runs.
    File {
        name: String,
        text: String,
    },
    /// A key of the configuration, for the steps that follow.
    Setting {
        key: String,
        value: String,
    },
}

/// How a verb ends and what it prints.
#[derive(Debug)]
pub(crate) enum Then {
    Succeeds,
    Fails(String),
    Shows(String),
    Hides(String),
}

#[derive(Debug)]
pub(crate) enum Reader {
    Profile,
    Context {
        question: Option<String>,
    },
    Review,
    Export,
    History {
        of: String,
    },
    Sources {
        of: String,
    },
    Contradictions,
    /// Everything above but histories, and the bytes of an embedded store.
    Anywhere,
}

type Make = fn(&Captures<'_>, &Step) -> Result<StepKind, String>;

/// Pattern and meaning, tried in this order.
static SENTENCES: LazyLock<Vec<(Regex, Make)>> = LazyLock::new(|| {
    let sentences: Vec<(&str, Make)> = vec![
        (
            r#"^(?:a|an|the) (clinical note|chat message|session transcript|intake form|analysis|uploaded document)(?: "([^"]+)")? says$"#,
            |c, step| {
                let kind = c[1].replace(' ', "_");
                let label = c.get(2).map_or_else(|| format!("line {}", step.position.line), |m| m.as_str().to_owned());
                Ok(StepKind::Document { kind, label, text: text(step)? })
            },
        ),
        (r#"^revision (\d+) of "([^"]+)" says$"#, |c, step| {
            let revision = c[1].parse().map_err(|_| "no revision")?;
            Ok(StepKind::Revise { label: c[2].to_owned(), revision, text: text(step)? })
        }),
        (r"^the next document carries$", |_, step| Ok(StepKind::Carry(fields(step)?))),
        (r"^the profile says$", |_, step| message("anamnesis.profile.updated.v1", step)),
        (r"^the device reports$", |_, step| message("anamnesis.health_signal.recorded.v1", step)),
        (r"^consent is recorded$", |_, step| message("anamnesis.consent.recorded.v1", step)),
        (r"^the command is sent$", |_, step| message("anamnesis.memory.command.v1", step)),
        (
            r#"^(the patient|a clinician|the system) (verifies|confirms|ends|protects|forgets|recovers) "([^"]+)"$"#,
            |c, _| {
                let command = match &c[2] {
                    "verifies" => "verify",
                    "confirms" => "confirm",
                    "ends" => "end",
                    "protects" => "protect",
                    "forgets" => "forget",
                    _ => "recover",
                };
                Ok(StepKind::Command { role: role(c), command, about: Some(c[3].to_owned()), more: Map::new() })
            },
        ),
        (r#"^(the patient|a clinician|the system) corrects "([^"]+)" to "([^"]+)"$"#, |c, _| {
            let more = Map::from_iter([("text".to_owned(), Value::from(&c[3]))]);
            Ok(StepKind::Command { role: role(c), command: "correct", about: Some(c[2].to_owned()), more })
        }),
        (r#"^(the patient|a clinician|the system) answers "([^"]+)" with "([^"]+)"$"#, |c, _| {
            let more = Map::from_iter([("text".to_owned(), Value::from(&c[3]))]);
            Ok(StepKind::Command { role: role(c), command: "answer", about: Some(c[2].to_owned()), more })
        }),
        (r#"^(the patient|a clinician|the system) forgets everything about "([^"]+)"$"#, |c, _| {
            let more = Map::from_iter([("topic".to_owned(), Value::from(&c[2]))]);
            Ok(StepKind::Command { role: role(c), command: "forget", about: None, more })
        }),
        (r"^(the patient|a clinician|the system) turns the ephemeral mode (on|off)$", |c, _| {
            let command = if &c[2] == "on" { "ephemeral_on" } else { "ephemeral_off" };
            Ok(StepKind::Command { role: role(c), command, about: None, more: Map::new() })
        }),
        (r"^(the patient|a clinician|the system) erases the patient$", |c, _| {
            Ok(StepKind::Command { role: role(c), command: "erase", about: None, more: Map::new() })
        }),
        (r#"^the job "([a-z_]+)" runs$"#, |c, _| Ok(StepKind::Jobs(Some(c[1].to_owned())))),
        (r"^the jobs run$", |_, _| Ok(StepKind::Jobs(None))),
        (r"^time passes$", |_, _| Ok(StepKind::Wait)),
        (r"^`anamnesis (.+)` succeeds$", |c, _| Ok(StepKind::Verb { line: c[1].to_owned(), then: Then::Succeeds })),
        (r#"^`anamnesis (.+)` fails with "([^"]*)"$"#, |c, _| {
            Ok(StepKind::Verb { line: c[1].to_owned(), then: Then::Fails(c[2].to_owned()) })
        }),
        (r#"^`anamnesis (.+)` (shows|does not show) "([^"]+)"$"#, |c, _| {
            let then = if &c[2] == "shows" { Then::Shows(c[3].to_owned()) } else { Then::Hides(c[3].to_owned()) };
            Ok(StepKind::Verb { line: c[1].to_owned(), then })
        }),
        (r#"^the last message (?:is|was) (?:set aside as )?"?([a-z_]+)"?$"#, |c, _| {
            Ok(StepKind::Became(c[1].to_owned()))
        }),
        (r"^the memory (holds|does not hold)$", |c, step| {
            Ok(StepKind::Memory { holds: &c[1] == "holds", rows: rows(step)? })
        }),
        (
            r#"^the (profile|context|review queue|export|list of contradictions) (shows|does not show) "([^"]+)"$"#,
            |c, _| {
                let reader = match &c[1] {
                    "profile" => Reader::Profile,
                    "context" => Reader::Context { question: None },
                    "review queue" => Reader::Review,
                    "export" => Reader::Export,
                    _ => Reader::Contradictions,
                };
                Ok(StepKind::Reader { reader, shows: &c[2] == "shows", words: c[3].to_owned() })
            },
        ),
        (r#"^a search for "([^"]+)" (finds|does not find) "([^"]+)"$"#, |c, _| {
            let reader = Reader::Context { question: Some(c[1].to_owned()) };
            Ok(StepKind::Reader { reader, shows: &c[2] == "finds", words: c[3].to_owned() })
        }),
        (r#"^the (history|source) of "([^"]+)" (shows|does not show) "([^"]+)"$"#, |c, _| {
            let of = c[2].to_owned();
            let reader = if &c[1] == "history" { Reader::History { of } } else { Reader::Sources { of } };
            Ok(StepKind::Reader { reader, shows: &c[3] == "shows", words: c[4].to_owned() })
        }),
        (r#"^nothing anywhere holds "([^"]+)"$"#, |c, _| {
            Ok(StepKind::Reader { reader: Reader::Anywhere, shows: false, words: c[1].to_owned() })
        }),
        (r#"^the file "([a-z0-9._-]+)" holds$"#, |c, step| {
            Ok(StepKind::File { name: c[1].to_owned(), text: text(step)? })
        }),
        (r#"^the setting "([a-z0-9._]+)" is `([^`]*)`$"#, |c, _| {
            Ok(StepKind::Setting { key: c[1].to_owned(), value: c[2].to_owned() })
        }),
        (r"^the rule answers$", |_, step| {
            let text = text(step)?;
            let (question, answer) = text.split_once('\n').ok_or("a question and, on the next line, its answer")?;
            Ok(StepKind::Rule { question: json(question)?, answer: json(answer)? })
        }),
    ];
    let compiled = |(pattern, make): (&str, Make)| (Regex::new(pattern).expect("a pattern"), make);
    sentences.into_iter().map(compiled).collect()
});

static INSTANT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^on (\d{1,2} [A-Z][a-z]+ \d{4})(?: at (\d{1,2}:\d{2}))?, ").expect("a pattern"));

/// Reads a step.
///
/// # Errors
/// When no sentence has this form, or its table or text is missing.
pub(crate) fn read(step: &Step) -> Result<Action, String> {
    let sentence = step.value.trim();
    let (at, rest) = match INSTANT.captures(sentence) {
        Some(c) => (Some(instant(&c[1], c.get(2).map_or("09:00", |m| m.as_str()))?), &sentence[c[0].len()..]),
        None => (None, sentence),
    };
    let known = SENTENCES.iter().find_map(|(pattern, make)| pattern.captures(rest).map(|c| make(&c, step)));
    let kind = known.ok_or_else(|| format!("no sentence of scenarios has this form: {rest}"))??;
    Ok(Action { at, kind })
}

fn instant(date: &str, time: &str) -> Result<DateTime<Utc>, String> {
    NaiveDateTime::parse_from_str(&format!("{date} {time}"), "%d %B %Y %H:%M")
        .map(|at| at.and_utc())
        .map_err(|_| format!("no date such as 2 March 2026 at 10:00: {date} {time}"))
}

fn role(c: &Captures<'_>) -> String {
    c[1].rsplit(' ').next().unwrap_or_default().to_owned()
}

fn text(step: &Step) -> Result<String, String> {
    step.docstring
        .as_deref()
        .map(|text| text.trim().to_owned())
        .ok_or_else(|| "a text in \"\"\" must follow".to_owned())
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("no JSON: {error}"))
}

/// A message whose data stands as JSON in the text of the step.
fn message(kind: &'static str, step: &Step) -> Result<StepKind, String> {
    Ok(StepKind::Message { kind, data: json(&text(step)?)? })
}

/// A table of two columns: path and value. A value that is no JSON is text.
fn fields(step: &Step) -> Result<Map<String, Value>, String> {
    let table = step.table.as_ref().ok_or("a table must follow")?;
    let pair = |row: &Vec<String>| match row.as_slice() {
        [path, value] => {
            Ok((path.clone(), serde_json::from_str(value).unwrap_or_else(|_| Value::from(value.as_str()))))
        }
        _ => Err("two columns: field and value".to_owned()),
    };
    table.rows.iter().map(pair).collect()
}

/// A table with a header.
fn rows(step: &Step) -> Result<Vec<Vec<(String, String)>>, String> {
    let table = step.table.as_ref().ok_or("a table must follow")?;
    let (header, rows) = table.rows.split_first().ok_or("a header and rows")?;
    if rows.is_empty() {
        return Err("a header and rows".to_owned());
    }
    Ok(rows.iter().map(|row| header.iter().cloned().zip(row.iter().cloned()).collect()).collect())
}
