//! Patients: the row that everything else hangs on, consent, and the audit of what people did.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use uuid::Uuid;

use super::Writer;
use crate::StoreError;
use crate::auditing::{self, Done};
use crate::consents::{self, NewConsent};
use crate::covered::{self, Covered};
use crate::erasing;
use crate::records::{InboxEntry, NewAct, OrgBatch};
use crate::seal::Sealer;
use anamnesis_core::audit::{Actor, Entry};
use anamnesis_core::ids::{OrgId, derive};
use anamnesis_core::scope::Scope;
use anamnesis_sql::{Arg, Bulk, Column, ColumnType, Sql, Transaction};

static PATIENT: LazyLock<Bulk> = LazyLock::new(|| {
    let columns = [
        ("org_id", ColumnType::Uuid),
        ("patient_id", ColumnType::Uuid),
        ("created_at", ColumnType::Int),
        ("updated_at", ColumnType::Int),
    ];
    Bulk::new("patient_profile", &columns, "ON CONFLICT (org_id, patient_id) DO NOTHING")
});
const CONSENT_COLUMNS: [Column; 14] = [
    ("org_id", ColumnType::Uuid),
    ("patient_id", ColumnType::Uuid),
    ("id", ColumnType::Uuid),
    ("scope_hash", ColumnType::Bytes),
    ("scope_sealed", ColumnType::Bytes),
    ("reason_sealed", ColumnType::Bytes),
    ("provision", ColumnType::Text),
    ("from_at", ColumnType::Int),
    ("until_at", ColumnType::Int),
    ("recorded_by", ColumnType::Uuid),
    ("stated_at", ColumnType::Int),
    ("created_at", ColumnType::Int),
    ("updated_at", ColumnType::Int),
    ("mac", ColumnType::Bytes),
];
static CONSENT: LazyLock<Bulk> =
    LazyLock::new(|| Bulk::new("consent", &CONSENT_COLUMNS, "ON CONFLICT (org_id, patient_id, id) DO NOTHING"));
pub(super) static COVERED: covered::Lazy = LazyLock::new(|| {
    let columns = ["id", "scope_hash", "provision", "from_at", "until_at", "recorded_by"];
    Covered::with_later("consent", (&columns, &["stated_at"]), &CONSENT_COLUMNS, "")
});
// What is folded is read, decided and written: another worker's half of the same patient must not come in between.
static HOLD: LazyLock<Sql> = LazyLock::new(|| {
    Sql::new(
        "SELECT patient_id FROM patient_profile WHERE org_id = $1 AND patient_id IN {uuids $2} ORDER BY patient_id {for_update}",
    )
});

/// Keeps writers off these patients until the transaction ends: what is read of them now is what will be changed.
///
/// # Errors
/// Of the database.
pub(crate) async fn hold(tx: &mut Transaction, org: OrgId, patients: Vec<Uuid>) -> Result<(), StoreError> {
    tx.fetch_all(&HOLD, vec![org.0.into(), Arg::Uuids(patients)]).await?;
    Ok(())
}

impl Writer<'_> {
    pub(super) async fn patients(&mut self, batch: &OrgBatch) -> Result<(), StoreError> {
        let org = self.org().0;
        let now = Arg::from(self.target.now);
        let patients: BTreeSet<Scope> = batch.inbox.iter().map(|m| m.scope).collect();
        let rows = patients.iter().map(|s| vec![org.into(), s.patient().0.into(), now.clone(), now.clone()]).collect();
        self.tx.bulk(&PATIENT, rows).await?;
        self.hold(patients.iter().map(|s| s.patient().0).collect()).await?;
        self.still_permitted(batch).await?;
        self.profiles(&batch.profiles).await?;
        self.ephemeral_modes(&batch.ephemeral).await?;
        let consents = batch.consents.iter().map(|c| self.consent_row(c)).collect::<Result<Vec<_>, _>>()?;
        self.tx.bulk(&CONSENT, consents).await?;
        auditing::write(self.tx, self.platform, &self.acted(batch)).await
    }

    /// Nobody withdrew consent or began ephemeral mode since that was looked up: the patients are held.
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
        erasing::none_is_gone(self.tx, self.target.org, (self.platform, self.target.now), patients).await
    }

    /// What a job did to a patient's rows: an id that the act has alone, its code, and what it was done to.
    pub(super) async fn audit_job(
        &mut self,
        done: Vec<(Scope, Uuid, &'static str, Option<Uuid>)>,
    ) -> Result<(), StoreError> {
        let (job, now) = (Actor::program("job"), self.target.now);
        let entry = |(scope, id, action, subject): (Scope, Uuid, &'static str, Option<Uuid>)| {
            let id = derive("audit", &[id.as_bytes(), action.as_bytes()]);
            Done { subject, ..Done::to(scope, action) }.entry(id, now, &job)
        };
        let entries: Vec<Entry> = done.into_iter().map(entry).collect();
        auditing::write(self.tx, self.platform, &entries).await
    }

    fn consent_row(&self, c: &NewConsent) -> Result<Vec<Arg>, StoreError> {
        let keys = self.keys_of(c.scope)?;
        let sealer = Sealer { keys, entropy: self.entropy };
        let now = Arg::from(self.target.now);
        let row = vec![
            self.org().0.into(),
            c.scope.patient().0.into(),
            c.id.into(),
            consents::scope_hash(keys, &c.consent_scope).into(),
            sealer.text(consents::consent_cell(c.id, "scope"), &c.consent_scope),
            sealer.optional(consents::consent_cell(c.id, "reason"), c.reason.as_deref()),
            c.provision.code().into(),
            c.from.into(),
            c.until.into(),
            c.recorded_by.into(),
            c.stated_at.into(),
            now.clone(),
            now,
        ];
        Ok(COVERED.seal(keys, row))
    }

    /// Each message that is stored, and each memory that a person acted on (seed 002, section 9), without content.
    fn acted(&self, batch: &OrgBatch) -> Vec<Entry> {
        let now = self.target.now;
        let message = |m: &InboxEntry| {
            let id = derive("audit.message", &[&m.message]);
            Done { subject: m.done.subject, ..Done::to(m.scope, m.done.action) }.entry(id, now, &m.done.actor)
        };
        let act = |a: &NewAct| {
            let code = a.act.deed.code();
            let id = derive("audit", &[a.act.id.0.as_bytes(), code.as_bytes()]);
            Done::to(a.scope, code).on(a.act.memory.0).entry(id, now, &a.actor)
        };
        batch.inbox.iter().map(message).chain(batch.acts.iter().map(act)).collect()
    }
}

pub(crate) fn statements() -> Vec<&'static Sql> {
    vec![PATIENT.sql(), &HOLD, CONSENT.sql()]
}
