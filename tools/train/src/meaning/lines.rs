//! Lines of the program's sets: text lines with marks (`[[PERSON|Ana]]`), and JSON objects with `text` or `turns`.

use serde_json::Value;

use anamnesis_text::{Language, Span};

/// One text and what people marked in it.
#[derive(Debug, Clone)]
pub struct Line {
    /// Set and number.
    pub(crate) id: String,
    pub(crate) language: Language,
    pub(crate) text: String,
    pub(crate) marked: Vec<Span>,
}

impl Line {
    /// A line in which nothing is personal data.
    pub(crate) fn clean(id: String, language: Language, text: String) -> Self {
        Self { id, language, text, marked: Vec::new() }
    }
}

/// A line that cannot be read: the set's name and its number, never its text.
#[derive(Debug, thiserror::Error)]
#[error("{set}: line {line} cannot be read")]
pub struct LineError {
    pub(crate) set: String,
    pub(crate) line: usize,
}

/// The lines of a set. Its name tells the language of text lines: "notes.es.txt".
///
/// # Errors
/// When a line has an open mark or is no JSON object with a text.
pub fn read(name: &str, content: &str) -> Result<Vec<Line>, LineError> {
    let language = if name.split(['.', '/']).any(|part| part == "es") { Language::Spanish } else { Language::English };
    let lines = content.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    lines
        .map(|(at, line)| {
            let id = format!("{name}:{}", at + 1);
            let read = if line.starts_with('{') { object(id, line) } else { unmarked(id, language, line) };
            read.ok_or_else(|| LineError { set: name.to_owned(), line: at + 1 })
        })
        .collect()
}

fn unmarked(id: String, language: Language, line: &str) -> Option<Line> {
    let (mut text, mut marked, mut rest) = (String::new(), Vec::new(), line);
    while let Some((before, inside)) = rest.split_once("[[") {
        let (inside, behind) = inside.split_once("]]")?;
        let (_, value) = inside.split_once('|')?;
        text.push_str(before);
        marked.push(Span::new(text.len(), text.len() + value.len()));
        text.push_str(value);
        rest = behind;
    }
    text.push_str(rest);
    Some(Line { id, language, text: text.replace("\\n", "\n"), marked })
}

fn object(id: String, line: &str) -> Option<Line> {
    let fields: Value = serde_json::from_str(line).ok()?;
    let said = |turn: &Value| turn.get("text").and_then(Value::as_str).map(str::to_owned);
    let text = match fields.get("turns").and_then(Value::as_array) {
        Some(turns) => turns.iter().map(said).collect::<Option<Vec<_>>>()?.join("\n"),
        None => said(&fields)?,
    };
    let spanish = [fields.get("lang"), fields.get("language")].into_iter().flatten().any(|code| code == "es");
    let language = if spanish { Language::Spanish } else { Language::English };
    let values = fields.get("pii").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let found =
        |value: &str| text.match_indices(value).map(|(at, hit)| Span::new(at, at + hit.len())).collect::<Vec<_>>();
    let marked = values.filter(|value| !value.is_empty()).flat_map(found).collect();
    Some(Line { id, language, text, marked })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_listed_values_are_places_of_the_text() {
        let lines = read("a.es.txt", "# x\nVio a [[PERSON|Inés Ñ]] ayer.\n{\"lang\":\"en\",\"turns\":[{\"text\":\"I am Bo\"},{\"text\":\"Hi Bo\"}],\"pii\":[\"Bo\"]}\n").unwrap();
        assert_eq!(lines[0].marked[0].slice(&lines[0].text), "Inés Ñ");
        assert_eq!(lines[1].marked.len(), 2);
        assert!(read("a.txt", "[[PERSON|open").is_err());
    }
}
