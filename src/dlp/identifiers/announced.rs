//! Where a text announces values: places of the keywords of all rules, read once when the first value asks.

use std::cell::OnceCell;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::super::entities::words::stands_alone;
use crate::text::Span;

/// How far before and behind a value its keyword may stand, in bytes of the folded text.
pub const BEFORE: usize = 56;
const BEHIND: usize = 28;

/// The keywords of all rules, compiled.
pub struct Announcers {
    words: AhoCorasick,
    list: Vec<&'static str>,
}

impl Announcers {
    pub fn new(list: Vec<&'static str>) -> Self {
        let words = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::DFA))
            .build(&list)
            .expect("constant tables, built in every test");
        Self { words, list }
    }

    pub fn of<'a>(&'a self, lower: &'a str) -> Announced<'a> {
        Announced { announcers: self, lower, hits: OnceCell::new() }
    }
}

/// The announcements of one text.
pub struct Announced<'a> {
    announcers: &'a Announcers,
    lower: &'a str,
    /// Whole words, by their beginning, with the keyword.
    hits: OnceCell<Vec<(Span, &'static str)>>,
}

impl Announced<'_> {
    fn hits(&self) -> &[(Span, &'static str)] {
        self.hits.get_or_init(|| {
            let mut hits: Vec<(Span, &'static str)> = self
                .announcers
                .words
                .find_overlapping_iter(self.lower)
                .map(|hit| (Span::new(hit.start(), hit.end()), self.announcers.list[hit.pattern().as_usize()]))
                // "[PHONE_7F3A]" announces nothing.
                .filter(|(span, _)| stands_alone(self.lower, *span) && !self.lower[..span.start].ends_with('['))
                .collect();
            hits.sort_unstable_by_key(|(span, _)| (span.start, span.end));
            hits
        })
    }

    /// A keyword before a value, on the same line.
    pub fn is_before(&self, span: Span, keywords: &[&str]) -> bool {
        let hits = self.hits();
        let first = hits.partition_point(|(hit, _)| hit.start + BEFORE < span.start);
        let near = hits[first..].iter().take_while(|(hit, _)| hit.start < span.start);
        near.filter(|(hit, word)| hit.end <= span.start && keywords.contains(word))
            .any(|(hit, _)| !self.lower[hit.end..span.start].contains('\n'))
    }

    /// A keyword on the same line, before the value or shortly behind it.
    pub fn is_told(&self, span: Span, keywords: &[&str]) -> bool {
        let hits = self.hits();
        let first = hits.partition_point(|(hit, _)| hit.start < span.end);
        let behind = hits[first..].iter().take_while(|(hit, _)| hit.end <= span.end + BEHIND);
        self.is_before(span, keywords)
            || behind
                .filter(|(_, word)| keywords.contains(word))
                .any(|(hit, _)| !self.lower[span.end..hit.start].contains('\n'))
    }
}
