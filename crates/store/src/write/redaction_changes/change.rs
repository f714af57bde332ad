//! The changes of a second redaction in one document: positions of the removed values and of their replacements.

use uuid::Uuid;

use crate::records::{DocumentContent, FindingWords};
use anamnesis_core::scope::Scope;
use anamnesis_text::{Language, Span};

/// The result of a second redaction of one revision of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct ReRedactedDocument {
    pub scope: Scope,
    pub document: Uuid,
    pub revision: u32,
    /// Policy and recognisers that it has passed now.
    pub version: String,
    /// Its text is in the archive.
    pub archived: bool,
    /// `None` where nothing more was taken.
    pub change: Option<TextChange>,
}

/// A text before and after, and the positions of the removed values.
#[derive(Debug, Clone, PartialEq)]
pub struct TextChange {
    pub before: String,
    pub content: DocumentContent,
    pub language: Language,
    /// Places in the text before and their replacements' in the new one, in order.
    pub moves: Vec<(Span, Span)>,
}

impl TextChange {
    /// Maps a span of the old text to the new one. A part of a removed value is mapped to the replacement.
    pub(crate) fn place(&self, span: Span) -> Span {
        let at = |place: usize, end: bool| {
            let before = self.moves.partition_point(|(from, _)| from.end <= place);
            match self.moves.get(before).filter(|(from, _)| from.start < place) {
                Some((_, to)) => {
                    if end {
                        to.end
                    } else {
                        to.start
                    }
                }
                None => before.checked_sub(1).map_or(place, |last| {
                    let (from, to) = self.moves[last];
                    to.end + (place - from.end)
                }),
            }
        };
        let start = at(span.start, false);
        Span::new(start, at(span.end, true).max(start))
    }

    /// A text that was extracted from the document, without the removed values.
    pub(crate) fn clean(&self, text: &str) -> String {
        let mut cleaned = text.to_owned();
        for (from, to) in &self.moves {
            let (value, replacement) = (from.slice(&self.before), to.slice(&self.content.text));
            for value in [value.to_owned(), value.to_lowercase()] {
                cleaned = replaced(&cleaned, &value, replacement);
            }
        }
        cleaned
    }

    pub(super) fn clean_words(&self, words: &FindingWords) -> FindingWords {
        let maybe = |text: &Option<String>| text.as_deref().map(|text| self.clean(text));
        FindingWords {
            concept: self.clean(&words.concept),
            code: words.code.clone(),
            person: maybe(&words.person),
            status: words.status.clone(),
            dose: maybe(&words.dose),
            frequency: maybe(&words.frequency),
            route: maybe(&words.route),
            severity: maybe(&words.severity),
            // Typed values are no text (model.md, "Decisions" 7).
            date: words.date.clone(),
            at: words.at,
            measured: words.measured.clone(),
            value: maybe(&words.value),
            reaction: maybe(&words.reaction),
            mention: self.clean(&words.mention),
            never: words.never,
            source_entity: maybe(&words.source_entity),
            file: words.file.clone(),
            formed_from: words.formed_from.clone(),
            derived_from: words.derived_from.clone(),
            account: words.account.as_ref().map(|account| account.reworded(&|text| self.clean(text))),
        }
    }
}

/// Whole words only.
fn replaced(text: &str, value: &str, replacement: &str) -> String {
    if value.trim().is_empty() {
        return text.to_owned();
    }
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for (at, _) in text.match_indices(value) {
        let behind = at + value.len();
        let open = !text[..at].ends_with(char::is_alphanumeric) && !text[behind..].starts_with(char::is_alphanumeric);
        if open && at >= done {
            out.push_str(&text[done..at]);
            out.push_str(replacement);
            done = behind;
        }
    }
    out.push_str(&text[done..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change() -> TextChange {
        let content = DocumentContent::from_text("Con [PERSON] y [PERSON_1A2B].");
        let before = "Con Yeray y [PERSON_1A2B].".to_owned();
        let moves = vec![(Span::new(4, 9), Span::new(4, 12))];
        TextChange { before, content, language: Language::Spanish, moves }
    }

    #[test]
    fn spans_move_with_the_text_and_grow_around_redacted_values() {
        let change = change();
        for (from, to) in
            [((0, 3), (0, 3)), ((4, 9), (4, 12)), ((0, 26), (0, 29)), ((6, 11), (4, 14)), ((10, 11), (13, 14))]
        {
            assert_eq!(change.place(Span::new(from.0, from.1)), Span::new(to.0, to.1), "{from:?}");
        }
    }

    #[test]
    fn redacted_values_leave_extracted_texts_and_parts_of_words_stay() {
        let change = change();
        assert_eq!(change.clean("ver a Yeray, yeray, Yerays"), "ver a [PERSON], [PERSON], Yerays");
    }
}
