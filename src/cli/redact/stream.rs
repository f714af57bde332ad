//! The stream: NDJSON in, NDJSON out, one line at a time.

use std::io::{BufRead, Write};

use serde::Serialize;
use serde_json::{Map, Value};

use super::super::ndjson::{self, NdjsonLine};
use super::super::{CliError, Exit, output};
use super::explain;
use super::input::{self, LineRefusal};
use anamnesis_redaction::remote::Services;
use anamnesis_redaction::{KnownPeople, Redacted, Redactor, SurrogateKey};
use anamnesis_text::codepoints::CodePoints;

/// The key of the command line: published with the source, so its surrogates hide nothing from who knows the value.
pub(super) const COMMAND_LINE_KEY: [u8; 32] = *b"anamnesis redact command line v1";

/// How answers are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerShape {
    /// The contract's lines.
    Plain,
    /// The contract's lines, each span with `why`.
    Explained,
    /// Coloured text for a person.
    Coloured,
}

/// A redactor with its services, ready to answer lines.
pub(crate) struct Stream {
    pub(crate) redactor: Redactor,
    pub(crate) services: Services,
    pub(crate) shape: AnswerShape,
}

impl Stream {
    /// Redacts every line of `input` into `output`: 0 when all were redacted, 3 when some could not be.
    ///
    /// # Errors
    /// When the input cannot be read or the output not written.
    pub(crate) fn run(&self, input: impl BufRead, mut output: impl Write) -> Result<Exit, CliError> {
        let key = SurrogateKey::new(COMMAND_LINE_KEY);
        let mut exit = Exit::Done;
        ndjson::each(input, |line| {
            let answer = match line {
                NdjsonLine::Whole(line) => self.answer(line, &key),
                NdjsonLine::TooLarge => Err(LineRefusal::new("too_large", "")),
            };
            match answer {
                Ok(AnsweredLine { answer, source }) if self.shape == AnswerShape::Coloured => {
                    Ok(output.write_all(explain::coloured(&source, &answer).as_bytes())?)
                }
                Ok(AnsweredLine { answer, .. }) => output::json_to(&mut output, &answer),
                Err(refusal) => {
                    exit = Exit::Partial;
                    output::json_to(&mut output, &refusal)
                }
            }
        })?;
        output.flush()?;
        Ok(exit)
    }

    fn answer(&self, line: &[u8], key: &SurrogateKey) -> Result<AnsweredLine, LineRefusal> {
        let value: Value = serde_json::from_slice(line).map_err(|_| LineRefusal::new("malformed", ""))?;
        let Value::Object(fields) = value else { return Err(LineRefusal::new("malformed", "")) };
        let id = fields.get("id").filter(|id| id.is_string() || id.is_number()).cloned();
        self.redact_one(&fields, key).map_err(|refusal| LineRefusal { id, ..refusal })
    }

    fn redact_one(&self, fields: &Map<String, Value>, key: &SurrogateKey) -> Result<AnsweredLine, LineRefusal> {
        let id = fields.get("id").filter(|id| id.is_string() || id.is_number()).ok_or_else(|| input::wrong("id"))?;
        let (document, identities) = input::document(fields)?;
        let failed = || LineRefusal::new("redaction_failed", "text");
        let remote = self.services.find(&document).map_err(|_| failed())?;
        let redacted = self
            .redactor
            .redact_with(&document, &KnownPeople::from_identities(identities), key, &remote)
            .map_err(|_| failed())?;
        let spans = spans(&document.text, &redacted, self.shape);
        let answer = RedactedLine { id: id.clone(), spans, text: redacted.document().text.clone() };
        Ok(AnsweredLine { answer, source: document.text })
    }
}

#[derive(Serialize)]
pub(crate) struct RedactedLine {
    pub(crate) id: Value,
    pub(crate) text: String,
    pub(crate) spans: Vec<RedactedSpan>,
}

#[derive(Serialize)]
pub(super) struct RedactedSpan {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) label: &'static str,
    pub(crate) recognizer: &'static str,
    pub(crate) score: f64,
    pub(crate) replacement: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<&'static str>,
}

/// An answer and the text it is about.
struct AnsweredLine {
    answer: RedactedLine,
    source: String,
}

fn spans(text: &str, redacted: &Redacted, shape: AnswerShape) -> Vec<RedactedSpan> {
    let places = CodePoints::new(text);
    redacted
        .redactions()
        .iter()
        .map(|redaction| RedactedSpan {
            start: places.from_byte(redaction.source.start),
            end: places.from_byte(redaction.source.end),
            label: redaction.label,
            recognizer: redaction.recognizer,
            score: redaction.score,
            replacement: redaction.replacement.clone(),
            why: (shape != AnswerShape::Plain).then(|| explain::why(redaction.recognizer)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_redaction::RedactionPolicy;

    fn streamed(input: &str) -> (String, Exit) {
        let mut out = Vec::new();
        let redactor = Redactor::builtin(RedactionPolicy::default());
        let stream = Stream { redactor, services: Services::new(Vec::new()).unwrap(), shape: AnswerShape::Plain };
        let exit = stream.run(input.as_bytes(), &mut out).unwrap();
        (String::from_utf8(out).unwrap(), exit)
    }

    #[test]
    fn offsets_are_code_points_of_the_input() {
        let (out, exit) =
            streamed("{\"id\":\"a\",\"text\":\"el ñandú de José\",\"known_identities\":[{\"names\":[\"José\"]}]}\n");
        let answer: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((answer["spans"][0]["start"].as_u64(), answer["spans"][0]["end"].as_u64()), (Some(12), Some(16)));
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
