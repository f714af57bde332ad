//! The patient's own row, stated preferences and open risk flags.

use chrono::{DateTime, Utc};
use serde::Serialize;
use uuid::Uuid;

use super::{ReadInstant, code, number};
use crate::encrypted_columns::{open_record, open_text};
use crate::records::{FilePlace, RiskDetail};
use crate::statements::read::patients as sql;
use crate::write::profile::{preference_cell, profile_cell};
use crate::{MemoryReader, StoreError};
use anamnesis_core::document::DocumentType;
use anamnesis_core::fact_date::DatePrecision;
use anamnesis_core::finding::Experiencer;
use anamnesis_core::ids::{DocumentId, OrgId, PatientId};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::ColumnRef;
use anamnesis_sql::Access;

/// Facts of profile events that are not clinical.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PatientProfile {
    /// 0–100.
    pub cognitive_state: Option<f64>,
    pub(crate) cognitive_state_at: Option<DateTime<Utc>>,
    pub disclaimer_accepted_at: Option<DateTime<Utc>>,
    pub region: Option<String>,
    pub privacy_tier: Option<String>,
    pub emergency_contacts: Vec<String>,
    pub(crate) profile_at: Option<DateTime<Utc>>,
    /// Nothing is stored while this is on.
    pub ephemeral: bool,
}

/// A stated preference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PreferenceRow {
    pub key: String,
    pub value: String,
    pub source: String,
    pub(crate) confidence: f64,
    pub stated_at: DateTime<Utc>,
}

/// A danger that a current document mentions; a denial is stored as one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RiskFlag {
    pub(crate) id: Uuid,
    pub class: String,
    pub denied: bool,
    pub experiencer: Experiencer,
    /// `rules` or `learned`; `None` for risks of versions that did not record it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Probability in hundredths (0.01–0.99) where the classifier found it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// `none` for a denial, `low`, `medium` or `high` (docs/risk.md); `None` for risks of versions that did not record
    /// it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temporality: Option<String>,
    /// The relative.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<String>,
    /// The precision of `at` where the text says when it happened; absent where `at` is the document's own time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) precision: Option<DatePrecision>,
    pub quote: String,
    pub(crate) document_id: DocumentId,
    pub(crate) revision: u32,
    /// Where in an uploaded file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<FilePlace>,
    pub at: DateTime<Utc>,
    #[serde(skip)]
    pub document_type: Option<DocumentType>,
    /// A clinician vouches for the document.
    #[serde(skip)]
    pub signed: bool,
}

