//! Writes of jobs to the log, inside the job's transaction and by the same projection as messages.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use uuid::Uuid;

use super::clinical::CLEAR;
use super::findings::finding_cell;
use super::memories::LoadedGroup;
use super::{BatchWriter, GroupKey};
use crate::encrypted_columns::Sealer;
use crate::records::{CommitCounts, FindingWords, NewFinding, WriteTarget};
use crate::statements::write::maintenance as sql;
use crate::{Keys, StoreError};
use anamnesis_core::clock::Entropy;
use anamnesis_core::confidence::DecayPolicy;
use anamnesis_core::ids::{FindingId, MemoryId, OrgId};
use anamnesis_core::lifecycle::LifecyclePolicy;
use anamnesis_core::memory::State;
use anamnesis_core::projection::{ProjectedMemory, ResumableProjection};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::{PatientKeys, PlatformKey};
use anamnesis_sql::{Arg, Transaction};

pub use super::memories::raw_id;
pub use super::summaries::{AUTHOR, NewSummary};

/// The rules that folding takes, the same for messages and for every job.
#[derive(Debug, Clone, Copy)]
pub struct ProjectionRules {
    pub lifecycle: LifecyclePolicy,
    pub decay: DecayPolicy,
}

/// The writer that a job receives.
pub struct MaintenanceWriter<'a> {
    pub org: OrgId,
    pub now: DateTime<Utc>,
    pub keys: &'a Keys,
    /// Shows of each entry of the audit trail who wrote it.
    pub platform: &'a PlatformKey,
    pub entropy: &'a dyn Entropy,
    pub rules: &'a ProjectionRules,
}

