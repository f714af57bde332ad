//! The result of a re-embedding run, and why it did not do more.

use serde::{Deserialize, Serialize};

use crate::status::JobStatus;

/// How the run ended for the generation that is being made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReembeddingVerdict {
    /// There is more to embed: the next run continues.
    Building,
    /// It would be swapped in (a preview).
    Ready,
    /// It is the active one from now on.
    Swapped,
    /// The configuration wants it no more: its vectors are removed.
    Abandoned,
    /// Gate: passages lack a vector of it.
    MissingVectors,
    /// Gate: vectors of it were zero, not finite, or of another dimension; they are made again.
    UnsoundVectors,
    /// Gate: it finds too few of the active one's neighbours.
    TooUnlike,
    /// Gate: documents came faster than they were embedded.
    StillBehind,
}

impl ReembeddingVerdict {
    /// A gate that prevented the swap.
    pub(crate) fn is_refusal(self) -> bool {
        matches!(self, Self::MissingVectors | Self::UnsoundVectors | Self::TooUnlike | Self::StillBehind)
    }
}

/// The counters and the verdict.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ReembeddingStatus {
    /// Passages and stored vectors that were read.
    pub(crate) examined: u64,
    /// Passages that have a vector of the new generation now. In a preview: that would be sent.
    pub(crate) embedded: u64,
    /// Passages that the model refuses, that are too long, or whose patient was erased.
    pub(crate) refused: u64,
    /// Passages without a vector of the new generation when all were walked.
    pub(crate) missing: u64,
    /// Vectors that cannot be compared: removed, to be made again.
    pub(crate) unsound: u64,
    /// Questions by which both generations were compared.
    pub(crate) compared: u64,
    /// Average share of the nearest that both generations name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) overlap: Option<f64>,
    pub(crate) swapped: u64,
    /// Vectors of generations that no one searches any more.
    pub(crate) removed: u64,
    /// A gate prevented the swap.
    pub(crate) failed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) verdict: Option<ReembeddingVerdict>,
}

impl JobStatus for ReembeddingStatus {
    fn add(&mut self, other: &Self) {
        self.examined += other.examined;
        self.embedded += other.embedded;
        self.refused += other.refused;
        self.missing += other.missing;
        self.unsound += other.unsound;
        self.compared += other.compared;
        self.swapped += other.swapped;
        self.removed += other.removed;
        self.failed += other.failed;
        self.overlap = other.overlap.or(self.overlap);
        self.verdict = other.verdict.or(self.verdict);
    }

    fn examined(&self) -> u64 {
        self.examined
    }

    fn changed(&self) -> u64 {
        self.embedded + self.unsound + self.swapped + self.removed
    }
}