impl MemoryReader<'_> {
    /// The patient's row; `None` when nothing is known of the patient.
    ///
    /// # Errors
    /// When the store cannot be read or a cell does not open.
    pub async fn profile(self, scope: Scope) -> Result<Option<PatientProfile>, StoreError> {
        let Some(keys) = self.keys_of(scope).await? else { return Ok(None) };
        let Some(row) = self.rows(&sql::PROFILE, scope, Vec::new()).await?.into_iter().next() else { return Ok(None) };
        let open = |at: usize, column| -> Result<Option<String>, StoreError> {
            row.opt_blob(at)?.map(|sealed| open_text(&keys, profile_cell(scope, column), &sealed)).transpose()
        };
        let contacts = match row.opt_blob(sql::profile::EMERGENCY_CONTACTS_SEALED)? {
            Some(sealed) => open_record(&keys, profile_cell(scope, "emergency_contacts"), &sealed)?,
            None => Vec::new(),
        };
        Ok(Some(PatientProfile {
            cognitive_state: row.opt_f64(sql::profile::COGNITIVE_STATE)?,
            cognitive_state_at: row.opt_time(sql::profile::COGNITIVE_STATE_AT)?,
            disclaimer_accepted_at: row.opt_time(sql::profile::DISCLAIMER_ACCEPTED_AT)?,
            region: open(sql::profile::REGION_SEALED, "region")?,
            privacy_tier: open(sql::profile::PRIVACY_TIER_SEALED, "privacy_tier")?,
            emergency_contacts: contacts,
            profile_at: row.opt_time(sql::profile::PROFILE_AT)?,
            ephemeral: row.bool(sql::profile::EPHEMERAL)?,
        }))
    }

    /// Stated preferences, newest first.
    ///
    /// # Errors
    /// As [`MemoryReader::profile`].
    pub async fn preferences(self, scope: Scope, when: ReadInstant) -> Result<Vec<PreferenceRow>, StoreError> {
        let Some(keys) = self.keys_of(scope).await? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for row in self.rows(&sql::PREFERENCES, scope, Vec::new()).await? {
            let hash: [u8; 32] = row.bytes(sql::preferences::KEY_HASH)?;
            let stated_at = row.time(sql::preferences::STATED_AT)?;
            if when.limit().is_some_and(|limit| stated_at > limit) {
                continue;
            }
            found.push(PreferenceRow {
                key: open_text(&keys, preference_cell(&hash, "key"), &row.blob(sql::preferences::KEY_SEALED)?)?,
                value: open_text(&keys, preference_cell(&hash, "value"), &row.blob(sql::preferences::VALUE_SEALED)?)?,
                source: row.text(sql::preferences::SOURCE)?,
                confidence: row.f64(sql::preferences::CONFIDENCE)?,
                stated_at,
            });
        }
        Ok(found)
    }

    /// Risk flags of current documents, newest first; denials included.
    ///
    /// # Errors
    /// As [`MemoryReader::profile`].
    pub async fn risks(self, scope: Scope, when: ReadInstant) -> Result<Vec<RiskFlag>, StoreError> {
        let Some(keys) = self.keys_of(scope).await? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for row in self.rows(&sql::RISKS, scope, vec![self.instant(when).into()]).await? {
            let (id, at) = (row.uuid(sql::risks::ID)?, row.time(sql::risks::AT)?);
            if when.limit().is_some_and(|limit| at > limit) {
                continue;
            }
            let cell = ColumnRef { table: "risk_flag", row: id, column: "evidence" };
            let sealed = row.opt_blob(sql::risks::FILE_SEALED)?;
            let file =
                sealed.map(|sealed| open_record(&keys, ColumnRef { column: "file", ..cell }, &sealed)).transpose()?;
            let detail: Option<RiskDetail> = match row.opt_blob(sql::risks::DETAIL_SEALED)? {
                Some(sealed) => Some(open_record(&keys, ColumnRef { column: "detail", ..cell }, &sealed)?),
                None => None,
            };
            let detail = detail.unwrap_or_default();
            let happened = detail.at.and_then(|date| date.day.and_hms_opt(0, 0, 0)).map(|day| day.and_utc());
            found.push(RiskFlag {
                id,
                class: row.text(sql::risks::CLASS)?,
                denied: row.bool(sql::risks::DENIED)?,
                experiencer: code(&row, sql::risks::EXPERIENCER, Experiencer::from_code)?,
                by: row.opt_text(sql::risks::HEARD_BY)?,
                confidence: row.opt_f64(sql::risks::PROBABILITY)?,
                level: row.opt_text(sql::risks::LEVEL)?,
                temporality: row.opt_text(sql::risks::TEMPORALITY)?,
                relation: detail.relation,
                precision: detail.at.map(|date| date.precision),
                quote: quote(&keys, cell, &row.blob(sql::risks::EVIDENCE_SEALED)?)?,
                document_id: DocumentId(row.uuid(sql::risks::DOCUMENT_ID)?),
                revision: number(&row, sql::risks::REVISION)?,
                file,
                at: happened.unwrap_or(at),
                document_type: DocumentType::from_code(&row.text(sql::risks::DOCUMENT_TYPE)?),
                signed: row.opt_uuid(sql::risks::SIGNED_BY)?.is_some(),
            });
        }
        Ok(found)
    }

    /// Patients of an organisation of whom anything was ever stored.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn find_patients(self, org: OrgId) -> Result<Vec<PatientId>, StoreError> {
        let mut tx = self.db.read(Access::Organization(org)).await?;
        let rows = tx.fetch_all(&sql::OF_ORGANIZATION, vec![org.0.into()]).await?;
        rows.iter().map(|row| Ok(PatientId(row.uuid(sql::of_organization::PATIENT_ID)?))).collect()
    }
}

/// Empty if the source was removed and only its findings are left (`store::write::retention`).
fn quote(keys: &anamnesis_crypto::PatientKeys, cell: ColumnRef, sealed: &[u8]) -> Result<String, StoreError> {
    if sealed.is_empty() { Ok(String::new()) } else { open_text(keys, cell, sealed) }
}
