//! Candidates: runs of letters and digits, joined over single separators, compared with the rules of their length.

use super::super::document::DocumentContext;
use super::super::entities::words::is_whole_word;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::keyword_index::{BEFORE, KeywordLookup};
use super::rule::{IdentifierRule, IdentifierShape, StandaloneMatch};
use crate::deadline;
use anamnesis_text::Span;

/// The longest identifier of any rule.
pub(crate) const LONGEST: usize = 34;
const MOST_GROUPS: usize = 9;
const MOST_LETTERS: usize = 6;
/// Separators that may join two groups of an identifier.
const JOINTS: [&[u8]; 8] = [b" ", b".", b"-", b"/", b" - ", b". ", "·".as_bytes(), b"_"];

/// Rules by the number of letters and digits of their shapes.
pub(crate) struct IdentifierRules {
    lists: [Vec<(IdentifierShape, &'static IdentifierRule)>; LONGEST + 1],
    /// Each shape of a length once. Most values match none, so no rule is tried for them.
    shapes: [Vec<IdentifierShape>; LONGEST + 1],
}

impl IdentifierRules {
    pub(crate) fn compile(rules: impl Iterator<Item = &'static IdentifierRule>) -> Self {
        let mut compiled =
            Self { lists: std::array::from_fn(|_| Vec::new()), shapes: std::array::from_fn(|_| Vec::new()) };
        for rule in rules {
            for shape in rule.shapes.iter().map(|text| IdentifierShape::compile(text)) {
                let known = &mut compiled.shapes[shape.length()];
                if !known.iter().any(|one| one.has_places_of(&shape)) {
                    known.push(shape);
                }
                compiled.lists[shape.length()].push((shape, rule));
            }
        }
        compiled
    }

    /// The rules of a length, if any shape has digits at these positions.
    fn of_value(&self, length: usize, digits: u64) -> Option<&[(IdentifierShape, &'static IdentifierRule)]> {
        let any = digits != 0 && self.shapes[length].iter().any(|shape| shape.fits(digits));
        any.then(|| self.lists[length].as_slice())
    }
}

/// Finds identifiers of the tables; at each position the longest wins. One begins with a group that has a digit, or
/// with a short group of letters before it.
pub(crate) fn find(
    context: &DocumentContext<'_>,
    rules: &IdentifierRules,
    announced: &KeywordLookup<'_>,
    found: &mut Vec<PiiFinding>,
) {
    let bytes = context.view.lower.as_bytes();
    // Nothing begins inside an identifier that was found.
    let (mut at, mut free) = (0, 0);
    while let Some(next) = bytes[at..].iter().position(u8::is_ascii_digit) {
        deadline::check();
        let digit = at + next;
        let start = word_before(bytes, digit);
        let end = digit + bytes[digit..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        at = end;
        if end - start > LONGEST {
            continue;
        }
        let before = letters_before(bytes, start).filter(|before| *before >= free);
        let starts = [before, Some(start)].into_iter().flatten();
        if let Some(finding) = starts.filter_map(|start| best_from(context, rules, announced, start)).next() {
            (at, free) = (finding.span.end.max(end), finding.span.end);
            found.push(finding);
        }
    }
}

/// Start of the alphanumeric run that ends here, at most one longest identifier back: time stays linear.
fn word_before(bytes: &[u8], end: usize) -> usize {
    let length = bytes[end.saturating_sub(LONGEST + 1)..end].iter().rev().take_while(|b| b.is_ascii_alphanumeric());
    end - length.count()
}

/// Start of a short group of letters that is joined to a group.
fn letters_before(bytes: &[u8], start: usize) -> Option<usize> {
    let joint = JOINTS.iter().find(|joint| {
        let end = start.checked_sub(joint.len());
        end.is_some_and(|end| bytes[end..].starts_with(joint) && end > 0 && bytes[end - 1].is_ascii_alphabetic())
    })?;
    let end = start - joint.len();
    let letters = &bytes[end.saturating_sub(MOST_LETTERS + 1)..end];
    let count = letters.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let open = end == count || !bytes[end - count - 1].is_ascii_digit();
    (count <= MOST_LETTERS && open).then_some(end - count)
}

/// The longest identifier that begins here, over several groups.
fn best_from(
    context: &DocumentContext<'_>,
    rules: &IdentifierRules,
    announced: &KeywordLookup<'_>,
    start: usize,
) -> Option<PiiFinding> {
    let bytes = context.view.lower.as_bytes();
    let (mut value, mut length, mut breaks, mut digits) = ([0u8; LONGEST], 0, 0u64, 0u64);
    let (mut at, mut best) = (start, None);
    for count in 0..MOST_GROUPS {
        if count > 0 {
            let Some(next) = after_joint(bytes, at) else { break };
            let without = digits == 0;
            at = next;
            breaks |= 1 << length;
            // A group of letters alone must be followed by a group with a digit.
            if without && !bytes[at..].iter().take_while(|b| b.is_ascii_alphanumeric()).any(u8::is_ascii_digit) {
                break;
            }
        }
        while let Some(byte) = bytes.get(at).filter(|byte| byte.is_ascii_alphanumeric()) {
            if length == LONGEST {
                return best;
            }
            value[length] = *byte;
            digits |= u64::from(byte.is_ascii_digit()) << length;
            (length, at) = (length + 1, at + 1);
        }
        let Some(list) = rules.of_value(length, digits) else { continue };
        let text = std::str::from_utf8(&value[..length]).unwrap_or_default();
        let written = IdentifierCandidate { value: text, digits, breaks, span: Span::new(start, at) };
        best = best_match(context, list, &written, announced).or(best);
    }
    best
}

/// Start of the next group, if only a separator precedes it.
fn after_joint(bytes: &[u8], end: usize) -> Option<usize> {
    let rest = &bytes[end..];
    let joins =
        |joint: &&&[u8]| rest.starts_with(joint) && rest.get(joint.len()).is_some_and(u8::is_ascii_alphanumeric);
    JOINTS.iter().find(joins).map(|joint| end + joint.len())
}

struct IdentifierCandidate<'v> {
    /// Only letters and digits, without separators.
    value: &'v str,
    /// Positions of its digits, as bits.
    digits: u64,
    breaks: u64,
    span: Span,
}

/// Best rule of a value: valid and next to its keyword, then valid alone, then mistyped next to its keyword.
fn best_match(
    context: &DocumentContext<'_>,
    list: &[(IdentifierShape, &'static IdentifierRule)],
    &IdentifierCandidate { value, digits, breaks, span }: &IdentifierCandidate<'_>,
    announced: &KeywordLookup<'_>,
) -> Option<PiiFinding> {
    let open = is_open(&context.view.lower, span);
    let mut best: Option<(f64, &'static IdentifierRule)> = None;
    for (shape, rule) in list.iter().filter(|(shape, _)| shape.fits(digits)) {
        let valid = (rule.check)(value);
        if !valid && (rule.standalone == StandaloneMatch::Never || !shape.allows(breaks)) {
            continue;
        }
        let told = announced.is_near(span, rule.keywords);
        let alone = open
            && valid
            && shape.allows(breaks)
            && match rule.standalone {
                StandaloneMatch::Never => false,
                StandaloneMatch::Separated => shape.is_separated(breaks),
                StandaloneMatch::Valid => true,
            };
        let score = match (valid, told) {
            (true, true) if rule.standalone == StandaloneMatch::Never => 0.75,
            (true, true) => 1.0,
            _ if alone => 0.9,
            (false, true) => 0.8,
            _ => continue,
        };
        if best.is_none_or(|(known, _)| score > known) {
            best = Some((score, rule));
        }
    }
    best.map(|(score, rule)| PiiFinding::new(span, rule.label, "identifier", score, DetectionLayer::Identifier))
}

fn is_open(lower: &str, span: Span) -> bool {
    let bytes = lower.as_bytes();
    let sign = |byte: u8| matches!(byte, b'.' | b',' | b'-' | b'/' | b':');
    let before = span.start >= 2 && sign(bytes[span.start - 1]) && bytes[span.start - 2].is_ascii_digit();
    let after =
        bytes.get(span.end).is_some_and(|byte| sign(*byte)) && bytes.get(span.end + 1).is_some_and(u8::is_ascii_digit);
    !before && !after && is_whole_word(lower, span)
}

/// Whether a keyword precedes a value on the same line.
pub(crate) fn has_keyword_before(lower: &str, span: Span, keywords: &[&str]) -> bool {
    let mut from = span.start.saturating_sub(BEFORE);
    while !lower.is_char_boundary(from) {
        from += 1;
    }
    let window = lower[from..span.start].rsplit('\n').next().unwrap_or_default();
    keywords.iter().any(|keyword| has_word(window, keyword))
}

fn has_word(window: &str, keyword: &str) -> bool {
    // "[PHONE_7F3A]" announces no value.
    window
        .match_indices(keyword)
        .any(|(at, _)| is_whole_word(window, Span::new(at, at + keyword.len())) && !window[..at].ends_with('['))
}
