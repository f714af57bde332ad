//! Inputs of a patient's confidence trend, and the trend itself. Subjects of statements are unsealed; device readings
//! are opened.

use std::collections::{BTreeMap, HashMap};
use std::ops::RangeInclusive;

use chrono::{DateTime, NaiveDate, Utc};
use uuid::Uuid;

use super::encrypted_columns::{Sealer, open_record, open_text};
use super::records::FindingWords;
use super::write::clinical::clinical_cell;
use super::write::findings::finding_cell;
use super::{Keys, MemoryReader, StoreError};
use crate::statements::confidence_trends as sql;
use anamnesis_core::clock::Entropy;
use anamnesis_core::confidence_trend::{ConfidenceTrend, TrendStatement};
use anamnesis_core::document::DocumentType;
use anamnesis_core::ids::{OrgId, PatientId};
use anamnesis_core::memory::SetBy;
use anamnesis_core::profile::CognitiveHistory;
use anamnesis_core::projection::speaks_for_themselves;
use anamnesis_core::provenance::SourceType;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::ColumnRef;
use anamnesis_sql::{Arg, DbError, Row, Transaction};

/// Daily values, by measure.
pub type DailyReadings = BTreeMap<String, BTreeMap<NaiveDate, f64>>;

/// Statements of these patients, each with the reliability of its speaker at that time. Statements of unknown
/// reliability are left out.
///
/// # Errors
/// Of the database.
pub async fn said(
    tx: &mut Transaction,
    org: OrgId,
    patients: &[PatientId],
    until: DateTime<Utc>,
) -> Result<BTreeMap<PatientId, Vec<TrendStatement>>, DbError> {
    let ids = ids(patients);
    let mut states: HashMap<Uuid, CognitiveHistory> = HashMap::new();
    for row in tx.fetch_all(&sql::STATES, vec![org.0.into(), ids.clone()]).await? {
        use sql::states as of;
        let own = states.entry(row.uuid(of::PATIENT_ID)?).or_default();
        own.add((row.time(of::STATED_AT)?, row.uuid(of::ID)?), row.f64(of::COGNITIVE_STATE)?);
    }
    let mut found: BTreeMap<PatientId, Vec<TrendStatement>> = BTreeMap::new();
    for row in tx.fetch_all(&sql::SAID, vec![org.0.into(), ids, until.into()]).await? {
        let (patient, at) = (row.uuid(sql::said::PATIENT_ID)?, row.time(sql::said::ASSERTED_AT)?);
        let confidence = match row.text(sql::said::CONFIDENCE_BASIS)?.as_str() {
            "default" if !is_own(&row)? => None,
            "default" => states.get(&patient).and_then(|course| course.at(at)).map(|state| state / 100.0),
            _ => Some(row.f64(sql::said::INITIAL_CONFIDENCE)?),
        };
        let Some(confidence) = confidence else { continue };
        let (kind, topic, situation) =
            (row.text(sql::said::KIND)?, row.text(sql::said::ENTITY_TYPE)?, row.text(sql::said::DOCUMENT_TYPE)?);
        found.entry(PatientId(patient)).or_default().push(TrendStatement { at, confidence, kind, topic, situation });
    }
    Ok(found)
}

/// Whether it is the patient's own statement; only those are weighted by the patient's state.
fn is_own(row: &Row) -> Result<bool, DbError> {
    let source_type = SourceType::from_code(&row.text(sql::said::SOURCE_TYPE)?)
        .ok_or(DbError::Decode { index: sql::said::SOURCE_TYPE })?;
    let set_by = SetBy::from_code(&row.text(sql::said::SET_BY)?).ok_or(DbError::Decode { index: sql::said::SET_BY })?;
    Ok(speaks_for_themselves(source_type, set_by, DocumentType::from_code(&row.text(sql::said::DOCUMENT_TYPE)?)))
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
) -> Result<BTreeMap<PatientId, DailyReadings>, StoreError> {
    let mut days: BTreeMap<(PatientId, String, NaiveDate), Vec<f64>> = BTreeMap::new();
    for row in tx.fetch_all(&sql::READINGS, vec![org.0.into(), ids(patients), until.into()]).await? {
        let (patient, id, at) = (
            PatientId(row.uuid(sql::readings::PATIENT_ID)?),
            row.uuid(sql::readings::ID)?,
            row.time(sql::readings::ASSERTED_AT)?,
        );
        let scope = Scope::new(org, patient).map_err(|_| StoreError::Shape)?;
        let Some(keys) = keys.get(&scope) else { continue };
        let words: FindingWords =
            open_record(keys, finding_cell(id, "payload"), &row.blob(sql::readings::PAYLOAD_SEALED)?)?;
        let number =
            words.value.as_deref().and_then(|value| value.split([' ', ',']).next()).and_then(|n| n.parse().ok());
        if let Some(number) = number {
            days.entry((patient, words.concept, at.date_naive())).or_default().push(number);
        }
    }
    let mut found: BTreeMap<PatientId, DailyReadings> = BTreeMap::new();
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
) -> Result<BTreeMap<PatientId, DailyReadings>, StoreError> {
    let mut found: BTreeMap<PatientId, DailyReadings> = BTreeMap::new();
    for row in tx.fetch_all(&sql::MEDICINES, vec![org.0.into(), ids(patients)]).await? {
        let (patient, memory) =
            (PatientId(row.uuid(sql::medicines::PATIENT_ID)?), row.uuid(sql::medicines::MEMORY_ID)?);
        let scope = Scope::new(org, patient).map_err(|_| StoreError::Shape)?;
        let Some(keys) = keys.get(&scope) else { continue };
        let name =
            open_text(keys, clinical_cell("medications", memory, "name"), &row.blob(sql::medicines::NAME_SEALED)?)?;
        let (since, until) = (
            row.opt_time(sql::medicines::SINCE)?.map(|at| at.date_naive()),
            row.opt_time(sql::medicines::UNTIL)?.map(|at| at.date_naive()),
        );
        // Of one that was stopped without a day no one can say until when it was taken.
        let (Some(since), true) = (since, until.is_some() || row.text(sql::medicines::STATUS)? == "active") else {
            continue;
        };
        let days = found.entry(patient).or_default().entry(format!("days on {name}")).or_default();
        for day in within.start().iter_days().take_while(|day| day <= within.end()) {
            let is_taken = since <= day && until.is_none_or(|until| day < until);
            let taken = days.entry(day).or_insert(0.0);
            *taken = f64::max(*taken, f64::from(u8::from(is_taken)));
        }
    }
    Ok(found)
}

