//! Candidates: runs of letters and digits, joined over single separators, held against the rules of their length.

use std::collections::HashMap;

use super::super::context::Context;
use super::super::entities::words::stands_alone;
use super::super::finding::{Finding, Layer};
use super::rule::{Alone, Rule, Shape};
use crate::text::Span;

/// The longest identifier of any rule.
const LONGEST: usize = 34;
/// Most groups that a written identifier has.
const MOST_GROUPS: usize = 9;
/// How far before and behind a value its keyword may stand, in bytes of the folded text.
const BEFORE: usize = 56;
const BEHIND: usize = 28;

type Rules = HashMap<usize, Vec<(Shape, &'static Rule)>>;

/// Letters and digits without a gap.
struct Group {
    span: Span,
    digits: bool,
}

/// Finds identifiers of the tables; at each place the longest wins.
/// `announced` are the places of keywords of any rule, sorted.
pub fn find(context: &Context<'_>, rules: &Rules, announced: &[usize], found: &mut Vec<Finding>) {
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

fn groups(lower: &str) -> Vec<Group> {
    let bytes = lower.as_bytes();
    let mut groups = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
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
        groups.push(Group { span: Span::new(start, at), digits });
    }
    groups
}

fn best_from(context: &Context<'_>, rules: &Rules, announced: &[usize], groups: &[Group]) -> Option<(Finding, usize)> {
    let lower = &context.view.lower;
    if groups[0].span.len() > LONGEST || !groups[0].digits && groups[0].span.len() > 6 {
        return None;
    }
    let (mut value, mut breaks, mut digits) = (String::new(), 0u64, false);
    let mut best = None;
    for (count, group) in groups.iter().take(MOST_GROUPS).enumerate() {
        if count > 0 {
            let gap = &lower[groups[count - 1].span.end..group.span.start];
            if !joins(gap) || (!digits && !group.digits) {
                break;
            }
            breaks |= 1 << value.len();
        }
        if value.len() + group.span.len() > LONGEST {
            break;
        }
        value.push_str(group.span.of(lower));
        digits |= group.digits;
        let span = Span::new(groups[0].span.start, group.span.end);
        let fitting = rules.get(&value.len()).filter(|_| digits);
        if let Some(finding) =
            fitting.and_then(|list| judge(context, list, &value, breaks, (span, is_near(announced, span))))
        {
            best = Some((finding, count + 1));
        }
    }
    best
}

fn joins(gap: &str) -> bool {
    matches!(gap, " " | "." | "-" | "/" | " - " | ". " | "·" | "_")
}

/// The best rule for a value: a valid one beside its keyword, then a valid one alone, then a mistyped one.
fn judge(
    context: &Context<'_>,
    list: &[(Shape, &'static Rule)],
    value: &str,
    breaks: u64,
    (span, near): (Span, bool),
) -> Option<Finding> {
    let open = is_open(&context.view.lower, span);
    let mut best: Option<(f64, &'static Rule)> = None;
    for (shape, rule) in list.iter().filter(|(shape, _)| shape.fits(value)) {
        let valid = (rule.check)(value);
        let told = near && has_keyword(&context.view.lower, span, rule.keywords);
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

/// Whether any keyword begins within reach.
fn is_near(announced: &[usize], span: Span) -> bool {
    let first = announced.partition_point(|place| place + BEFORE + 24 < span.start);
    announced.get(first).is_some_and(|place| *place <= span.end + BEHIND)
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

/// A keyword on the same line, before the value or shortly behind it.
fn has_keyword(lower: &str, span: Span, keywords: &[&str]) -> bool {
    let mut to = (span.end + BEHIND).min(lower.len());
    while !lower.is_char_boundary(to) {
        to -= 1;
    }
    let behind = lower[span.end..to].split('\n').next().unwrap_or_default();
    has_keyword_before(lower, span, keywords) || keywords.iter().any(|keyword| has_word(behind, keyword))
}

fn has_word(window: &str, keyword: &str) -> bool {
    // "[PHONE_7F3A]" announces nothing.
    window
        .match_indices(keyword)
        .any(|(at, _)| stands_alone(window, Span::new(at, at + keyword.len())) && !window[..at].ends_with('['))
}
