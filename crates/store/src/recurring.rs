//! What recurs in a patient's log: findings of the same attribute, told in several documents. The columns that are compared
//! lie in the clear; words are opened for what is formed, and only then.

use std::collections::HashSet;
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::records::{Evidence, FindingWords};
use super::seal::{open_record, open_text};
use super::{Keys, StoreError};
use crate::write::findings::finding_cell;
use anamnesis_core::finding::EntityType;
use anamnesis_core::fold::KeyHash;
use anamnesis_core::ids::{FindingId, OrgId, PatientId};
use anamnesis_core::memory::{Class, Kind};
use anamnesis_core::provenance::Trust;
use anamnesis_core::scope::Scope;
use anamnesis_sql::{Arg, DbError, Row, Sql, Transaction};
use anamnesis_text::Span;

// What was forgotten recurs no more, unless it is told again, and what a model made of a text is nothing that was told: hypotheses end with their day.
static FINDINGS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT f.patient_id, f.attribute_hash, f.source_id, f.revision, f.id, f.asserted_at, f.initial_confidence, f.recorded_at, \
         f.trust, f.extraction_confidence, f.entity_type, f.negated, f.kind, f.class, \
         CASE WHEN f.tombstone_of IS NULL AND f.evidence_sealed IS NOT NULL THEN 1 ELSE 0 END, f.text_hash \
         FROM extracted_findings AS f WHERE f.org_id = $1 AND f.patient_id IN {uuids $2} AND f.live = 1 \
         AND f.entity_type IN ('symptom', 'event', 'preference', 'goal', 'relationship') AND f.class <> 'inference' \
         AND (f.negated = 0 OR f.entity_type = 'preference') AND f.ending = 0 AND f.uncertain = 0 AND f.experiencer = 'patient' \
         AND f.temporality = 'recent' AND f.document_type IS NOT NULL AND (f.document_type <> 'analysis' OR f.trust < 4) \
         AND f.recorded_at <= $3 AND NOT EXISTS (SELECT 1 FROM memory AS m \
           WHERE m.org_id = f.org_id AND m.patient_id = f.patient_id AND m.group_hash = f.group_hash \
             AND m.attribute_hash = f.attribute_hash AND m.state = 'inactive' AND m.state_at >= f.asserted_at) \
         ORDER BY f.patient_id, f.attribute_hash, f.asserted_at, f.source_id, f.id",
    )
});
static KNOWN: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new("SELECT id FROM extracted_findings WHERE org_id = $1 AND (patient_id, id) IN {pairs $2}")
});
// What a person verified or protects stands by itself, whatever it was formed of.
static FORMED: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT f.patient_id, f.id, f.source_id, f.live FROM extracted_findings AS f \
         WHERE f.org_id = $1 AND f.patient_id IN {uuids $2} AND f.extractor_version = $3 AND f.recorded_at <= $4 \
         AND NOT EXISTS (SELECT 1 FROM memory AS m WHERE m.org_id = f.org_id AND m.patient_id = f.patient_id \
           AND m.group_hash = f.group_hash AND (m.verification_count > 0 OR m.is_protected = 1)) \
         ORDER BY f.patient_id, f.id",
    )
});
static WORDS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT patient_id, id, payload_sealed, evidence_sealed, evidence_start, evidence_end FROM extracted_findings \
         WHERE org_id = $1 AND (patient_id, id) IN {pairs $2}",
    )
});

pub fn statements() -> Vec<&'static Sql> {
    vec![&FINDINGS, &KNOWN, &FORMED, &WORDS]
}

/// One telling of an attribute: a finding without its words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Telling {
    pub patient: PatientId,
    pub attribute: KeyHash,
    pub document: Uuid,
    /// The whole text that carries it: a copy of it tells nothing more.
    pub text: Option<KeyHash>,
    pub revision: u32,
    pub finding: FindingId,
    pub asserted_at: DateTime<Utc>,
    pub recorded_at: DateTime<Utc>,
    /// At creation, before decay.
    pub confidence: f64,
    pub extraction_confidence: f64,
    pub trust: Trust,
    pub entity: EntityType,
    pub negated: bool,
    /// A preference as a document states it.
    pub is_stated: bool,
    /// Its words are there. Without them nothing new is formed of it, and what was formed stays.
    pub is_worded: bool,
}

impl Telling {
    /// One document, or one text under several documents.
    pub fn is_same_evidence(&self, other: &Self) -> bool {
        self.document == other.document || self.text.is_some_and(|text| other.text == Some(text))
    }
}

/// What was formed before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormedRow {
    pub patient: PatientId,
    pub finding: FindingId,
    pub source: Uuid,
    /// It counts: what it was formed of was there when a night looked last.
    pub live: bool,
}

