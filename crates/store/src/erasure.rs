//! Erasure: a patient, a document or a memory is removed from every table for good (model.md, "Forgetting and erasing
//! are two verbs"). A receipt of ids and counts stays, so that late messages are rejected and a restored backup is
//! brought up to date.
//!
//! Data under a patient's key are unreadable as soon as the key is destroyed; the rows are deleted and counted
//! afterwards.

mod held;
mod statements;

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use super::audit_trail::{self, AuditedAction};
use super::encrypted_columns::sealed_for;
use super::outbox::scoped;
use super::quarantine::SealedBody;
use super::write::patients;
use super::{ErasureStore, Keys, StoreError, reconciliation};
use crate::PageRequest;
use crate::statements::erasure::statements as sql;
use anamnesis_core::audit::Actor;
use anamnesis_core::event::ErasureCompleted;
use anamnesis_core::failpoints;
use anamnesis_core::ids::{DocumentId, MemoryId, OrgId, PatientId, derive};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::PlatformKey;
use anamnesis_sql::{Access, Arg, DbError, Transaction};
pub(crate) use held::{erased, none_is_gone, receipt};
use held::{rows_of, said_in};
pub(crate) use statements::COMPLETED;
use statements::HOLDINGS;

/// Quarantined messages that are opened in one transaction.
const PAGE: i64 = 200;

/// Patients whose keys are checked together.
const PATIENTS: u32 = 1_000;

/// The subject of an erasure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "what", content = "subject_id", rename_all = "snake_case")]
pub enum ErasureSubject {
    /// All that is held of the patient, and the key.
    Patient,
    /// Every revision of a document, and everything derived from it.
    Document(DocumentId),
    /// Every statement of a memory, including its words in documents.
    Memory(MemoryId),
}

/// The erased part of a patient whose other data stay.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ErasurePart {
    Document(DocumentId),
    Memory(MemoryId),
}

impl ErasureSubject {
    pub fn code(self) -> &'static str {
        match self {
            Self::Patient => "patient",
            Self::Document(_) => "document",
            Self::Memory(_) => "memory",
        }
    }

    pub(crate) fn id(self) -> Option<Uuid> {
        match self {
            Self::Patient => None,
            Self::Document(DocumentId(id)) | Self::Memory(MemoryId(id)) => Some(id),
        }
    }

    /// The subject of a code and an id; `None` where they do not belong together.
    pub fn read(what: &str, id: Option<Uuid>) -> Option<Self> {
        match (what, id) {
            ("patient", None) => Some(Self::Patient),
            ("document", Some(id)) => Some(Self::Document(DocumentId(id))),
            ("memory", Some(id)) => Some(Self::Memory(MemoryId(id))),
            _ => None,
        }
    }
}

/// The requester and the subject of an erasure. The same request twice is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ErasureRequest {
    #[serde(skip)]
    pub scope: Scope,
    #[serde(rename = "erasure_id")]
    pub id: Uuid,
    #[serde(flatten)]
    pub subject: ErasureSubject,
    pub requested_by: Uuid,
    pub requested_at: DateTime<Utc>,
}

/// The deleted rows by store or table: ids and counts, never content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ErasureReceipt {
    pub organization_id: OrgId,
    pub patient_id: PatientId,
    #[serde(flatten)]
    pub request: ErasureRequest,
    /// `None` while it is being done.
    pub done_at: Option<DateTime<Utc>>,
    /// When the archive of original files held nothing of it any more.
    pub(crate) files_at: Option<DateTime<Utc>>,
    /// Rows that went, by table, and messages in `quarantine`. Empty ones are left out.
    pub counts: BTreeMap<String, u64>,
    /// For a memory, the documents that state it, because quarantined messages and original files may repeat them.
    #[serde(skip)]
    pub said_in: Box<[Uuid]>,
    /// Whether this program wrote it: its request has a hash under the store's key. Others are not carried out.
    #[serde(skip)]
    pub is_genuine: bool,
}

/// Whether an erasure may continue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErasureProgress {
    /// The organisation is not known, and so no one of it is.
    Unknown,
    /// A legal hold keeps it; nothing was changed.
    Held,
    /// A summary, which a job would write again; its sources can be erased.
    Derived,
    /// The rows are to be erased.
    Going,
    /// It was done before.
    Done(ErasureReceipt),
}

/// Patients who were erased, and documents of others that were.
#[derive(Debug, Clone, Default)]
pub struct ErasedIds {
    pub(crate) patients: BTreeSet<PatientId>,
    pub documents: BTreeSet<(PatientId, DocumentId)>,
}

