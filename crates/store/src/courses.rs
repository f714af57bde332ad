//! What the course of a patient's confidence is reckoned from, and the course itself. What statements were about lies in the
//! clear; readings of devices are opened.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;
use std::sync::LazyLock;

use chrono::{DateTime, NaiveDate, Utc};
use uuid::Uuid;

use super::records::FindingWords;
use super::seal::{Sealer, open_record, open_text};
use super::write::clinical::clinical_cell;
use super::write::findings::finding_cell;
use super::{Keys, Store, StoreError};
use anamnesis_core::clock::Entropy;
use anamnesis_core::course::{Course, Said};
use anamnesis_core::document::DocumentType;
use anamnesis_core::fold::speaks_for_themselves;
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::memory::SetBy;
use anamnesis_core::profile::CognitiveCourse;
use anamnesis_core::provenance::SourceType;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::Cell;
use anamnesis_sql::{Arg, Bulk, ColumnType, DbError, Row, Sql, Transaction};

// A proxy's confidence is nobody's state; what a model formed or a device measured is no statement.
static SAID: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT patient_id, asserted_at, initial_confidence, confidence_basis, kind, entity_type, document_type, \
         source_type, set_by \
         FROM extracted_findings WHERE org_id = $1 AND patient_id IN {uuids $2} AND live = 1 AND is_proxy = 0 \
         AND confidence_basis IN ('given', 'cognitive_state', 'default') AND document_type IS NOT NULL \
         AND document_type <> 'analysis' AND tombstone_of IS NULL AND recorded_at <= $3 ORDER BY patient_id, asserted_at, id",
    )
});
static STATES: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT patient_id, id, stated_at, cognitive_state FROM profile_statement \
         WHERE org_id = $1 AND patient_id IN {uuids $2} AND cognitive_state IS NOT NULL",
    )
});
static READINGS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT patient_id, id, asserted_at, payload_sealed FROM extracted_findings WHERE org_id = $1 \
         AND patient_id IN {uuids $2} AND entity_type = 'health_signal' AND live = 1 AND tombstone_of IS NULL \
         AND recorded_at <= $3 ORDER BY patient_id, asserted_at, id",
    )
});
// Those of standing, as the clinical store has them; one that is denied was never taken.
static TAKEN: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT patient_id, memory_id, name_sealed, since, until, status FROM medications \
         WHERE org_id = $1 AND patient_id IN {uuids $2} AND status <> 'not_taken' ORDER BY patient_id, memory_id",
    )
});
static KNOWN: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new("SELECT patient_id, input_id, alert FROM confidence_course WHERE org_id = $1 AND patient_id IN {uuids $2}")
});
static ZONE: LazyLock<Sql> = LazyLock::new(|| Sql::new("SELECT time_zone FROM organization WHERE org_id = $1"));
static KEEP: LazyLock<Bulk> = LazyLock::new(|| {
    let columns = [
        ("org_id", ColumnType::Uuid),
        ("patient_id", ColumnType::Uuid),
        ("input_id", ColumnType::Uuid),
        ("course_sealed", ColumnType::Bytes),
        ("alert", ColumnType::Text),
        ("alerted_at", ColumnType::Int),
        ("as_of", ColumnType::Int),
        ("created_at", ColumnType::Int),
        ("updated_at", ColumnType::Int),
    ];
    Bulk::new(
        "confidence_course",
        &columns,
        "ON CONFLICT (org_id, patient_id) DO UPDATE SET input_id = excluded.input_id, \
         course_sealed = excluded.course_sealed, alert = excluded.alert, \
         alerted_at = CASE WHEN confidence_course.alert IS NULL OR excluded.alert IS NULL THEN excluded.alerted_at \
           ELSE confidence_course.alerted_at END, as_of = excluded.as_of, updated_at = excluded.updated_at",
    )
});
static COURSE: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new("SELECT course_sealed, alerted_at, as_of FROM confidence_course WHERE org_id = $1 AND patient_id = $2")
});

pub fn statements() -> Vec<&'static Sql> {
    vec![&SAID, &STATES, &READINGS, &TAKEN, &KNOWN, &ZONE, KEEP.sql(), &COURSE]
}

/// Numbers of days, by what was measured.
pub type Readings = BTreeMap<String, BTreeMap<NaiveDate, f64>>;

