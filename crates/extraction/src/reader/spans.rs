//! From the logits of a window to spans: the most probable label of each token, read as begin, inside, outside.

use std::ops::Range;

use super::network::LogitColumns;
use super::tokens::PieceToken;
use super::{AttributeScores, LabelLayer, ReaderLabels, ReaderMention};
use anamnesis_neural::layers;

/// The labelled tokens of one line within one window, with a row of logits each.
pub(super) struct LabelledTokens<'a> {
    pub(crate) line: usize,
    pub(crate) tokens: &'a [PieceToken],
    /// tokens × width, row-major.
    pub(crate) logits: &'a [f32],
}

/// A run of tokens with one label.
struct LabelRun {
    tokens: Range<usize>,
    kind: usize,
    /// Sum of the probabilities of the chosen labels.
    sum: f32,
}

/// Adds the spans of all layers to `out`.
pub(super) fn spans(
    part: &LabelledTokens<'_>,
    columns: &LogitColumns,
    labels: &ReaderLabels,
    out: &mut Vec<ReaderMention>,
) {
    let mut row = Vec::new();
    for layer in LabelLayer::ALL {
        for run in runs(part, columns, &columns.layers[layer as usize], &mut row) {
            let (start, end) = (part.tokens[run.tokens.start].start, part.tokens[run.tokens.end - 1].end);
            let attributes = columns.attributes[layer as usize].clone().map(|place| AttributeScores {
                groups: labels.groups.clone(),
                shares: mean_shares(rows(part, columns.width, run.tokens.clone(), &place), place.len(), labels),
            });
            let probability = run.sum / run.tokens.len() as f32;
            let kind = labels.kinds(layer)[run.kind].clone();
            out.push(ReaderMention { line: part.line, start, end, layer, kind, probability, attributes });
        }
    }
}

/// Label 0 is outside; 1 + 2k begins the kind k and 2 + 2k goes on with it, or begins it after anything else. A mark
/// is no text: it belongs to no run.
fn runs(part: &LabelledTokens<'_>, columns: &LogitColumns, place: &Range<usize>, row: &mut Vec<f32>) -> Vec<LabelRun> {
    let mut runs: Vec<LabelRun> = Vec::new();
    // Whether the last run may go on.
    let mut open = false;
    for (at, token) in part.tokens.iter().enumerate() {
        let logits = &part.logits[at * columns.width..][place.clone()];
        let label = if token.is_mark() { 0 } else { first_greatest(logits) };
        if label == 0 {
            open = false;
            continue;
        }
        let (kind, begins) = ((label - 1) / 2, label % 2 == 1);
        row.clear();
        row.extend_from_slice(logits);
        layers::softmax(row);
        match runs.last_mut() {
            Some(run) if open && !begins && run.kind == kind => {
                run.tokens.end = at + 1;
                run.sum += row[label];
            }
            _ => runs.push(LabelRun { tokens: at..at + 1, kind, sum: row[label] }),
        }
        open = true;
    }
    runs
}

/// The attributes' logits of a run, row by row.
fn rows(part: &LabelledTokens<'_>, width: usize, tokens: Range<usize>, place: &Range<usize>) -> Vec<Vec<f32>> {
    tokens.map(|at| part.logits[at * width..][place.clone()].to_vec()).collect()
}

/// Mean over rows of logits of the probabilities of each group's values. `rows`: at least one, `width` long each.
pub(super) fn mean_shares(rows: Vec<Vec<f32>>, width: usize, labels: &ReaderLabels) -> Vec<f32> {
    let count = rows.len() as f32;
    let mut mean = vec![0.0; width];
    for mut row in rows {
        let mut rest = row.as_mut_slice();
        for group in labels.groups() {
            let (values, after) = rest.split_at_mut(group.values.len());
            layers::softmax(values);
            rest = after;
        }
        layers::add(&mut mean, &row);
    }
    mean.iter_mut().for_each(|value| *value /= count);
    mean
}

/// Index of the greatest number, the first of several; 0 when there is none.
pub(super) fn first_greatest(values: &[f32]) -> usize {
    let mut best = 0;
    for (at, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = at;
        }
    }
    best
}