/// The inputs of each patient's last trend, and whether an alert was raised.
///
/// # Errors
/// Of the database.
pub async fn known(
    tx: &mut Transaction,
    org: OrgId,
    patients: &[PatientId],
) -> Result<BTreeMap<PatientId, (Uuid, bool)>, DbError> {
    let rows = tx.fetch_all(&sql::OF_PATIENTS, vec![org.0.into(), ids(patients)]).await?;
    rows.iter()
        .map(|row| {
            Ok((
                PatientId(row.uuid(sql::of_patients::PATIENT_ID)?),
                (row.uuid(sql::of_patients::INPUT_ID)?, row.opt_text(sql::of_patients::ALERT)?.is_some()),
            ))
        })
        .collect()
}

/// The organisation's time zone, as its row names it.
///
/// # Errors
/// Of the database.
pub async fn zone(tx: &mut Transaction, org: OrgId) -> Result<Option<String>, DbError> {
    tx.fetch_optional(&sql::ZONE, vec![org.0.into()]).await?.map(|row| row.text(sql::zone::TIME_ZONE)).transpose()
}

/// A course to keep.
#[derive(Debug, Clone, PartialEq)]
pub struct ComputedTrend {
    pub scope: Scope,
    pub input: Uuid,
    pub course: ConfidenceTrend,
}

/// Keeps courses; since when an alert holds stays while the alert does.
///
/// # Errors
/// Of the database, or when a course cannot be sealed.
pub async fn keep(
    tx: &mut Transaction,
    keys: &Keys,
    trends: &[ComputedTrend],
    as_of: DateTime<Utc>,
    now: DateTime<Utc>,
    entropy: &dyn Entropy,
) -> Result<(), StoreError> {
    let mut rows = Vec::with_capacity(trends.len());
    for one in trends {
        let Some(keys) = keys.get(&one.scope) else { continue };
        let (org, patient) = (one.scope.org().0, one.scope.patient().0);
        let alert = one.course.alert.map(|alert| alert.code());
        let sealed = Sealer { keys, entropy }.record(course_cell(one.scope), &one.course)?;
        let alerted: Option<DateTime<Utc>> = alert.map(|_| as_of);
        let row = sql::keep::Row {
            org_id: org.into(),
            patient_id: patient.into(),
            input_id: one.input.into(),
            course_sealed: sealed,
            alert: alert.into(),
            alerted_at: alerted.into(),
            as_of: as_of.into(),
            created_at: now.into(),
            updated_at: now.into(),
        };
        rows.push(row.into());
    }
    tx.bulk(&sql::KEEP, rows).await?;
    Ok(())
}

fn course_cell(scope: Scope) -> ColumnRef {
    ColumnRef { table: "confidence_course", row: scope.patient().0, column: "course" }
}

fn ids(patients: &[PatientId]) -> Arg {
    Arg::Uuids(patients.iter().map(|patient| patient.0).collect())
}

impl MemoryReader<'_> {
    /// The course of a patient's confidence as last computed: as of when, since when an alert holds, and the figures.
    ///
    /// # Errors
    /// When the store cannot be read or a cell does not open.
    #[allow(clippy::type_complexity)] // three answers of one row
    pub async fn confidence_course(
        self,
        scope: Scope,
    ) -> Result<Option<(DateTime<Utc>, Option<DateTime<Utc>>, ConfidenceTrend)>, StoreError> {
        let Some(keys) = self.keys_of(scope).await? else { return Ok(None) };
        let rows = self.rows(&sql::OF_PATIENT, scope, Vec::new()).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let course = open_record(&keys, course_cell(scope), &row.blob(sql::of_patient::COURSE_SEALED)?)?;
        Ok(Some((row.time(sql::of_patient::AS_OF)?, row.opt_time(sql::of_patient::ALERTED_AT)?, course)))
    }
}