impl ErasureStore<'_> {
    /// Records an erasure, unless a legal hold covers the subject. From here on it is durable: a worker completes a
    /// started erasure. A patient's key is destroyed here.
    ///
    /// # Errors
    /// Of the database or the key store; [`StoreError::Erased`] for a document or a memory of an erased patient.
    pub async fn open_erasure(self, request: &ErasureRequest) -> Result<ErasureProgress, StoreError> {
        let scope = request.scope;
        let mut tx = self.db.begin(Access::Organization(scope.org())).await?;
        patients::hold(&mut tx, scope.org(), vec![scope.patient().0]).await?;
        let mut receipts = self.receipts(&mut tx, scope.org(), &sql::RECEIPTS, scope_args(scope)).await?;
        receipts.retain(|receipt| receipt.is_genuine);
        // A subject that was learned again after its erasure can be erased again, by another request.
        let same = |one: &&ErasureReceipt| match request.subject {
            ErasureSubject::Memory(_) => one.request.id == request.id,
            ErasureSubject::Patient | ErasureSubject::Document(_) => one.request.subject == request.subject,
        };
        if let Some(done) = receipts.iter().filter(same).find(|one| one.done_at.is_some()) {
            // Asked for by two ways: the other request is done as well.
            if receipts.iter().any(|one| one.request.id == request.id && one.done_at.is_none()) {
                self.end_erasure(&mut tx, request, &BTreeMap::new()).await?;
                tx.commit().await?;
            }
            return Ok(ErasureProgress::Done(done.clone()));
        }
        let whole = receipts.iter().find(|one| one.request.subject == ErasureSubject::Patient);
        if let Some(whole) = whole.filter(|_| request.subject != ErasureSubject::Patient) {
            let is_begun = receipts.iter().any(|one| one.request.id == request.id && one.done_at.is_none());
            if whole.done_at.is_none() || !is_begun {
                return Err(StoreError::Erased);
            }
            // Begun before the patient was erased, it went with the whole record.
            self.end_erasure(&mut tx, request, &BTreeMap::new()).await?;
            tx.commit().await?;
            return Ok(ErasureProgress::Done(whole.clone()));
        }
        if let ErasureSubject::Document(id) = request.subject
            && tx.fetch_optional(&sql::ACCOUNT, [scope_args(scope), vec![id.0.into()]].concat()).await?.is_some()
        {
            return Ok(ErasureProgress::Derived);
        }
        if self.is_held(&mut tx, request).await? {
            self.audit_erasure(&mut tx, request, "held").await?;
            tx.commit().await?;
            return Ok(ErasureProgress::Held);
        }
        if !receipts.iter().any(|one| one.request.id == request.id) {
            let begun = begin(&mut tx, self.keys.platform(), request).await?;
            if begun == 0 {
                return Ok(ErasureProgress::Unknown);
            }
            // A request that is taken away outside the program is missed.
            self.audit_erasure(&mut tx, request, "begun").await?;
        }
        tx.commit().await?;
        if request.subject == ErasureSubject::Patient {
            // Before the rows: what another process still writes is refused or cannot be read.
            self.keys.destroy(scope).await?;
        }
        Ok(ErasureProgress::Going)
    }

    /// Drops the content of quarantined messages that `names` assigns to the subject, and of all that an erased
    /// patient's key seals. Others that do not open are left, because nothing can read them. Returns the number of
    /// dropped contents.
    ///
    /// # Errors
    /// Of the database or the key store.
    pub async fn erase_quarantined(
        self,
        request: &ErasureRequest,
        names: impl Fn(&[u8], Option<&[u8]>) -> bool,
    ) -> Result<u64, StoreError> {
        use sql::quarantined as of;
        let (scope, mut last, mut gone) = (request.scope, Uuid::nil(), 0);
        if failpoints::is("erase_keeps_quarantine") {
            return Ok(0);
        }
        let is_own = |sealed: &SealedBody| request.subject == ErasureSubject::Patient && sealed.key == Some(scope);
        loop {
            let mut tx = self.db.read(Access::Platform).await?;
            let rows = tx.fetch_all(&sql::QUARANTINED, vec![scope.org().0.into(), last.into(), PAGE.into()]).await?;
            drop(tx);
            let Some(end) = rows.last() else { return Ok(gone) };
            last = end.uuid(of::ID)?;
            let mut quarantined = Vec::with_capacity(rows.len());
            for row in &rows {
                let key = sealed_for(row.opt_uuid(of::KEY_ORG_ID)?, row.opt_uuid(of::KEY_PATIENT_ID)?)?;
                let sealed = SealedBody { id: row.uuid(of::ID)?, key, body: row.blob(of::BODY_SEALED)? };
                quarantined.push((sealed, row.opt_blob(of::ATTRIBUTES_SEALED)?));
            }
            let scopes: BTreeSet<Scope> = quarantined.iter().filter_map(|(sealed, _)| sealed.key).collect();
            let keys = match scopes.is_empty() {
                true => Keys::default(),
                false => self.keys.find(&scopes.into_iter().collect::<Vec<_>>()).await?.known,
            };
            let speaks = |(sealed, attributes): &(SealedBody, Option<Vec<u8>>)| {
                let opened = || self.quarantined().open_sealed(sealed, attributes.as_deref(), &keys).ok().flatten();
                is_own(sealed) || opened().is_some_and(|held| names(&held.body, held.attributes.as_deref()))
            };
            let named: Vec<Uuid> = quarantined.iter().filter(|one| speaks(one)).map(|(sealed, _)| sealed.id).collect();
            if !named.is_empty() {
                let mut tx = self.db.begin(Access::Platform).await?;
                gone += tx.execute(&sql::DROP_QUARANTINED, vec![Arg::Uuids(named), self.clock.now().into()]).await?;
                tx.commit().await?;
            }
        }
    }

    /// Deletes the rows of what [`ErasureStore::open_erasure`] opened, folds again what rested on them, and completes the receipt.
    /// `quarantined` counts the quarantined messages that went before.
    ///
    /// # Errors
    /// Of the database; nothing is changed then.
    pub async fn erase_rows(self, request: &ErasureRequest, quarantined: u64) -> Result<ErasureReceipt, StoreError> {
        let scope = request.scope;
        let keys = self.keys.find(&[scope]).await?.known;
        let mut tx = self.db.begin(Access::Organization(scope.org())).await?;
        let mut counts = match request.subject {
            ErasureSubject::Patient => {
                patients::hold(&mut tx, scope.org(), vec![scope.patient().0]).await?;
                let mut counts = BTreeMap::new();
                for holding in HOLDINGS.iter() {
                    *counts.entry(holding.table).or_insert(0) += tx.execute(holding.delete, scope_args(scope)).await?;
                }
                counts
            }
            ErasureSubject::Document(document) => {
                self.part_counts(&mut tx, scope, &keys, ErasurePart::Document(document)).await?
            }
            ErasureSubject::Memory(memory) => {
                self.part_counts(&mut tx, scope, &keys, ErasurePart::Memory(memory)).await?
            }
        };
        *counts.entry("quarantine").or_insert(0) += quarantined;
        counts.retain(|_, count| *count > 0);
        self.end_erasure(&mut tx, request, &counts).await?;
        self.announce_erasure(&mut tx, request, &counts).await?;
        let receipts = self.receipts(&mut tx, scope.org(), &sql::RECEIPTS, scope_args(scope)).await?;
        tx.commit().await?;
        self.outbox_notifier.notify_org(scope.org());
        let own = receipts.iter().find(|one| one.request.id == request.id);
        // Rows of a restored backup are deleted under the first receipt.
        let first = || receipts.iter().find(|one| one.request.subject == request.subject);
        own.or_else(first).cloned().ok_or(StoreError::Race)
    }

    /// Erases a part of a patient's record. The counts are minimums per table, because projection again creates new
    /// rows.
    async fn part_counts(
        self,
        tx: &mut Transaction,
        scope: Scope,
        keys: &Keys,
        part: ErasurePart,
    ) -> Result<BTreeMap<&'static str, u64>, StoreError> {
        let before = rows_of(tx, scope).await?;
        let mut counts = self.erase_part(tx, scope, keys, part).await?;
        let after = rows_of(tx, scope).await?;
        for (table, rows) in before {
            let gone = rows.saturating_sub(after.get(table).copied().unwrap_or(0));
            let count = counts.entry(table).or_insert(0);
            *count = gone.max(*count);
        }
        Ok(counts)
    }

    /// Records erasures of another store as not complete here; a worker completes them, even if this process ends.
    /// Known ones stay unchanged.
    ///
    /// # Errors
    /// Of the database.
    pub async fn note_erasures(self, requests: &[ErasureRequest]) -> Result<(), StoreError> {
        let now = self.clock.now();
        for request in requests {
            let mut tx = self.db.begin(Access::Organization(request.scope.org())).await?;
            begin(&mut tx, self.keys.platform(), request).await?;
            let id = derive("audit", &[request.id.as_bytes(), b"erase", b"restored"]);
            let done = AuditedAction {
                subject: request.subject.id(),
                outcome: "restored",
                ..AuditedAction::to(request.scope, "erase")
            };
            let entry = done.entry(id, now, &Actor::program("restore"));
            audit_trail::write(&mut tx, self.keys.platform(), &[entry]).await?;
            tx.commit().await?;
        }
        Ok(())
    }

    pub(super) async fn audit_erasure(
        self,
        tx: &mut Transaction,
        request: &ErasureRequest,
        outcome: &str,
    ) -> Result<(), StoreError> {
        let id = derive("audit", &[request.id.as_bytes(), b"erase", outcome.as_bytes()]);
        let done =
            AuditedAction { subject: request.subject.id(), outcome, ..AuditedAction::to(request.scope, "erase") };
        let actor = Actor { id: request.requested_by.to_string(), ..Actor::default() };
        audit_trail::write(tx, self.keys.platform(), &[done.entry(id, self.clock.now(), &actor)]).await
    }

    /// Not sealed under the patient's key, which is destroyed for an erased patient.
    async fn announce_erasure(
        self,
        tx: &mut Transaction,
        request: &ErasureRequest,
        counts: &BTreeMap<&'static str, u64>,
    ) -> Result<(), StoreError> {
        let (org, patient) = (request.scope.org().0, request.scope.patient().0);
        let id = derive("event", &[org.as_bytes(), patient.as_bytes(), COMPLETED.as_bytes(), request.id.as_bytes()]);
        let (what, subject_id) = (request.subject.code(), request.subject.id());
        let data = ErasureCompleted { erasure_id: request.id, what, subject_id, counts: counts.clone() };
        let body = scoped(request.scope, json!(data));
        let sealed = self.keys.platform().seal(id, body.to_string().as_bytes(), self.entropy.as_ref());
        let args = [org.into(), id.into(), patient.into(), COMPLETED.into(), sealed.into(), self.clock.now().into()];
        tx.execute(&sql::EVENT, args.into()).await?;
        Ok(())
    }

    /// Patients with rows although their key was destroyed: an older backup was restored. No one can read the rows, and
    /// they are to be erased.
    ///
    /// # Errors
    /// Of the database or the key store.
    pub async fn erased_with_rows(self) -> Result<Vec<Scope>, StoreError> {
        let mut found = Vec::new();
        for organization in self.organization().organization_rows().await? {
            let (org, mut after) = (organization.org, Uuid::nil());
            loop {
                let mut tx = self.db.read(Access::Organization(org)).await?;
                let page = reconciliation::patients(&mut tx, org, PageRequest { after, limit: PATIENTS }).await?;
                drop(tx);
                let Some(last) = page.last() else { break };
                after = last.0;
                let scopes: Vec<Scope> = page.iter().filter_map(|patient| Scope::new(org, *patient).ok()).collect();
                let erased = self.keys.find(&scopes).await?.erased;
                found.extend(scopes.into_iter().filter(|scope| erased.contains(scope)));
            }
        }
        Ok(found)
    }

    /// Records that the archive of original files no longer contains it.
    ///
    /// # Errors
    /// Of the database.
    pub async fn end_erasure_of_files(self, request: &ErasureRequest) -> Result<(), StoreError> {
        let mut tx = self.db.begin(Access::Organization(request.scope.org())).await?;
        let more = [request.id.into(), self.clock.now().into()];
        tx.execute(&sql::END_OF_FILES, scope_args(request.scope).into_iter().chain(more).collect()).await?;
        Ok(tx.commit().await?)
    }
}

