//! Recurring findings of a patient's log: the same attribute, stated in several documents. The compared columns are
//! unsealed; words are opened only for a derived finding.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::encrypted_columns::{open_record, open_text};
use super::records::{Evidence, FindingWords};
use super::{Keys, StoreError};
use crate::statements::recurrence as sql;
use crate::write::findings::finding_cell;
use anamnesis_core::finding::EntityType;
use anamnesis_core::ids::{FindingId, OrgId, PatientId};
use anamnesis_core::memory::{Class, Kind};
use anamnesis_core::projection::KeyHash;
use anamnesis_core::provenance::Trust;
use anamnesis_core::scope::Scope;
use anamnesis_sql::{Arg, DbError, Row, Transaction};
use anamnesis_text::Span;

/// One mention of an attribute: a finding without its words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mention {
    pub patient: PatientId,
    pub attribute: KeyHash,
    pub document: Uuid,
    /// The whole text that contains it, because a copy of a text is no recurrence.
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
    /// It still has its words. Without them nothing new is derived from it, and existing derived findings stay.
    pub is_worded: bool,
}

impl Mention {
    /// One document, or one text under several documents.
    pub fn is_same_evidence(&self, other: &Self) -> bool {
        self.document == other.document || self.text.is_some_and(|text| other.text == Some(text))
    }
}

/// A finding that was derived before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DerivedRow {
    pub patient: PatientId,
    pub finding: FindingId,
    pub source: Uuid,
    /// It counts: its sources existed at the last run.
    pub live: bool,
}

/// All that these patients said of themselves and that may recur, by patient, attribute and time.
///
/// # Errors
/// Of the database.
pub async fn mentions(
    tx: &mut Transaction,
    org: OrgId,
    patients: &[PatientId],
    until: DateTime<Utc>,
) -> Result<Vec<Mention>, DbError> {
    let list = Arg::Uuids(patients.iter().map(|patient| patient.0).collect());
    tx.fetch_all(&sql::FINDINGS, vec![org.0.into(), list, until.into()]).await?.iter().map(mention).collect()
}

/// Of a row of [`sql::FINDINGS`].
fn mention(row: &Row) -> Result<Mention, DbError> {
    let decode = |index| DbError::Decode { index };
    let trust = usize::try_from(row.i64(sql::findings::TRUST)? - 1).ok().and_then(|n| Trust::ALL.get(n).copied());
    let text = row.opt_blob(sql::findings::TEXT_HASH)?;
    let (kind, class) = (row.text(sql::findings::KIND)?, row.text(sql::findings::CLASS)?);
    Ok(Mention {
        patient: PatientId(row.uuid(sql::findings::PATIENT_ID)?),
        attribute: row.bytes(sql::findings::ATTRIBUTE_HASH)?,
        document: row.uuid(sql::findings::SOURCE_ID)?,
        text: text.map(|hash| hash.try_into().map_err(|_| decode(sql::findings::TEXT_HASH))).transpose()?,
        revision: u32::try_from(row.i64(sql::findings::REVISION)?).map_err(|_| decode(sql::findings::REVISION))?,
        finding: FindingId(row.uuid(sql::findings::ID)?),
        asserted_at: row.time(sql::findings::ASSERTED_AT)?,
        confidence: row.f64(sql::findings::INITIAL_CONFIDENCE)?,
        recorded_at: row.time(sql::findings::RECORDED_AT)?,
        trust: trust.ok_or(decode(sql::findings::TRUST))?,
        extraction_confidence: row.f64(sql::findings::EXTRACTION_CONFIDENCE)?,
        entity: EntityType::from_code(&row.text(sql::findings::ENTITY_TYPE)?)
            .ok_or(decode(sql::findings::ENTITY_TYPE))?,
        negated: row.bool(sql::findings::NEGATED)?,
        is_stated: kind == Kind::Belief.code() && class == Class::Preference.code(),
        is_worded: row.bool(sql::findings::IS_WORDED)?,
    })
}

/// Findings that `author` derived for these patients until then and that no person verified.
///
/// # Errors
/// Of the database.
pub async fn formed(
    tx: &mut Transaction,
    org: OrgId,
    patients: &[PatientId],
    author: &'static str,
    until: DateTime<Utc>,
) -> Result<Vec<DerivedRow>, DbError> {
    let list = Arg::Uuids(patients.iter().map(|patient| patient.0).collect());
    let row = |row: &Row| {
        Ok(DerivedRow {
            patient: PatientId(row.uuid(sql::formed::PATIENT_ID)?),
            finding: FindingId(row.uuid(sql::formed::ID)?),
            source: row.uuid(sql::formed::SOURCE_ID)?,
            live: row.bool(sql::formed::LIVE)?,
        })
    };
    tx.fetch_all(&sql::FORMED, vec![org.0.into(), list, author.into(), until.into()]).await?.iter().map(row).collect()
}

/// Those of these findings that the log has already.
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
    let rows = tx.fetch_all(&sql::KNOWN, vec![org.0.into(), pairs(findings)]).await?;
    rows.iter().map(|row| Ok(FindingId(row.uuid(sql::known::ID)?))).collect()
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
    for row in tx.fetch_all(&sql::WORDS, vec![org.0.into(), pairs(findings)]).await? {
        let (patient, id) = (PatientId(row.uuid(sql::words::PATIENT_ID)?), row.uuid(sql::words::ID)?);
        let scope = Scope::new(org, patient).map_err(|_| StoreError::Shape)?;
        let Some(keys) = keys.get(&scope) else { continue };
        let words = open_record(keys, finding_cell(id, "payload"), &row.blob(sql::words::PAYLOAD_SEALED)?)?;
        let offset = |at| row.i64(at).map(|n| usize::try_from(n).unwrap_or(0));
        // Empty if the source was removed and only its findings are left.
        let evidence = match row.opt_blob(sql::words::EVIDENCE_SEALED)?.filter(|sealed| !sealed.is_empty()) {
            Some(sealed) => Some(Evidence {
                quote: open_text(keys, finding_cell(id, "evidence"), &sealed)?,
                span: Span::new(offset(sql::words::EVIDENCE_START)?, offset(sql::words::EVIDENCE_END)?),
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
