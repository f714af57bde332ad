//! A finding of a recogniser, and the merge of the findings of all layers into one list without overlaps.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::deadline;
use crate::remote::READER;
use anamnesis_core::side_value::SideValue;
use anamnesis_text::Span;

/// Layers by priority, the first wins (issue "Redaction", layers).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum DetectionLayer {
    /// People named in the message.
    Identity,
    /// Identifiers with check digits or context words, mail, network.
    Identifier,
    /// Names, places, organisations, dates: rules, dictionaries, later a learned recogniser.
    Entity,
    /// Digit runs, '@', keyword with a value.
    Residual,
}

/// One finding; the span is of the view until it is applied.
#[derive(Debug, Clone, PartialEq)]
pub struct PiiFinding {
    pub span: Span,
    pub label: &'static str,
    pub recognizer: &'static str,
    /// 0.0–1.0.
    pub score: f64,
    pub(crate) layer: DetectionLayer,
    /// The named person or thing, if it is more than the text of the span (a nickname, a part of a name).
    pub(crate) subject: Option<String>,
    pub(crate) value: Option<SideValue>,
}

impl PiiFinding {
    /// Whether a model found it, and no rule or list.
    pub(crate) fn is_learned(&self) -> bool {
        matches!(self.recognizer, "learned" | READER)
    }

    pub(crate) fn new(
        span: Span,
        label: &'static str,
        recognizer: &'static str,
        score: f64,
        layer: DetectionLayer,
    ) -> Self {
        Self { span, label, recognizer, score, layer, subject: None, value: None }
    }

    fn outranks(&self, other: &PiiFinding) -> bool {
        (self.layer, -self.score) <= (other.layer, -other.score)
    }
}

