//! Texts from templates: `<one|other>` chooses, `{slot}` is filled with an invented value and marked as what it is.
//! Files are named `LANGUAGE.GENRE.txt`, and `marked/LANGUAGE.GENRE.txt` where their lines are marked texts (`annotated.rs`); `words.txt` holds the lists of unmarked slots (`{drug}`, `{condition}` …).

use std::collections::HashMap;

use super::annotated::AnnotatedLine;
use super::example::{AnnotationScope, TaggerExample};
use super::values::{self, NamePool, SlotValue};
use anamnesis_linear_model::random::Random;
use anamnesis_text::{Language, Span};

/// Why a file of templates cannot be used: file and line, never more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TemplateError {
    #[error("{file}: the name is not LANGUAGE.GENRE.txt")]
    Name { file: String },
    #[error("{file}, line {line}: unknown slot, unknown label or unclosed bracket")]
    Line { file: String, line: usize },
}

/// Where files of marked lines lie.
const MARKED: &str = "marked/";

struct SlotTemplate {
    language: Language,
    spoken: bool,
    text: String,
}

/// Templates and the lists that fill them.
pub(crate) struct Generator {
    templates: Vec<SlotTemplate>,
    lines: Vec<AnnotatedLine>,
    words: HashMap<String, Vec<String>>,
    names: NamePool,
}

impl Generator {
    /// Reads files of templates, given as (name, content), and tries every template once.
    ///
    /// # Errors
    /// When a file's name tells no language or a template does not fill.
    pub(crate) fn new(files: &[(String, String)]) -> Result<Self, TemplateError> {
        let mut generator =
            Self { templates: Vec::new(), lines: Vec::new(), words: HashMap::new(), names: NamePool::builtin() };
        for (_, text) in files.iter().filter(|(name, _)| name == "words.txt") {
            for line in text.lines().filter(|line| !line.starts_with('#')) {
                if let Some((name, list)) = line.split_once('=') {
                    let list = list.split(',').map(|word| word.trim().to_owned()).collect();
                    generator.words.insert(name.trim().to_owned(), list);
                }
            }
        }
        let mut random = Random::new(1);
        for (file, text) in files.iter().filter(|(name, _)| name != "words.txt") {
            let name = file.strip_prefix(MARKED).unwrap_or(file);
            let language = match name.split('.').next() {
                Some("es") => Language::Spanish,
                Some("en") => Language::English,
                _ => return Err(TemplateError::Name { file: file.clone() }),
            };
            let marked = name != file;
            for (at, line) in
                text.lines().enumerate().filter(|(_, line)| !line.starts_with('#') && !line.trim().is_empty())
            {
                let wrong = || TemplateError::Line { file: file.clone(), line: at + 1 };
                if marked {
                    generator.lines.push(AnnotatedLine::read(line, language).ok_or_else(wrong)?);
                    continue;
                }
                let template =
                    SlotTemplate { language, spoken: file.contains("speech"), text: line.replace("\\n", "\n") };
                if generator.fill(&template, &mut random).is_none() {
                    return Err(wrong());
                }
                generator.templates.push(template);
            }
        }
        Ok(generator)
    }

    pub(crate) fn templates(&self) -> usize {
        self.templates.len()
    }

    /// Every template filled `rounds` times, speech as recognisers of speech write it.
    pub(crate) fn examples(&self, rounds: usize, random: &mut Random) -> Vec<TaggerExample> {
        let mut all = Vec::with_capacity(self.templates.len() * rounds);
        for _ in 0..rounds {
            for (group, template) in self.templates.iter().enumerate() {
                let Some(example) = self.fill(template, random) else { continue };
                let example = TaggerExample { group, ..example };
                let example = if template.spoken && random.chance(0.85) { super::spoken(&example) } else { example };
                all.push(example);
            }
        }
        all
    }

    /// The lines that people wrote: the first round as they stand, the others with other values. `rounds` of those with
    /// personal data, and of those without.
    pub(crate) fn annotated_lines(&self, rounds: (usize, usize), random: &mut Random) -> Vec<TaggerExample> {
        let mut all = Vec::new();
        for round in 0..rounds.0.max(rounds.1) {
            for (group, line) in self.lines.iter().enumerate() {
                let rounds = if line.is_marked() { rounds.0 } else { rounds.1 };
                if round < rounds {
                    let example = if round == 0 { line.example() } else { line.exchanged(&self.names, random) };
                    all.push(TaggerExample { group, ..example });
                }
            }
        }
        all
    }

    fn fill(&self, template: &SlotTemplate, random: &mut Random) -> Option<TaggerExample> {
        let chosen = choose(&template.text, random)?;
        let (mut text, mut spans, mut rest) = (String::new(), Vec::new(), chosen.as_str());
        while let Some(open) = rest.find('{') {
            let close = rest[open..].find('}')? + open;
            text.push_str(&rest[..open]);
            let slot = &rest[open + 1..close];
            let start = text.len();
            match self.value(slot, template.language, random)? {
                SlotValue::Plain(value) => text.push_str(&value),
                SlotValue::Personal(value, label) => {
                    text.push_str(&value);
                    spans.push((Span::new(start, text.len()), label));
                }
            }
            rest = &rest[close + 1..];
        }
        text.push_str(rest);
        Some(TaggerExample { text, language: template.language, spans, marked: AnnotationScope::Names, group: 0 })
    }

    fn value(&self, slot: &str, language: Language, random: &mut Random) -> Option<SlotValue> {
        if let Some(value) = values::make(slot, language, &self.names, random) {
            return Some(value);
        }
        let code = if language == Language::Spanish { "es" } else { "en" };
        let list = self.words.get(&format!("{slot}.{code}")).or_else(|| self.words.get(slot))?;
        Some(SlotValue::Plain(list[random.below(list.len())].clone()))
    }
}

/// Resolves `<one|other>`, also one in another.
fn choose(template: &str, random: &mut Random) -> Option<String> {
    let mut text = template.to_owned();
    while let Some(close) = text.find('>') {
        let open = text[..close].rfind('<')?;
        let ways: Vec<&str> = text[open + 1..close].split('|').collect();
        let way = ways[random.below(ways.len())].to_owned();
        text.replace_range(open..=close, &way);
    }
    (!text.contains('<')).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(line: &str) -> Vec<(String, String)> {
        vec![
            ("words.txt".into(), "drug = litio, lorazepam\n".into()),
            ("es.notes.txt".into(), format!("# x\n{line}\n")),
        ]
    }

    #[test]
    fn a_filled_slot_is_marked_as_what_it_is() {
        let generator = Generator::new(&files("<Toma|Tomaba> {drug} desde que vio a {full}.")).unwrap();
        let example = &generator.examples(1, &mut Random::new(3))[0];
        let (span, label) = example.spans[0];
        assert!(example.text.ends_with(&format!("{}.", span.slice(&example.text))) && label == "PERSON");
        assert_eq!(example.spans.len(), 1);
    }

    #[test]
    fn a_template_that_does_not_fill_is_named_by_its_line() {
        let wrong = TemplateError::Line { file: "es.notes.txt".into(), line: 2 };
        assert_eq!(Generator::new(&files("Vio a {nobody}")).err(), Some(wrong.clone()));
        assert_eq!(Generator::new(&files("<Toma")).err(), Some(wrong));
    }
}
