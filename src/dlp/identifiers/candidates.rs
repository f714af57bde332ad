//! Candidates: runs of letters and digits, joined over single separators, held against the rules of their length.

use super::super::context::Context;
use super::super::entities::words::stands_alone;
use super::super::finding::{Finding, Layer};
use super::announced::{Announced, BEFORE};
use super::rule::{Alone, Rule, Shape};
use crate::text::Span;

/// The longest identifier of any rule.
pub const LONGEST: usize = 34;
/// Most groups that a written identifier has.
const MOST_GROUPS: usize = 9;
/// Shapes by the number of letters and digits they have.
pub type Rules = [Vec<(Shape, &'static Rule)>; LONGEST + 1];

/// Letters and digits without a gap.
struct Group {
    span: Span,
    digits: bool,
}

/// Finds identifiers of the tables; at each place the longest wins.
pub fn find(context: &Context<'_>, rules: &Rules, announced: &Announced<'_>, found: &mut Vec<Finding>) {
    let groups = groups(&context.view.lower);
    let mut at = 0;
    while at < groups.len() {
        at += match best_from(context, rules, announced, &groups[at..]) {
            Some((finding, used)) => {
                found.push(finding);
                used
            }
            None => 1,
        };
    }
}

/// Letters and digits around digits: an identifier begins with a group that has a digit or with the one before it, and
/// goes no further behind the last digit than the longest has letters. Text without digits has no groups.
fn groups(lower: &str) -> Vec<Group> {
    let bytes = lower.as_bytes();
    let mut groups: Vec<Group> = Vec::new();
    let mut at = 0;
    while let Some(next) = bytes[at..].iter().position(u8::is_ascii_digit) {
        let digit = at + next;
        let mut start = word_before(bytes, digit);
        if start > 0 {
            // The group before: over at most three signs.
            let gap = bytes[start.saturating_sub(3)..start].iter().rev().take_while(|b| !b.is_ascii_alphanumeric());
            let end = start - gap.count();
            let before = word_before(bytes, end);
            if before < end && end - before <= 6 {
                start = before;
            }
        }
        at = start.max(groups.last().map_or(0, |last| last.span.end));
        let mut until = digit + LONGEST + 3 * MOST_GROUPS;
        while at < bytes.len() && (at < until || bytes[at].is_ascii_alphanumeric()) {
            if !bytes[at].is_ascii_alphanumeric() {
                at += 1;
                continue;
            }
            let start = at;
            let mut digits = false;
            while at < bytes.len() && bytes[at].is_ascii_alphanumeric() {
                digits |= bytes[at].is_ascii_digit();
                at += 1;
            }
            if digits {
                until = at + LONGEST + 3 * MOST_GROUPS;
            }
            groups.push(Group { span: Span::new(start, at), digits });
        }
    }
    groups
}

/// Where the letters and digits that end at a place begin, at most as far back as the longest identifier.
fn word_before(bytes: &[u8], end: usize) -> usize {
    let length = bytes[end.saturating_sub(LONGEST + 1)..end].iter().rev().take_while(|b| b.is_ascii_alphanumeric());
    end - length.count()
}

fn best_from(
    context: &Context<'_>,
    rules: &Rules,
    announced: &Announced<'_>,
    groups: &[Group],
) -> Option<(Finding, usize)> {
    let lower = &context.view.lower;
    let first = &groups[0];
    if first.span.len() > LONGEST || !first.digits && (first.span.len() > 6 || !groups.get(1)?.digits) {
        return None;
    }
    let (mut value, mut length, mut breaks, mut digits) = ([0u8; LONGEST], 0, 0u64, 0u64);
    let mut best = None;
    for (count, group) in groups.iter().take(MOST_GROUPS).enumerate() {
        if count > 0 {
            let gap = &lower[groups[count - 1].span.end..group.span.start];
            if !joins(gap) || (digits == 0 && !group.digits) {
                break;
            }
            breaks |= 1 << length;
        }
        let part = group.span.of(lower).as_bytes();
        if length + part.len() > LONGEST {
            break;
        }
        for byte in part {
            value[length] = *byte;
            digits |= u64::from(byte.is_ascii_digit()) << length;
            length += 1;
        }
        if digits == 0 || !rules[length].iter().any(|(shape, _)| shape.fits(digits)) {
            continue;
        }
        let span = Span::new(first.span.start, group.span.end);
        let text = std::str::from_utf8(&value[..length]).unwrap_or_default();
        let written = Written { value: text, digits, breaks, span };
        if let Some(finding) = judge(context, &rules[length], &written, announced) {
            best = Some((finding, count + 1));
        }
    }
    best
}

fn joins(gap: &str) -> bool {
    matches!(gap, " " | "." | "-" | "/" | " - " | ". " | "·" | "_")
}

/// A value as it stands in the text.
struct Written<'v> {
    /// Letters and digits alone.
    value: &'v str,
    /// Places of its digits, as bits.
    digits: u64,
    /// Places that a separator stands before.
    breaks: u64,
    span: Span,
}

/// The best rule for a value: a valid one beside its keyword, then a valid one alone, then a mistyped one.
fn judge(
    context: &Context<'_>,
    list: &[(Shape, &'static Rule)],
    &Written { value, digits, breaks, span }: &Written<'_>,
    announced: &Announced<'_>,
) -> Option<Finding> {
    let open = is_open(&context.view.lower, span);
    let mut best: Option<(f64, &'static Rule)> = None;
    for (shape, rule) in list.iter().filter(|(shape, _)| shape.fits(digits)) {
        let valid = (rule.check)(value);
        let told = announced.is_told(span, rule.keywords);
        let alone = open
            && valid
            && shape.allows(breaks)
            && match rule.alone {
                Alone::Never => false,
                Alone::Separated => shape.is_separated(breaks),
                Alone::Valid => true,
            };
        let score = match (valid, told) {
            (true, true) if rule.alone == Alone::Never => 0.75,
            (true, true) => 1.0,
            _ if alone => 0.9,
            (false, true) if shape.allows(breaks) && rule.alone != Alone::Never => 0.8,
            _ => continue,
        };
        if best.is_none_or(|(known, _)| score > known) {
            best = Some((score, rule));
        }
    }
    best.map(|(score, rule)| Finding::new(span, rule.label, "identifier", score, Layer::Identifier))
}

/// True where the value is not a part of a longer number or word.
fn is_open(lower: &str, span: Span) -> bool {
    let bytes = lower.as_bytes();
    let sign = |byte: u8| matches!(byte, b'.' | b',' | b'-' | b'/' | b':');
    let before = span.start >= 2 && sign(bytes[span.start - 1]) && bytes[span.start - 2].is_ascii_digit();
    let behind =
        bytes.get(span.end).is_some_and(|byte| sign(*byte)) && bytes.get(span.end + 1).is_some_and(u8::is_ascii_digit);
    !before && !behind && stands_alone(lower, span)
}

/// A keyword on the same line before a value.
pub fn has_keyword_before(lower: &str, span: Span, keywords: &[&str]) -> bool {
    let mut from = span.start.saturating_sub(BEFORE);
    while !lower.is_char_boundary(from) {
        from += 1;
    }
    let window = lower[from..span.start].rsplit('\n').next().unwrap_or_default();
    keywords.iter().any(|keyword| has_word(window, keyword))
}

fn has_word(window: &str, keyword: &str) -> bool {
    // "[PHONE_7F3A]" announces nothing.
    window
        .match_indices(keyword)
        .any(|(at, _)| stands_alone(window, Span::new(at, at + keyword.len())) && !window[..at].ends_with('['))
}
