//! What a withdrawal does to memories where the organisation has them forgotten: a soft deletion like any other, which can be
//! recovered as long.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::Writer;
use super::nightly::Shift;
use crate::StoreError;
use crate::consents::{self, NewConsent};
use crate::records::NewAct;
use anamnesis_core::audit::Actor;
use anamnesis_core::fold::{Act, Deed};
use anamnesis_core::ids::{MemoryEventId, MemoryId, PatientId, derive};
use anamnesis_core::memory::SetBy;
use anamnesis_core::scope::Scope;
use anamnesis_sql::{Arg, Sql, Transaction};

// A raw capture has no words of its own.
static HELD: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT id FROM memory WHERE org_id = $1 AND patient_id = $2 AND kind <> 'raw' AND state NOT IN ('inactive', 'quarantined') \
         ORDER BY id",
    )
});

pub(crate) fn statements() -> Vec<&'static Sql> {
    vec![&HELD]
}

impl Writer<'_> {
    /// Forgets the memories of patients who withdraw consent to memory, where it is in force now.
    pub(super) async fn forget_withdrawn(&mut self, consents: &[NewConsent]) -> Result<(), StoreError> {
        let scopes: BTreeSet<Scope> = consents.iter().filter(|one| one.forgets).map(|one| one.scope).collect();
        self.forget_denied(scopes).await
    }

    /// Forgets the memories of those of these patients whose denial of memory is in force now.
    async fn forget_denied(&mut self, scopes: BTreeSet<Scope>) -> Result<(), StoreError> {
        for scope in scopes {
            let patients = Arg::Uuids(vec![scope.patient().0]);
            let rows = consents::rows_of(self.tx, self.target.org, patients).await?;
            let all = rows.get(&scope.patient()).map(Vec::as_slice).unwrap_or_default();
            let keys = self.keys_of(scope)?;
            let Some(last) = consents::denying(all, keys, self.target.now) else { continue };
            let held = self.tx.fetch_all(&HELD, vec![scope.org().0.into(), scope.patient().0.into()]).await?;
            let mut acts = Vec::with_capacity(held.len());
            for row in held {
                let memory = MemoryId(row.uuid(0)?);
                let id = MemoryEventId(derive("withdrawn", &[last.as_bytes(), memory.0.as_bytes()]));
                let at = self.target.now;
                // A right, not a claim about what is so: allergies are forgotten with the rest.
                let act = Act { id, memory, at, deed: Deed::Forgotten, by: SetBy::Task, evidence: None };
                acts.push(NewAct { scope, act, by: SetBy::Task.code(), actor: Actor::program("consent") });
            }
            self.acts(&acts).await?;
        }
        self.fold().await
    }
}

impl Shift<'_> {
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
