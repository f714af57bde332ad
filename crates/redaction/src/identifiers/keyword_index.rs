//! Positions of the keywords of all rules. A text with few candidate values is searched around them; a text with many
//! is searched once, as a whole.

use std::cell::{Cell, OnceCell};

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::super::entities::words::is_whole_word;
use anamnesis_text::Span;

/// Longest distance between a value and its keyword, in bytes of the folded text.
pub(crate) const BEFORE: usize = 56;
const AFTER: usize = 28;
/// Look-ups after which the whole text is searched.
const FEW: u32 = 12;

type Hits = Vec<(Span, &'static str)>;

/// The keywords of all rules, compiled.
pub(crate) struct KeywordIndex {
    words: AhoCorasick,
    list: Vec<&'static str>,
}

impl KeywordIndex {
    pub(crate) fn new(list: Vec<&'static str>) -> Self {
        let words = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::DFA))
            .build(&list)
            .expect("constant tables, built in every test");
        Self { words, list }
    }

    pub(crate) fn lookup<'a>(&'a self, lower: &'a str) -> KeywordLookup<'a> {
        KeywordLookup { index: self, lower, asked: Cell::new(0), last: Cell::default(), whole: OnceCell::new() }
    }

    /// The keywords that are whole words in a part of a text, sorted by position.
    fn hits(&self, lower: &str, stretch: Span) -> Hits {
        let mut hits: Hits = self
            .words
            .find_overlapping_iter(stretch.slice(lower))
            .map(|hit| {
                let span = Span::new(stretch.start + hit.start(), stretch.start + hit.end());
                (span, self.list[hit.pattern().as_usize()])
            })
            // "[PHONE_7F3A]" announces nothing.
            .filter(|(span, _)| is_whole_word(lower, *span) && !lower[..span.start].ends_with('['))
            .collect();
        hits.sort_unstable_by_key(|(span, _)| (span.start, span.end));
        hits
    }
}

/// The announcements of one text.
pub(crate) struct KeywordLookup<'a> {
    index: &'a KeywordIndex,
    lower: &'a str,
    asked: Cell<u32>,
    /// The neighbourhood of the last value, because several rules ask about the same value.
    last: Cell<Option<(Span, Hits)>>,
    whole: OnceCell<Hits>,
}

impl KeywordLookup<'_> {
    /// The keywords around a value, and perhaps others.
    fn around<T>(&self, value: Span, ask: impl FnOnce(&[(Span, &'static str)]) -> T) -> T {
        if let Some(whole) = self.whole.get() {
            return ask(whole);
        }
        let near = match self.last.take() {
            Some((of, near)) if of == value => near,
            _ if self.asked.replace(self.asked.get() + 1) >= FEW => {
                let all = Span::new(0, self.lower.len());
                return ask(self.whole.get_or_init(|| self.index.hits(self.lower, all)));
            }
            _ => self.index.hits(self.lower, self.neighbourhood(value)),
        };
        let answer = ask(&near);
        self.last.set(Some((value, near)));
        answer
    }

    /// As far as a keyword of a value may be.
    fn neighbourhood(&self, value: Span) -> Span {
        let mut start = value.start.saturating_sub(BEFORE);
        while !self.lower.is_char_boundary(start) {
            start += 1;
        }
        let mut end = (value.end + AFTER).min(self.lower.len());
        while !self.lower.is_char_boundary(end) {
            end -= 1;
        }
        Span::new(start, end)
    }

    /// A keyword before a value, on the same line.
    pub(crate) fn is_before(&self, span: Span, keywords: &[&str]) -> bool {
        self.around(span, |hits| self.before(hits, span, keywords))
    }

    /// A keyword on the same line, before the value or shortly after it.
    pub(crate) fn is_near(&self, span: Span, keywords: &[&str]) -> bool {
        self.around(span, |hits| self.before(hits, span, keywords) || self.after(hits, span, keywords))
    }

    fn before(&self, hits: &[(Span, &'static str)], span: Span, keywords: &[&str]) -> bool {
        let first = hits.partition_point(|(hit, _)| hit.start + BEFORE < span.start);
        let near = hits[first..].iter().take_while(|(hit, _)| hit.start < span.start);
        near.filter(|(hit, word)| hit.end <= span.start && keywords.contains(word))
            .any(|(hit, _)| !self.lower[hit.end..span.start].contains('\n'))
    }

    fn after(&self, hits: &[(Span, &'static str)], span: Span, keywords: &[&str]) -> bool {
        let first = hits.partition_point(|(hit, _)| hit.start < span.end);
        let behind = hits[first..].iter().take_while(|(hit, _)| hit.start < span.end + AFTER);
        behind
            .filter(|(hit, word)| hit.end <= span.end + AFTER && keywords.contains(word))
            .any(|(hit, _)| !self.lower[span.end..hit.start].contains('\n'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_values_are_announced_as_few_are() {
        let index = KeywordIndex::new(vec!["call", "dni", "tel"]);
        let line = "dni: 1234 y tel 5678, señor, 99 call\nno 777 é dni";
        let text = line.repeat(9);
        let values: Vec<Span> = text
            .char_indices()
            .filter(|(at, c)| c.is_ascii_digit() && !text[..*at].ends_with(|c: char| c.is_ascii_digit()))
            .map(|(at, _)| Span::new(at, at + text[at..].bytes().take_while(u8::is_ascii_digit).count()))
            .collect();
        assert!(values.len() > 2 * FEW as usize);
        let asked = |announced: &KeywordLookup<'_>, value: Span| {
            ["call", "dni", "tel"].map(|word| (announced.is_before(value, &[word]), announced.is_near(value, &[word])))
        };
        let together = index.lookup(&text);
        for value in values {
            assert_eq!(asked(&together, value), asked(&index.lookup(&text), value), "{value:?}");
        }
        let first = index.lookup(line);
        assert!(first.is_before(Span::new(5, 9), &["dni"]) && !first.is_before(Span::new(5, 9), &["tel"]));
        assert!(first.is_near(Span::new(5, 9), &["tel"]) && !first.is_near(Span::new(5, 9), &["no"]));
    }
}
