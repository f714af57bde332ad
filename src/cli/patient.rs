//! Arguments that name a patient and an instant, the same in every verb that reads.

use chrono::{DateTime, NaiveDate, NaiveTime, TimeDelta, Utc};

use super::app::App;
use super::{CliError, PatientAnswer, output};
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_search::RecallError;
use anamnesis_store::StoreError;
use anamnesis_store::read::ReadInstant;

/// Whose memory.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PatientArgs {
    /// Id of the organisation.
    #[arg(long, value_name = "UUID")]
    pub(crate) org: OrgId,
    /// Id of the patient within the organisation.
    #[arg(long, value_name = "UUID")]
    pub(crate) patient: PatientId,
}

impl PatientArgs {
    /// # Errors
    /// When either id is nil: there is no wildcard.
    pub(crate) fn scope(&self) -> Result<Scope, CliError> {
        Scope::new(self.org, self.patient).map_err(|error| CliError::usage(error.to_string()))
    }
}

/// A date (UTC) or an instant (RFC 3339).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimePoint {
    Date(NaiveDate),
    Instant(DateTime<Utc>),
}

impl std::str::FromStr for TimePoint {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Ok(date) = text.parse() {
            return Ok(Self::Date(date));
        }
        let instant = DateTime::parse_from_rfc3339(text).map_err(|_| "write a date (2026-03-02) or RFC 3339")?;
        Ok(Self::Instant(instant.to_utc()))
    }
}

impl TimePoint {
    /// Its beginning.
    pub(crate) fn start(self) -> DateTime<Utc> {
        match self {
            Self::Date(date) => date.and_time(NaiveTime::MIN).and_utc(),
            Self::Instant(at) => at,
        }
    }

    /// The first instant after it, where it is a day; an instant is its own end.
    pub(crate) fn end(self) -> DateTime<Utc> {
        match self {
            Self::Date(_) => self.start() + TimeDelta::days(1),
            Self::Instant(at) => at,
        }
    }

    /// The last instant in it, for the state at the end of that day.
    pub(crate) fn last(self) -> DateTime<Utc> {
        match self {
            Self::Date(_) => self.end() - TimeDelta::microseconds(1),
            Self::Instant(at) => at,
        }
    }
}

/// From when to look.
pub(crate) fn when(as_of: Option<TimePoint>) -> ReadInstant {
    as_of.map_or(ReadInstant::Now, |point| ReadInstant::AsOf(point.last()))
}

/// A word of a closed set, as an argument.
pub(crate) fn known<T: Copy>(text: &str, all: &[T], code: fn(T) -> &'static str) -> Result<T, String> {
    let known = all.iter().copied().find(|value| code(*value) == text);
    known.ok_or_else(|| format!("one of: {}", all.iter().map(|value| code(*value)).collect::<Vec<_>>().join(", ")))
}

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        Self::failed(format!("store: {error}")).answering(PatientAnswer::from_store_error(&error))
    }
}

impl From<RecallError> for CliError {
    fn from(error: RecallError) -> Self {
        let answer = match &error {
            RecallError::Store(error) => PatientAnswer::from_store_error(error),
            RecallError::DumpRefused | RecallError::Redaction(_) => None,
        };
        Self::failed(error.to_string()).answering(answer)
    }
}

/// A reader's JSON with what there is to say of the patient.
#[derive(serde::Serialize)]
pub(crate) struct PatientResponse<'a, T> {
    pub(crate) answer: PatientAnswer,
    #[serde(flatten)]
    pub(crate) read: &'a T,
}

/// Where a list of a patient's rows is empty: says on standard error whether the patient is known at all.
///
/// # Errors
/// Of the store.
pub(crate) async fn note_unknown(app: &App, scope: Scope, empty: bool) -> Result<(), CliError> {
    if empty && !app.store.key_binding().is_known(scope).await? {
        output::note(NOBODY);
    }
    Ok(())
}

/// The answer for an unknown patient.
pub(crate) const NOBODY: &str = "Nothing is known of this patient.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_known_by_its_end_and_an_instant_is_itself() {
        let day: TimePoint = "2026-03-02".parse().unwrap();
        assert_eq!(day.start().to_rfc3339(), "2026-03-02T00:00:00+00:00");
        assert_eq!(day.last().to_rfc3339(), "2026-03-02T23:59:59.999999+00:00");
        let instant: TimePoint = "2026-03-02T10:00:00-05:00".parse().unwrap();
        assert_eq!(instant.last().to_rfc3339(), "2026-03-02T15:00:00+00:00");
        assert_eq!(instant.end(), instant.start());
        assert!("yesterday".parse::<TimePoint>().is_err());
    }

    #[test]
    fn a_nil_id_names_no_one() {
        let nil = uuid::Uuid::nil();
        assert!(PatientArgs { org: nil.into(), patient: uuid::Uuid::from_u128(1).into() }.scope().is_err());
        assert!(PatientArgs { org: uuid::Uuid::from_u128(1).into(), patient: nil.into() }.scope().is_err());
    }

    #[test]
    fn an_unknown_word_is_answered_with_the_known_ones() {
        use anamnesis_core::memory::State;
        assert_eq!(known("stale", State::ALL, State::code), Ok(State::Stale));
        assert!(known("old", State::ALL, State::code).unwrap_err().contains("resolved_unconfirmed"));
    }
}
