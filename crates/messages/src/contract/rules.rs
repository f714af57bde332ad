//! Checks that the messages share. Each names the field and never its value.

use chrono::{DateTime, Datelike, NaiveDate, Utc};
use uuid::Uuid;

use super::SensitiveText;
use crate::rejection::{Problem, Rejection};
use anamnesis_core::ids::{OrgId, PatientId};

pub(super) type Checked = Result<(), Rejection>;

/// Years in which something can have been said about a living patient, with room for histories and plans.
const YEARS: std::ops::RangeInclusive<i32> = 1900..=2200;
/// Years in which a person named in a text can have been born.
const BIRTH_YEARS: std::ops::RangeInclusive<i32> = 1850..=2200;

pub(super) fn ensure(holds: bool, problem: Problem, field: &str) -> Checked {
    ensure_at(holds, problem, || field.to_string())
}

pub(super) fn ensure_at(holds: bool, problem: Problem, field: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(Rejection::malformed(problem, field())) }
}

pub(super) fn scope(org: OrgId, patient: PatientId) -> Checked {
    id(org.0, "organization_id")?;
    id(patient.0, "patient_id")
}

pub(super) fn id(id: Uuid, field: &str) -> Checked {
    ensure(!id.is_nil(), Problem::NilId, field)
}

pub(super) fn optional_id(id: Option<Uuid>, field: &str) -> Checked {
    id.map_or(Ok(()), |given| self::id(given, field))
}

pub(super) fn instant(at: DateTime<Utc>, field: &str) -> Checked {
    ensure(YEARS.contains(&at.year()), Problem::OutOfRange, field)
}

pub(super) fn date(date: NaiveDate, field: impl FnOnce() -> String) -> Checked {
    ensure_at(BIRTH_YEARS.contains(&date.year()), Problem::OutOfRange, field)
}

/// An optional number between bounds, both included.
pub(super) fn within(number: Option<f64>, least: f64, most: f64, field: &str) -> Checked {
    ensure(number.is_none_or(|number| (least..=most).contains(&number)), Problem::OutOfRange, field)
}

pub(super) fn filled(words: &SensitiveText, field: &str) -> Checked {
    ensure(!words.is_blank(), Problem::Empty, field)
}

pub(super) fn all_filled<'a>(words: impl Iterator<Item = &'a SensitiveText>, list: &str, field: &str) -> Checked {
    for (index, words) in words.enumerate() {
        ensure_at(!words.is_blank(), Problem::Empty, || format!("{list}[{index}].{field}"))?;
    }
    Ok(())
}
