//! Figures of the extractor on gold data: one JSON object a line, whatever kind of gold it holds (contract.md, `extract
//! eval`). The fields of a row decide its task: the context of a target, mentions, sets of current values, risk, themes
//! and feelings, or facts that must and must not be found in a dialogue.

mod documents;
mod external_predictions;
mod facts;
mod gold;
mod rows;

use std::collections::BTreeMap;
use std::io::{self, BufRead};

pub use documents::read_documents;
pub use external_predictions::ExternalPredictions;
pub(crate) use gold::GoldRow;
use serde::Serialize;

use super::Extractor;

/// Which rows count: rules are tuned on one half of a set and believed on the other. The half comes from the id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DataSplit {
    #[default]
    All,
    Tuning,
    HeldOut,
}

impl DataSplit {
    fn holds(self, id: &str) -> bool {
        // FNV-1a: stable everywhere, and nothing but a coin for the id.
        let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3));
        let coin = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd) >> 63;
        match self {
            Self::All => true,
            Self::Tuning => coin == 0,
            Self::HeldOut => coin == 1,
        }
    }
}

/// Counts of right, extra and missing results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MatchCounts {
    pub(crate) right: usize,
    pub(crate) extra: usize,
    pub(crate) missing: usize,
}

impl MatchCounts {
    pub(crate) fn precision(&self) -> f64 {
        share(self.right, self.right + self.extra)
    }

    pub(crate) fn recall(&self) -> f64 {
        share(self.right, self.right + self.missing)
    }

    pub(crate) fn f1(&self) -> f64 {
        share(2 * self.right, 2 * self.right + self.extra + self.missing)
    }
}

#[allow(clippy::cast_precision_loss)] // counts of rows of a file
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// One line of the result: a task in a language.
#[derive(Debug, Clone, Serialize, PartialEq)]
pub struct TaskScore {
    pub task: String,
    pub language: String,
    pub right: usize,
    pub extra: usize,
    pub missing: usize,
    pub precision: f64,
    pub recall: f64,
    pub f1: f64,
}

/// A row that was answered wrongly: its id and labels, never its text.
#[derive(Debug, Clone, Serialize, PartialEq, Eq)]
pub struct EvaluationMiss {
    pub id: String,
    pub task: String,
    pub expected: String,
    pub found: String,
}

#[derive(Debug, Default)]
pub struct EvaluationReport {
    counts: BTreeMap<(String, String), MatchCounts>,
    pub misses: Vec<EvaluationMiss>,
    /// Rows that counted.
    pub rows: usize,
    /// Lines that are no gold of any kind.
    pub unread: usize,
    /// Findings whose words are not literally at their offsets: must be 0.
    pub ungrounded: usize,
}

impl EvaluationReport {
    /// Answers every row and counts.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub fn evaluate(input: impl BufRead, extractor: &Extractor, half: DataSplit) -> io::Result<Self> {
        let mut report = Self::default();
        for line in input.lines() {
            let line = line?;
            if line.trim().is_empty() {
                continue;
            }
            match serde_json::from_str::<GoldRow>(&line) {
                Ok(gold) if half.holds(&gold.id) => report.row(&gold, extractor),
                // Rows of the other half are neither counted nor unread.
                Ok(_) => {}
                Err(_) => report.unread += 1,
            }
        }
        Ok(report)
    }

    pub fn measures(&self) -> Vec<TaskScore> {
        let measure = |((task, language), count): (&(String, String), &MatchCounts)| TaskScore {
            task: task.clone(),
            language: language.clone(),
            right: count.right,
            extra: count.extra,
            missing: count.missing,
            precision: count.precision(),
            recall: count.recall(),
            f1: count.f1(),
        };
        self.counts.iter().map(measure).collect()
    }

    fn count(&mut self, task: &str, gold: &GoldRow, more: MatchCounts) {
        let count = self.counts.entry((task.to_owned(), gold.language().to_owned())).or_default();
        count.right += more.right;
        count.extra += more.extra;
        count.missing += more.missing;
    }

    /// A label with a default: right only where something else than the default was expected and found.
    fn label(&mut self, task: &str, gold: &GoldRow, expected: &str, found: &str, default: &str) {
        let right = usize::from(expected == found && expected != default);
        // Two different labels that are no defaults are one extra and one missing.
        let extra = usize::from(found != default && expected != found);
        let missing = usize::from(expected != default && expected != found);
        self.count(task, gold, MatchCounts { right, extra, missing });
        if extra + missing > 0 {
            self.miss(task, gold, expected, found);
        }
    }

    fn miss(&mut self, task: &str, gold: &GoldRow, expected: &str, found: &str) {
        let (task, expected, found) = (task.to_owned(), expected.to_owned(), found.to_owned());
        self.misses.push(EvaluationMiss { id: gold.id.clone(), task, expected, found });
    }
}

#[cfg(test)]
mod tests;
