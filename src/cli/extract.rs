//! `extract`: findings out of texts, as a stream. One JSON object a line in and out (contract.md, `extract`); runs on
//! the text as given and touches no store.
//!
//! Offsets are Unicode code points: of `text`, or of the turns' texts joined with a line feed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::PathBuf;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Context, Exit, Failure, output};
use crate::extract::{self, CurrentValues, DocumentType, Extraction, ExtractionInput, Extractor};
use crate::text::{CodePoints, Document, Language, Span, Speaker};

/// Longest line read, in bytes: the limit of a message with room for JSON escapes.
const LONGEST_LINE: u64 = 8 << 20;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// NDJSON file; standard input without it or with `-`.
    path: Option<PathBuf>,
}

/// # Errors
/// When the file cannot be read or standard output not written. Bad lines are answered in place and end in exit
/// code 3.
pub fn run(args: Args, _context: &Context) -> Result<Exit, Failure> {
    let out = BufWriter::new(io::stdout().lock());
    match args.path.filter(|path| path.as_os_str() != "-") {
        Some(path) => stream(BufReader::new(File::open(path)?), out),
        None => stream(io::stdin().lock(), out),
    }
}

/// Reads every line of `input` and answers it in `output`: 0 when all were read, 3 when some could not be.
///
/// # Errors
/// When the input cannot be read or the output not written.
pub fn stream(mut input: impl BufRead, mut output: impl Write) -> Result<Exit, Failure> {
    let extractor = Extractor::builtin();
    let mut exit = Exit::Done;
    let mut line = Vec::new();
    loop {
        line.clear();
        if (&mut input).take(LONGEST_LINE).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let whole = line.last() == Some(&b'\n') || (line.len() as u64) < LONGEST_LINE;
        if !whole {
            input.skip_until(b'\n')?;
        }
        if whole && line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let answer = if whole { answer(&line, &extractor) } else { Err(refusal(None, "too_large", "")) };
        exit = if answer.is_err() { Exit::Partial } else { exit };
        output::json_to(&mut output, &answer.unwrap_or_else(|refusal| refusal))?;
    }
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

fn answer(line: &[u8], extractor: &Extractor) -> Result<Value, Value> {
    let fields = match serde_json::from_slice(line) {
        Ok(Value::Object(fields)) => fields,
        _ => return Err(refusal(None, "malformed", "")),
    };
    let id = fields.get("id").filter(|id| id.is_string() || id.is_number());
    let wrong = |field: Wrong| refusal(id, "malformed", &field.0);
    let document = document(&fields).map_err(wrong)?;
    let document_type = document_type(fields.get("document_type")).map_err(wrong)?;
    let places = CodePoints::new(&document.text);
    let targets = targets(fields.get("targets"), &places).map_err(wrong)?;
    let input = ExtractionInput { document_type, targets: &targets, ..ExtractionInput::of(&document) };
    let found = extractor.extract(&input);
    let mut answer = shown(&document, &places, &found, &targets);
    if let (Some(id), Some(fields)) = (id, answer.as_object_mut()) {
        fields.insert("id".into(), id.clone());
    }
    Ok(answer)
}

/// The path of a field that cannot be read.
struct Wrong(String);

fn wrong<T>(field: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong(field.into()))
}

fn document(fields: &Map<String, Value>) -> Result<Document, Wrong> {
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

fn turn(at: usize, value: &Value) -> Result<(Speaker, &str, Option<u64>), Wrong> {
    let Some(text) = value.get("text").and_then(Value::as_str) else { return wrong(format!("turns[{at}].text")) };
    let speaker = match value.get("speaker") {
        None | Some(Value::Null) => Speaker::Unknown,
        Some(speaker) => serde_json::from_value(speaker.clone()).or_else(|_| wrong(format!("turns[{at}].speaker")))?,
    };
    Ok((speaker, text, value.get("at_ms").and_then(Value::as_u64)))
}

fn document_type(value: Option<&Value>) -> Result<Option<DocumentType>, Wrong> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_str().and_then(DocumentType::from_code) {
            Some(kind) => Ok(Some(kind)),
            None => wrong("document_type"),
        },
    }
}

fn targets(value: Option<&Value>, places: &CodePoints<'_>) -> Result<Vec<Span>, Wrong> {
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

#[derive(Serialize)]
struct Finding<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    start: usize,
    end: usize,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    turn: Option<usize>,
    value: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(flatten)]
    context: Around,
    epistemic: &'static str,
    confidence: f64,
    evidence: Place,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dose: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    route: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency: Option<&'a str>,
}

#[derive(Serialize)]
struct Around {
    negated: bool,
    uncertain: bool,
    temporality: &'static str,
    experiencer: &'static str,
}

#[derive(Serialize)]
struct Place {
    start: usize,
    end: usize,
}

impl From<extract::Context> for Around {
    fn from(context: extract::Context) -> Self {
        Self {
            negated: context.negated,
            uncertain: context.uncertain,
            temporality: context.temporality.code(),
            experiencer: context.experiencer.code(),
        }
    }
}

fn place(places: &CodePoints<'_>, span: Span) -> Place {
    Place { start: places.from_byte(span.start), end: places.from_byte(span.end) }
}

