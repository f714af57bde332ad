//! Lines that people wrote and marked ("Saw [[PERSON|Dr. Eriksson]]"), and what stands in their place in later rounds:
//! other names, places and organisations of the same form, so that what is learned is the words around them.

use super::example::{AnnotationScope, TaggerExample};
use super::values::{self, NamePool};
use anamnesis_linear_model::random::Random;
use anamnesis_redaction::internals::lexicon;
use anamnesis_redaction::internals::word_classes::{WordClasses, word_classes};
use anamnesis_redaction::label;
use anamnesis_text::{Language, Span};

/// Share of values that stay as they were written in the rounds that exchange them.
const KEPT: f64 = 0.15;
/// Share of single names that become a surname, where they were a first name.
const OTHER_KIND: f64 = 0.25;

/// Titles that people put inside of a mark.
const WRITTEN_TITLES: [&str; 12] =
    ["dr", "mr", "mrs", "ms", "miss", "mx", "prof", "professor", "doctor", "mister", "missus", "nurse"];

/// A line cut at its marks: text, and the label of what is personal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnnotatedLine {
    pub(crate) language: Language,
    parts: Vec<(String, Option<&'static str>)>,
}

impl AnnotatedLine {
    /// Reads "… [[LABEL|value]] …"; `None` for an unclosed mark or an unknown label.
    pub(crate) fn read(line: &str, language: Language) -> Option<Self> {
        let (mut parts, mut rest) = (Vec::new(), line);
        while let Some((before, marked)) = rest.split_once("[[") {
            let (inside, after) = marked.split_once("]]")?;
            let (name, value) = inside.split_once('|')?;
            let kind = kind(name)?;
            let title = if kind == label::PERSON { title(value) } else { 0 };
            parts.push((format!("{before}{}", &value[..title]), None));
            parts.push((value[title..].to_owned(), Some(kind)));
            rest = after;
        }
        parts.push((rest.to_owned(), None));
        Some(Self { language, parts })
    }

    /// Whether anything in it is personal.
    pub(crate) fn is_marked(&self) -> bool {
        self.parts.iter().any(|(_, label)| label.is_some())
    }

    /// The line as it was written.
    pub(crate) fn example(&self) -> TaggerExample {
        self.filled(|value, _| value.to_owned())
    }

    /// The line with other values of the same form.
    pub(crate) fn exchanged(&self, names: &NamePool, random: &mut Random) -> TaggerExample {
        self.filled(
            |value, label| if random.chance(KEPT) { value.to_owned() } else { other(value, label, names, random) },
        )
    }

    fn filled(&self, mut fill: impl FnMut(&str, &'static str) -> String) -> TaggerExample {
        let (mut text, mut spans) = (String::new(), Vec::new());
        for (part, label) in &self.parts {
            let start = text.len();
            match label {
                None => text.push_str(part),
                Some(label) => {
                    text.push_str(&fill(part, label));
                    spans.push((Span::new(start, text.len()), *label));
                }
            }
        }
        TaggerExample { text, language: self.language, spans, marked: AnnotationScope::Values, group: 0 }
    }
}

/// How long the titles are that a name begins with ("Dr. Lee", "Mr and Mrs"): the other sets mark names without them.
fn title(value: &str) -> usize {
    let mut end = 0;
    while let Some((word, _)) = value[end..].split_once(' ') {
        let lower = word.trim_end_matches('.').to_lowercase();
        if !WRITTEN_TITLES.contains(&lower.as_str()) {
            break;
        }
        end += word.len() + 1;
    }
    end
}

/// The kind of the tagger that a mark means.
fn kind(name: &str) -> Option<&'static str> {
    Some(match name {
        "PERSON" => label::PERSON,
        "DATE" => label::DATE,
        "LOCATION" => label::LOCATION,
        "POSTAL_CODE" => label::POSTAL_CODE,
        "ADDRESS" => label::ADDRESS,
        "ORGANIZATION" => label::ORGANIZATION,
        "PHONE" => label::PHONE,
        "EMAIL" | "URL" | "USERNAME" | "HANDLE" => label::EMAIL,
        "ID" | "ES_DNI" | "US_SSN" => label::NUMBER,
        known if label::ALL.contains(&known) => label::NUMBER,
        _ => return None,
    })
}

fn other(value: &str, name: &'static str, names: &NamePool, random: &mut Random) -> String {
    match name {
        label::PERSON => words(value, |at, word| person(at, word, names, random)),
        label::LOCATION => cased(value, &values::place(names, random)),
        label::ORGANIZATION | label::ADDRESS => {
            let named = words(value, |_, word| organization(word, names, random));
            if name == label::ADDRESS { digits(&named, random) } else { named }
        }
        label::PHONE | label::NUMBER => digits(value, random),
        _ => value.to_owned(),
    }
}

