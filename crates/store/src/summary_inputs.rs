//! Inputs of summaries: the facts of a patient's current documents, in the order of time and without their words, and
//! the existing summaries. Words are opened only for a summary that is written.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::records::{Evidence, FindingWords};
use super::recurrence;
use super::{Keys, StoreError};
use crate::PageRequest;
use crate::statements::summary_inputs as sql;
use anamnesis_core::document::DocumentType;
use anamnesis_core::finding::{EntityType, Experiencer, Temporality};
use anamnesis_core::ids::{FindingId, OrgId, PatientId};
use anamnesis_core::provenance::Trust;
use anamnesis_core::summary::{SummaryLanguage, SummaryPeriod};
use anamnesis_sql::{Arg, DbError, Row, Transaction};

/// A fact without its words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SummaryFact {
    pub patient: PatientId,
    pub finding: FindingId,
    pub document: Uuid,
    pub revision: u32,
    pub at: DateTime<Utc>,
    pub confidence: f64,
    pub extraction_confidence: f64,
    pub recorded_at: DateTime<Utc>,
    pub document_type: DocumentType,
    pub session: Option<[u8; 32]>,
    pub language: SummaryLanguage,
    pub entity: EntityType,
    pub negated: bool,
    pub ended: bool,
    pub temporality: Temporality,
    pub experiencer: Experiencer,
    pub attribute: [u8; 32],
    pub trust: Trust,
}

/// A summary that there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownSummary {
    pub period: SummaryPeriod,
    pub facts: u32,
    /// The finding from which it was made.
    pub input: Uuid,
    pub made_at: DateTime<Utc>,
}

/// The run that a job settled last, before `until`.
///
/// # Errors
/// Of the database.
pub async fn settled(
    tx: &mut Transaction,
    org: OrgId,
    job: &'static str,
    until: DateTime<Utc>,
) -> Result<Option<DateTime<Utc>>, DbError> {
    let row = tx.fetch_optional(&sql::LAST_SETTLED, vec![org.0.into(), job.into(), until.into()]).await?;
    row.map_or(Ok(None), |row| row.opt_time(sql::last_settled::NEWEST))
}

/// Patients with new documents, or with forgotten or erased memories, within a period, after `after`, at most `limit`.
///
/// # Errors
/// Of the database.
pub async fn patients(
    tx: &mut Transaction,
    org: OrgId,
    period: &Range<DateTime<Utc>>,
    PageRequest { after, limit }: PageRequest<Uuid>,
) -> Result<Vec<PatientId>, DbError> {
    let args = vec![org.0.into(), period.end.into(), period.start.into(), after.into(), limit.into()];
    tx.fetch_all(&sql::PATIENTS, args)
        .await?
        .iter()
        .map(|row| Ok(PatientId(row.uuid(sql::patients::PATIENT_ID)?)))
        .collect()
}

/// All facts of these patients, by patient and time; nothing that was forgotten.
///
/// # Errors
/// Of the database.
pub async fn facts(
    tx: &mut Transaction,
    org: OrgId,
    patients: &[PatientId],
    until: DateTime<Utc>,
) -> Result<Vec<SummaryFact>, DbError> {
    tx.fetch_all(&sql::FACTS, vec![org.0.into(), ids(patients), until.into()]).await?.iter().map(fact).collect()
}

fn fact(row: &Row) -> Result<SummaryFact, DbError> {
    use sql::facts as of;
    let decode = |index| DbError::Decode { index };
    let session = row
        .opt_blob(of::SESSION_HASH)?
        .map(|hash| <[u8; 32]>::try_from(hash).map_err(|_| decode(of::SESSION_HASH)))
        .transpose()?;
    let trust = usize::try_from(row.i64(of::TRUST)? - 1).ok().and_then(|n| Trust::ALL.get(n).copied());
    Ok(SummaryFact {
        patient: PatientId(row.uuid(of::PATIENT_ID)?),
        finding: FindingId(row.uuid(of::ID)?),
        document: row.uuid(of::SOURCE_ID)?,
        revision: u32::try_from(row.i64(of::REVISION)?).map_err(|_| decode(of::REVISION))?,
        at: row.time(of::ASSERTED_AT)?,
        confidence: row.f64(of::INITIAL_CONFIDENCE)?,
        recorded_at: row.time(of::RECORDED_AT)?,
        document_type: DocumentType::from_code(&row.text(of::DOCUMENT_TYPE)?).ok_or(decode(of::DOCUMENT_TYPE))?,
        session,
        language: if row.text(of::LANGUAGE)? == "en" { SummaryLanguage::English } else { SummaryLanguage::Spanish },
        entity: EntityType::from_code(&row.text(of::ENTITY_TYPE)?).ok_or(decode(of::ENTITY_TYPE))?,
        negated: row.bool(of::NEGATED)?,
        ended: row.bool(of::ENDING)?,
        temporality: Temporality::from_code(&row.text(of::TEMPORALITY)?).ok_or(decode(of::TEMPORALITY))?,
        experiencer: Experiencer::from_code(&row.text(of::EXPERIENCER)?).ok_or(decode(of::EXPERIENCER))?,
        extraction_confidence: row.f64(of::EXTRACTION_CONFIDENCE)?,
        attribute: row.bytes(of::ATTRIBUTE_HASH)?,
        trust: trust.ok_or(decode(of::TRUST))?,
    })
}

