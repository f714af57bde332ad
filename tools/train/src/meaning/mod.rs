//! Whether redaction keeps meaning: findings of a text before and after its redaction, held beside each other. A finding is
//! lost when its mention was taken or nothing of its kind and value is found in its place any more; it is turned when its
//! polarity, its person or its status changes. Names, dates and identifiers are apart: a mention that holds one that people
//! marked, or that holds a date, an age or an identifier, is not counted. So is what the risk classifier finds, which reads
//! whole sentences and no mention.

mod lines;
mod sentences;

use std::collections::BTreeMap;

use serde::Serialize;

use anamnesis_extraction::{Entity, EntityType, Extraction, ExtractionInput, Extractor};
use anamnesis_redaction::{KnownPeople, Redacted, RedactionError, Redactor, SurrogateKey};
use anamnesis_text::{Document, Span};

pub use lines::{Line, read};
pub use sentences::Frames;

/// How many examples are kept.
const EXAMPLES: usize = 200;

/// What became of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Harm {
    /// The mention itself was taken.
    Taken,
    /// Nothing of its kind and value is found in its place.
    Lost,
    Polarity,
    Person,
    Status,
}

/// A finding that redaction harmed. Of the program's own sets alone: it quotes the text.
#[derive(Debug, Clone, Serialize)]
pub struct Example {
    pub(crate) line: String,
    pub harm: Harm,
    pub(crate) kind: &'static str,
    pub mention: String,
    pub(crate) before: String,
    pub after: String,
}

/// The figures of many lines.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    pub lines: usize,
    /// Lines in which redaction took something.
    pub touched: usize,
    /// Findings before redaction that count.
    pub findings: usize,
    pub lost: usize,
    pub turned: usize,
    /// Findings that read otherwise because a tag stands for a value that people marked: so they do where nothing else is taken.
    pub by_marked: usize,
    pub(crate) harms: BTreeMap<Harm, usize>,
    pub examples: Vec<Example>,
}

impl Report {
    /// Share of the findings that are lost.
    pub fn lost_share(&self) -> f64 {
        self.lost as f64 / self.findings.max(1) as f64
    }

    /// Adds another report's figures.
    pub fn join(&mut self, other: Self) {
        self.lines += other.lines;
        self.touched += other.touched;
        self.findings += other.findings;
        self.lost += other.lost;
        self.turned += other.turned;
        self.by_marked += other.by_marked;
        for (harm, count) in other.harms {
            *self.harms.entry(harm).or_default() += count;
        }
        let room = EXAMPLES.saturating_sub(self.examples.len());
        self.examples.extend(other.examples.into_iter().take(room));
    }

    fn harm(&mut self, harm: Harm, line: &Line, entity: &Entity, after: &str) {
        match harm {
            Harm::Taken | Harm::Lost => self.lost += 1,
            Harm::Polarity | Harm::Person | Harm::Status => self.turned += 1,
        }
        *self.harms.entry(harm).or_default() += 1;
        if self.examples.len() < EXAMPLES {
            self.examples.push(Example {
                line: line.id.clone(),
                harm,
                kind: entity.kind.code(),
                mention: entity.span.slice(&line.text).to_owned(),
                before: line.text.clone(),
                after: after.to_owned(),
            });
        }
    }
}

/// Redacts lines and compares what is found before and after.
///
/// # Errors
/// When a line cannot be redacted.
pub fn compare(redactor: &Redactor, extractor: &Extractor, lines: &[Line]) -> Result<Report, RedactionError> {
    let key = SurrogateKey::new([7; 32]);
    let mut report = Report::default();
    for line in lines {
        let document = Document::plain(line.text.clone(), line.language);
        let before = extractor.extract(&ExtractionInput::new(&document));
        let redacted = redactor.redact(&document, &KnownPeople::default(), &key)?;
        report.lines += 1;
        report.findings += before.entities.len();
        if redacted.redactions().is_empty() {
            continue;
        }
        report.touched += 1;
        let after = extractor.extract(&ExtractionInput::new(redacted.document()));
        let ideal = extractor.extract(&ExtractionInput::new(&marked_alone(line, &redacted)));
        hold(line, &before, (&redacted, &after, &ideal), &mut report);
    }
    Ok(report)
}

/// The text in which tags stand for what people marked and for dates and identifiers, and for nothing else.
fn marked_alone(line: &Line, redacted: &Redacted) -> Document {
    let (mut text, mut from) = (String::new(), 0);
    for one in redacted.redactions() {
        if is_apart(one.label) || line.marked.iter().any(|span| span.overlaps(&one.source)) {
            text.push_str(&line.text[from..one.source.start]);
            text.push_str(&one.replacement);
            from = one.source.end;
        }
    }
    text.push_str(&line.text[from..]);
    Document::plain(text, line.language)
}

fn hold(
    line: &Line,
    before: &Extraction,
    (redacted, after, ideal): (&Redacted, &Extraction, &Extraction),
    report: &mut Report,
) {
    let text = &redacted.document().text;
    for entity in &before.entities {
        let taken = redacted.redactions().iter().find(|one| one.source.overlaps(&entity.span));
        let marked = line.marked.iter().any(|span| span.overlaps(&entity.span));
        if marked || taken.is_some_and(|one| is_apart(one.label)) {
            report.findings -= 1;
            continue;
        }
        if taken.is_some() {
            report.harm(Harm::Taken, line, entity, text);
            continue;
        }
        let place = Span::new(redacted.place_of(entity.span.start), redacted.place_of(entity.span.end));
        let near = || after.entities.iter().filter(|other| other.kind == entity.kind && other.span.overlaps(&place));
        let same = near().find(|other| other.value == entity.value).or_else(|| near().next());
        match same {
            None => report.harm(Harm::Lost, line, entity, text),
            Some(other) => match turned(entity, other) {
                Some(_) if ideal.entities.iter().any(|one| is_read_alike(one, other)) => report.by_marked += 1,
                Some(harm) => report.harm(harm, line, entity, text),
                None => {}
            },
        }
    }
}

/// What redaction may take with the finding that holds it: dates, ages and identifiers. Names are told by marks.
fn is_apart(label: &str) -> bool {
    !matches!(
        label,
        "PERSON"
            | "LOCATION"
            | "ORGANIZATION"
            | "ADDRESS"
            | "PROFESSION"
            | "FAMILY"
            | "SEX"
            | "NUMBER"
            | "MEDICAL_RECORD"
    )
}

fn is_read_alike(one: &Entity, other: &Entity) -> bool {
    one.kind == other.kind && one.value == other.value && turned(one, other).is_none()
}

fn turned(before: &Entity, after: &Entity) -> Option<Harm> {
    if before.context.negated != after.context.negated || before.context.uncertain != after.context.uncertain {
        return Some(Harm::Polarity);
    }
    // Who somebody is related to is told by names too.
    if before.kind != EntityType::Relationship && before.context.experiencer != after.context.experiencer {
        return Some(Harm::Person);
    }
    (before.status != after.status).then_some(Harm::Status)
}
