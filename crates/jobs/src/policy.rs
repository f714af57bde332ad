//! The declarative policy of each job: `jobs/NAME.toml`, embedded, replaceable by a directory of the same files.
//! Unknown keys, out-of-range numbers and ambiguous schedules stop the start instead of failing at run time.

use std::path::Path;
use std::time::Duration;

use chrono::TimeDelta;
use chrono_tz::Tz;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};

use super::JobName;
use super::expiry::ExpiryThresholds;
use super::registry::jobs;
use super::renamed;
use super::schedule::Schedule;
use anamnesis_core::lifecycle::LifecyclePolicy;
use anamnesis_store::maintenance::ProjectionRules;

/// No statement touches more rows than this (unbounded maintenance triples the latency of readers).
pub(crate) const MAX_BATCH: u32 = 2_000;

/// Why a policy is refused. Policies are the operator's own files: their text may be shown.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    #[error("jobs/{job}.toml: {message}")]
    Invalid { job: JobName, message: String },
    #[error("cannot read the policy of {job}: {kind}")]
    Unreadable { job: JobName, kind: std::io::ErrorKind },
    #[error("{file} in the directory of policies does not match any job")]
    Stray { file: String },
}

/// The time zone of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZoneRule {
    /// The zone of each organisation's row.
    Organization,
    Fixed(Tz),
}

impl ZoneRule {
    pub fn zone(self, organization: Tz) -> Tz {
        match self {
            ZoneRule::Organization => organization,
            ZoneRule::Fixed(zone) => zone,
        }
    }
}

impl std::fmt::Display for ZoneRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ZoneRule::Organization => f.write_str("organization"),
            ZoneRule::Fixed(zone) => f.write_str(zone.name()),
        }
    }
}

impl<'de> Deserialize<'de> for ZoneRule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "organization" => Ok(ZoneRule::Organization),
            name => name
                .parse()
                .map(ZoneRule::Fixed)
                .map_err(|_| D::Error::custom("time_zone is \"organization\" or an IANA name")),
        }
    }
}

/// The common part of every job's policy.
#[derive(Debug, Clone, PartialEq)]
pub struct RunPolicy {
    pub schedule: Schedule,
    pub time_zone: ZoneRule,
    /// How many days back a missed run is made up.
    pub catch_up_days: u16,
    /// Rows of one transaction, 1 to [`MAX_BATCH`].
    pub batch_size: u32,
    /// Rest between two batches.
    pub pause: Duration,
    /// How long a silent owner keeps its run.
    pub lease: TimeDelta,
    /// How often a run is tried before a person must look.
    pub max_attempts: u32,
    retry_seconds: u32,
}

impl RunPolicy {
    /// How long a run that failed `attempts` times rests: doubles each time, at most six hours.
    pub(crate) fn rest_after(&self, attempts: u32) -> TimeDelta {
        let doubled = i64::from(self.retry_seconds) << attempts.saturating_sub(1).min(16);
        TimeDelta::seconds(doubled.min(6 * 3600))
    }
}

/// The policy of one job: the common part and its specific thresholds.
#[derive(Debug, Clone, PartialEq)]
pub struct JobPolicy<T> {
    pub run: RunPolicy,
    pub thresholds: T,
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyFile<T> {
    schedule: Schedule,
    time_zone: ZoneRule,
    catch_up_days: u16,
    batch_size: u32,
    batch_delay_ms: u64,
    lease_seconds: u32,
    max_attempts: u32,
    retry_seconds: u32,
    thresholds: T,
}

impl<T: Thresholds> PolicyFile<T> {
    fn checked(self) -> Result<JobPolicy<T>, &'static str> {
        let within = |ok: bool, message| if ok { Ok(()) } else { Err(message) };
        within((1..=MAX_BATCH).contains(&self.batch_size), "batch_size is 1 to 2000")?;
        within(self.batch_delay_ms <= 60_000, "batch_delay_ms is at most 60000")?;
        within((10..=86_400).contains(&self.lease_seconds), "lease_seconds is 10 to 86400")?;
        within((1..=100).contains(&self.max_attempts), "max_attempts is 1 to 100")?;
        within((1..=86_400).contains(&self.retry_seconds), "retry_seconds is 1 to 86400")?;
        within(self.catch_up_days <= 366, "catch_up_days is at most 366")?;
        self.thresholds.check()?;
        let run = RunPolicy {
            schedule: self.schedule,
            time_zone: self.time_zone,
            catch_up_days: self.catch_up_days,
            batch_size: self.batch_size,
            pause: Duration::from_millis(self.batch_delay_ms),
            lease: TimeDelta::seconds(i64::from(self.lease_seconds)),
            max_attempts: self.max_attempts,
            retry_seconds: self.retry_seconds,
        };
        Ok(JobPolicy { run, thresholds: self.thresholds })
    }
}

