//! The learned reader next to the rules: its additions to their findings, and its assessment of each of them.

mod additions;
mod calibration;
mod corrections;
mod details;
mod identifiers;
mod reader_evidence;
mod risk_spans;
mod span_merging;

use std::ops::Range;

use super::analysis::AnalyzedDocument;
use super::reader::{ClinicalReader, ReaderLine, ReaderMention, ReaderPredictions};
use super::{Entity, EntityType};
use anamnesis_text::{Document, Span, Speaker};

pub use self::calibration::ConfidenceInputs;
pub(super) use self::calibration::FILE as SURETY;
pub use self::identifiers::IdentifierSpan;
pub use self::reader_evidence::ReaderEvidence;
pub(super) use self::risk_spans::TaggedRisk;

/// Below the 0.6 of the policy.
const REVIEWED: f64 = 0.55;

/// A document as the learned reader read it.
#[derive(Debug, Clone)]
pub struct DocumentReading {
    /// The speaker of each line, and the place of the line in the text.
    lines: Vec<(Option<Speaker>, Span)>,
    predictions: ReaderPredictions,
    /// Its tags, in whole mentions.
    tags: Vec<ReaderMention>,
}

impl DocumentReading {
    pub(super) fn read(document: &Document, reader: &ClinicalReader) -> Self {
        let lines = lines(document);
        let line = |(speaker, span): &(Option<Speaker>, Span)| ReaderLine {
            speaker: *speaker,
            text: span.slice(&document.text),
        };
        let read: Vec<ReaderLine<'_>> = lines.iter().map(line).collect();
        let predictions = reader.read(&read);
        let tags = span_merging::joined(&read, predictions.spans());
        Self { lines, predictions, tags }
    }

    /// Adds the tags of the reader that no rule has found.
    pub(super) fn add(&self, doc: &AnalyzedDocument<'_>, entities: &mut Vec<Entity>) {
        let by_rules = entities.len();
        additions::find(doc, self, entities);
        for entity in &mut entities[by_rules..] {
            entity.view = Some(ReaderEvidence { alone: true, ..self.view(entity) });
        }
    }

    /// Gives findings the doses and reactions that the reader tags and no rule has found.
    pub(super) fn bind(&self, doc: &AnalyzedDocument<'_>, entities: &mut [Entity]) {
        details::bind(doc, self, entities);
    }

    /// Sets the confidence of every finding, by the rules and the reader.
    pub(super) fn weigh(&self, entities: &mut [Entity]) {
        let said: Vec<(String, bool)> =
            entities.iter().map(|entity| (entity.value.clone(), entity.context.negated)).collect();
        for entity in entities.iter_mut().filter(|entity| entity.view.is_none()) {
            self.correct(entity);
        }
        for entity in entities {
            let alike = || said.iter().filter(|(value, _)| *value == entity.value);
            let view = ReaderEvidence {
                speaker: self.lines.get(self.place(entity.span).0).and_then(|(speaker, _)| *speaker),
                again: alike().count().saturating_sub(1).min(2) as u8,
                opposed: alike().any(|(_, negated)| *negated != entity.context.negated),
                ..entity.view.unwrap_or_else(|| self.view(entity))
            };
            entity.view = Some(view);
            entity.confidence = calibration::probability(entity, &view).min(most(entity, &view));
        }
    }

    fn span(&self, tag: &ReaderMention) -> Span {
        let line = self.lines[tag.line].1.start;
        Span::new(line + tag.start, line + tag.end)
    }

    fn view(&self, entity: &Entity) -> ReaderEvidence {
        let (line, bytes) = self.place(entity.span);
        ReaderEvidence::from_predictions(&self.predictions, entity.kind, (line, &bytes), entity.confidence)
    }

    /// The line in which a place begins, and the place in it.
    fn place(&self, span: Span) -> (usize, Range<usize>) {
        let line = self.lines.partition_point(|(_, line)| line.start <= span.start).saturating_sub(1);
        let start = self.lines.get(line).map_or(0, |(_, line)| line.start);
        (line, span.start.saturating_sub(start)..span.end.saturating_sub(start))
    }
}

/// The highest confidence that a finding may have. A finding that harms when it is wrong is reviewed where no rule
/// agrees: it stays below the confidence that decisions ask for (`min_extraction_confidence`).
fn most(entity: &Entity, view: &ReaderEvidence) -> f64 {
    use EntityType::{Allergy, Condition, Intolerance, Medication, Symptom};
    let harms = matches!(entity.kind, Allergy | Condition | Intolerance | Medication | Symptom);
    if view.alone && harms { REVIEWED } else { 1.0 }
}

/// The lines of a document with their speakers: those of each turn, or of the text. Empty ones are left out.
fn lines(document: &Document) -> Vec<(Option<Speaker>, Span)> {
    let text = document.text.as_str();
    let whole = [(None, Span::new(0, text.len()))];
    let turns: Vec<_> = document.turns.iter().map(|turn| (Some(turn.speaker), turn.span)).collect();
    let parts = if turns.is_empty() { whole.as_slice() } else { turns.as_slice() };
    let mut lines = Vec::new();
    for (speaker, part) in parts {
        let mut start = part.start;
        for line in part.slice(text).split('\n') {
            let span = Span::new(start, start + line.len());
            start = span.end + 1;
            if !line.trim().is_empty() {
                lines.push((*speaker, span));
            }
        }
    }
    lines
}
