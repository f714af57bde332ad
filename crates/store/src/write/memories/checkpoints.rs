//! Checkpoints of long groups. A projection continues from the last one, so the cost of a document does not grow with
//! the history. A checkpoint is derived: the database removes it with the rows that it depends on (migration 0027), and
//! a group without one is projected in full.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use uuid::Uuid;

use super::super::{BatchWriter, GroupKey};
use super::load::keyed;
use super::{ChangedMemory, LoadedGroup};
use crate::StoreError;
use crate::encrypted_columns::{Sealer, hash_row, open_record};
use crate::statements::write::memories::checkpoints as sql;
use anamnesis_core::clock::micros;
use anamnesis_core::failpoints;
use anamnesis_core::ids::FindingId;
use anamnesis_core::projection::{Checkpoint, ResumableProjection};
use anamnesis_core::scope::Scope;
use anamnesis_crypto::ColumnRef;
use anamnesis_sql::Arg;

/// The sealed state of a checkpoint.
fn cell(group: &GroupKey) -> ColumnRef {
    ColumnRef { table: "fold_checkpoint", row: hash_row(&group.1), column: "state" }
}

impl BatchWriter<'_> {
    /// The usable checkpoints of these groups. A checkpoint is removed if this batch contains an earlier statement.
    pub(super) async fn checkpoints(
        &mut self,
        groups: &BTreeSet<GroupKey>,
    ) -> Result<BTreeMap<GroupKey, Checkpoint>, StoreError> {
        let scopes: HashMap<Uuid, Scope> = groups.iter().map(|(scope, _)| (scope.patient().0, *scope)).collect();
        let wanted = keyed(groups);
        let mut found = BTreeMap::new();
        let mut passed = BTreeSet::new();
        for row in self.tx.fetch_all(&sql::OF_GROUPS, vec![self.target.org.0.into(), wanted]).await? {
            let Some(scope) = scopes.get(&row.uuid(sql::of_groups::PATIENT_ID)?) else { continue };
            let Some(group) = groups.get(&(*scope, row.bytes(sql::of_groups::GROUP_HASH)?)) else { continue };
            let last_at = || row.i64(sql::of_groups::LAST_AT).unwrap_or(i64::MAX);
            let is_earlier = self.earliest.get(group).is_some_and(|at| micros(*at) <= last_at());
            if is_earlier && !failpoints::is("checkpoint_outlived") {
                passed.insert(*group);
                continue;
            }
            // One that another version wrote in another shape is none.
            match open_record(self.keys_of(group.0)?, cell(group), &row.blob(sql::of_groups::STATE_SEALED)?) {
                Ok(checkpoint) => {
                    found.insert(*group, checkpoint);
                }
                Err(StoreError::Shape) => {
                    passed.insert(*group);
                }
                Err(error) => return Err(error),
            }
        }
        self.drop_checkpoints(&passed).await?;
        Ok(found)
    }

    pub(in crate::write) async fn drop_checkpoints(&mut self, groups: &BTreeSet<GroupKey>) -> Result<(), StoreError> {
        if !groups.is_empty() {
            self.tx.execute(&sql::DELETE, vec![self.target.org.0.into(), keyed(groups)]).await?;
        }
        Ok(())
    }

    /// Projects in full if the store lacks earlier rows, or if reconciliation marked the group as wrong.
    pub(super) async fn reload_unwritten(
        &mut self,
        loaded: &mut BTreeMap<GroupKey, LoadedGroup>,
        foldings: &mut [ResumableProjection],
    ) -> Result<(), StoreError> {
        let written = |loaded: &LoadedGroup, folding: &ResumableProjection| {
            folding.outcome.memories.iter().filter(|m| m.earlier.lines > 0).all(|m| {
                let existing = loaded.existing.get(&m.id);
                existing.is_some_and(|e| e.fold_hash.is_some() && e.lines.is_some_and(|lines| lines >= m.earlier.lines))
            })
        };
        let wrong: BTreeSet<GroupKey> =
            loaded.iter().zip(&*foldings).filter(|((_, l), f)| !written(l, f)).map(|((group, _), _)| *group).collect();
        if wrong.is_empty() {
            return Ok(());
        }
        let mut whole = self.load(&wrong).await?;
        let replayed = self.folded(&mut whole).await?;
        let mut replayed: BTreeMap<GroupKey, ResumableProjection> = whole.keys().copied().zip(replayed).collect();
        for (group, folding) in loaded.keys().zip(foldings) {
            if let Some(replayed) = replayed.remove(group) {
                *folding = replayed;
            }
        }
        loaded.extend(whole);
        Ok(())
    }

    /// The words of changed memories after a checkpoint: those of their opening and mentioning findings.
    pub(super) async fn load_words(
        &mut self,
        loaded: &mut BTreeMap<GroupKey, LoadedGroup>,
        foldings: &[ResumableProjection],
    ) -> Result<(), StoreError> {
        let mut wanted = BTreeSet::new();
        for ((group, loaded), folding) in loaded.iter().zip(foldings) {
            let changed = folding
                .outcome
                .memories
                .iter()
                .filter(|m| m.earlier.lines > 0)
                .filter(|m| loaded.existing.get(&m.id).is_none_or(|existing| !existing.holds(&m.fingerprint())));
            let names = changed.flat_map(|m| [m.opened_by, m.told_by]).filter(|id| !loaded.texts.contains_key(id));
            wanted.extend(names.map(|id: FindingId| (group.0.patient().0, id)));
        }
        self.load_named(loaded, &wanted).await
    }

    /// Writes the checkpoints that these folds made; a group that was folded whole and made none has none.
    pub(super) async fn keep_checkpoints(
        &mut self,
        loaded: &BTreeMap<GroupKey, LoadedGroup>,
        foldings: &[ResumableProjection],
    ) -> Result<(), StoreError> {
        let mut rows = Vec::new();
        let now = Arg::from(self.target.now);
        for (group, folding) in loaded.keys().zip(foldings) {
            let Some(checkpoint) = &folding.checkpoint else { continue };
            let sealer = Sealer { keys: self.keys_of(group.0)?, entropy: self.entropy };
            let row = sql::keep::Row {
                org_id: group.0.org().0.into(),
                patient_id: group.0.patient().0.into(),
                group_hash: group.1.into(),
                last_at: checkpoint.last_at().into(),
                state_sealed: sealer.record(cell(group), checkpoint)?,
                created_at: now.clone(),
                updated_at: now.clone(),
            };
            rows.push(row.into());
        }
        self.tx.bulk(&sql::KEEP, rows).await?;
        Ok(())
    }

    /// Removes the lines of memories that were folded on which came after their checkpoint.
    pub(super) async fn forget_lines(&mut self, resumed: &[&ChangedMemory<'_>]) -> Result<(), StoreError> {
        if resumed.is_empty() {
            return Ok(());
        }
        let org = Arg::from(self.target.org.0);
        let lines = resumed.iter().flat_map(|c| {
            let patient = c.scope.patient().0;
            c.stale.clone().map(move |n| (patient, c.line_id(n).as_bytes().to_vec()))
        });
        let lines: Vec<(Uuid, Vec<u8>)> = lines.collect();
        if !lines.is_empty() {
            self.tx.execute(&sql::DELETE_LINES, vec![org.clone(), Arg::Pairs(lines)]).await?;
        }
        let since = resumed.iter().filter_map(|c| c.loaded.checkpoint.as_ref()).map(Checkpoint::last_at).min();
        let Some(since) = since else { return Ok(()) };
        let memories = resumed.iter().map(|c| (c.scope.patient().0, c.folded.id.0.as_bytes().to_vec())).collect();
        self.tx.execute(&sql::DELETE_LINES_OF_TIME, vec![org, Arg::Pairs(memories), since.into()]).await?;
        Ok(())
    }
}