/// Thresholds of one job: a table of its policy.
pub(crate) trait Thresholds: DeserializeOwned {
    /// # Errors
    /// Which bound is broken.
    fn check(&self) -> Result<(), &'static str>;
}

/// The policies of all jobs, a field each; the field's name is the stem of its file.
macro_rules! policies {
    ([] $($field:ident::$name:ident($thresholds:ident): $about:literal;)+) => {
        /// The policies of all jobs.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Policies {
            $(pub $field: JobPolicy<crate::$field::$thresholds>),+
        }

        impl Policies {
            fn read(text: &dyn Fn(JobName) -> Result<String, PolicyError>) -> Result<Self, PolicyError> {
                Ok(Self { $($field: parse(JobName::$name, &text(JobName::$name)?)?),+ })
            }

            /// The common part of a job's policy.
            pub fn get(&self, job: JobName) -> &RunPolicy {
                match job { $(JobName::$name => &self.$field.run),+ }
            }

            /// The same, to be changed: shorter batches, no pauses.
            pub fn get_mut(&mut self, job: JobName) -> &mut RunPolicy {
                match job { $(JobName::$name => &mut self.$field.run),+ }
            }
        }

        pub(crate) fn embedded(job: JobName) -> &'static str {
            match job { $(JobName::$name => include_str!(concat!("../../../jobs/", stringify!($field), ".toml"))),+ }
        }

        /// Whether the text is a policy of the job.
        pub(crate) fn accepts(job: JobName, text: &str) -> bool {
            refusal(job, text).is_none()
        }

        fn refusal(job: JobName, text: &str) -> Option<PolicyError> {
            match job { $(JobName::$name => parse::<crate::$field::$thresholds>(job, text).err()),+ }
        }
    };
}

jobs!(policies []);

impl Policies {
    /// The embedded files.
    ///
    /// # Errors
    /// Never for a build whose tests pass: a test reads them.
    pub fn embedded() -> Result<Self, PolicyError> {
        Self::assemble(&|job| Ok(embedded(job).to_owned()))
    }

    /// The files of a directory; a job without a file there keeps the embedded policy.
    ///
    /// # Errors
    /// An unreadable or refused file, or a TOML file that belongs to no job (a mistyped name would otherwise be
    /// ignored in silence).
    pub(crate) fn from_directory(directory: &Path) -> Result<Self, PolicyError> {
        refuse_strays(directory)?;
        Self::assemble(&|job| match std::fs::read_to_string(directory.join(format!("{job}.toml"))) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(embedded(job).to_owned()),
            read => read.map_err(|error| PolicyError::Unreadable { job, kind: error.kind() }),
        })
    }

    fn assemble(text: &dyn Fn(JobName) -> Result<String, PolicyError>) -> Result<Self, PolicyError> {
        let policies = Self::read(text)?;
        if policies.reconfirmation.thresholds.reconfirm_hours >= policies.expiry.thresholds.unconfirmed_days * 24 {
            let message = "reconfirm_hours must be shorter than expiry's unconfirmed_days";
            return Err(PolicyError::Invalid { job: JobName::Reconfirmation, message: message.into() });
        }
        Ok(policies)
    }

    /// The policies of a configured directory, or the embedded ones.
    ///
    /// # Errors
    /// As [`Policies::from_directory`].
    pub fn load(directory: Option<&Path>) -> Result<Self, PolicyError> {
        directory.map_or_else(Self::embedded, Self::from_directory)
    }

    /// The intervals as the pure rules take them, so that reading lazily and the jobs agree.
    pub fn lifecycle(&self) -> LifecyclePolicy {
        let ExpiryThresholds { unconfirmed_days, stale_days, inference_hours, min_extraction_confidence } =
            self.expiry.thresholds;
        LifecyclePolicy {
            reconfirm_hours: self.reconfirmation.thresholds.reconfirm_hours,
            unconfirmed_days,
            inference_hours,
            stale_days,
            expired_kept_days: self.purge.thresholds.expired_kept_days,
            recoverable_days: self.purge.thresholds.recoverable_days,
            min_extraction_confidence,
        }
    }

    /// The rules of projection, for writers of the log.
    pub(crate) fn rules(&self) -> ProjectionRules {
        ProjectionRules { lifecycle: self.lifecycle(), decay: self.decay.thresholds }
    }
}

