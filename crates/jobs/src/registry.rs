//! The list of jobs. A job is a file `crates/jobs/src/NAME.rs` with its thresholds and a row here; the numbers of its
//! policy are in `jobs/NAME.toml`. The names, the policies and the dispatch are generated from the rows.

use serde::{Deserialize, Serialize};

/// Passes the rows to another macro, after the tokens in brackets. A row is the job's module (and name), its type, the
/// type of its policy's thresholds, both in that module, and its description in one line. Jobs of one organisation that
/// are due at the same instant run in this order.
macro_rules! jobs {
    ($to:ident [$($given:tt)*]) => {
        $to! {
            [$($given)*]
            summaries::Summaries(SummariesThresholds): "writes summaries of episodes, conversations, weeks and quarters from new facts";
            consolidation::Consolidation(ConsolidationThresholds): "forms beliefs from facts that recur in several documents, values from preferences that last, drives from goals that last, and preferences from stated wishes";
            retention::Retention(RetentionPolicy): "deletes sources at the end of the term of their type and privacy tier";
            expiry::Expiry(ExpiryThresholds): "moves memories to the state that is due";
            reconfirmation::Reconfirmation(ReconfirmationThresholds): "asks once whether a time-bound state still holds";
            decay::Decay(DecayPolicy): "requests one review of a memory whose confidence fell below its threshold";
            purge::Purge(PurgeThresholds): "deletes the content of memories that were forgotten or expired long enough ago";
            upkeep::Upkeep(UpkeepThresholds): "deletes old message ids, published events, abandoned attempts and old quarantined messages";
            redaction::Redaction(RedactionThresholds): "redacts again what an older policy or older recognisers redacted: documents, profiles, imported records";
            embed_batch::EmbedBatch(EmbedBatchThresholds): "embeds passages that have no vector yet";
            confidence_analytics::ConfidenceAnalytics(TrendPolicy): "computes the trend of each patient's confidence and reports a drop";
            cohort_patterns::CohortPatterns(CohortThresholds): "counts what patients have in common in a month, without rare values";
            reembedding::Reembedding(ReembeddingThresholds): "builds the vectors of a new model next to the active ones, compares them and swaps them in";
            reconciliation::Reconciliation(ReconciliationThresholds): "compares memories with their log and passages with their vectors, and repairs differences";
        }
    };
}

pub(crate) use jobs;

macro_rules! names {
    ([] $($code:ident::$name:ident($thresholds:ident): $about:literal;)+) => {
        /// A job's name: its policy's file stem, its row in the ledger, its label in metrics.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, clap::ValueEnum)]
        #[serde(rename_all = "snake_case")]
        #[clap(rename_all = "snake_case")]
        pub enum JobName { $(#[doc = $about] $name),+ }

        impl JobName {
            pub const ALL: &'static [JobName] = &[$(JobName::$name),+];

            pub fn code(self) -> &'static str {
                match self { $(JobName::$name => stringify!($code)),+ }
            }

            /// The description of the job, in one line.
            pub fn about(self) -> &'static str {
                match self { $(JobName::$name => $about),+ }
            }
        }
    };
}

jobs!(names []);

impl std::fmt::Display for JobName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.code())
    }
}

/// A name that is no job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no job of that name")]
pub struct UnknownJob;

impl std::str::FromStr for JobName {
    type Err = UnknownJob;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|name| name.code() == text).ok_or(UnknownJob)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn stems(directory: &str, extension: &str) -> BTreeSet<String> {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(directory);
        std::fs::read_dir(root)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == extension))
            .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn every_policy_file_is_a_registered_job_and_every_job_has_a_policy_file() {
        let registered: BTreeSet<String> = JobName::ALL.iter().map(|name| name.code().to_owned()).collect();
        assert_eq!(registered.len(), JobName::ALL.len(), "two jobs share a name");
        assert_eq!(stems("jobs", "toml"), registered);
    }

    /// `jobs:` of the chart's values: the names two spaces deep below it.
    #[test]
    fn the_chart_offers_every_registered_job_and_no_other() {
        let root = &std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let values = std::fs::read_to_string(root.join("helm/anamnesis/values.yaml")).unwrap();
        let below = values.split("\njobs:\n").nth(1).expect("the chart has jobs");
        let block = below.lines().take_while(|line| line.is_empty() || line.starts_with(' '));
        let names = block.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with([' ', '#']));
        let offered: BTreeSet<&str> = names.map(|line| line.trim_end_matches(':')).collect();
        assert_eq!(offered, JobName::ALL.iter().map(|name| name.code()).collect());
    }

    #[test]
    fn a_name_reads_back() {
        for name in JobName::ALL {
            assert_eq!(name.code().parse(), Ok(*name));
            assert_eq!(serde_json::to_value(name).unwrap(), name.code());
        }
        assert_eq!("sweeping".parse::<JobName>(), Err(UnknownJob));
    }
}
