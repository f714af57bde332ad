//! Settles what the model found with what the rules found. Rules decide where a check digit or a form does; elsewhere
//! the model knows better where a name ends and what it names. What a rule took and the model is sure is nothing goes
//! back into the text only at the edges of a finding, or where the rule was unsure itself.

use super::super::document::DocumentContext;
use super::super::finding::{DetectionLayer, PiiFinding};
use super::super::label;
use super::super::token::TextTokenKind;
use super::tagged_span::TaggedSpan;
use anamnesis_text::Span;

/// Score from which a finding of rules is not questioned: check digits, mail addresses, forms.
const SURE: f64 = 0.9;
/// Score up to which a finding of rules may be given up as a whole.
const UNSURE: f64 = 0.65;
/// Log odds below which the edge of a rule's finding is no part of it.
const EDGE: f32 = -1.0;
/// Log odds below which an uncertain finding is dropped.
const NOTHING: f32 = -3.0;

/// One list of both.
pub(crate) fn merge_with_rules(
    context: &DocumentContext<'_>,
    found: Vec<PiiFinding>,
    mut learned: Vec<TaggedSpan>,
    odds: &[f32],
) -> Vec<PiiFinding> {
    let mut owner: Vec<Option<usize>> = vec![None; context.tokens.len()];
    for (at, one) in learned.iter().enumerate() {
        owner[one.first..one.end].fill(Some(at));
    }
    let mut merged = Vec::with_capacity(found.len() + learned.len());
    for rule in found {
        let questioned = match rule.layer {
            DetectionLayer::Identity => false,
            DetectionLayer::Identifier => rule.score < SURE,
            DetectionLayer::Entity | DetectionLayer::Residual => true,
        };
        if !questioned {
            merged.push(rule);
            continue;
        }
        let first = context.tokens.partition_point(|token| token.span.end <= rule.span.start);
        let end = context.tokens.partition_point(|token| token.span.start < rule.span.end);
        let mut met = false;
        let mut at = first;
        while at < end {
            match owner[at] {
                // A label that the policy keeps must not save a rule's finding: "Mom (Lakshmi)" as a relation.
                Some(one) if is_kept(context, &learned[one], &rule) => {
                    owner[at] = None;
                    at += 1;
                }
                Some(one) => {
                    adopt(&mut learned[one], &rule);
                    met = true;
                    at = learned[one].end.max(at + 1);
                }
                None => at += 1,
            }
        }
        if met {
            rest(context, &rule, (first, end), &owner, odds, &mut merged);
        } else if rule.score > UNSURE || (first..end).any(|at| odds[at] > NOTHING) {
            merged.push(rule);
        }
    }
    merged.extend(learned.into_iter().map(|one| one.finding));
    merged
}

/// The policy keeps the label of the model but replaces that of the rule, which is certain enough.
fn is_kept(context: &DocumentContext<'_>, one: &TaggedSpan, rule: &PiiFinding) -> bool {
    !context.policy.takes(one.finding.label) && context.policy.takes(rule.label) && rule.score > UNSURE
}

/// Values of the rule besides the span: the country of a number, the value of a date.
fn adopt(one: &mut TaggedSpan, rule: &PiiFinding) {
    let finding = &mut one.finding;
    let same = finding.span == rule.span;
    if finding.value.is_none() && label::public(finding.label) == label::public(rule.label) {
        finding.value = rule.value;
    }
    let number = |name| matches!(name, label::NUMBER | label::PHONE);
    if rule.layer == DetectionLayer::Identifier
        && number(finding.label)
        && rule.label != label::NUMBER
        && rule.label != label::PHONE
        || same && rule.score >= SURE
    {
        (finding.label, finding.recognizer) = (rule.label, rule.recognizer);
    }
    finding.score = finding.score.max(rule.score);
}

/// The parts of a rule's finding that the model did not take and is not sure to be nothing.
fn rest(
    context: &DocumentContext<'_>,
    rule: &PiiFinding,
    (first, end): (usize, usize),
    owner: &[Option<usize>],
    odds: &[f32],
    merged: &mut Vec<PiiFinding>,
) {
    let mut at = first;
    while at < end {
        if owner[at].is_some() {
            at += 1;
            continue;
        }
        let start = at;
        while at < end && owner[at].is_none() {
            at += 1;
        }
        let tokens = &context.tokens[start..at];
        let says = |(token, odds): (&super::super::token::TextToken, &f32)| {
            matches!(token.kind, TextTokenKind::Word | TextTokenKind::Number) && *odds > EDGE
        };
        if tokens.iter().zip(&odds[start..at]).any(says) {
            let span = Span::new(
                tokens[0].span.start.max(rule.span.start),
                tokens[at - start - 1].span.end.min(rule.span.end),
            );
            merged.push(PiiFinding { span, value: None, ..rule.clone() });
        }
    }
}
