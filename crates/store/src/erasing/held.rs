//! What is held of who or what was erased: receipts, and rows that should not be there.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::statements::{ALL, HOLDINGS, LazySql, OF_DOCUMENT, OF_MEMORY, OPEN, RECEIPTS};
use super::{Receipt, Subject, of, receipt};
use crate::{Store, StoreError};
use anamnesis_core::ids::OrgId;
use anamnesis_core::scope::Scope;
use anamnesis_sql::{Access, Transaction};

impl Store {
    /// How many rows of a patient each table still holds; empty ones are left out. What an erasure left is a fault.
    ///
    /// # Errors
    /// Of the database.
    pub async fn rows_of_patient(&self, scope: Scope) -> Result<BTreeMap<&'static str, u64>, StoreError> {
        let mut tx = self.db.read(Access::Organization(scope.org())).await?;
        rows_of(&mut tx, scope).await
    }

    /// How many rows are left of what was erased: of a document its revisions, passages, findings and archived texts; of a memory
    /// its row, links and history. What an erasure left is a fault.
    ///
    /// # Errors
    /// Of the database.
    pub async fn rows_of_part(
        &self,
        scope: Scope,
        subject: Subject,
    ) -> Result<BTreeMap<&'static str, u64>, StoreError> {
        let mut tx = self.db.read(Access::Organization(scope.org())).await?;
        let (tables, id): (&[(&'static str, LazySql)], Uuid) = match subject {
            Subject::Patient => return rows_of(&mut tx, scope).await,
            Subject::Document(id) => (&OF_DOCUMENT, id.0),
            Subject::Memory(id) => (&OF_MEMORY, id.0),
        };
        let mut left = BTreeMap::new();
        for (table, count) in tables {
            let row = tx.fetch_optional(count, [of(scope), vec![id.into()]].concat()).await?;
            let count = row.map(|row| row.i64(0)).transpose()?.map_or(0, i64::unsigned_abs);
            if count > 0 {
                left.insert(*table, count);
            }
        }
        Ok(left)
    }

    /// Receipts of a patient, oldest first, those in work included.
    ///
    /// # Errors
    /// Of the database.
    pub async fn erasures(&self, scope: Scope) -> Result<Vec<Receipt>, StoreError> {
        let mut tx = self.db.read(Access::Organization(scope.org())).await?;
        tx.fetch_all(&RECEIPTS, of(scope)).await?.iter().map(receipt).collect()
    }

    /// All receipts of an organisation, oldest first.
    ///
    /// # Errors
    /// Of the database.
    pub async fn all_erasures(&self, org: OrgId) -> Result<Vec<Receipt>, StoreError> {
        let mut tx = self.db.read(Access::Organization(org)).await?;
        tx.fetch_all(&ALL, vec![org.0.into()]).await?.iter().map(receipt).collect()
    }

    /// Erasures of an organisation that are not complete, a thousand at most.
    ///
    /// # Errors
    /// Of the database.
    pub async fn open_erasures(&self, org: OrgId) -> Result<Vec<Receipt>, StoreError> {
        let mut tx = self.db.read(Access::Organization(org)).await?;
        tx.fetch_all(&OPEN, vec![org.0.into()]).await?.iter().map(receipt).collect()
    }
}

/// Rows of a patient by table; empty ones are left out.
pub(super) async fn rows_of(tx: &mut Transaction, scope: Scope) -> Result<BTreeMap<&'static str, u64>, StoreError> {
    let mut left = BTreeMap::new();
    for holding in HOLDINGS.iter() {
        let row = tx.fetch_optional(&holding.count, of(scope)).await?;
        let count = row.map(|row| row.i64(0)).transpose()?.map_or(0, i64::unsigned_abs);
        if count > 0 {
            left.insert(holding.table, count);
        }
    }
    Ok(left)
}