/// The summaries of these patients, by patient and id.
///
/// # Errors
/// Of the database.
pub async fn known(
    tx: &mut Transaction,
    org: OrgId,
    patients: &[PatientId],
) -> Result<BTreeMap<(PatientId, Uuid), KnownSummary>, DbError> {
    let mut found = BTreeMap::new();
    for row in tx.fetch_all(&sql::ACCOUNTS, vec![org.0.into(), ids(patients)]).await? {
        let known = KnownSummary {
            period: SummaryPeriod::from_code(&row.text(sql::accounts::PERIOD)?)
                .ok_or(DbError::Decode { index: sql::accounts::PERIOD })?,
            facts: u32::try_from(row.i64(sql::accounts::FACTS)?).unwrap_or(u32::MAX),
            input: row.uuid(sql::accounts::INPUT_ID)?,
            made_at: row.time(sql::accounts::MADE_AT)?,
        };
        found.insert((PatientId(row.uuid(sql::accounts::PATIENT_ID)?), row.uuid(sql::accounts::ID)?), known);
    }
    Ok(found)
}

/// When each of these patients last had something forgotten.
///
/// # Errors
/// Of the database.
pub async fn forgotten(
    tx: &mut Transaction,
    org: OrgId,
    patients: &[PatientId],
) -> Result<HashMap<PatientId, DateTime<Utc>>, DbError> {
    let rows = tx.fetch_all(&sql::LAST_FORGOTTEN, vec![org.0.into(), ids(patients)]).await?;
    rows.iter()
        .map(|row| Ok((PatientId(row.uuid(sql::last_forgotten::PATIENT_ID)?), row.time(sql::last_forgotten::NEWEST)?)))
        .collect()
}

/// Words and evidence of facts.
///
/// # Errors
/// Of the database, or when a cell does not open.
pub async fn words(
    tx: &mut Transaction,
    org: OrgId,
    keys: &Keys,
    facts: &[(PatientId, FindingId)],
) -> Result<HashMap<FindingId, (FindingWords, Option<Evidence>)>, StoreError> {
    let found = recurrence::words(tx, org, keys, facts).await?;
    Ok(found.into_iter().map(|(id, words, evidence)| (id, (words, evidence))).collect())
}

fn ids(patients: &[PatientId]) -> Arg {
    Arg::Uuids(patients.iter().map(|patient| patient.0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_sql::{Access, Database, Location, Sql};

    /// The place of the words in a row of `EXPLAIN QUERY PLAN`.
    const DETAIL: usize = 3;

    #[tokio::test]
    async fn who_is_due_is_found_by_what_is_recent_and_not_by_walking_all_patients() {
        let db = Database::open(&Location::Memory).await.unwrap();
        let mut tx = db.begin(Access::Platform).await.unwrap();
        let explain = Sql::new(Box::leak(format!("EXPLAIN QUERY PLAN {}", sql::PATIENTS.sqlite()).into_boxed_str()));
        let nil = || Uuid::nil().into();
        let plan = tx.fetch_all(&explain, vec![nil(), 1i64.into(), 0i64.into(), nil(), 1i64.into()]).await.unwrap();
        let plan: Vec<String> = plan.iter().map(|row| row.text(DETAIL).unwrap()).collect();
        for index in
            ["documents_recorded (org_id=? AND recorded_at>", "memory_purge (org_id=? AND state=? AND state_at>"]
        {
            assert!(plan.iter().any(|line| line.contains(index)), "{plan:?}");
        }
    }
}
