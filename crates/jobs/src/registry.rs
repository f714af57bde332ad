//! The jobs there are. A job is a line here, a policy in `jobs/NAME.toml` and a file `crates/jobs/src/NAME.rs`; every `match` over
//! the enum is exhaustive, so a job that is forgotten somewhere does not compile.

use serde::{Deserialize, Serialize};

macro_rules! registered {
    ($($name:ident = $code:literal: $about:literal),+ $(,)?) => {
        /// A job's name: its policy's file stem, its row in the ledger, its label in metrics.
        /// The order is the order in which jobs of one organisation run when several are due at the same instant.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, clap::ValueEnum)]
        #[serde(rename_all = "snake_case")]
        #[clap(rename_all = "snake_case")]
        pub enum JobName { $(#[doc = $about] $name),+ }

        impl JobName {
            pub const ALL: &'static [JobName] = &[$(JobName::$name),+];

            pub fn code(self) -> &'static str {
                match self { $(JobName::$name => $code),+ }
            }

            /// What the job does, in one line for people.
            pub fn about(self) -> &'static str {
                match self { $(JobName::$name => $about),+ }
            }
        }
    };
}

registered! {
    Summaries = "summaries": "tells episodes, conversations, weeks and quarters from the facts that came in",
    Consolidation = "consolidation": "makes beliefs of what recurs in several documents, values and drives of what lasts, preferences of what patients say of being spoken with and treated",
    Retention = "retention": "lets go of sources that were kept as long as their type and the privacy tier say",
    Expiry = "expiry": "moves memories whose time has come to the state that time gives them",
    Reconfirmation = "reconfirmation": "asks once whether a time-bound state still holds",
    Decay = "decay": "asks once to review a memory whose confidence fell below its threshold",
    Purge = "purge": "takes the content out of what was forgotten or expired long enough ago",
    Upkeep = "upkeep": "deletes ids of old messages, published events and abandoned attempts",
    Redaction = "redaction": "redacts documents again that an older policy or older recognisers redacted",
    EmbedBatch = "embed_batch": "embeds the passages that were left to the night",
    ConfidenceAnalytics = "confidence_analytics": "reckons how sure each patient was over time and tells of a fall",
    CohortPatterns = "cohort_patterns": "counts what patients have in common in a month, without rare values",
    Reembedding = "reembedding": "makes the vectors of another model beside the active ones, compares them and swaps them in",
    Reconciliation = "reconciliation": "compares memories with their log and passages with their vectors, and makes right what it can",
}

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
