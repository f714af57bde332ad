//! A line of input: text, language and the people it names, with the field at fault where it is wrong.

use chrono::NaiveDate;
use serde::Serialize;
use serde_json::{Map, Value};

use anamnesis_redaction::KnownIdentity;
use anamnesis_text::{Document, Language};

/// Why a line was not redacted: a code and the field at fault, never a value.
#[derive(Serialize)]
pub(super) struct LineRefusal {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<Value>,
    pub(crate) error: LineFault,
}

#[derive(Serialize)]
pub(super) struct LineFault {
    code: &'static str,
    field: String,
}

impl LineRefusal {
    pub(crate) fn new(code: &'static str, field: impl Into<String>) -> Self {
        Self { id: None, error: LineFault { code, field: field.into() } }
    }
}

/// The document of a line and the people it names.
pub(super) fn document(fields: &Map<String, Value>) -> Result<(Document, Vec<KnownIdentity>), LineRefusal> {
    let text = fields.get("text").and_then(Value::as_str).ok_or_else(|| wrong("text"))?;
    let document = Document::plain(text, language(fields.get("language"))?);
    Ok((document, identities(fields.get("known_identities"))?))
}

pub(super) fn wrong(field: &str) -> LineRefusal {
    LineRefusal::new("malformed", field)
}

/// Spanish and English are read by their rules, every other language by both.
fn language(value: Option<&Value>) -> Result<Language, LineRefusal> {
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

fn identities(value: Option<&Value>) -> Result<Vec<KnownIdentity>, LineRefusal> {
    let people = match value {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(people)) => people,
        Some(_) => return Err(wrong("known_identities")),
    };
    people.iter().enumerate().map(|(at, person)| identity(person, &format!("known_identities[{at}]"))).collect()
}

fn identity(value: &Value, path: &str) -> Result<KnownIdentity, LineRefusal> {
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
