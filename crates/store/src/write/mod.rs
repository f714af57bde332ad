//! One transaction per (batch, organisation): inbox, documents, vectors, findings, folded memories, clinical rows, audit
//! and outbox, with a number of statements that does not depend on how many documents there are.

pub(super) mod clinical;
pub(super) mod documents;
mod erasure;
pub(super) mod findings;
pub mod maintenance;
pub(super) mod memories;
mod outbox;
pub(crate) mod patients;
pub(super) mod profile;
pub mod projections;
pub mod redaction_changes;
mod removal;
pub(super) mod retention;
pub(super) mod summaries;
mod withdrawal;

use crate::IntakeStore;
use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use super::admission::{AttemptBatch, count_attempts};
use super::covered::CoveredTable;
use super::records::{CommitCounts, InboxEntry, OrgBatch, WriteTarget};
use super::{Keys, StoreError};
use crate::statements::admission::{DONE, END};
use crate::statements::write as sql;
use anamnesis_core::clock::Entropy;
use anamnesis_core::failpoints;
use anamnesis_core::ids::OrgId;
use anamnesis_core::lifecycle::LifecyclePolicy;
use anamnesis_core::projection::KeyHash;
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{PatientKeys, PlatformKey};
use anamnesis_sql::{Access, Arg, Transaction};

/// A group of findings that is folded as one.
pub(super) type GroupKey = (Scope, KeyHash);

/// An open write of one organisation's batch.
pub(super) struct BatchWriter<'a> {
    pub(crate) tx: &'a mut Transaction,
    pub(crate) target: WriteTarget,
    pub(crate) keys: &'a Keys,
    /// Shows of each entry of the audit trail who wrote it.
    pub(crate) platform: &'a PlatformKey,
    pub(crate) entropy: &'a dyn Entropy,
    pub(crate) policy: &'a LifecyclePolicy,
    /// Groups that must be folded again.
    pub(crate) touched: BTreeSet<GroupKey>,
    /// When the earliest of the findings took place that were added to a group.
    pub(crate) earliest: BTreeMap<GroupKey, DateTime<Utc>>,
    pub(crate) done: CommitCounts,
    pub(crate) events: outbox::EventBuffer,
}

impl<'a> BatchWriter<'a> {
    pub(crate) fn new(
        tx: &'a mut Transaction,
        target: WriteTarget,
        (keys, platform): (&'a Keys, &'a PlatformKey),
        entropy: &'a dyn Entropy,
        policy: &'a LifecyclePolicy,
    ) -> Self {
        let (touched, earliest) = (BTreeSet::new(), BTreeMap::new());
        let (done, events) = (CommitCounts::default(), outbox::EventBuffer::default());
        Self { tx, target, keys, platform, entropy, policy, touched, earliest, done, events }
    }
}

impl BatchWriter<'_> {
    /// Keys of a patient of the batch. A missing key means that the patient was erased in the meantime, and the batch
    /// must be admitted again.
    pub(crate) fn keys_of(&self, scope: Scope) -> Result<&PatientKeys, StoreError> {
        self.keys.get(&scope).map(AsRef::as_ref).ok_or(StoreError::Race)
    }

    pub(crate) fn org(&self) -> OrgId {
        self.target.org
    }
}

impl IntakeStore<'_> {
    /// Writes a batch in one transaction.
    ///
    /// # Errors
    /// [`StoreError::Race`] when another worker stored one of the messages since it was looked up.
    pub async fn commit(self, org: OrgId, batch: &OrgBatch, keys: &Keys) -> Result<CommitCounts, StoreError> {
        let mut tx = self.db.begin(Access::Organization(org)).await?;
        let mut writer = self.writer(&mut tx, WriteTarget { org, now: self.clock.now() }, keys);
        if !failpoints::is("no_inbox") {
            writer.inbox(batch).await?;
        }
        writer.events.within(&batch.traces);
        writer.patients(batch).await?;
        writer.alarms(&batch.alarms);
        writer.raws(&batch.documents).await?;
        writer.documents(&batch.documents, batch.generation).await?;
        writer.findings(&batch.findings).await?;
        let before = writer.states_of(&batch.answers).await?;
        writer.acts(&batch.acts).await?;
        writer.fold().await?;
        writer.withdraw(&batch.consents).await?;
        writer.answers(&batch.answers, &before).await?;
        writer.flush_events().await?;
        let done = writer.done;
        // Last, since the one row of the binding is held until the commit.
        let generation = self.key_binding().note_generation(&mut tx).await?;
        tx.commit().await?;
        self.noted.fetch_max(generation, std::sync::atomic::Ordering::SeqCst);
        self.count_commit();
        if done.events > 0 {
            self.outbox_notifier.notify_org(org);
        }
        Ok(done)
    }
}

impl BatchWriter<'_> {
    async fn inbox(&mut self, batch: &OrgBatch) -> Result<(), StoreError> {
        let now = self.target.now;
        let org = self.org().0;
        // In one order everywhere: two workers that hold the same messages wait for each other, never in a circle.
        let mut inbox: Vec<_> = batch.inbox.iter().collect();
        inbox.sort_by_key(|m| m.message);
        let row = |m: &&InboxEntry| {
            let row = sql::inbox::Row {
                message_hash: m.message.into(),
                body_hash: m.body.into(),
                patient_id: m.scope.patient().0.into(),
                message_type: m.message_type.into(),
            };
            row.into()
        };
        let rows: Vec<_> = inbox.iter().map(row).collect();
        let expected = rows.len() as u64;
        let shared = sql::inbox::Shared {
            org_id: org.into(),
            disposition: "stored".into(),
            created_at: now.into(),
            updated_at: now.into(),
        };
        let inserted = self.tx.bulk_sharing(&sql::INBOX, shared.into(), rows).await?;
        if inserted != expected {
            return Err(StoreError::Race);
        }
        // Work on them ends with its effects: not a transaction later.
        let ended: Vec<KeyHash> = inbox.iter().map(|m| m.message).collect();
        self.end(batch.begun.as_ref(), &ended).await
    }

    /// Ends the attempts of stored messages of a batch. Those of its other messages, which are quarantined next, stay
    /// open.
    async fn end(&mut self, begun: Option<&AttemptBatch>, ended: &[KeyHash]) -> Result<(), StoreError> {
        let row = begun.and_then(|begun| Some((begun.batch?, &begun.messages)));
        if let Some((id, messages)) = row
            && self.tx.execute(&END, vec![id.into()]).await? == 1
        {
            let goes_on = |message: &&KeyHash| ended.binary_search(message).is_err();
            let others: Vec<KeyHash> = messages.iter().filter(goes_on).copied().collect();
            return count_attempts(self.tx, &others, self.target.now.into()).await;
        }
        // Each was counted separately: from the beginning, or since a check.
        self.tx.execute(&DONE, vec![Arg::Blobs(ended.iter().map(|m| m.to_vec()).collect())]).await?;
        Ok(())
    }
}

/// Tables whose rows are covered by a keyed hash.
pub(crate) fn covered_bulks() -> [&'static CoveredTable; 9] {
    [
        &findings::COVERED,
        &findings::ACTS,
        &documents::COVERED,
        &documents::DOCUMENTS,
        &retention::COVERED,
        &profile::COVERED,
        &profile::STATED,
        &patients::COVERED,
        &super::legal_holds::COVERED,
    ]
}

/// How documents are covered.
pub(crate) fn documents() -> &'static CoveredTable {
    &documents::DOCUMENTS
}