/// What these patients said, each statement as sure as its speaker was then. What has no known reliability is left out.
///
/// # Errors
/// Of the database.
pub async fn said(
    tx: &mut Transaction,
    org: OrgId,
    patients: &[PatientId],
    until: DateTime<Utc>,
) -> Result<BTreeMap<PatientId, Vec<Said>>, DbError> {
    let ids = ids(patients);
    let mut states: HashMap<Uuid, CognitiveCourse> = HashMap::new();
    for row in tx.fetch_all(&STATES, vec![org.0.into(), ids.clone()]).await? {
        states.entry(row.uuid(0)?).or_default().add((row.time(2)?, row.uuid(1)?), row.f64(3)?);
    }
    let mut found: BTreeMap<PatientId, Vec<Said>> = BTreeMap::new();
    for row in tx.fetch_all(&SAID, vec![org.0.into(), ids, until.into()]).await? {
        let (patient, at) = (row.uuid(0)?, row.time(1)?);
        let confidence = match row.text(3)?.as_str() {
            "default" if !is_own(&row)? => None,
            "default" => states.get(&patient).and_then(|course| course.at(at)).map(|state| state / 100.0),
            _ => Some(row.f64(2)?),
        };
        let Some(confidence) = confidence else { continue };
        let (kind, topic, situation) = (row.text(4)?, row.text(5)?, row.text(6)?);
        found.entry(PatientId(patient)).or_default().push(Said { at, confidence, kind, topic, situation });
    }
    Ok(found)
}

/// Whether it is the patient's own word, which alone the patient's state weighs.
fn is_own(row: &Row) -> Result<bool, DbError> {
    let source_type = SourceType::from_code(&row.text(7)?).ok_or(DbError::Decode { index: 7 })?;
    let set_by = SetBy::from_code(&row.text(8)?).ok_or(DbError::Decode { index: 8 })?;
    Ok(speaks_for_themselves(source_type, set_by, DocumentType::from_code(&row.text(6)?)))
}

/// Readings of devices of these patients: the mean of each day.
///
/// # Errors
/// Of the database, or when a cell does not open.
pub async fn readings(
    tx: &mut Transaction,
    org: OrgId,
    keys: &Keys,
    patients: &[PatientId],
    until: DateTime<Utc>,
) -> Result<BTreeMap<PatientId, Readings>, StoreError> {
    let mut days: BTreeMap<(PatientId, String, NaiveDate), Vec<f64>> = BTreeMap::new();
    for row in tx.fetch_all(&READINGS, vec![org.0.into(), ids(patients), until.into()]).await? {
        let (patient, id, at) = (PatientId(row.uuid(0)?), row.uuid(1)?, row.time(2)?);
        let scope = Scope::new(org, patient).map_err(|_| StoreError::Shape)?;
        let Some(keys) = keys.get(&scope) else { continue };
        let words: FindingWords = open_record(keys, finding_cell(id, "payload"), &row.blob(3)?)?;
        let number =
            words.value.as_deref().and_then(|value| value.split([' ', ',']).next()).and_then(|n| n.parse().ok());
        if let Some(number) = number {
            days.entry((patient, words.concept, at.date_naive())).or_default().push(number);
        }
    }
    let mut found: BTreeMap<PatientId, Readings> = BTreeMap::new();
    for ((patient, name, day), all) in days {
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        found.entry(patient).or_default().entry(name).or_default().insert(day, mean);
    }
    Ok(found)
}

