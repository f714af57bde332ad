//! Missed and wrongly redacted characters of a redactor, against gold spans. Definitions: `leak` = gold characters left
//! in clear, `over` = characters taken that are not gold, both without white space; spans in code points.

use std::collections::BTreeMap;

use serde::Serialize;

use anamnesis_core::clock::{Entropy as _, SeededEntropy};

/// Samples of the bootstrap.
const SAMPLES: usize = 1_000;

/// A stretch of text with its label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LabeledSpan {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) label: String,
}

/// Counts of one document.
#[derive(Debug, Clone, Copy, Default)]
struct DocumentTally {
    gold: usize,
    leaked: usize,
    clean: usize,
    over: usize,
}

/// Figures of one label.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct LabelScore {
    pub(crate) gold: usize,
    pub(crate) predicted: usize,
    /// Share of gold characters left in clear.
    pub(crate) leak: f64,
    /// Share of spans with no character left in clear.
    pub(crate) covered: f64,
    /// Start, end and label equal.
    pub(crate) exact_precision: f64,
    pub(crate) exact_recall: f64,
    pub(crate) exact_f1: f64,
    #[serde(skip)]
    sums: [usize; 4],
}

/// A gold span of which something was left.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct MissedSpan {
    pub(crate) id: String,
    pub(crate) label: String,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Characters left.
    pub(crate) left: usize,
}

/// All figures. Shares are 0–1; an interval is the middle 95 % of a bootstrap over documents.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RedactionScores {
    pub(crate) documents: usize,
    pub(crate) spans: usize,
    pub(crate) leak: f64,
    pub(crate) leak_interval: [f64; 2],
    pub(crate) over: f64,
    pub(crate) over_interval: [f64; 2],
    pub(crate) spans_missed: f64,
    pub(crate) documents_leaking: f64,
    /// Share of documents without gold in which something was taken.
    pub(crate) clean_touched: f64,
    pub(crate) clean_documents: usize,
    /// Exact, typed, over all labels.
    pub(crate) f1: f64,
    pub(crate) labels: BTreeMap<String, LabelScore>,
    pub(crate) misses: Vec<MissedSpan>,
}

/// Collects documents.
#[derive(Default)]
pub(crate) struct Score {
    tallies: Vec<DocumentTally>,
    labels: BTreeMap<String, LabelScore>,
    misses: Vec<MissedSpan>,
    spans: usize,
    missed: usize,
    leaking: usize,
    with_gold: usize,
    clean: usize,
    touched: usize,
}

impl Score {
    /// Adds a document. `ignored` spans are neither gold nor clean.
    pub(crate) fn add(
        &mut self,
        id: &str,
        text: &str,
        gold: &[LabeledSpan],
        ignored: &[LabeledSpan],
        found: &[LabeledSpan],
    ) {
        let inked: Vec<bool> = text.chars().map(|c| !c.is_whitespace()).collect();
        let cover = |spans: &[LabeledSpan]| {
            let mut cover = vec![false; inked.len()];
            spans.iter().for_each(|span| {
                cover[span.start.min(inked.len())..span.end.min(inked.len())].fill(true);
            });
            cover
        };
        let (is_gold, is_ignored, is_found) = (cover(gold), cover(ignored), cover(found));
        let mut tally = DocumentTally::default();
        for at in (0..inked.len()).filter(|at| inked[*at]) {
            tally.gold += usize::from(is_gold[at]);
            tally.leaked += usize::from(is_gold[at] && !is_found[at]);
            tally.clean += usize::from(!is_gold[at] && !is_ignored[at]);
            tally.over += usize::from(is_found[at] && !is_gold[at] && !is_ignored[at]);
        }
        for span in gold {
            self.add_gold(id, span, &inked, &is_found, found);
        }
        for span in found {
            let meets =
                |others: &[LabeledSpan]| others.iter().any(|other| span.start < other.end && other.start < span.end);
            if !meets(ignored) || meets(gold) {
                self.labels.entry(span.label.clone()).or_default().predicted += 1;
            }
        }
        if !gold.is_empty() {
            self.with_gold += 1;
            self.leaking += usize::from(tally.leaked > 0);
        } else if ignored.is_empty() {
            self.clean += 1;
            self.touched += usize::from(!found.is_empty());
        }
        self.tallies.push(tally);
    }

