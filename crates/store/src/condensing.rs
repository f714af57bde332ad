//! What accounts are made from: the facts of a patient's current documents, in the order of time, without their words, and
//! the accounts that there are. Words are opened for what is told, and only then.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::records::{Evidence, FindingWords};
use super::recurring;
use super::{Keys, StoreError};
use crate::Next;
use anamnesis_core::account::{Stretch, Tongue};
use anamnesis_core::document::DocumentType;
use anamnesis_core::finding::{EntityType, Experiencer, Temporality};
use anamnesis_core::ids::{FindingId, OrgId, PatientId};
use anamnesis_core::provenance::Trust;
use anamnesis_sql::{Arg, DbError, Row, Sql, Transaction};

static SETTLED: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new("SELECT max(cutoff_at) FROM job_run WHERE org_id = $1 AND job = $2 AND state = 'done' AND cutoff_at < $3")
});
// What came in since then, and what was forgotten or erased since then: an account must not go on with it, and one that was
// erased is written anew. Made one and sorted
// outside: where the halves are to come out sorted, SQLite walks all patients in their order and not what is recent.
static PATIENTS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT DISTINCT patient_id FROM (\
           SELECT patient_id FROM documents WHERE org_id = $1 AND current = 1 AND recorded_at <= $2 AND recorded_at > $3 \
             AND document_type <> 'analysis' AND patient_id > $4 \
           UNION ALL \
           SELECT patient_id FROM memory WHERE org_id = $1 AND state = 'inactive' AND state IN ('expired', 'inactive') \
             AND content_sealed IS NOT NULL AND state_at > $3 AND state_at <= $2 AND patient_id > $4 \
           UNION ALL \
           SELECT patient_id FROM erasure WHERE org_id = $1 AND what <> 'patient' AND done_at > $3 AND done_at <= $2 \
             AND patient_id > $4) AS recent \
         ORDER BY 1 LIMIT $5",
    )
});
static FACTS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT f.patient_id, f.id, f.source_id, f.revision, f.asserted_at, f.initial_confidence, f.recorded_at, \
         d.document_type, d.session_hash, d.language, f.entity_type, f.negated, f.ending, f.temporality, f.experiencer, \
         f.extraction_confidence, f.attribute_hash, f.trust \
         FROM extracted_findings AS f JOIN documents AS d ON d.org_id = f.org_id AND d.patient_id = f.patient_id \
           AND d.document_id = f.source_id AND d.revision = f.revision \
         WHERE f.org_id = $1 AND f.patient_id IN {uuids $2} AND f.live = 1 AND f.uncertain = 0 AND f.blanket = 0 \
           AND f.class <> 'inference' AND f.tombstone_of IS NULL AND d.current = 1 AND d.document_type <> 'analysis' \
           AND f.recorded_at <= $3 AND NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.org_id = f.org_id \
             AND m.patient_id = f.patient_id AND m.group_hash = f.group_hash AND m.attribute_hash = f.attribute_hash \
             AND m.state = 'inactive' AND m.state_at >= f.asserted_at) \
         ORDER BY f.patient_id, f.asserted_at, f.source_id, f.id",
    )
});
static KNOWN: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT patient_id, id, stretch, facts, input_id, made_at FROM summary WHERE org_id = $1 AND patient_id IN {uuids $2}",
    )
});
static FORGOTTEN: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT patient_id, max(updated_at) FROM memory WHERE org_id = $1 AND patient_id IN {uuids $2} \
         AND state = 'inactive' GROUP BY patient_id",
    )
});

pub fn statements() -> Vec<&'static Sql> {
    vec![&SETTLED, &PATIENTS, &FACTS, &KNOWN, &FORGOTTEN]
}

/// A fact without its words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FactRow {
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
    pub tongue: Tongue,
    pub entity: EntityType,
    pub negated: bool,
    pub ended: bool,
    pub temporality: Temporality,
    pub experiencer: Experiencer,
    pub attribute: [u8; 32],
    pub trust: Trust,
}

/// An account that there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    pub stretch: Stretch,
    pub facts: u32,
    /// Names what it was made from.
    pub input: Uuid,
    pub made_at: DateTime<Utc>,
}

/// The night that a job settled last, before `until`.
///
/// # Errors
/// Of the database.
pub async fn settled(
    tx: &mut Transaction,
    org: OrgId,
    job: &'static str,
    until: DateTime<Utc>,
) -> Result<Option<DateTime<Utc>>, DbError> {
    let row = tx.fetch_optional(&SETTLED, vec![org.0.into(), job.into(), until.into()]).await?;
    row.map_or(Ok(None), |row| row.opt_time(0))
}