/// All that these patients told of themselves and that may recur, by patient, attribute and time.
///
/// # Errors
/// Of the database.
pub async fn tellings(
    tx: &mut Transaction,
    org: OrgId,
    patients: &[PatientId],
    until: DateTime<Utc>,
) -> Result<Vec<Telling>, DbError> {
    let list = Arg::Uuids(patients.iter().map(|patient| patient.0).collect());
    tx.fetch_all(&FINDINGS, vec![org.0.into(), list, until.into()]).await?.iter().map(telling).collect()
}

fn telling(row: &Row) -> Result<Telling, DbError> {
    let decode = |index| DbError::Decode { index };
    let trust = usize::try_from(row.i64(8)? - 1).ok().and_then(|n| Trust::ALL.get(n).copied());
    Ok(Telling {
        patient: PatientId(row.uuid(0)?),
        attribute: row.bytes(1)?,
        document: row.uuid(2)?,
        text: row.opt_blob(15)?.map(|hash| hash.try_into().map_err(|_| decode(15))).transpose()?,
        revision: u32::try_from(row.i64(3)?).map_err(|_| decode(3))?,
        finding: FindingId(row.uuid(4)?),
        asserted_at: row.time(5)?,
        confidence: row.f64(6)?,
        recorded_at: row.time(7)?,
        trust: trust.ok_or(decode(8))?,
        extraction_confidence: row.f64(9)?,
        entity: EntityType::from_code(&row.text(10)?).ok_or(decode(10))?,
        negated: row.bool(11)?,
        is_stated: row.text(12)? == Kind::Belief.code() && row.text(13)? == Class::Preference.code(),
        is_worded: row.bool(14)?,
    })
}

/// What `author` formed of these patients until then and nobody verified.
///
/// # Errors
/// Of the database.
pub async fn formed(
    tx: &mut Transaction,
    org: OrgId,
    patients: &[PatientId],
    author: &'static str,
    until: DateTime<Utc>,
) -> Result<Vec<FormedRow>, DbError> {
    let list = Arg::Uuids(patients.iter().map(|patient| patient.0).collect());
    let row = |row: &Row| {
        Ok(FormedRow {
            patient: PatientId(row.uuid(0)?),
            finding: FindingId(row.uuid(1)?),
            source: row.uuid(2)?,
            live: row.bool(3)?,
        })
    };
    tx.fetch_all(&FORMED, vec![org.0.into(), list, author.into(), until.into()]).await?.iter().map(row).collect()
}

/// Which of these findings the log holds already.
///
/// # Errors
/// Of the database.
pub async fn known(
    tx: &mut Transaction,
    org: OrgId,
    findings: &[(PatientId, FindingId)],
) -> Result<HashSet<FindingId>, DbError> {
    if findings.is_empty() {
        return Ok(HashSet::new());
    }
    let rows = tx.fetch_all(&KNOWN, vec![org.0.into(), pairs(findings)]).await?;
    rows.iter().map(|row| Ok(FindingId(row.uuid(0)?))).collect()
}

/// Words and, where it is still there, evidence of findings.
///
/// # Errors
/// Of the database, or when a cell does not open.
pub async fn words(
    tx: &mut Transaction,
    org: OrgId,
    keys: &Keys,
    findings: &[(PatientId, FindingId)],
) -> Result<Vec<(FindingId, FindingWords, Option<Evidence>)>, StoreError> {
    let mut found = Vec::new();
    for row in tx.fetch_all(&WORDS, vec![org.0.into(), pairs(findings)]).await? {
        let (patient, id) = (PatientId(row.uuid(0)?), row.uuid(1)?);
        let scope = Scope::new(org, patient).map_err(|_| StoreError::Shape)?;
        let Some(keys) = keys.get(&scope) else { continue };
        let words = open_record(keys, finding_cell(id, "payload"), &row.blob(2)?)?;
        let offset = |at| row.i64(at).map(|n| usize::try_from(n).unwrap_or(0));
        // Empty where the source went and only what was understood is left.
        let evidence = match row.opt_blob(3)?.filter(|sealed| !sealed.is_empty()) {
            Some(sealed) => Some(Evidence {
                quote: open_text(keys, finding_cell(id, "evidence"), &sealed)?,
                span: Span::new(offset(4)?, offset(5)?),
            }),
            None => None,
        };
        found.push((FindingId(id), words, evidence));
    }
    Ok(found)
}

fn pairs(findings: &[(PatientId, FindingId)]) -> Arg {
    Arg::Pairs(findings.iter().map(|(patient, id)| (patient.0, id.0.as_bytes().to_vec())).collect())
}
