//! What the reader thinks of every word of a document, and of any place in it that a rule found.

use std::ops::Range;
use std::sync::Arc;

use super::labels::{AttributeScores, LabelLayer, ReaderLabels};
use super::network::LogitColumns;
use super::tokens::PieceToken;
use super::{ReaderMention, spans};
use anamnesis_neural::layers;

/// All that one reading of a document gave.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReaderPredictions {
    /// By line, start, end and layer.
    spans: Vec<ReaderMention>,
    lines: Vec<LinePredictions>,
    labels: ReaderLabels,
    columns: LogitColumns,
}

/// Tokens of one line and their logits, a row of `LogitColumns::width` each. A line's tokens may come from several windows.
#[derive(Debug, Clone, Default)]
struct LinePredictions {
    tokens: Vec<PieceToken>,
    logits: Vec<f32>,
}

impl ReaderPredictions {
    pub(super) fn new(lines: usize, labels: &ReaderLabels, columns: &LogitColumns) -> Self {
        Self {
            spans: Vec::new(),
            lines: vec![LinePredictions::default(); lines],
            labels: labels.clone(),
            columns: columns.clone(),
        }
    }

    /// Adds the tokens that one window labels of one line.
    pub(super) fn add_window(&mut self, line: usize, tokens: &[PieceToken], logits: &[f32]) {
        let part = spans::LabelledTokens { line, tokens, logits };
        spans::spans(&part, &self.columns, &self.labels, &mut self.spans);
        self.lines[line].tokens.extend_from_slice(tokens);
        self.lines[line].logits.extend_from_slice(logits);
    }

    pub(super) fn finish(mut self) -> Self {
        self.spans.sort_by_key(|tag| (tag.line, tag.start, tag.end, tag.layer));
        self
    }

    /// Moves every tag and token. `place` gives a stretch of a line in the new text of that line, from line, start and end.
    pub(crate) fn move_to(&mut self, place: impl Fn(usize, usize, usize) -> (usize, usize)) {
        for tag in &mut self.spans {
            (tag.start, tag.end) = place(tag.line, tag.start, tag.end);
        }
        for (line, predictions) in self.lines.iter_mut().enumerate() {
            for token in &mut predictions.tokens {
                (token.start, token.end) = place(line, token.start, token.end);
            }
        }
    }

    /// What is tagged, by line, start, end and layer.
    pub(crate) fn spans(&self) -> &[ReaderMention] {
        &self.spans
    }

    /// How probable it is (0.0–1.0) that something of these kinds is named at a place: of its most probable token.
    /// `bytes`: of the line's text. 0 where the place has no token.
    pub(crate) fn support(&self, line: usize, bytes: &Range<usize>, layer: LabelLayer, kinds: &[&str]) -> f32 {
        let labels = self.labels.kinds(layer);
        let mut best = 0.0f32;
        for mut row in self.rows(line, bytes, &self.columns.layers[layer as usize]) {
            layers::softmax(&mut row);
            let one =
                |(kind, pair): (&Arc<str>, &[f32])| if kinds.contains(&&**kind) { pair.iter().sum() } else { 0.0 };
            best = best.max(labels.iter().zip(row[1..].chunks_exact(2)).map(one).sum());
        }
        best
    }

    /// How probable it is (0.0–1.0) that anything of a layer is named at a place: of its most probable token.
    pub(crate) fn something(&self, line: usize, bytes: &Range<usize>, layer: LabelLayer) -> f32 {
        let mut best = 0.0f32;
        for mut row in self.rows(line, bytes, &self.columns.layers[layer as usize]) {
            layers::softmax(&mut row);
            best = best.max(1.0 - row[0]);
        }
        best
    }

    /// Attributes of what is named at a place, whether or not it is tagged. `None`: the layer has none, or the place no
    /// token.
    pub(crate) fn attributes(&self, line: usize, bytes: &Range<usize>, layer: LabelLayer) -> Option<AttributeScores> {
        let place = self.columns.attributes[layer as usize].as_ref()?;
        let rows = self.rows(line, bytes, place);
        (!rows.is_empty()).then(|| AttributeScores {
            groups: self.labels.groups.clone(),
            shares: spans::mean_shares(rows, place.len(), &self.labels),
        })
    }

    /// The columns of the tokens that touch a place.
    fn rows(&self, line: usize, bytes: &Range<usize>, columns: &Range<usize>) -> Vec<Vec<f32>> {
        let Some(line) = self.lines.get(line) else { return Vec::new() };
        let touches = |token: &PieceToken| !token.is_mark() && token.start < bytes.end && bytes.start < token.end;
        let rows = line.tokens.iter().zip(line.logits.chunks_exact(self.columns.width));
        rows.filter(|(token, _)| touches(token)).map(|(_, row)| row[columns.clone()].to_vec()).collect()
    }
}
