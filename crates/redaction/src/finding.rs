//! What a recogniser found, and how the findings of all layers become one list without overlaps.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::SideValue;
use crate::deadline;
use anamnesis_text::Span;

/// Layers by priority, the first wins (issue "Redaction", layers).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Layer {
    /// People named in the message.
    Identity,
    /// Identifiers with check digits or context words, mail, network.
    Identifier,
    /// Names, places, organisations, dates: rules, dictionaries, later a learned recogniser.
    Entity,
    /// Digit runs, '@', keyword with a value.
    Sweep,
}

/// One finding; the span is of the view until it is applied.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub span: Span,
    pub label: &'static str,
    pub recognizer: &'static str,
    /// 0.0–1.0.
    pub score: f64,
    pub(crate) layer: Layer,
    /// Whom or what it names, where that is more than the text under it (a nickname, a part of a name).
    pub(crate) subject: Option<String>,
    pub(crate) value: Option<SideValue>,
}

impl Finding {
    pub(crate) fn new(span: Span, label: &'static str, recognizer: &'static str, score: f64, layer: Layer) -> Self {
        Self { span, label, recognizer, score, layer, subject: None, value: None }
    }

    fn outranks(&self, other: &Finding) -> bool {
        (self.layer, -self.score) <= (other.layer, -other.score)
    }
}

/// One list, sorted, without overlaps. Equal labels unite; a finding inside another gives way to the wider one;
/// where two cross, the higher layer stays whole and the other keeps the rest.
pub(crate) fn merge(findings: Vec<Finding>) -> Vec<Finding> {
    let mut order: BinaryHeap<Reverse<(usize, Reverse<usize>, Layer, usize)>> = BinaryHeap::new();
    let mut pool = findings;
    for (index, found) in pool.iter().enumerate() {
        order.push(Reverse((found.span.start, Reverse(found.span.end), found.layer, index)));
    }
    let mut merged: Vec<Finding> = Vec::new();
    while let Some(Reverse((_, _, _, index))) = order.pop() {
        deadline::check();
        let next = pool[index].clone();
        if next.span.is_empty() {
            continue;
        }
        let Some(last) = merged.last_mut().filter(|last| last.span.overlaps(&next.span)) else {
            merged.push(next);
            continue;
        };
        if let Some(rest) = join(last, next) {
            pool[index] = rest;
            let found = &pool[index];
            order.push(Reverse((found.span.start, Reverse(found.span.end), found.layer, index)));
        }
    }
    merged.retain(|found| !found.span.is_empty());
    merged
}

/// Settles two overlapping findings (`last` starts first); gives back what is left of `next`.
fn join(last: &mut Finding, mut next: Finding) -> Option<Finding> {
    if last.label == next.label || last.span == next.span {
        let span = Span::new(last.span.start, last.span.end.max(next.span.end));
        let wider = if next.span.len() > last.span.len() { next.value } else { last.value.or(next.value) };
        if !last.outranks(&next) {
            let subject = next.subject.take();
            (last.label, last.recognizer, last.score, last.layer) =
                (next.label, next.recognizer, next.score, next.layer);
            last.subject = subject;
        } else if last.subject.is_none() {
            last.subject = next.subject.take();
        }
        (last.span, last.value) = (span, wider);
        return None;
    }
    if last.span.contains(&next.span) {
        return None;
    }
    if last.outranks(&next) {
        next.span = Span::new(last.span.end, next.span.end);
        next.value = None;
        return Some(next);
    }
    if next.span.contains(&last.span) {
        *last = next;
        return None;
    }
    last.span = Span::new(last.span.start, next.span.start);
    last.value = None;
    Some(next)
}

/// Cuts findings at walls (replacements of an earlier run, borders of turns): what stands inside a wall is never
/// touched, and no finding reaches across one. Walls are sorted and do not overlap.
pub(crate) fn cut(findings: Vec<Finding>, walls: &[Span], plain: &str) -> Vec<Finding> {
    let mut pieces = Vec::with_capacity(findings.len());
    for found in findings {
        let mut from = found.span.start;
        let first = walls.partition_point(|wall| wall.end <= found.span.start);
        for wall in walls[first..].iter().take_while(|wall| wall.start < found.span.end) {
            push_piece(&mut pieces, &found, Span::new(from, wall.start.max(from)), plain);
            from = wall.end;
        }
        push_piece(&mut pieces, &found, Span::new(from.min(found.span.end), found.span.end), plain);
    }
    pieces
}

fn push_piece(pieces: &mut Vec<Finding>, found: &Finding, span: Span, plain: &str) {
    let text = span.of(plain);
    if !text.contains(|c: char| c.is_alphanumeric()) {
        return;
    }
    let lead = text.len() - text.trim_start().len();
    let span = Span::new(span.start + lead, span.start + text.trim_end().len());
    let value = if span == found.span { found.value } else { None };
    pieces.push(Finding { span, value, ..found.clone() });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(start: usize, end: usize, label: &'static str, layer: Layer) -> Finding {
        Finding::new(Span::new(start, end), label, "test", 0.9, layer)
    }

    fn spans(findings: Vec<Finding>) -> Vec<(usize, usize, &'static str)> {
        merge(findings).into_iter().map(|f| (f.span.start, f.span.end, f.label)).collect()
    }

    #[test]
    fn equal_labels_unite_and_the_wider_finding_swallows_the_narrower() {
        let list =
            vec![found(0, 5, "A", Layer::Entity), found(3, 9, "A", Layer::Identity), found(4, 6, "B", Layer::Sweep)];
        assert_eq!(spans(list), [(0, 9, "A")]);
    }

    #[test]
    fn where_two_cross_the_higher_layer_stays_whole_and_nothing_leaks() {
        let list = vec![found(0, 6, "A", Layer::Entity), found(4, 9, "B", Layer::Identity)];
        assert_eq!(spans(list), [(0, 4, "A"), (4, 9, "B")]);
        let list = vec![found(0, 6, "A", Layer::Identity), found(4, 9, "B", Layer::Entity)];
        assert_eq!(spans(list), [(0, 6, "A"), (6, 9, "B")]);
    }

    #[test]
    fn merged_findings_cover_what_their_parts_covered() {
        let list =
            vec![found(0, 4, "A", Layer::Sweep), found(2, 8, "B", Layer::Identity), found(7, 12, "C", Layer::Entity)];
        assert_eq!(spans(list), [(0, 2, "A"), (2, 8, "B"), (8, 12, "C")]);
    }

    #[test]
    fn nothing_inside_a_wall_is_touched_and_both_sides_are() {
        let plain = "ab [X] cd";
        let pieces = cut(vec![found(0, 9, "A", Layer::Entity)], &[Span::new(3, 6)], plain);
        assert_eq!(pieces.iter().map(|f| f.span.of(plain)).collect::<Vec<_>>(), ["ab", "cd"]);
    }
}