/// Writes a request down, once; 0 where it is there already, or where no one knows the organisation.
///
/// # Errors
/// Of the database.
pub(crate) async fn begin(tx: &mut Transaction, key: &PlatformKey, request: &ErasureRequest) -> Result<u64, DbError> {
    let said_in = match request.subject {
        ErasureSubject::Memory(memory) => {
            let documents = said_in(tx, request.scope, memory).await?;
            Some(documents.iter().map(Uuid::to_string).collect::<Vec<_>>().join(" "))
        }
        ErasureSubject::Patient | ErasureSubject::Document(_) => None,
    };
    let (subject, what) = (request.subject.id().into(), request.subject.code().into());
    let mac = audit_trail::acts::mac(key, request).to_vec().into();
    let more = [
        request.id.into(),
        what,
        subject,
        request.requested_by.into(),
        request.requested_at.into(),
        mac,
        said_in.into(),
    ];
    tx.execute(&sql::BEGIN, scope_args(request.scope).into_iter().chain(more).collect()).await
}

fn scope_args(scope: Scope) -> Vec<Arg> {
    vec![scope.org().0.into(), scope.patient().0.into()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_erased_is_read_as_it_was_written() {
        let id = Uuid::from_u128(7);
        for subject in
            [ErasureSubject::Patient, ErasureSubject::Document(DocumentId(id)), ErasureSubject::Memory(MemoryId(id))]
        {
            assert_eq!(ErasureSubject::read(subject.code(), subject.id()), Some(subject));
        }
        assert_eq!((ErasureSubject::read("patient", Some(id)), ErasureSubject::read("memory", None)), (None, None));
    }
}
