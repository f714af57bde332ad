//! Sealing cells and opening them again.

use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::StoreError;
use anamnesis_core::clock::Entropy;
use anamnesis_core::ids::{OrgId, PatientId, derive};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{ColumnRef, PatientKeys};
use anamnesis_sql::Arg;

/// Seals the cells of one patient.
#[derive(Clone, Copy)]
pub(crate) struct Sealer<'a> {
    pub(crate) keys: &'a PatientKeys,
    pub(crate) entropy: &'a dyn Entropy,
}

impl Sealer<'_> {
    pub(crate) fn text(&self, cell: ColumnRef, text: &str) -> Arg {
        Arg::Blob(self.keys.seal(cell, text.as_bytes(), self.entropy))
    }

    pub(crate) fn optional(&self, cell: ColumnRef, text: Option<&str>) -> Arg {
        text.map_or(Arg::Null, |text| self.text(cell, text))
    }

    /// Any record as JSON.
    pub(crate) fn record(&self, cell: ColumnRef, record: &impl Serialize) -> Result<Arg, StoreError> {
        let json = serde_json::to_vec(record).map_err(|_| StoreError::Shape)?;
        Ok(Arg::Blob(self.keys.seal(cell, &json, self.entropy)))
    }

    pub(crate) fn optional_record(&self, cell: ColumnRef, record: Option<&impl Serialize>) -> Result<Arg, StoreError> {
        record.map_or(Ok(Arg::Null), |record| self.record(cell, record))
    }
}

pub(crate) fn open_text(keys: &PatientKeys, cell: ColumnRef, sealed: &[u8]) -> Result<String, StoreError> {
    String::from_utf8(keys.open(cell, sealed)?).map_err(|_| StoreError::Shape)
}

pub(crate) fn open_record<T: DeserializeOwned>(
    keys: &PatientKeys,
    cell: ColumnRef,
    sealed: &[u8],
) -> Result<T, StoreError> {
    serde_json::from_slice(&keys.open(cell, sealed)?).map_err(|_| StoreError::Shape)
}

/// The row id of a revision of a document, for its sealed cells.
pub fn document_row(document: Uuid, revision: u32) -> Uuid {
    derive("document.row", &[document.as_bytes(), &revision.to_be_bytes()])
}

/// The row id of a row keyed by a hash.
pub(crate) fn hash_row(hash: &[u8; 32]) -> Uuid {
    derive("hash.row", &[hash])
}

/// The patient whose key two columns name; `None`: the platform's.
pub(crate) fn sealed_for(org: Option<Uuid>, patient: Option<Uuid>) -> Result<Option<Scope>, StoreError> {
    match (org, patient) {
        (Some(org), Some(patient)) => {
            Ok(Some(Scope::new(OrgId(org), PatientId(patient)).map_err(|_| StoreError::Shape)?))
        }
        _ => Ok(None),
    }
}
