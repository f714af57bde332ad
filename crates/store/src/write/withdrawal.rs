//! Withdrawal of consent, where the organisation wants memories to be forgotten: a soft deletion like any other, with
//! the same term of recovery.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::BatchWriter;
use super::maintenance::MaintenanceWriter;
use crate::StoreError;
use crate::consents::{self, Denial, NewConsent};
use crate::records::NewMemoryAct;
use crate::statements::write::withdrawal as sql;
use anamnesis_core::audit::Actor;
use anamnesis_core::ids::{MemoryEventId, MemoryId, PatientId, derive};
use anamnesis_core::memory::SetBy;
use anamnesis_core::projection::{MemoryAction, PersonAct};
use anamnesis_core::scope::Scope;
use anamnesis_sql::{Arg, Transaction};

impl BatchWriter<'_> {
    /// Applies a withdrawal of consent to memory that is now in force. Quarantined messages of the patient are dropped,
    /// because they may not be stored any more. If the organisation says so, memories are forgotten.
    pub(super) async fn withdraw(&mut self, consents: &[NewConsent]) -> Result<(), StoreError> {
        let closing = || consents.iter().filter(|one| one.closes);
        let closed: BTreeSet<Scope> = closing().map(|one| one.scope).collect();
        for scope in closed {
            if self.denial_of(scope).await?.is_some() {
                self.drop_quarantined(scope, DateTime::UNIX_EPOCH).await?;
            }
        }
        self.forget_denied(closing().filter(|one| one.forgets).map(|one| one.scope).collect()).await
    }

    /// Drops the content of a patient's quarantined messages since an instant.
    pub(super) async fn drop_quarantined(&mut self, scope: Scope, since: DateTime<Utc>) -> Result<(), StoreError> {
        let of = vec![scope.org().0.into(), scope.patient().0.into(), since.into(), self.target.now.into()];
        self.tx.execute(&sql::DROP_QUARANTINED, of).await?;
        Ok(())
    }

    async fn denial_of(&mut self, scope: Scope) -> Result<Option<Denial>, StoreError> {
        let rows = consents::rows_of(self.tx, self.target.org, Arg::Uuids(vec![scope.patient().0])).await?;
        let all = rows.get(&scope.patient()).map(Vec::as_slice).unwrap_or_default();
        Ok(consents::denying(all, self.keys_of(scope)?, self.target.now))
    }

    /// Forgets the memories of those of these patients whose denial of memory is in force now.
    async fn forget_denied(&mut self, scopes: BTreeSet<Scope>) -> Result<(), StoreError> {
        for scope in scopes {
            let Some(Denial { id: last, since }) = self.denial_of(scope).await? else { continue };
            let since = since.timestamp_micros().to_be_bytes();
            let held = self.tx.fetch_all(&sql::HELD, vec![scope.org().0.into(), scope.patient().0.into()]).await?;
            let mut acts = Vec::with_capacity(held.len());
            for row in held {
                let memory = MemoryId(row.uuid(sql::held::ID)?);
                let id = MemoryEventId(derive("withdrawn", &[last.as_bytes(), &since, memory.0.as_bytes()]));
                let at = self.target.now;
                // Withdrawal is a right and no clinical claim, so allergies are forgotten like other memories.
                let act = PersonAct { id, memory, at, deed: MemoryAction::Forgotten, by: SetBy::Task, evidence: None };
                acts.push(NewMemoryAct { scope, act, by: SetBy::Task.code(), actor: Actor::program("consent") });
            }
            self.acts(&acts).await?;
        }
        self.fold().await
    }
}

impl MaintenanceWriter<'_> {
    /// Forgets the memories of patients whose denial of memory began since it was recorded.
    ///
    /// # Errors
    /// When the store refuses the rows or a cell does not open.
    pub async fn forget_withdrawn(&self, tx: &mut Transaction, patients: &[PatientId]) -> Result<(), StoreError> {
        if patients.is_empty() {
            return Ok(());
        }
        let mut writer = self.writer(tx);
        writer.hold(patients.iter().map(|patient| patient.0).collect()).await?;
        let scopes = patients.iter().filter_map(|patient| Scope::new(self.org, *patient).ok());
        let known = scopes.filter(|scope| self.keys.contains_key(scope)).collect();
        writer.forget_denied(known).await?;
        writer.flush_events().await
    }
}
