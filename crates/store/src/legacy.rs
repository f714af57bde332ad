//! Imported records of older systems: stored whole, redacted and sealed, so that they can be exported as they arrived.

use std::collections::HashMap;

use serde_json::Value;
use uuid::Uuid;

use super::encrypted_columns::{Sealer, open_record};
use super::{IntakeStore, StoreError};
use crate::statements::legacy as sql;
use anamnesis_core::ids::derive;
use anamnesis_core::legacy::LegacyFormat;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::ColumnRef;
use anamnesis_sql::Access;

/// The id of a stored record: from its original id, or from its whole content.
pub fn record_id(scope: Scope, format: LegacyFormat, own: &str) -> Uuid {
    let (org, patient) = (scope.org().0, scope.patient().0);
    derive("legacy", &[org.as_bytes(), patient.as_bytes(), format.code().as_bytes(), own.as_bytes()])
}

pub(crate) fn record_cell(id: Uuid) -> ColumnRef {
    ColumnRef { table: "legacy_record", row: id, column: "record" }
}

/// A record as it is stored.
#[derive(Debug, Clone, Copy)]
pub struct KeptRecord<'r> {
    pub id: Uuid,
    pub format: LegacyFormat,
    /// Its position among the records of the same import.
    pub ordinal: usize,
    /// Keyed; distinguishes the versions of a record.
    pub hash: [u8; 32],
    /// Redacted.
    pub record: &'r Value,
}

impl IntakeStore<'_> {
    /// Keyed hashes of the stored records, by id.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn legacy_hashes(self, scope: Scope) -> Result<HashMap<Uuid, [u8; 32]>, StoreError> {
        let rows = self.read().rows(&sql::HASHES_OF_PATIENT, scope, Vec::new()).await?;
        rows.iter()
            .map(|row| Ok((row.uuid(sql::hashes_of_patient::ID)?, row.bytes(sql::hashes_of_patient::RECORD_HASH)?)))
            .collect()
    }

    /// Keeps a redacted record under its id.
    ///
    /// # Errors
    /// When the store cannot be written, or nothing is known of the patient.
    pub async fn keep_legacy(self, scope: Scope, kept: KeptRecord<'_>) -> Result<(), StoreError> {
        let KeptRecord { id, format, ordinal, hash, record } = kept;
        let keys = self.read().keys_of(scope).await?.ok_or(StoreError::Race)?;
        let sealer = Sealer { keys: &keys, entropy: self.entropy.as_ref() };
        let mut tx = self.db.begin(Access::Organization(scope.org())).await?;
        let args = vec![
            scope.org().0.into(),
            scope.patient().0.into(),
            id.into(),
            format.code().into(),
            (ordinal as i64).into(),
            hash.into(),
            sealer.record(record_cell(id), record)?,
            self.clock.now().into(),
        ];
        tx.execute(&sql::UPSERT, args).await?;
        tx.commit().await?;
        Ok(())
    }

    /// The records of a patient as they came, in the order in which they came.
    ///
    /// # Errors
    /// When the store cannot be read or a cell does not open.
    pub async fn legacy_records(self, scope: Scope) -> Result<Vec<(LegacyFormat, Value)>, StoreError> {
        let Some(keys) = self.read().keys_of(scope).await? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for row in self.read().rows(&sql::OF_PATIENT, scope, Vec::new()).await? {
            let format = LegacyFormat::from_code(&row.text(sql::of_patient::FORMAT)?).ok_or(StoreError::Shape)?;
            found.push((
                format,
                open_record(
                    &keys,
                    record_cell(row.uuid(sql::of_patient::ID)?),
                    &row.blob(sql::of_patient::RECORD_SEALED)?,
                )?,
            ));
        }
        Ok(found)
    }
}
