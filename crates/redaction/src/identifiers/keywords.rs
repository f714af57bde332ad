//! Values next to a keyword: an announced record number is one, whatever its shape.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::Regex;

use super::super::document::DocumentContext;
use super::super::entities::words::is_whole_word;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use anamnesis_text::Span;

const TABLE: &str = include_str!("../data/keywords.txt");
/// How much text after a keyword is read for its value.
const REACH: usize = 96;

/// Text that may be between a keyword and its value.
static BETWEEN: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"^(?:[\s:#=.,()*>-]|nhc|n[º°]|no?\.|num\.?|numero|number|es|is|was|el|la|del?|de la|paciente|patient|mi|my|ending in|acabado en|terminado en|id|code|codigo|asignado|actual){0,12}",
    )
});
/// Letters and digits, in groups.
static VALUE: LazyLock<Regex> = LazyLock::new(|| {
    compiled(
        r"^(?:[a-z]{1,4}[-/.]?){0,2}[0-9][0-9a-z]{0,30}(?:[-/. ·]{1,3}[a-z]{0,3}[0-9][0-9a-z]{0,26}){0,7}(?:-?[a-z](?-u:\b))?",
    )
});

fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant pattern, compiled in every test")
}

struct KeywordEntry {
    label: &'static str,
    least: usize,
    most: usize,
}

/// The compiled table.
pub(crate) struct Keywords {
    words: AhoCorasick,
    entries: Vec<KeywordEntry>,
    /// Keyword → entry.
    of: Vec<usize>,
}

impl Keywords {
    pub(crate) fn builtin() -> Self {
        let (mut entries, mut of, mut words) = (Vec::new(), Vec::new(), Vec::new());
        for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
            let mut cells = line.splitn(4, '|').map(str::trim);
            let (Some(name), Some(least), Some(most), Some(list)) =
                (cells.next(), cells.next(), cells.next(), cells.next())
            else {
                continue;
            };
            let known = label::ALL.iter().find(|known| **known == name).copied().unwrap_or(label::NUMBER);
            for word in list.split(',') {
                words.push(word.trim());
                of.push(entries.len());
            }
            let number = |text: &str| text.parse().unwrap_or(4);
            entries.push(KeywordEntry { label: known, least: number(least), most: number(most) });
        }
        let words = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::DFA))
            .build(words)
            .expect("a constant table, built in every test");
        Self { words, entries, of }
    }

    pub(crate) fn find(&self, context: &DocumentContext<'_>, found: &mut Vec<PiiFinding>) {
        let lower = &context.view.lower;
        for hit in self.words.find_iter(lower) {
            if !is_whole_word(lower, Span::new(hit.start(), hit.end())) || lower[..hit.start()].ends_with('[') {
                continue;
            }
            let entry = &self.entries[self.of[hit.pattern().as_usize()]];
            if let Some(span) = value_after(lower, hit.end(), entry) {
                let score = if entry.label == label::NUMBER { 0.55 } else { 0.75 };
                found.push(PiiFinding::new(span, entry.label, "keyword_value", score, DetectionLayer::Identifier));
            }
        }
    }
}

/// The value after a keyword: enough digits, and no more than its kind has.
fn value_after(lower: &str, from: usize, entry: &KeywordEntry) -> Option<Span> {
    let mut to = (from + REACH).min(lower.len());
    while !lower.is_char_boundary(to) {
        to -= 1;
    }
    let window = &lower[from..to];
    if !window.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let between = BETWEEN.find(window)?.end();
    if window[..between].matches('\n').count() > 1 || (between == 0 && !window.starts_with(char::is_whitespace)) {
        return None;
    }
    let value = VALUE.find(&window[between..])?;
    let start = from + between;
    let (mut digits, mut end) = (0, start);
    let mut last = start;
    for (at, byte) in value.as_str().bytes().enumerate() {
        if byte.is_ascii_digit() {
            digits += 1;
            if digits > entry.most {
                break;
            }
            end = start + at + 1;
            last = end;
        } else if byte.is_ascii_alphabetic() && last == start + at {
            // A letter that ends a group belongs to it ("12345678-Z").
            last = start + at + 1;
        } else if matches!(byte, b'-' | b'.') && last == start + at {
            last = start + at + 1;
        }
    }
    let span = trimmed(lower, start, end, last);
    let enough = span.slice(lower).bytes().filter(u8::is_ascii_digit).count() >= entry.least;
    (enough && !looks_like_date_or_dose(lower, span)).then_some(span)
}

/// Up to the last digit, with one letter group after it where it clings to it.
fn trimmed(lower: &str, start: usize, end: usize, last: usize) -> Span {
    let tail = &lower[end..last.max(end)];
    let clings = tail.trim_start_matches('-').len() <= 3 && !tail.ends_with(['.', '-']);
    Span::new(start, if clings { last.max(end) } else { end })
}

/// "77-40-182" has the shape of a date but is none: no such day or month, or a year of three digits.
fn may_be_a_day(value: &str) -> bool {
    let parts: Vec<&str> = value.split(['-', '/', '.']).collect();
    let [first, second, year] = parts[..] else { return false };
    let (first, second): (u32, u32) = (first.parse().unwrap_or(99), second.parse().unwrap_or(99));
    first.min(second) <= 12 && first.max(second) <= 31 && year.len() != 3
}

fn looks_like_date_or_dose(lower: &str, span: Span) -> bool {
    static DATE: LazyLock<Regex> = LazyLock::new(|| compiled(r"^[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2,4}$"));
    static UNIT: LazyLock<Regex> = LazyLock::new(|| {
        compiled(
            r"^ ?(?:mg|ml|mcg|g|kg|ui|iu|cm|mm|meq|mmol|mmhg|%|anos?|years?|dias?|days?|semanas?|weeks?|meses|months?|horas?|hours?|veces|times)(?-u:\b)",
        )
    });
    DATE.is_match(span.slice(lower)) && may_be_a_day(span.slice(lower)) || UNIT.is_match(&lower[span.end..])
}
