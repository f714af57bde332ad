//! The check of a chain from its first block to its last, and the erasing of persons from it.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::{AuditedAction, PlatformSalt, block, stored, write};
use crate::statements::audit_trail::OF_PATIENT;
use crate::statements::audit_trail::verification as sql;
use crate::{AuditStore, StoreError};
use anamnesis_core::audit::{self, Actor, ChainCheck, ChainReport, Head, StoredEntry};
use anamnesis_core::clock::ordered_id;
use anamnesis_core::ids::OrgId;
use anamnesis_core::scope::Scope;
use anamnesis_sql::{Access, Arg};

/// Entries that are checked at a time.
const PAGE: i64 = 5_000;

impl AuditStore<'_> {
    /// Checks the chain of an organisation. `heads` are block heads that were stored elsewhere, of any organisation.
    ///
    /// # Errors
    /// Of the database. Faults of the chain are in the report.
    pub async fn check_audit(
        self,
        org: OrgId,
        heads: &[Head],
        term_began: DateTime<Utc>,
    ) -> Result<ChainReport, StoreError> {
        let salter = PlatformSalt(self.keys.platform());
        let mut check = ChainCheck::new(org, &salter, heads, term_began);
        let mut tx = self.db.read(Access::Organization(org)).await?;
        let mut after = -1i64;
        loop {
            let blocks = tx.fetch_all(&sql::BLOCKS, vec![org.0.into(), after.into()]).await?;
            let blocks = blocks.iter().map(|row| block(org, row)).collect::<Result<Vec<_>, _>>()?;
            let Some(last) = blocks.last() else { break };
            for block in &blocks {
                let number = i64::try_from(block.number).map_err(|_| StoreError::Shape)?;
                let rows = tx.fetch_all(&sql::BY_BLOCK, vec![org.0.into(), number.into()]).await?;
                check.block(block, &rows.iter().map(stored).collect::<Result<Vec<_>, _>>()?);
            }
            after = i64::try_from(last.number).map_err(|_| StoreError::Shape)?;
        }
        let mut after = Uuid::nil();
        loop {
            let rows = tx.fetch_all(&sql::OUTSIDE, vec![org.0.into(), after.into(), PAGE.into()]).await?;
            let Some(last) = rows.last() else { break };
            after = last.uuid(sql::outside::ID)?;
            for row in &rows {
                check.outside(&stored(row)?, self.clock.now());
            }
        }
        Ok(check.end())
    }

    /// Takes the patient and the persons out of a patient's sealed entries. Their leaves stay, so that the chain still shows that
    /// nothing else was changed, and one entry says by whom and how many. Returns their number.
    ///
    /// # Errors
    /// Of the database: on PostgreSQL the role is one of `anamnesis_audit`.
    pub async fn erase_audit(self, scope: Scope, actor: &Actor) -> Result<u64, StoreError> {
        let org = scope.org();
        self.seal_audit(org).await?;
        let now = self.clock.now();
        let mut tx = self.db.begin(Access::Organization(org)).await?;
        let all = [
            Arg::from(org.0),
            scope.patient().0.into(),
            "".into(),
            "".into(),
            i64::MIN.into(),
            i64::MAX.into(),
            i64::MAX.into(),
        ];
        let rows = tx.fetch_all(&OF_PATIENT, all.to_vec()).await?;
        let own = rows.iter().map(stored).collect::<Result<Vec<_>, _>>()?;
        let own: Vec<&StoredEntry> = own.iter().filter(|stored| stored.block.is_some()).collect();
        if own.is_empty() {
            return Ok(0);
        }
        let id = ordered_id(now, self.entropy.as_ref());
        let salter = PlatformSalt(self.keys.platform());
        let rows = own.iter().map(|stored| {
            let leaf = stored.leaf();
            let left = stored.without_persons(leaf, id);
            let row = sql::erase::Row {
                org_id: org.0.into(),
                patient_id: scope.patient().0.into(),
                id: stored.entry.id.into(),
                nobody: left.entry.patient.into(),
                salt: left.salt_of_erased(&salter).to_vec().into(),
                leaf: leaf.to_vec().into(),
                erased_by: id.into(),
                now: now.into(),
            };
            row.into()
        });
        // Another process erased some of them meanwhile: nothing is done, and nothing is said.
        if tx.bulk(&sql::ERASE, rows.collect()).await? != own.len() as u64 {
            return Err(StoreError::Race);
        }
        let count = own.len().to_string();
        let done = AuditedAction { org, patient: None, action: audit::ERASED, subject: None, outcome: &count };
        write(&mut tx, self.keys.platform(), &[done.entry(id, now, actor)]).await?;
        tx.commit().await?;
        Ok(own.len() as u64)
    }
}