impl MaintenanceWriter<'_> {
    pub(super) fn writer<'w>(&'w self, tx: &'w mut Transaction) -> BatchWriter<'w> {
        let target = WriteTarget { org: self.org, now: self.now };
        BatchWriter::new(tx, target, (self.keys, self.platform), self.entropy, &self.rules.lifecycle)
    }

    /// Adds findings to the log and projects their groups. Existing findings change nothing.
    ///
    /// # Errors
    /// When the store refuses the rows or a cell does not open.
    pub async fn append(&self, tx: &mut Transaction, findings: Vec<NewFinding>) -> Result<CommitCounts, StoreError> {
        let mut writer = self.writer(tx);
        writer.hold(findings.iter().map(|finding| finding.scope.patient().0).collect()).await?;
        writer.findings(&findings).await?;
        writer.fold().await?;
        writer.flush_events().await?;
        Ok(writer.done)
    }

    /// Sets whether derived findings count, and projects their groups.
    ///
    /// # Errors
    /// As [`MaintenanceWriter::append`].
    pub async fn count(&self, tx: &mut Transaction, formed: &[(Scope, FindingId, bool)]) -> Result<(), StoreError> {
        if formed.is_empty() {
            return Ok(());
        }
        let mut writer = self.writer(tx);
        writer.hold(formed.iter().map(|(scope, ..)| scope.patient().0).collect()).await?;
        for live in [true, false] {
            let of = formed.iter().filter(|(.., counts)| *counts == live);
            let pairs = Arg::Pairs(of.map(|(scope, id, _)| (scope.patient().0, id.0.as_bytes().to_vec())).collect());
            let args = vec![self.org.0.into(), pairs, live.into(), self.now.into()];
            writer.tx.execute(&sql::SET_LIVE, args).await?;
        }
        let all = formed.iter().map(|(scope, id, _)| (scope.patient().0, id.0.as_bytes().to_vec()));
        let scopes: BTreeMap<Uuid, Scope> = formed.iter().map(|(scope, ..)| (scope.patient().0, *scope)).collect();
        let args = vec![self.org.0.into(), Arg::Pairs(all.collect())];
        for row in writer.tx.fetch_all(&sql::GROUPS_OF_FINDINGS, args).await? {
            let group = row.bytes(sql::groups_of_findings::GROUP_HASH)?;
            let scope = scopes.get(&row.uuid(sql::groups_of_findings::PATIENT_ID)?);
            writer.touched.extend(scope.map(|scope| (*scope, group)));
        }
        writer.fold().await?;
        writer.flush_events().await
    }

    /// Removes the words of memories, and of findings that belong to no other memory. Words that a later memory needs
    /// stay.
    ///
    /// # Errors
    /// As [`MaintenanceWriter::append`].
    pub async fn purge(&self, tx: &mut Transaction, memories: &[(Scope, MemoryId)]) -> Result<(), StoreError> {
        let mut writer = self.writer(tx);
        writer.hold(memories.iter().map(|(scope, _)| scope.patient().0).collect()).await?;
        let pairs = || Arg::Pairs(memories.iter().map(|(s, id)| (s.patient().0, id.0.as_bytes().to_vec())).collect());
        let mut groups: BTreeSet<GroupKey> = BTreeSet::new();
        for row in writer.tx.fetch_all(&sql::GROUPS_OF_MEMORIES, vec![self.org.0.into(), pairs()]).await? {
            let patient = row.uuid(sql::groups_of_memories::PATIENT_ID)?;
            let group = row.bytes(sql::groups_of_memories::GROUP_HASH)?;
            let scope = memories.iter().map(|(scope, _)| *scope).find(|scope| scope.patient().0 == patient);
            groups.extend(scope.map(|scope| (scope, group)));
        }
        let mut loaded = writer.load(&groups).await?;
        let foldings = writer.folded(&mut loaded).await?;
        let wanted: BTreeSet<MemoryId> = memories.iter().map(|(_, id)| *id).collect();
        let rows = self.blanks(&loaded, &foldings, &wanted)?;
        writer.tx.bulk(&sql::BLANK_FINDINGS, rows).await?;
        let blank = |(scope, id): &(Scope, MemoryId)| {
            let row = sql::blank_memories::Row {
                org_id: self.org.0.into(),
                patient_id: scope.patient().0.into(),
                id: id.0.into(),
                blank: Arg::Blob(Vec::new()),
                now: self.now.into(),
            };
            row.into()
        };
        writer.tx.bulk(&sql::BLANK_MEMORIES, memories.iter().map(blank).collect()).await?;
        for clear in CLEAR.iter() {
            writer.tx.execute(clear, vec![self.org.0.into(), pairs()]).await?;
        }
        let gone = memories.iter().map(|(scope, id)| (*scope, id.0, "content_purged", Some(id.0)));
        writer.audit_job(gone.collect()).await
    }

    fn blanks(
        &self,
        loaded: &BTreeMap<GroupKey, LoadedGroup>,
        foldings: &[ResumableProjection],
        wanted: &BTreeSet<MemoryId>,
    ) -> Result<Vec<Vec<Arg>>, StoreError> {
        let mut rows = Vec::new();
        for ((group, loaded), ResumableProjection { outcome, .. }) in loaded.iter().zip(foldings) {
            let keys = self.keys.get(&group.0).ok_or(StoreError::Race)?;
            let kept: BTreeSet<FindingId> = outcome
                .memories
                .iter()
                .filter(|m| !wanted.contains(&m.id))
                .flat_map(|m| [m.opened_by, m.told_by])
                .collect();
            // One who took it back meanwhile keeps it.
            let gone =
                |m: &&ProjectedMemory| wanted.contains(&m.id) && matches!(m.state, State::Inactive | State::Expired);
            for memory in outcome.memories.iter().filter(gone) {
                for id in own(loaded, memory).filter(|id| !kept.contains(id)) {
                    rows.push(self.blank(group.0, keys, id, memory.id, &loaded.texts[&id].words)?);
                }
            }
        }
        Ok(rows)
    }

    /// A finding without words. What orders values stays as keyed hashes: equal where the values were equal.
    fn blank(
        &self,
        scope: Scope,
        keys: &PatientKeys,
        id: FindingId,
        memory: MemoryId,
        words: &FindingWords,
    ) -> Result<Vec<Arg>, StoreError> {
        let hashed = |detail: &Option<String>| {
            let hash = |text: &String| match text.starts_with(PURGED) {
                true => text.clone(),
                false => format!("{PURGED}{}", hex::encode(&keys.hash("purged", text.as_bytes())[..8])),
            };
            detail.as_ref().map(hash)
        };
        let blank = FindingWords {
            dose: hashed(&words.dose),
            frequency: hashed(&words.frequency),
            route: hashed(&words.route),
            severity: hashed(&words.severity),
            date: hashed(&words.date),
            value: hashed(&words.value),
            ..FindingWords::default()
        };
        let sealer = Sealer { keys, entropy: self.entropy };
        let row = sql::blank_findings::Row {
            org_id: self.org.0.into(),
            patient_id: scope.patient().0.into(),
            id: id.0.into(),
            payload: sealer.record(finding_cell(id.0, "payload"), &blank)?,
            memory: memory.0.into(),
            blank: Arg::Blob(Vec::new()),
            now: self.now.into(),
        };
        Ok(row.into())
    }
}

/// Prefix of a hashed detail; no dose and no date begins with it.
const PURGED: &str = "purged ";

/// The findings with the same statement as the memory; inherited ones state something else.
fn own<'l>(loaded: &'l LoadedGroup, memory: &'l ProjectedMemory) -> impl Iterator<Item = FindingId> + 'l {
    let polarity = loaded.log.assertions.iter().find(|a| a.id == memory.opened_by).map(|a| a.polarity);
    let says = move |id: &FindingId| {
        let said = loaded.log.assertions.iter().find(|a| a.id == *id);
        said.is_some_and(|a| Some(a.polarity) == polarity && memory.details.agrees(&a.details))
    };
    memory.sources.iter().copied().filter(says)
}
