//! What a withdrawal does to memories where the organisation has them forgotten: a soft deletion like any other, which can be
//! recovered as long.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use uuid::Uuid;

use super::Writer;
use crate::StoreError;
use crate::consents::{self, NewConsent};
use crate::records::NewAct;
use anamnesis_core::audit::Actor;
use anamnesis_core::consent::{ConsentScope, Provision};
use anamnesis_core::fold::{Act, Deed};
use anamnesis_core::ids::{MemoryEventId, MemoryId, derive};
use anamnesis_core::memory::SetBy;
use anamnesis_core::scope::Scope;
use anamnesis_sql::{Arg, Sql};

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
        for scope in scopes {
            let patients = Arg::Uuids(vec![scope.patient().0]);
            let rows = consents::rows_of(self.tx, self.target.org, patients).await?;
            let all = rows.get(&scope.patient()).map(Vec::as_slice).unwrap_or_default();
            let in_force =
                consents::consents(all, self.keys_of(scope)?).in_force(ConsentScope::Memory, self.target.now);
            if in_force != Some(Provision::Deny) {
                continue;
            }
            let said: Vec<Uuid> = consents.iter().filter(|one| one.scope == scope).map(|one| one.id).collect();
            let Some(last) = said.last() else { continue };
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