/// Patients of whom documents came in, or memories were forgotten or erased, within a period, after `after`, at most `limit`.
///
/// # Errors
/// Of the database.
pub async fn patients(
    tx: &mut Transaction,
    org: OrgId,
    period: &Range<DateTime<Utc>>,
    Next { after, limit }: Next<Uuid>,
) -> Result<Vec<PatientId>, DbError> {
    let args = vec![org.0.into(), period.end.into(), period.start.into(), after.into(), limit.into()];
    tx.fetch_all(&PATIENTS, args).await?.iter().map(|row| Ok(PatientId(row.uuid(0)?))).collect()
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
) -> Result<Vec<FactRow>, DbError> {
    tx.fetch_all(&FACTS, vec![org.0.into(), ids(patients), until.into()]).await?.iter().map(fact).collect()
}

fn fact(row: &Row) -> Result<FactRow, DbError> {
    let decode = |index| DbError::Decode { index };
    let session = row.opt_blob(8)?.map(|hash| <[u8; 32]>::try_from(hash).map_err(|_| decode(8))).transpose()?;
    let trust = usize::try_from(row.i64(17)? - 1).ok().and_then(|n| Trust::ALL.get(n).copied());
    Ok(FactRow {
        patient: PatientId(row.uuid(0)?),
        finding: FindingId(row.uuid(1)?),
        document: row.uuid(2)?,
        revision: u32::try_from(row.i64(3)?).map_err(|_| decode(3))?,
        at: row.time(4)?,
        confidence: row.f64(5)?,
        recorded_at: row.time(6)?,
        document_type: DocumentType::from_code(&row.text(7)?).ok_or(decode(7))?,
        session,
        tongue: if row.text(9)? == "en" { Tongue::English } else { Tongue::Spanish },
        entity: EntityType::from_code(&row.text(10)?).ok_or(decode(10))?,
        negated: row.bool(11)?,
        ended: row.bool(12)?,
        temporality: Temporality::from_code(&row.text(13)?).ok_or(decode(13))?,
        experiencer: Experiencer::from_code(&row.text(14)?).ok_or(decode(14))?,
        extraction_confidence: row.f64(15)?,
        attribute: row.bytes(16)?,
        trust: trust.ok_or(decode(17))?,
    })
}

/// The accounts of these patients, by patient and id.
///
/// # Errors
/// Of the database.
pub async fn known(
    tx: &mut Transaction,
    org: OrgId,
    patients: &[PatientId],
) -> Result<BTreeMap<(PatientId, Uuid), Known>, DbError> {
    let mut found = BTreeMap::new();
    for row in tx.fetch_all(&KNOWN, vec![org.0.into(), ids(patients)]).await? {
        let known = Known {
            stretch: Stretch::from_code(&row.text(2)?).ok_or(DbError::Decode { index: 2 })?,
            facts: u32::try_from(row.i64(3)?).unwrap_or(u32::MAX),
            input: row.uuid(4)?,
            made_at: row.time(5)?,
        };
        found.insert((PatientId(row.uuid(0)?), row.uuid(1)?), known);
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
    let rows = tx.fetch_all(&FORGOTTEN, vec![org.0.into(), ids(patients)]).await?;
    rows.iter().map(|row| Ok((PatientId(row.uuid(0)?), row.time(1)?))).collect()
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
    let found = recurring::words(tx, org, keys, facts).await?;
    Ok(found.into_iter().map(|(id, words, evidence)| (id, (words, evidence))).collect())
}

fn ids(patients: &[PatientId]) -> Arg {
    Arg::Uuids(patients.iter().map(|patient| patient.0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use anamnesis_sql::{Access, Database, Location};

    #[tokio::test]
    async fn who_is_due_is_found_by_what_is_recent_and_not_by_walking_all_patients() {
        let db = Database::open(&Location::Memory).await.unwrap();
        let mut tx = db.begin(Access::Platform).await.unwrap();
        let explain = Sql::new(Box::leak(format!("EXPLAIN QUERY PLAN {}", PATIENTS.sqlite()).into_boxed_str()));
        let nil = || Uuid::nil().into();
        let plan = tx.fetch_all(&explain, vec![nil(), 1i64.into(), 0i64.into(), nil(), 1i64.into()]).await.unwrap();
        let plan: Vec<String> = plan.iter().map(|row| row.text(3).unwrap()).collect();
        for index in
            ["documents_recorded (org_id=? AND recorded_at>", "memory_purge (org_id=? AND state=? AND state_at>"]
        {
            assert!(plan.iter().any(|line| line.contains(index)), "{plan:?}");
        }
    }
}
