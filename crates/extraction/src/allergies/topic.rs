//! The open question: the turn of the last question about allergies, or its line in a text without turns.

use super::TOPIC_LINES;
use crate::analysis::AnalyzedDocument;
use anamnesis_text::Speaker;

#[derive(Default)]
pub(super) struct AllergyTopic {
    /// The turn of the question, and who asked.
    pub(crate) asked: Option<(usize, Speaker)>,
    /// The line of the question, in a text without turns.
    pub(crate) line: Option<usize>,
    /// The line of the present sentence.
    pub(crate) here: usize,
    end: usize,
}

impl AllergyTopic {
    /// Goes on to a sentence. Another question, or a few lines, leave the topic of a text without turns.
    pub(crate) fn pass(&mut self, doc: &AnalyzedDocument<'_>, index: usize) {
        let sentence = &doc.reading.sentences[index];
        let between = doc.text().get(self.end..sentence.span.start).unwrap_or("");
        self.here += between.matches('\n').count();
        self.end = sentence.span.end;
        let far = self.line.is_some_and(|line| self.here > line + TOPIC_LINES);
        let gap = between.matches('\n').count() > 1;
        if far || gap || (sentence.question && self.line.is_some_and(|line| self.here > line)) {
            self.line = None;
        }
    }

    /// Whether a sentence may answer the question of an earlier line or of the same line.
    pub(crate) fn answers_line(&self) -> bool {
        self.line.is_some()
    }
}
