//! Texts with gold spans: how they are read from the public sets, and the kinds their labels mean.

use serde::Deserialize;

use anamnesis_redaction::label;
use anamnesis_text::{CodePoints, Language, Span};

/// A text and what is personal in it.
#[derive(Debug, Clone)]
pub(crate) struct TaggerExample {
    pub(crate) text: String,
    pub(crate) language: Language,
    pub(crate) spans: Vec<(Span, &'static str)>,
    pub(crate) marked: AnnotationScope,
    /// Examples that were made of one text or template have one group: none of them may be read by a model that learned
    /// another.
    pub(crate) group: usize,
}

/// How much of an example people or templates have marked; rules and lists mark the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnnotationScope {
    /// Everything.
    All,
    /// Everything but ages, sex, relations and professions.
    Names,
    /// Everything but these and countries.
    Values,
    /// Nothing: what sure rules find and first names of the lists count as gold. Teaches what conversation is not.
    Nothing,
}

#[derive(Deserialize)]
struct CorpusLine {
    text: String,
    #[serde(default)]
    lang: String,
    #[serde(default)]
    spans: Vec<GoldSpan>,
    template_id: Option<u64>,
}

#[derive(Deserialize)]
struct GoldSpan {
    start: usize,
    end: usize,
    label: String,
}

/// Reads gold lines of the form the scorer takes. `keep` chooses by the line's template, where it has one.
///
/// # Errors
/// The number of the first line that is malformed or has a span outside its text.
pub(crate) fn read(lines: &str, keep: &dyn Fn(Option<u64>) -> bool) -> Result<Vec<TaggerExample>, usize> {
    let mut examples = Vec::new();
    for (number, line) in lines.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line: CorpusLine = serde_json::from_str(line).map_err(|_| number + 1)?;
        if !keep(line.template_id) {
            continue;
        }
        let places = CodePoints::new(&line.text);
        let mut spans = Vec::with_capacity(line.spans.len());
        for gold in &line.spans {
            let span = places.span_to_bytes(gold.start, gold.end).ok_or(number + 1)?;
            if let Some(kind) = kind(&gold.label, span.slice(&line.text)) {
                spans.push((span, kind));
            }
        }
        let language = if line.lang.starts_with("es") { Language::Spanish } else { Language::English };
        let marked = if line.template_id.is_some() { AnnotationScope::Names } else { AnnotationScope::All };
        let group = line.template_id.and_then(|id| usize::try_from(id).ok()).unwrap_or(number);
        examples.push(TaggerExample { text: line.text, language, spans, marked, group });
    }
    Ok(examples)
}

#[derive(Deserialize)]
struct Dialogue {
    lang: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    turns: Vec<DialogueTurn>,
}

#[derive(Deserialize)]
struct DialogueTurn {
    text: String,
}

/// Reads dialogues and notes without marks, turns as lines.
///
/// # Errors
/// The number of the first malformed line.
pub(crate) fn read_unmarked(lines: &str) -> Result<Vec<TaggerExample>, usize> {
    let mut examples = Vec::new();
    for (number, line) in lines.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line: Dialogue = serde_json::from_str(line).map_err(|_| number + 1)?;
        let mut text = line.text;
        for turn in &line.turns {
            text.push_str(&turn.text);
            text.push('\n');
        }
        let language = if line.lang.starts_with("es") { Language::Spanish } else { Language::English };
        examples.push(TaggerExample {
            text,
            language,
            spans: Vec::new(),
            marked: AnnotationScope::Nothing,
            group: number,
        });
    }
    Ok(examples)
}

/// The kind of the tagger that a label of a public set means; `None` for what is not learned.
fn kind(name: &str, value: &str) -> Option<&'static str> {
    Some(match name {
        "TERRITORIO" | "LOCATION" if value.bytes().filter(u8::is_ascii_digit).count() >= 4 => label::POSTAL_CODE,
        "LOCATION" if anamnesis_redaction::internals::is_country(value) => label::COUNTRY,
        "TERRITORIO" | "LOCATION" => label::LOCATION,
        "PAIS" => label::COUNTRY,
        "FECHAS" | "DATE_TIME" => label::DATE,
        "EDAD_SUJETO_ASISTENCIA" => label::AGE,
        "NOMBRE_SUJETO_ASISTENCIA" | "NOMBRE_PERSONAL_SANITARIO" | "PERSON" => label::PERSON,
        "SEXO_SUJETO_ASISTENCIA" => label::SEX,
        "CALLE" | "ADDRESS" => label::ADDRESS,
        "HOSPITAL" | "INSTITUCION" | "CENTRO_SALUD" | "ORGANIZATION" => label::ORGANIZATION,
        "FAMILIARES_SUJETO_ASISTENCIA" => label::FAMILY,
        "PROFESION" => label::PROFESSION,
        "NUMERO_TELEFONO" | "NUMERO_FAX" | "PHONE_NUMBER" => label::PHONE,
        "CORREO_ELECTRONICO" | "EMAIL_ADDRESS" | "DOMAIN_NAME" => label::EMAIL,
        "TITLE" | "PREFIX" | "OTROS_SUJETO_ASISTENCIA" => return None,
        _ => label::NUMBER,
    })
}