/// The days on which each medicine was taken, as far as the clinical store knows: 1 where it was, 0 where it was not, from the
/// first of these days to the last (seed 004: "correlation with medication schedules").
///
/// # Errors
/// Of the database, or when a cell does not open.
pub async fn regimens(
    tx: &mut Transaction,
    org: OrgId,
    keys: &Keys,
    patients: &[PatientId],
    within: &RangeInclusive<NaiveDate>,
) -> Result<BTreeMap<PatientId, Readings>, StoreError> {
    let mut found: BTreeMap<PatientId, Readings> = BTreeMap::new();
    for row in tx.fetch_all(&TAKEN, vec![org.0.into(), ids(patients)]).await? {
        let (patient, memory) = (PatientId(row.uuid(0)?), row.uuid(1)?);
        let scope = Scope::new(org, patient).map_err(|_| StoreError::Shape)?;
        let Some(keys) = keys.get(&scope) else { continue };
        let name = open_text(keys, clinical_cell("medications", memory, "name"), &row.blob(2)?)?;
        let (since, until) = (row.opt_time(3)?.map(|at| at.date_naive()), row.opt_time(4)?.map(|at| at.date_naive()));
        // Of one that was stopped without a day nobody can say until when it was taken.
        let (Some(since), true) = (since, until.is_some() || row.text(5)? == "active") else { continue };
        let days = found.entry(patient).or_default().entry(format!("days on {name}")).or_default();
        for day in within.start().iter_days().take_while(|day| day <= within.end()) {
            let is_taken = since <= day && until.is_none_or(|until| day < until);
            let taken = days.entry(day).or_insert(0.0);
            *taken = f64::max(*taken, f64::from(u8::from(is_taken)));
        }
    }
    Ok(found)
}

/// What each patient's course was last reckoned from, and whether somebody was told.
///
/// # Errors
/// Of the database.
pub async fn known(
    tx: &mut Transaction,
    org: OrgId,
    patients: &[PatientId],
) -> Result<BTreeMap<PatientId, (Uuid, bool)>, DbError> {
    let rows = tx.fetch_all(&KNOWN, vec![org.0.into(), ids(patients)]).await?;
    rows.iter().map(|row| Ok((PatientId(row.uuid(0)?), (row.uuid(1)?, row.opt_text(2)?.is_some())))).collect()
}

/// The organisation's time zone, as its row names it.
///
/// # Errors
/// Of the database.
pub async fn zone(tx: &mut Transaction, org: OrgId) -> Result<Option<String>, DbError> {
    tx.fetch_optional(&ZONE, vec![org.0.into()]).await?.map(|row| row.text(0)).transpose()
}

/// A course to keep.
#[derive(Debug, Clone, PartialEq)]
pub struct Reckoned {
    pub scope: Scope,
    pub input: Uuid,
    pub course: Course,
}

/// Keeps courses; since when somebody is told stays while the alert does.
///
/// # Errors
/// Of the database, or when a course cannot be sealed.
pub async fn keep(
    tx: &mut Transaction,
    keys: &Keys,
    reckoned: &[Reckoned],
    as_of: DateTime<Utc>,
    now: DateTime<Utc>,
    entropy: &dyn Entropy,
) -> Result<(), StoreError> {
    let mut rows = Vec::with_capacity(reckoned.len());
    for one in reckoned {
        let Some(keys) = keys.get(&one.scope) else { continue };
        let (org, patient) = (one.scope.org().0, one.scope.patient().0);
        let alert = one.course.alert.map(|alert| alert.code());
        let sealed = Sealer { keys, entropy }.record(course_cell(one.scope), &one.course)?;
        let alerted: Option<DateTime<Utc>> = alert.map(|_| as_of);
        rows.push(vec![
            org.into(),
            patient.into(),
            one.input.into(),
            sealed,
            alert.into(),
            alerted.into(),
            as_of.into(),
            now.into(),
            now.into(),
        ]);
    }
    tx.bulk(&KEEP, rows).await?;
    Ok(())
}

fn course_cell(scope: Scope) -> Cell {
    Cell { table: "confidence_course", row: scope.patient().0, column: "course" }
}

fn ids(patients: &[PatientId]) -> Arg {
    Arg::Uuids(patients.iter().map(|patient| patient.0).collect())
}

impl Store {
    /// The course of a patient's confidence as last reckoned: as of when, since when somebody is told, and the figures.
    ///
    /// # Errors
    /// When the store cannot be read or a cell does not open.
    #[allow(clippy::type_complexity)] // three answers of one row
    pub async fn confidence_course(
        &self,
        scope: Scope,
    ) -> Result<Option<(DateTime<Utc>, Option<DateTime<Utc>>, Course)>, StoreError> {
        let Some(keys) = self.keys_of(scope).await? else { return Ok(None) };
        let rows = self.rows(&COURSE, scope, Vec::new()).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let course = open_record(&keys, course_cell(scope), &row.blob(0)?)?;
        Ok(Some((row.time(2)?, row.opt_time(1)?, course)))
    }
}
