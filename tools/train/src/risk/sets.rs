//! Lines and documents that training reads.

use serde::Deserialize;

use anamnesis_extraction::RiskClass;
use anamnesis_text::Language;

/// A line written to train the classifier, or one of the older sets.
#[derive(Debug, Clone)]
pub(crate) struct TrainingLine {
    pub(crate) text: String,
    pub(crate) language: Language,
    /// `None` where nothing of it is true of the patient.
    pub(crate) class: Option<RiskClass>,
    /// The rules were tuned on it: what they say of it is better than what they say of others.
    pub(crate) tuned: bool,
    /// Of which hand it is (`# part: NAME` stands above its lines); empty where nothing says it.
    pub(crate) part: String,
}

fn language(code: &str) -> Language {
    if code.starts_with("es") { Language::Spanish } else { Language::English }
}

/// `none` or a class.
fn class(code: &str) -> Option<Option<RiskClass>> {
    if code == "none" { Some(None) } else { RiskClass::from_code(code).map(Some) }
}

/// Reads `language<TAB>class<TAB>text`; lines that begin with `#` are comments, one of which may name the part that follows.
///
/// # Errors
/// The number of the first line that is malformed.
pub(crate) fn read_lines(text: &str) -> Result<Vec<TrainingLine>, usize> {
    let mut lines = Vec::new();
    let mut part = String::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
        if line.starts_with('#') {
            part = line.strip_prefix("# part: ").map_or(part, str::to_owned);
            continue;
        }
        let mut fields = line.splitn(3, '\t');
        let (Some(code @ ("es" | "en")), Some(risk), Some(text)) = (fields.next(), fields.next(), fields.next()) else {
            return Err(number + 1);
        };
        let class = class(risk).ok_or(number + 1)?;
        lines.push(TrainingLine {
            text: text.to_owned(),
            language: language(code),
            class,
            tuned: false,
            part: part.clone(),
        });
    }
    Ok(lines)
}

#[derive(Deserialize)]
struct GoldLine {
    #[serde(default)]
    lang: String,
    text: Option<String>,
    risk: Option<String>,
    #[serde(default)]
    must: Vec<GoldLineFact>,
    #[serde(default)]
    must_not: Vec<GoldLineFact>,
}

#[derive(Deserialize)]
struct GoldLineFact {
    fact: String,
    #[serde(default)]
    negated: bool,
}

/// Reads gold lines `{"lang","text","risk"}`, and those out of which no risk must come (`must_not`) as none; rows of
/// another kind are passed over.
///
/// # Errors
/// The number of the first line that is malformed.
pub(crate) fn read_gold(text: &str) -> Result<Vec<TrainingLine>, usize> {
    let mut lines = Vec::new();
    for (number, row) in rows(text) {
        let row = row?;
        let risk = |facts: &[GoldLineFact]| facts.iter().any(|fact| fact.fact == "risk" && !fact.negated);
        let class = match (row.risk, risk(&row.must_not) && !risk(&row.must)) {
            (Some(code), _) => class(&code).ok_or(number)?,
            (None, true) => None,
            (None, false) => continue,
        };
        if let Some(text) = row.text {
            lines.push(TrainingLine { text, language: language(&row.lang), class, tuned: true, part: String::new() });
        }
    }
    Ok(lines)
}

/// The rows of a file, each with its number, counted from 1.
fn rows(text: &str) -> impl Iterator<Item = (usize, Result<GoldLine, usize>)> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(at, line)| (at + 1, serde_json::from_str(line).map_err(|_| at + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_an_unknown_class_is_refused_by_its_number() {
        assert_eq!(read_lines("# lines\nes\tnone\tHola.\nen\tself_harm\tI cut.\n").unwrap().len(), 2);
        assert_eq!(read_lines("es\tnone\tHola.\nen\tsadness\tI cry.\n").err(), Some(2));
    }

    #[test]
    fn a_line_is_of_the_part_that_a_comment_above_it_names() {
        let lines = read_lines("es\tnone\tHola.\n# part: hard\n# a comment\nen\tself_harm\tI cut.\n").unwrap();
        assert_eq!(lines.iter().map(|line| line.part.as_str()).collect::<Vec<_>>(), ["", "hard"]);
    }
}