fn shown(document: &Document, places: &CodePoints<'_>, found: &Extraction, targets: &[Span]) -> Value {
    let text = document.text.as_str();
    let entities: Vec<Finding<'_>> = found.entities.iter().map(|entity| finding(text, places, entity)).collect();
    let values = CurrentValues::of(text, &found.entities);
    let spot = |span: Span| (places.from_byte(span.start), places.from_byte(span.end));
    let statements = found.statements.iter().map(|statement| {
        let (start, end) = spot(statement.span);
        json!({"kind": statement.kind.code(), "start": start, "end": end})
    });
    let at_risk = found.risk.iter().filter(|risk| !risk.denied && risk.experiencer == extract::Experiencer::Patient);
    let risk = at_risk.map(|risk| {
        let (start, end) = spot(risk.span);
        json!({"class": risk.class.code(), "start": start, "end": end})
    });
    let hypotheses = found.hypotheses.iter().map(|hypothesis| {
        json!({"text": hypothesis.text, "confidence": hypothesis.confidence, "evidence": place(places, hypothesis.evidence)})
    });
    let contexts = targets.iter().zip(&found.targets).map(|(span, context)| {
        let (start, end) = spot(*span);
        let around = Around::from(*context);
        json!({"start": start, "end": end, "negated": around.negated, "uncertain": around.uncertain,
               "temporality": around.temporality, "experiencer": around.experiencer})
    });
    json!({
        "entities": entities,
        "statements": statements.collect::<Vec<_>>(),
        "risk": risk.collect::<Vec<_>>(),
        "themes": found.themes,
        "sentiment": found.sentiment.code(),
        "hypotheses": hypotheses.collect::<Vec<_>>(),
        "targets": contexts.collect::<Vec<_>>(),
        "values": {"allergies": values.allergies, "medications": values.medications},
    })
}

fn finding<'a>(text: &'a str, places: &CodePoints<'_>, entity: &'a extract::Entity) -> Finding<'a> {
    Finding {
        kind: entity.kind.code(),
        start: places.from_byte(entity.span.start),
        end: places.from_byte(entity.span.end),
        text: entity.span.of(text),
        turn: entity.turn,
        value: &entity.value,
        code: entity.code,
        context: entity.context.into(),
        epistemic: entity.epistemic.code(),
        confidence: entity.confidence,
        evidence: place(places, entity.evidence),
        status: entity.status.as_deref(),
        severity: entity.severity.as_deref(),
        dose: entity.dose.as_deref(),
        route: entity.route.as_deref(),
        frequency: entity.frequency.as_deref(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streamed(input: &str) -> (Vec<Value>, Exit) {
        let mut out = Vec::new();
        let exit = stream(input.as_bytes(), &mut out).unwrap();
        let lines = String::from_utf8(out).unwrap();
        (lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), exit)
    }

    #[test]
    fn offsets_are_code_points_and_the_text_is_literally_there() {
        let text = "Ñoño: niega ansiedad. Toma sertralina 50 mg al día.";
        let (lines, exit) = streamed(
            &json!({"id": "a", "text": text, "language": "es", "targets": [{"start": 12, "end": 20}]}).to_string(),
        );
        let medication = lines[0]["entities"].as_array().unwrap().iter().find(|e| e["type"] == "medication").unwrap();
        let (start, end) =
            (medication["start"].as_u64().unwrap() as usize, medication["end"].as_u64().unwrap() as usize);
        assert_eq!(text.chars().skip(start).take(end - start).collect::<String>(), medication["text"]);
        assert_eq!((&medication["dose"], &medication["frequency"]), (&json!("50 mg"), &json!("1/day")));
        assert_eq!(lines[0]["targets"][0]["negated"], true);
        assert_eq!((&lines[0]["id"], exit), (&json!("a"), Exit::Done));
    }

    #[test]
    fn turns_are_joined_and_each_finding_knows_its_turn() {
        let turns = json!([{"speaker": "clinician", "text": "¿Es alérgica a algo?"}, {"speaker": "patient", "text": "Sí, a la penicilina."}]);
        let (lines, _) = streamed(&json!({"id": 1, "turns": turns}).to_string());
        let allergy = &lines[0]["entities"][0];
        assert_eq!(
            (&allergy["type"], &allergy["turn"], &allergy["value"]),
            (&json!("allergy"), &json!(1), &json!("penicillin"))
        );
        assert_eq!(lines[0]["values"]["allergies"], json!(["penicilina (penicillin)"]));
    }

    #[test]
    fn a_bad_line_is_answered_by_code_and_field_and_the_rest_goes_on() {
        let input = "{\"id\":1,\"text\":7}\nsecreto\n{\"id\":2,\"text\":\"x\",\"document_type\":\"secreto\"}\n\
                     {\"id\":3,\"turns\":[{\"speaker\":\"secreto\",\"text\":\"x\"}]}\n{\"id\":4,\"text\":\"x\",\"targets\":[{\"start\":0,\"end\":9}]}\n{\"text\":\"hola\"}\n";
        let (lines, exit) = streamed(input);
        let faults: Vec<String> = lines.iter().map(|line| line["error"]["field"].to_string()).collect();
        assert_eq!(faults, ["\"text\"", "\"\"", "\"document_type\"", "\"turns[0].speaker\"", "\"targets[0]\"", "null"]);
        assert!(!lines.iter().any(|line| line.to_string().contains("secreto")));
        assert_eq!(exit, Exit::Partial);
    }
}