    fn add_gold(&mut self, id: &str, span: &LabeledSpan, inked: &[bool], is_found: &[bool], found: &[LabeledSpan]) {
        let places = (span.start..span.end.min(inked.len())).filter(|at| inked[*at]);
        let (mut all, mut left) = (0, 0);
        places.for_each(|at| {
            all += 1;
            left += usize::from(!is_found[at]);
        });
        let label = self.labels.entry(span.label.clone()).or_default();
        label.gold += 1;
        let sums = [all, left, usize::from(left == 0), usize::from(found.contains(span))];
        label.sums.iter_mut().zip(sums).for_each(|(sum, one)| *sum += one);
        self.spans += 1;
        self.missed += usize::from(all > 0 && left == all);
        if left > 0 {
            self.misses.push(MissedSpan {
                id: id.into(),
                label: span.label.clone(),
                start: span.start,
                end: span.end,
                left,
            });
        }
    }

    /// The figures, with so many of the worst misses.
    pub(crate) fn report(mut self, worst: usize) -> RedactionScores {
        let total = |part: fn(&DocumentTally) -> usize| self.tallies.iter().map(part).sum::<usize>();
        let (gold, leaked) = (total(|t| t.gold), total(|t| t.leaked));
        let (clean, over) = (total(|t| t.clean), total(|t| t.over));
        let (leak_interval, over_interval) = self.intervals();
        let (mut right, mut predicted) = (0, 0);
        for label in self.labels.values_mut() {
            let [chars, left, covered, exact] = label.sums;
            (label.leak, label.covered) = (share(left, chars), share(covered, label.gold));
            (label.exact_precision, label.exact_recall) = (share(exact, label.predicted), share(exact, label.gold));
            label.exact_f1 = share(2 * exact, label.gold + label.predicted);
            right += exact;
            predicted += label.predicted;
        }
        self.misses.sort_by(|a, b| b.left.cmp(&a.left).then_with(|| a.id.cmp(&b.id)));
        self.misses.truncate(worst);
        RedactionScores {
            documents: self.tallies.len(),
            spans: self.spans,
            leak: share(leaked, gold),
            leak_interval,
            over: share(over, clean),
            over_interval,
            spans_missed: share(self.missed, self.spans),
            documents_leaking: share(self.leaking, self.with_gold),
            clean_touched: share(self.touched, self.clean),
            clean_documents: self.clean,
            f1: share(2 * right, self.spans + predicted),
            labels: self.labels,
            misses: self.misses,
        }
    }

    fn intervals(&self) -> ([f64; 2], [f64; 2]) {
        let entropy = SeededEntropy::new(7);
        let (mut leaks, mut overs) = (Vec::with_capacity(SAMPLES), Vec::with_capacity(SAMPLES));
        let mut bytes = vec![0u8; 4 * self.tallies.len()];
        for _ in 0..SAMPLES {
            entropy.fill(&mut bytes);
            let mut sum = DocumentTally::default();
            for pick in bytes.chunks_exact(4) {
                let pick = u32::from_le_bytes([pick[0], pick[1], pick[2], pick[3]]) as usize % self.tallies.len();
                let one = self.tallies[pick];
                sum.gold += one.gold;
                sum.leaked += one.leaked;
                sum.clean += one.clean;
                sum.over += one.over;
            }
            leaks.push(share(sum.leaked, sum.gold));
            overs.push(share(sum.over, sum.clean));
        }
        (middle(leaks), middle(overs))
    }
}

fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn middle(mut samples: Vec<f64>) -> [f64; 2] {
    samples.sort_by(f64::total_cmp);
    let last = samples.len().saturating_sub(1);
    [0.025, 0.975].map(|at| samples.get((at * last as f64) as usize).copied().unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: usize, end: usize, label: &str) -> LabeledSpan {
        LabeledSpan { start, end, label: label.into() }
    }

    #[test]
    fn what_is_left_leaks_and_what_is_taken_too_much_is_over() {
        let mut score = Score::default();
        score.add("a", "ñandú Ana fue", &[span(6, 9, "PERSON")], &[], &[span(6, 8, "PERSON"), span(10, 13, "DATE")]);
        score.add("b", "nada", &[], &[], &[]);
        let report = score.report(5);
        assert!((report.leak - 1.0 / 3.0).abs() < 1e-9 && (report.over - 3.0 / 12.0).abs() < 1e-9);
        assert_eq!((report.misses.len(), report.clean_touched, report.f1), (1, 0.0, 0.0));
    }

    #[test]
    fn ignored_spans_count_neither_way() {
        let mut score = Score::default();
        score.add("a", "5 años Ana", &[span(7, 10, "PERSON")], &[span(0, 6, "AGE")], &[span(0, 10, "PERSON")]);
        let report = score.report(5);
        assert_eq!((report.leak, report.over, report.spans_missed), (0.0, 0.0, 0.0));
    }
}