/// One list, sorted, without overlaps. Equal labels unite; a finding inside another gives way to the wider one;
/// where two cross, the higher layer stays whole and the other keeps the rest.
pub(crate) fn merge(findings: Vec<PiiFinding>) -> Vec<PiiFinding> {
    let mut order: BinaryHeap<Reverse<(usize, Reverse<usize>, DetectionLayer, usize)>> = BinaryHeap::new();
    let mut pool = findings;
    for (index, found) in pool.iter().enumerate() {
        order.push(Reverse((found.span.start, Reverse(found.span.end), found.layer, index)));
    }
    let mut merged: Vec<PiiFinding> = Vec::new();
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
fn join(last: &mut PiiFinding, mut next: PiiFinding) -> Option<PiiFinding> {
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

/// Cuts findings at boundaries (replacements of an earlier run, borders of turns): text inside a boundary is never
/// touched, and no finding reaches across one. Boundaries are sorted and do not overlap.
pub(crate) fn cut(findings: Vec<PiiFinding>, boundaries: &[Span], plain: &str) -> Vec<PiiFinding> {
    let mut pieces = Vec::with_capacity(findings.len());
    for found in findings {
        let mut from = found.span.start;
        let first = boundaries.partition_point(|boundary| boundary.end <= found.span.start);
        for boundary in boundaries[first..].iter().take_while(|boundary| boundary.start < found.span.end) {
            push_piece(&mut pieces, &found, Span::new(from, boundary.start.max(from)), plain);
            from = boundary.end;
        }
        push_piece(&mut pieces, &found, Span::new(from.min(found.span.end), found.span.end), plain);
    }
    pieces
}

fn push_piece(pieces: &mut Vec<PiiFinding>, found: &PiiFinding, span: Span, plain: &str) {
    let text = span.slice(plain);
    if !text.contains(|c: char| c.is_alphanumeric()) {
        return;
    }
    let lead = text.len() - text.trim_start().len();
    let span = Span::new(span.start + lead, span.start + text.trim_end().len());
    let value = if span == found.span { found.value } else { None };
    pieces.push(PiiFinding { span, value, ..found.clone() });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(start: usize, end: usize, label: &'static str, layer: DetectionLayer) -> PiiFinding {
        PiiFinding::new(Span::new(start, end), label, "test", 0.9, layer)
    }

    fn spans(findings: Vec<PiiFinding>) -> Vec<(usize, usize, &'static str)> {
        merge(findings).into_iter().map(|f| (f.span.start, f.span.end, f.label)).collect()
    }

    #[test]
    fn equal_labels_unite_and_the_wider_finding_swallows_the_narrower() {
        let list = vec![
            found(0, 5, "A", DetectionLayer::Entity),
            found(3, 9, "A", DetectionLayer::Identity),
            found(4, 6, "B", DetectionLayer::Residual),
        ];
        assert_eq!(spans(list), [(0, 9, "A")]);
    }

    #[test]
    fn where_two_cross_the_higher_layer_stays_whole_and_nothing_leaks() {
        let list = vec![found(0, 6, "A", DetectionLayer::Entity), found(4, 9, "B", DetectionLayer::Identity)];
        assert_eq!(spans(list), [(0, 4, "A"), (4, 9, "B")]);
        let list = vec![found(0, 6, "A", DetectionLayer::Identity), found(4, 9, "B", DetectionLayer::Entity)];
        assert_eq!(spans(list), [(0, 6, "A"), (6, 9, "B")]);
    }

    #[test]
    fn merged_findings_cover_what_their_parts_covered() {
        let list = vec![
            found(0, 4, "A", DetectionLayer::Residual),
            found(2, 8, "B", DetectionLayer::Identity),
            found(7, 12, "C", DetectionLayer::Entity),
        ];
        assert_eq!(spans(list), [(0, 2, "A"), (2, 8, "B"), (8, 12, "C")]);
    }

    #[test]
    fn nothing_inside_a_wall_is_touched_and_both_sides_are() {
        let plain = "ab [X] cd";
        let pieces = cut(vec![found(0, 9, "A", DetectionLayer::Entity)], &[Span::new(3, 6)], plain);
        assert_eq!(pieces.iter().map(|f| f.span.slice(plain)).collect::<Vec<_>>(), ["ab", "cd"]);
    }

    /// Findings by chance, of three labels and all layers.
    fn by_chance(state: &mut u64) -> Vec<PiiFinding> {
        let mut dice = |below: u64| {
            *state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            ((*state >> 33) % below) as usize
        };
        let layers =
            [DetectionLayer::Identity, DetectionLayer::Identifier, DetectionLayer::Entity, DetectionLayer::Residual];
        (0..1 + dice(9))
            .map(|_| {
                let start = dice(30);
                let mut one = found(start, start + dice(9), ["A", "B", "C"][dice(3)], layers[dice(4)]);
                one.score = [0.4, 0.7, 0.9][dice(3)];
                one
            })
            .collect()
    }

    #[test]
    fn a_merge_covers_what_was_found_overlaps_nowhere_and_changes_nothing_twice() {
        let mut state = 11;
        for _ in 0..500 {
            let list = by_chance(&mut state);
            let covered = |list: &[PiiFinding]| {
                (0..40).map(|at| list.iter().any(|one| one.span.start <= at && at < one.span.end)).collect::<Vec<_>>()
            };
            let before = covered(&list);
            let merged = merge(list);
            assert_eq!(covered(&merged), before, "{merged:?}");
            assert!(merged.windows(2).all(|pair| pair[0].span.end <= pair[1].span.start), "{merged:?}");
            assert_eq!(merge(merged.clone()), merged);
        }
    }

    #[test]
    fn of_two_findings_of_one_stretch_the_higher_layer_and_then_the_score_gives_the_label() {
        let mut sure = found(0, 5, "B", DetectionLayer::Entity);
        sure.score = 0.95;
        assert_eq!(spans(vec![found(0, 5, "A", DetectionLayer::Entity), sure.clone()]), [(0, 5, "B")]);
        assert_eq!(spans(vec![found(0, 5, "A", DetectionLayer::Identifier), sure]), [(0, 5, "A")]);
        assert_eq!(
            spans(vec![found(0, 5, "A", DetectionLayer::Entity), found(0, 5, "B", DetectionLayer::Entity)]),
            [(0, 5, "A")]
        );
    }

    #[test]
    fn a_merged_finding_keeps_its_subject_and_a_cut_one_loses_its_value() {
        let mut named = found(2, 5, "A", DetectionLayer::Identity);
        named.subject = Some("ana".to_owned());
        let merged = merge(vec![found(0, 5, "A", DetectionLayer::Entity), named]);
        assert_eq!(
            (merged.len(), merged[0].subject.as_deref(), merged[0].layer),
            (1, Some("ana"), DetectionLayer::Identity)
        );
        let mut dated = found(0, 6, "A", DetectionLayer::Entity);
        dated.value = Some(SideValue::Age(4));
        let merged = merge(vec![dated.clone(), found(4, 9, "B", DetectionLayer::Identity)]);
        assert_eq!((merged[0].value, merged[1].value), (None, None));
        assert_eq!(merge(vec![dated, found(1, 2, "B", DetectionLayer::Identity)])[0].value, Some(SideValue::Age(4)));
    }

    #[test]
    fn pieces_between_walls_have_no_space_at_their_edges_and_hold_a_letter_or_digit() {
        let plain = "ab [X] - [Y] cd ";
        let mut whole = found(0, 16, "A", DetectionLayer::Entity);
        whole.value = Some(SideValue::Age(4));
        let pieces = cut(vec![whole.clone()], &[Span::new(3, 6), Span::new(9, 12)], plain);
        assert_eq!(pieces.iter().map(|one| one.span.slice(plain)).collect::<Vec<_>>(), ["ab", "cd"]);
        assert!(pieces.iter().all(|one| one.value.is_none()));
        assert!(cut(vec![found(3, 6, "A", DetectionLayer::Entity)], &[Span::new(3, 6)], plain).is_empty());
        whole.span = Span::new(0, 2);
        assert_eq!(cut(vec![whole], &[], plain)[0].value, Some(SideValue::Age(4)), "what is not cut keeps its value");
    }
}
