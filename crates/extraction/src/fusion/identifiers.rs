//! Identifiers of persons that the learned reader finds in a text after redaction, and a reading whose text changed
//! afterwards.

use std::sync::Arc;

use super::DocumentReading;
use crate::reader::{LabelLayer, ReaderMention};
use anamnesis_text::{Document, Span};

/// How probable a tag must be, on the average of its pieces. On 156 documents redaction left 97 strings: this finds 58 of
/// them at the price of one ordinary word a document, which redaction's own lists refuse.
const TAGGED: f32 = 0.5;
/// The same after "q." for "que", which mostly a verb follows: "le digo q. consulte".
const TAGGED_VERB: f32 = 0.9;
const PRONOUNS: [&str; 12] =
    ["ella", "él", "ellos", "ellas", "usted", "nosotros", "nosotras", "she", "he", "they", "him", "her"];
/// How probable it may be that the same words name something clinical.
const CLINICAL: f32 = 0.5;

/// Words that identify a person, as the learned reader tags them: whole words of one line.
#[derive(Debug, Clone, PartialEq)]
pub struct IdentifierSpan {
    /// In bytes of the text that was read.
    pub span: Span,
    /// `name`, `address`, `phone`, `email`, `id`, `date_of_birth`, `organisation`, `place` or `other`.
    pub kind: Arc<str>,
    /// 0.5–1.0.
    pub probability: f32,
}

impl DocumentReading {
    /// The identifiers of persons. `text`: the one that was read.
    pub fn identifiers(&self, text: &str) -> Vec<IdentifierSpan> {
        let tags = self.tags.iter().filter(|tag| tag.layer == LabelLayer::Identifiers && tag.probability >= TAGGED);
        let clinical = |span: Span| {
            let (line, bytes) = self.place(span);
            self.predictions.something(line, &bytes, LabelLayer::Names) >= CLINICAL
        };
        let whole = tags.filter_map(|tag| {
            let span = whole_words(text, self.span(tag))?;
            let verb = tag.probability < TAGGED_VERB && text[..span.start].ends_with(" q. ");
            if PRONOUNS.contains(&span.slice(text)) || verb {
                return None;
            }
            Some(IdentifierSpan { span, kind: Arc::clone(&tag.kind), probability: tag.probability })
        });
        whole.filter(|one| !clinical(one.span)).collect()
    }

    /// The same reading of a text in which stretches were replaced since. `to`: where a stretch of the text that was read is
    /// now; `replaced`: whether a replacement touches it, which then names nothing clinical any more. `None` where the new
    /// text has other lines: it must be read anew.
    #[must_use]
    pub fn moved(
        mut self,
        document: &Document,
        to: impl Fn(Span) -> Span,
        replaced: impl Fn(Span) -> bool,
    ) -> Option<Self> {
        let lines = super::lines(document);
        if lines.len() != self.lines.len() {
            return None;
        }
        let old: Vec<Span> = self.lines.iter().map(|(_, line)| *line).collect();
        let place_of = |tag: &ReaderMention| Span::new(old[tag.line].start + tag.start, old[tag.line].start + tag.end);
        self.tags.retain(|tag| tag.layer != LabelLayer::Names || !replaced(place_of(tag)));
        let place = |line: usize, start: usize, end: usize| {
            let (old, new) = (old[line].start, lines[line].1);
            let span = to(Span::new(old + start, old + end));
            let inside = |at: usize| at.clamp(new.start, new.end) - new.start;
            (inside(span.start), inside(span.end))
        };
        for tag in &mut self.tags {
            (tag.start, tag.end) = place(tag.line, tag.start, tag.end);
        }
        self.predictions.move_to(place);
        self.lines = lines;
        Some(self)
    }
}

/// A stretch with the rest of the words that it cuts, without the punctuation around it. `None` where no word is left.
fn whole_words(text: &str, span: Span) -> Option<Span> {
    let inner = text.get(span.start..span.end)?;
    let first = inner.find(char::is_alphanumeric)?;
    let last = inner.rfind(char::is_alphanumeric)?;
    let (start, end) = (span.start + first, span.start + last);
    let before = text[..start].chars().rev().take_while(|c| c.is_alphanumeric()).map(char::len_utf8).sum::<usize>();
    let after = text[end..].chars().take_while(|c| c.is_alphanumeric()).map(char::len_utf8).sum::<usize>();
    Some(Span::new(start - before, end + after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_becomes_the_words_that_it_touches() {
        let text = "con Maritza, de Huánuco.";
        let words = |start, end| whole_words(text, Span::new(start, end)).map(|span| span.slice(text));
        assert_eq!(words(4, 8), Some("Maritza"));
        assert_eq!(words(10, 12), Some("Maritza"));
        assert_eq!(words(16, text.len()), Some("Huánuco"));
        assert_eq!(words(11, 13), None);
    }
}
