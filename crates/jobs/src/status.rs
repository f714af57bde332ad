//! The result of a run, with a separate type per job: stored in the ledger, shown by `job status`, counted in metrics.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The counters of one job. Fields that an older version did not know read as zero.
pub(crate) trait JobStatus: Default + Clone + Serialize + DeserializeOwned + Send + Sync {
    fn add(&mut self, other: &Self);
    /// Rows that were read.
    fn examined(&self) -> u64;
    /// Rows changed, or, in a preview, rows that would be.
    fn changed(&self) -> u64;

    fn to_json(&self) -> String {
        serde_json::to_string(self).expect("counters are JSON")
    }

    /// A text that is no status of this job counts as nothing done.
    fn from_json(text: Option<&str>) -> Self {
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }
}

macro_rules! status {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident),+ $(,)? } changed: $($changed:ident)|+) => {
        $(#[$doc])*
        #[derive(Debug, Default, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[serde(default)]
        pub(crate) struct $name { $($(#[$field_doc])* pub(crate) $field: u64),+ }

        impl $crate::status::JobStatus for $name {
            fn add(&mut self, other: &Self) { $(self.$field += other.$field;)+ }
            fn examined(&self) -> u64 { self.examined }
            fn changed(&self) -> u64 { 0 $(+ self.$changed)+ }
        }
    };
}

pub(crate) use status;
