//! Records of older systems as they were imported: kept whole, redacted and sealed, so that they are exported as they came.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;
use uuid::Uuid;

use super::seal::{Sealer, open_record};
use super::{Store, StoreError};
use anamnesis_core::ids::derive;
use anamnesis_core::legacy::LegacyFormat;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::Cell;
use anamnesis_sql::{Access, Sql};

static KEEP: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "INSERT INTO legacy_record (org_id, patient_id, id, format, ordinal, record_hash, record_sealed, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8) ON CONFLICT (org_id, patient_id, id) DO UPDATE SET \
         record_hash = excluded.record_hash, record_sealed = excluded.record_sealed, updated_at = excluded.updated_at",
    )
});
static HASHES: LazyLock<Sql> =
    LazyLock::new(|| Sql::new("SELECT id, record_hash FROM legacy_record WHERE org_id = $1 AND patient_id = $2"));
static RECORDS: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT id, format, record_sealed FROM legacy_record WHERE org_id = $1 AND patient_id = $2 ORDER BY ordinal, id",
    )
});

pub fn statements() -> Vec<&'static Sql> {
    vec![&KEEP, &HASHES, &RECORDS]
}

/// The id under which a record is kept: of its own id, or of all it says.
pub fn record_id(scope: Scope, format: LegacyFormat, own: &str) -> Uuid {
    let (org, patient) = (scope.org().0, scope.patient().0);
    derive("legacy", &[org.as_bytes(), patient.as_bytes(), format.code().as_bytes(), own.as_bytes()])
}

pub(crate) fn record_cell(id: Uuid) -> Cell {
    Cell { table: "legacy_record", row: id, column: "record" }
}

/// A record as it is kept.
#[derive(Debug, Clone, Copy)]
pub struct KeptRecord<'r> {
    pub id: Uuid,
    pub format: LegacyFormat,
    /// Its place among those that came with it.
    pub ordinal: usize,
    /// Keyed; tells it from another version of itself.
    pub hash: [u8; 32],
    /// Redacted.
    pub record: &'r Value,
}

impl Store {
    /// Keyed hashes of the records that are kept, by id.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn legacy_hashes(&self, scope: Scope) -> Result<HashMap<Uuid, [u8; 32]>, StoreError> {
        let rows = self.rows(&HASHES, scope, Vec::new()).await?;
        rows.iter().map(|row| Ok((row.uuid(0)?, row.bytes(1)?))).collect()
    }

    /// Keeps a redacted record under its id.
    ///
    /// # Errors
    /// When the store cannot be written, or nothing is known of the patient.
    pub async fn keep_legacy(&self, scope: Scope, kept: KeptRecord<'_>) -> Result<(), StoreError> {
        let KeptRecord { id, format, ordinal, hash, record } = kept;
        let keys = self.keys_of(scope).await?.ok_or(StoreError::Race)?;
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
        tx.execute(&KEEP, args).await?;
        tx.commit().await?;
        Ok(())
    }

    /// The records of a patient as they came, in the order in which they came.
    ///
    /// # Errors
    /// When the store cannot be read or a cell does not open.
    pub async fn legacy_records(&self, scope: Scope) -> Result<Vec<(LegacyFormat, Value)>, StoreError> {
        let Some(keys) = self.keys_of(scope).await? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for row in self.rows(&RECORDS, scope, Vec::new()).await? {
            let format = LegacyFormat::from_code(&row.text(1)?).ok_or(StoreError::Shape)?;
            found.push((format, open_record(&keys, record_cell(row.uuid(0)?), &row.blob(2)?)?));
        }
        Ok(found)
    }
}
