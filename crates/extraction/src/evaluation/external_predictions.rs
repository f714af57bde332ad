//! Predictions of another program for the same rows, scored as those of the rules: lines
//! `{"id","negated"?,"uncertain"?,"temporality"?,"experiencer"?}` (scripts/medspacy.sh). A row without a line, and an
//! absent field, count as the default: a miss is never free.

use std::collections::HashMap;
use std::io::{self, BufRead};

use serde::Deserialize;

use super::gold::GoldRow;
use super::{DataSplit, EvaluationReport};
use crate::{Experiencer, MentionContext, Temporality};

#[derive(Debug, Deserialize)]
struct PredictionLine {
    id: String,
    #[serde(default)]
    negated: bool,
    #[serde(default)]
    uncertain: bool,
    #[serde(default)]
    temporality: Option<String>,
    #[serde(default)]
    experiencer: Option<String>,
}

/// Contexts of targets by the ids of their rows.
#[derive(Debug, Default)]
pub struct ExternalPredictions {
    contexts: HashMap<String, MentionContext>,
    /// Lines that are no answers.
    pub(crate) unread: usize,
}

impl ExternalPredictions {
    /// # Errors
    /// When the input cannot be read.
    pub fn read(input: impl BufRead) -> io::Result<Self> {
        let mut others = Self::default();
        for line in input.lines() {
            let line = line?;
            if line.trim().is_empty() {
                continue;
            }
            // An unreadable line is no answer: a program must not gain by failing.
            let Ok(said) = serde_json::from_str::<PredictionLine>(&line) else {
                others.unread += 1;
                continue;
            };
            let context = MentionContext {
                negated: said.negated,
                uncertain: said.uncertain,
                temporality: said.temporality.and_then(|t| Temporality::from_code(&t)).unwrap_or(Temporality::Recent),
                experiencer: said.experiencer.and_then(|e| Experiencer::from_code(&e)).unwrap_or(Experiencer::Patient),
            };
            others.contexts.insert(said.id, context);
        }
        Ok(others)
    }
}

impl EvaluationReport {
    /// The figures of another program on the rows that ask for the context of a target; it says nothing of others.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub fn evaluate_external(input: impl BufRead, others: &ExternalPredictions, half: DataSplit) -> io::Result<Self> {
        let mut report = Self::default();
        for line in input.lines() {
            let Ok(gold) = serde_json::from_str::<GoldRow>(&line?) else { continue };
            if gold.dup || gold.start.is_none() || !half.holds(&gold.id) {
                continue;
            }
            report.rows += 1;
            // A row without a line gets the default, which counts as a miss where another answer was expected.
            report.context(&gold, others.contexts.get(&gold.id).copied().unwrap_or_default());
        }
        report.unread = others.unread;
        Ok(report)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_program_is_scored_on_the_same_rows_and_a_miss_is_not_free() {
        let gold = "{\"id\":\"a\",\"text\":\"no x\",\"start\":3,\"end\":4,\"negated\":true}\n\
                    {\"id\":\"b\",\"text\":\"no y\",\"start\":3,\"end\":4,\"negated\":true}\n\
                    {\"id\":\"c\",\"text\":\"z\",\"start\":0,\"end\":1,\"negated\":false,\"temporality\":\"recent\"}\n\
                    {\"id\":\"d\",\"text\":\"z\",\"risk\":\"none\"}\n";
        let said =
            "{\"id\":\"a\",\"negated\":true}\n{\"id\":\"c\",\"negated\":true,\"temporality\":\"historical\"}\nx\n";
        let others = ExternalPredictions::read(said.as_bytes()).unwrap();
        let report = EvaluationReport::evaluate_external(gold.as_bytes(), &others, DataSplit::All).unwrap();
        let of = |task: &str| report.measures().into_iter().find(|measure| measure.task == task).unwrap();
        let negated = of("negated");
        assert_eq!((negated.right, negated.extra, negated.missing), (1, 1, 1));
        assert_eq!((of("historical").extra, report.rows, report.unread), (1, 3, 1));
    }
}
