//! Patients: the row that everything else hangs on, consent, and the audit of what people did.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use uuid::Uuid;

use super::BatchWriter;
use crate::StoreError;
use crate::audit_trail::{self, AuditedAction};
use crate::consents::{self, NewConsent};
use crate::covered::{self, CoveredTable};
use crate::encrypted_columns::Sealer;
use crate::erasure;
use crate::records::{InboxEntry, NewMemoryAct, OrgBatch};
use crate::statements::write::patients as sql;
use anamnesis_core::audit::{Actor, AuditEntry};
use anamnesis_core::ids::{OrgId, derive};
use anamnesis_core::scope::Scope;
use anamnesis_sql::{Arg, Transaction};

pub(super) static COVERED: covered::LazyCoveredTable = LazyLock::new(|| {
    let columns = ["id", "scope_hash", "provision", "from_at", "until_at", "recorded_by"];
    CoveredTable::with_later("consent", (&columns, &["stated_at"]), &sql::consent::COLUMNS, "")
});

/// Locks these patients for other writers until the transaction ends: the rows that are read now are the ones that
/// change.
///
/// # Errors
/// Of the database.
pub(crate) async fn hold(tx: &mut Transaction, org: OrgId, patients: Vec<Uuid>) -> Result<(), StoreError> {
    tx.fetch_all(&sql::HOLD, vec![org.0.into(), Arg::Uuids(patients)]).await?;
    Ok(())
}

impl BatchWriter<'_> {
    pub(super) async fn patients(&mut self, batch: &OrgBatch) -> Result<(), StoreError> {
        let org = self.org().0;
        let now = Arg::from(self.target.now);
        let patients: BTreeSet<Scope> = batch.inbox.iter().map(|m| m.scope).collect();
        let row = |s: &Scope| {
            let patient_id = s.patient().0.into();
            sql::patient::Row { org_id: org.into(), patient_id, created_at: now.clone(), updated_at: now.clone() }
                .into()
        };
        self.tx.bulk(&sql::PATIENT, patients.iter().map(row).collect()).await?;
        self.hold(patients.iter().map(|s| s.patient().0).collect()).await?;
        self.still_permitted(batch).await?;
        self.profiles(&batch.profiles).await?;
        self.ephemeral_modes(&batch.ephemeral).await?;
        let consents = batch.consents.iter().map(|c| self.consent_row(c)).collect::<Result<Vec<_>, _>>()?;
        self.tx.bulk(&sql::CONSENT, consents).await?;
        audit_trail::write(self.tx, self.platform, &self.acted(batch)).await
    }

    /// Fails if a patient withdrew consent or began ephemeral mode since admission; the patients are locked.
    async fn still_permitted(&mut self, batch: &OrgBatch) -> Result<(), StoreError> {
        let documents = batch.documents.iter().map(|d| d.scope);
        let findings = batch.findings.iter().map(|f| f.scope);
        let profiles = batch.profiles.iter().map(|p| p.scope);
        let said: BTreeSet<Uuid> = documents.chain(findings).chain(profiles).map(|s| s.patient().0).collect();
        if said.is_empty() {
            return Ok(());
        }
        consents::still(self.tx, self.target.org, said.into_iter().collect(), &batch.looked).await
    }

    /// Keeps other writers off these patients until the transaction ends, and writes nothing of one who was erased.
    pub(super) async fn hold(&mut self, patients: BTreeSet<Uuid>) -> Result<(), StoreError> {
        let patients: Vec<Uuid> = patients.into_iter().collect();
        hold(self.tx, self.org(), patients.clone()).await?;
        erasure::none_is_gone(self.tx, self.target.org, (self.platform, self.target.now), patients).await
    }

    /// The act of a job on a patient's rows: a unique id, its code, and its subject.
    pub(super) async fn audit_job(
        &mut self,
        done: Vec<(Scope, Uuid, &'static str, Option<Uuid>)>,
    ) -> Result<(), StoreError> {
        let (job, now) = (Actor::program("job"), self.target.now);
        let entry = |(scope, id, action, subject): (Scope, Uuid, &'static str, Option<Uuid>)| {
            let id = derive("audit", &[id.as_bytes(), action.as_bytes()]);
            AuditedAction { subject, ..AuditedAction::to(scope, action) }.entry(id, now, &job)
        };
        let entries: Vec<AuditEntry> = done.into_iter().map(entry).collect();
        audit_trail::write(self.tx, self.platform, &entries).await
    }

    fn consent_row(&self, c: &NewConsent) -> Result<Vec<Arg>, StoreError> {
        let keys = self.keys_of(c.scope)?;
        let sealer = Sealer { keys, entropy: self.entropy };
        let now = Arg::from(self.target.now);
        let row = sql::consent::Row {
            org_id: self.org().0.into(),
            patient_id: c.scope.patient().0.into(),
            id: c.id.into(),
            scope_hash: consents::scope_hash(keys, &c.consent_scope).into(),
            scope_sealed: sealer.text(consents::consent_cell(c.id, "scope"), &c.consent_scope),
            reason_sealed: sealer.optional(consents::consent_cell(c.id, "reason"), c.reason.as_deref()),
            provision: c.provision.code().into(),
            from_at: c.from.into(),
            until_at: c.until.into(),
            recorded_by: c.recorded_by.into(),
            stated_at: c.stated_at.into(),
            created_at: now.clone(),
            updated_at: now,
            mac: Arg::Null,
        };
        Ok(COVERED.seal_row(keys, row))
    }

    /// Each message that is stored, and each memory that a person acted on (seed 002, section 9), without content.
    fn acted(&self, batch: &OrgBatch) -> Vec<AuditEntry> {
        let now = self.target.now;
        let message = |m: &InboxEntry| {
            let id = derive("audit.message", &[&m.message]);
            AuditedAction { subject: m.done.subject, ..AuditedAction::to(m.scope, m.done.action) }.entry(
                id,
                now,
                &m.done.actor,
            )
        };
        let act = |a: &NewMemoryAct| {
            let code = a.act.deed.code();
            let id = derive("audit", &[a.act.id.0.as_bytes(), code.as_bytes()]);
            AuditedAction::to(a.scope, code).on(a.act.memory.0).entry(id, now, &a.actor)
        };
        batch.inbox.iter().map(message).chain(batch.acts.iter().map(act)).collect()
    }
}
