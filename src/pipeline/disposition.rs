//! What becomes of a message: one exhaustive table.

use std::collections::BTreeMap;

use crate::domain::reason::Reason;
use crate::metrics::Metrics;

/// The end of a message's way through the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Disposition {
    /// Its effects are committed.
    Stored,
    /// It was stored before; nothing changed.
    Duplicate,
    /// The patient is in ephemeral mode: counted, nothing kept.
    Ephemeral,
    /// Set aside, encrypted, with a reason.
    Quarantined(Reason),
    /// Something outside failed: the same message may be offered again.
    Retry,
}

impl Disposition {
    /// For tables and counts.
    pub fn code(self) -> &'static str {
        match self {
            Self::Stored => "stored",
            Self::Duplicate => "duplicate",
            Self::Ephemeral => "ephemeral",
            Self::Quarantined(_) => "quarantined",
            Self::Retry => "retry",
        }
    }
}

/// Counts by disposition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally(BTreeMap<Disposition, u64>);

impl Tally {
    pub fn add(&mut self, disposition: Disposition) {
        *self.0.entry(disposition).or_default() += 1;
    }

    pub fn of(&self, code: &str) -> u64 {
        self.0.iter().filter(|(d, _)| d.code() == code).map(|(_, n)| n).sum()
    }

    /// All messages.
    pub fn total(&self) -> u64 {
        self.0.values().sum()
    }

    pub fn iter(&self) -> impl Iterator<Item = (Disposition, u64)> + '_ {
        self.0.iter().map(|(d, n)| (*d, *n))
    }
}

pub(super) fn count(metrics: &Metrics, done: &[Disposition]) {
    for disposition in done {
        if let Disposition::Quarantined(reason) = disposition {
            metrics.ingest.quarantined.of(*reason).inc();
        }
    }
}