fn parse<T: Thresholds>(job: JobName, text: &str) -> Result<JobPolicy<T>, PolicyError> {
    let invalid = |message: String| PolicyError::Invalid { job, message };
    let text = renamed::replaced(job, text).map_err(invalid)?;
    let written: PolicyFile<T> = toml::from_str(&text).map_err(|error| invalid(error.to_string()))?;
    written.checked().map_err(|message| invalid(message.into()))
}

fn refuse_strays(directory: &Path) -> Result<(), PolicyError> {
    let unreadable = |error: std::io::Error| PolicyError::Unreadable { job: JobName::ALL[0], kind: error.kind() };
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if path.extension().is_some_and(|extension| extension == "toml") && stem.parse::<JobName>().is_err() {
            return Err(PolicyError::Stray { file: path.display().to_string() });
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "policy_bounds_tests.rs"]
mod bounds_tests;

#[cfg(test)]
mod tests {
    use anamnesis_core::confidence::DecayPolicy;

    use super::*;

    fn refused(job: JobName, text: &str) -> String {
        refusal(job, text).expect("is refused").to_string()
    }

    #[test]
    fn the_embedded_policies_hold_the_numbers_of_the_model() {
        let policies = Policies::embedded().unwrap();
        assert_eq!(policies.lifecycle(), LifecyclePolicy::default());
        assert_eq!(policies.decay.thresholds, DecayPolicy::default());
    }

    #[test]
    fn a_policy_with_an_unknown_key_or_a_number_out_of_bounds_is_refused() {
        let good = embedded(JobName::Expiry);
        for (from, to, says) in [
            ("batch_size = 500", "batch_size = 2001", "batch_size"),
            ("batch_size = 500", "batch_size = 0", "batch_size"),
            ("batch_delay_ms = 20", "pause_millis = 20", "pause_millis"),
            ("schedule = \"10 3 * * *\"", "schedule = \"0 10 3 * * *\"", "five fields"),
            ("schedule = \"10 3 * * *\"", "schedule = \"10 3 1 * 1\"", "not both"),
            ("time_zone = \"organization\"", "time_zone = \"Mars/Olympus\"", "IANA"),
            ("lease_seconds = 120", "lease_seconds = 1", "lease_seconds"),
            ("inference_hours = 24", "inference_hours = 48", "inference_hours"),
        ] {
            assert!(good.contains(from), "the test is out of date: {from}");
            let message = refused(JobName::Expiry, &good.replace(from, to));
            assert!(message.contains(says), "{to}: {message}");
        }
    }

    #[test]
    fn a_directory_replaces_single_policies_and_a_stray_file_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("reconfirmation.toml");
        let changed = embedded(JobName::Reconfirmation).replace("reconfirm_hours = 48", "reconfirm_hours = 24");
        std::fs::write(&file, changed).unwrap();
        let policies = Policies::from_directory(directory.path()).unwrap();
        assert_eq!(policies.reconfirmation.thresholds.reconfirm_hours, 24);
        assert_eq!(policies.expiry, Policies::embedded().unwrap().expiry);

        std::fs::write(directory.path().join("expirey.toml"), "").unwrap();
        assert!(matches!(Policies::from_directory(directory.path()), Err(PolicyError::Stray { .. })));
    }

    #[test]
    fn asking_after_the_state_has_gone_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let changed = embedded(JobName::Reconfirmation).replace("reconfirm_hours = 48", "reconfirm_hours = 168");
        std::fs::write(directory.path().join("reconfirmation.toml"), changed).unwrap();
        assert!(matches!(Policies::from_directory(directory.path()), Err(PolicyError::Invalid { .. })));
    }

    #[test]
    fn a_failing_run_rests_longer_each_time_up_to_six_hours() {
        let policy = Policies::embedded().unwrap().expiry.run;
        let rests: Vec<i64> = [1, 2, 3, 30].map(|n| policy.rest_after(n).num_seconds()).to_vec();
        assert_eq!(rests, [60, 120, 240, 6 * 3600]);
    }
}