/// Goes through the words of a value, which is told what stands before each; signs stay.
fn words(value: &str, mut exchange: impl FnMut(usize, &str) -> Option<String>) -> String {
    let (mut out, mut word) = (String::with_capacity(value.len()), String::new());
    let mut at = 0;
    for c in value.chars().chain([' ']) {
        if c.is_alphabetic() || c == '\'' && !word.is_empty() {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            out.push_str(&exchange(at, &word).map_or_else(|| word.clone(), |new| cased(&word, &new)));
            at += 1;
            word.clear();
        }
        out.push(c);
    }
    out.pop();
    out
}

/// Another name, or another letter for an initial; titles and particles stay.
fn person(at: usize, word: &str, names: &NamePool, random: &mut Random) -> Option<String> {
    let lower = word.to_lowercase();
    let known = word_classes(&lower);
    if known.has(WordClasses::TITLE) || known.has(WordClasses::RELATION) || known.has(WordClasses::PARTICLE) {
        return None;
    }
    if word.chars().count() == 1 {
        return Some(char::from(b'a' + random.below(26) as u8).to_string());
    }
    let given = known.has(WordClasses::GIVEN) || at == 0 && !known.has(WordClasses::SURNAME);
    let given = given != random.chance(OTHER_KIND);
    Some(if given { values::given(names, random) } else { values::surname(names, random) })
}

/// Another name for the words of an organisation or street that are no ordinary ones: "Riverbend Oncology".
fn organization(word: &str, names: &NamePool, random: &mut Random) -> Option<String> {
    let lower = word.to_lowercase();
    let short = word.chars().count() < 4 || word.chars().all(char::is_uppercase);
    if short || lexicon::is_ordinary(&lower) || word_classes(&lower).has(WordClasses::TITLE) {
        return None;
    }
    Some(if random.chance(0.5) { values::place(names, random) } else { values::surname(names, random) })
}

/// Other digits, as many; other letters for those that stand among them ("BD51 SMR").
fn digits(value: &str, random: &mut Random) -> String {
    value.chars().map(|c| if c.is_ascii_digit() { char::from(b'0' + random.below(10) as u8) } else { c }).collect()
}

/// A value in the letters of the one it stands for: small, large, or with large first letters.
fn cased(model: &str, value: &str) -> String {
    let letters = || model.chars().filter(|c| c.is_alphabetic());
    if letters().all(char::is_lowercase) {
        value.to_lowercase()
    } else if letters().count() > 1 && letters().all(char::is_uppercase) {
        value.to_uppercase()
    } else if letters().count() == 1 {
        value.to_uppercase()
    } else {
        value.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_become_spans_and_unknown_labels_are_refused() {
        let line = AnnotatedLine::read("Saw [[PERSON|Dr. Ito]], MRN [[ID|33-1]].", Language::English).unwrap();
        let example = line.example();
        assert_eq!(example.text, "Saw Dr. Ito, MRN 33-1.");
        let values: Vec<_> = example.spans.iter().map(|(span, label)| (span.slice(&example.text), *label)).collect();
        assert_eq!(values, [("Ito", label::PERSON), ("33-1", label::NUMBER)]);
        assert!(AnnotatedLine::read("[[PERSON|Ito", Language::English).is_none());
        assert!(AnnotatedLine::read("[[SPECIES|Ito]]", Language::English).is_none());
    }

    #[test]
    fn exchanged_values_keep_their_form() {
        let names = NamePool::builtin();
        let mut random = Random::new(5);
        let text = "[[PERSON|Dr. ITO, J.]] of [[ORGANIZATION|Quexley Hospital]] in [[LOCATION|lyon]], [[ID|AB-12]]";
        let line = AnnotatedLine::read(text, Language::English).unwrap();
        for _ in 0..50 {
            let example = line.exchanged(&names, &mut random);
            let value = |at: usize| example.spans[at].0.slice(&example.text);
            assert!(example.text.starts_with("Dr. ") && value(0).to_uppercase() == value(0), "{}", value(0));
            assert!(value(0).ends_with('.') && value(0).contains(", "), "{}", value(0));
            assert!(value(1).ends_with(" Hospital"));
            assert_eq!(value(2), value(2).to_lowercase());
            assert!(value(3).starts_with("AB-") && value(3).len() == 5);
        }
    }
}
